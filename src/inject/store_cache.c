#include "inject/store_internal.h"

#include "base/sink.h"
#include "base/status.h"
#include "inject/perfconfig.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX_DIGITS = 2 };

static int make_with_parents(char *path, mode_t mode)
{
	for (char *at = path + strspn(path, "/"); *at; at += strspn(at, "/")) {
		at += strcspn(at, "/");
		const char end = *at;
		*at = '\0';
		const bool is_there = mkdir(path, mode) == 0 || errno == EEXIST;
		*at = end;
		if (!is_there)
			return STATUS_IO;
	}
	return 0;
}

/* The user's own folder, in which links are as good as anywhere. */
int store_open_cache(struct image_store *store)
{
	if (make_with_parents(store->root_path, store->folder_mode) < 0)
		return STATUS_IO;
	char *real = realpath(store->root_path, NULL);
	if (!real)
		return errno == ENOMEM ? STATUS_NO_MEMORY : STATUS_IO;
	free(store->root_path);
	store->root_path = real;
	store->root_fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return store->root_fd < 0 ? STATUS_IO : 0;
}

/* From the cache on: the folder of what perf adds for the image. */
static int added_folder(const struct image_store *store, const struct stored *image,
			char path[PATH_MAX])
{
	const int size = snprintf(path, PATH_MAX, "%s/jit/%s/%s/%s", store->root_path + 1,
				  image->folder, image->file, image->build_id);
	errno = ENAMETOOLONG;
	return size < PATH_MAX - (int)sizeof("../../") ? 0 : STATUS_IO;
}

/* An id may be in the cache already, under another name: as good, if something is there. */
static int link_build_id(struct image_store *store, struct stored *image, const char *folder)
{
	char prefix[sizeof(".build-id/") + PREFIX_DIGITS];
	char target[PATH_MAX + sizeof("../../")];
	char elf[sizeof(image->build_id) + sizeof("/elf")];
	const char *rest = image->build_id + PREFIX_DIGITS;
	int prefix_fd;
	(void)snprintf(prefix, sizeof(prefix), ".build-id/%.*s", PREFIX_DIGITS, image->build_id);
	(void)snprintf(target, sizeof(target), "../../%s", folder);
	(void)snprintf(elf, sizeof(elf), "%s/elf", rest);
	int status = store_folder_make(store->root_fd, prefix, store->folder_mode, &prefix_fd);
	if (status < 0)
		return status;
	if (faccessat(prefix_fd, elf, R_OK, 0) != 0) {
		status = store_link(prefix_fd, rest, target);
		image->is_link_new = status == 0;
		(void)fsync(prefix_fd);
	}
	const int error = errno;
	close(prefix_fd);
	errno = error;
	return status;
}

static int put_at_its_path(struct image_store *store, struct stored *image, int elf_folder_fd)
{
	char folder[sizeof("jit/") + STORE_FOLDER_ROOM];
	int folder_fd;
	(void)snprintf(folder, sizeof(folder), "jit/%s", image->folder);
	int status = store_folder_make(store->root_fd, folder, store->folder_mode, &folder_fd);
	if (status < 0)
		return status;
	status =
	    store_second_name(elf_folder_fd, "elf", folder_fd, image->file, &image->is_name_new);
	(void)fsync(folder_fd);
	const int error = errno;
	close(folder_fd);
	errno = error;
	return status;
}

int store_commit_to_cache(struct image_store *store, struct stored *image)
{
	char path[PATH_MAX];
	int folder_fd;
	int status = added_folder(store, image, path);
	if (status == 0)
		status = store_folder_make(store->root_fd, path, store->folder_mode, &folder_fd);
	if (status < 0)
		return status;
	status = store_file_publish(&store->begun, folder_fd, "elf", &image->is_new);
	if (status == 0)
		status = put_at_its_path(store, image, folder_fd);
	const int error = errno;
	close(folder_fd);
	errno = error;
	return status < 0 ? status : link_build_id(store, image, path);
}

/* The folders go as far as nothing else is in them. */
static void remove_with_parents(int root_fd, char *path)
{
	(void)unlinkat(root_fd, path, 0);
	for (char *slash; (slash = strrchr(path, '/'));) {
		*slash = '\0';
		if (unlinkat(root_fd, path, AT_REMOVEDIR) != 0)
			break;
	}
}

void store_discard_from_cache(struct image_store *store, const struct stored *image)
{
	char path[PATH_MAX + sizeof("/elf")];
	const int error = errno;
	if (image->is_link_new) {
		(void)snprintf(path, sizeof(path), ".build-id/%.*s/%s", PREFIX_DIGITS,
			       image->build_id, image->build_id + PREFIX_DIGITS);
		remove_with_parents(store->root_fd, path);
	}
	if (image->is_name_new) {
		(void)snprintf(path, sizeof(path), "jit/%s/%s", image->folder, image->file);
		remove_with_parents(store->root_fd, path);
	}
	if (image->is_new && added_folder(store, image, path) == 0) {
		memcpy(path + strlen(path), "/elf", sizeof("/elf"));
		remove_with_parents(store->root_fd, path);
	}
	errno = error;
}

/* Perf takes a configuration from nobody but root and the user. */
static bool read_config(const char *path, struct sink *value)
{
	struct os_file file;
	if (os_file_open(&file, path, OS_FILE_REGULAR) < 0)
		return false;
	const bool found = (file.owner == 0 || file.owner == geteuid()) &&
			   perfconfig_find(file.bytes, "buildid", "dir", value);
	os_file_close(&file);
	return found;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);
	return value && value[0];
}

static void read_home_config(const char *home, struct sink *value)
{
	struct sink path = { 0 };
	sink_printf(&path, "%s/.perfconfig", home);
	sink_u8(&path, 0);
	if (sink_failed(&path))
		value->failed = true;
	else
		(void)read_config((const char *)path.data, value);
	sink_clear(&path);
}

int image_store_default_cache(char **cache_dir)
{
	struct sink value = { 0 };
	const char *home = getenv("HOME");
	if (is_set("PERF_CONFIG")) {
		(void)read_config(getenv("PERF_CONFIG"), &value);
	} else {
		if (!is_set("PERF_CONFIG_NOSYSTEM"))
			(void)read_config("/etc/perfconfig", &value);
		if (home && !is_set("PERF_CONFIG_NOGLOBAL"))
			read_home_config(home, &value);
	}
	if (!value.size)
		sink_printf(&value, "%s%s.debug", home ? home : "", home ? "/" : "");
	sink_u8(&value, 0);
	if (sink_failed(&value)) {
		sink_clear(&value);
		return STATUS_NO_MEMORY;
	}
	*cache_dir = (char *)value.data;
	return 0;
}
