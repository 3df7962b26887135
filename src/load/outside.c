/* Files that lie outside the recording: how they are named, found and opened. */
#include "load/load_internal.h"

#include "base/number.h"
#include "base/status.h"

#include <stdio.h>

uint32_t load_pid_of_name(const char *path, const char *prefix, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	uint32_t pid;
	const char *end = number_skip_u32(name + strlen(prefix), &pid);
	return end && strcmp(end, suffix) == 0 ? pid : 0;
}

const char *load_member_of_process(const char *name, uint32_t *pid)
{
	static const char folder[] = "process/";
	if (strncmp(name, folder, sizeof(folder) - 1) != 0)
		return NULL;
	const char *end = number_skip_u32(name + sizeof(folder) - 1, pid);
	return end && *end == '/' ? end + 1 : NULL;
}

const char *load_split_option(const char *text, uint32_t *pid)
{
	uint32_t number;
	const char *end = number_skip_u32(text, &number);
	const bool is_pid = end && *end == '=';
	*pid = is_pid ? number : 0;
	return is_pid ? end + 1 : text;
}

int load_keep_file(struct load *load, const char *path, bool untrusted, struct bytes *bytes)
{
	struct os_file *file = vector_push(&load->files);
	if (!file)
		return STATUS_NO_MEMORY;
	const int got = os_file_open(file, path, untrusted ? OS_FILE_UNTRUSTED : OS_FILE_PLAIN);
	if (got < 0) {
		load->files.count--;
		return got;
	}
	*bytes = file->bytes;
	return 0;
}

const char *load_beside(struct load *load, const char *name)
{
	const char *input = load->options.input;
	const char *slash = strrchr(input, '/');
	const size_t dir = slash ? (size_t)(slash - input) + 1 : 0;
	const size_t size = dir + strlen(name) + 1;
	char *path = arena_new(&load->scratch, char, size);
	if (path) {
		memcpy(path, input, dir);
		memcpy(path + dir, name, size - dir);
	}
	return path;
}
