/* Files that lie outside the recording: how they are named, found and opened. */
#include "load/load_internal.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t load_pid_of_name(const char *path, const char *prefix, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	const char *digits = name + strlen(prefix);
	char *end;
	const unsigned long pid = strtoul(digits, &end, 10);
	if (end == digits || pid > UINT32_MAX || strcmp(end, suffix) != 0)
		return 0;
	return (uint32_t)pid;
}

const char *load_split_option(const char *text, uint32_t *pid)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);
	*pid = 0;
	if (end == text || *end != '=' || number > UINT32_MAX)
		return text;
	*pid = (uint32_t)number;
	return end + 1;
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
