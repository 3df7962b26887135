#include "inject/store_internal.h"

#include "base/sink.h"
#include "base/status.h"
#include "inject/perfconfig.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256, PREFIX_DIGITS = 2 };

/* The user's own folder, in which links are as good as anywhere: made with its parents. */
int store_open_cache(struct image_store *store)
{
	char *path = strdup(store->root_path);
	if (!path)
		return STATUS_NO_MEMORY;
	int status = 0;
	for (char *at = path + strspn(path, "/"); status == 0 && *at; at += strspn(at, "/")) {
		at += strcspn(at, "/");
		const char end = *at;
		*at = '\0';
		if (mkdir(path, store->folder_mode) != 0 && errno != EEXIST)
			status = STATUS_IO;
		*at = end;
	}
	if (status == 0)
		store->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->root_fd < 0)
		status = STATUS_IO;
	const int error = errno;
	free(path);
	errno = error;
	return status;
}

static void image_folder(const struct stored *image, char path[PATH_ROOM])
{
	(void)snprintf(path, PATH_ROOM, "polyperf/%s/%s/%s", image->folder, image->file,
		       image->build_id);
}

/* An id may be in the cache already, under another name: as good, if something is there. */
static int link_build_id(struct image_store *store, struct stored *image, const char *folder)
{
	char prefix[sizeof(".build-id/") + PREFIX_DIGITS];
	char target[PATH_ROOM + 8];
	char elf[sizeof(image->build_id) + 8];
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

int store_commit_to_cache(struct image_store *store, struct stored *image)
{
	char path[PATH_ROOM];
	int folder_fd;
	image_folder(image, path);
	int status = store_folder_make(store->root_fd, path, store->folder_mode, &folder_fd);
	if (status < 0)
		return status;
	status = store_file_publish(&store->begun, folder_fd, "elf", &image->is_new);
	const int error = errno;
	close(folder_fd);
	errno = error;
	return status < 0 ? status : link_build_id(store, image, path);
}

/* The folders go as far as nothing else is in them. */
void store_discard_from_cache(struct image_store *store, const struct stored *image)
{
	char path[PATH_ROOM + 8];
	const int error = errno;
	if (image->is_link_new) {
		(void)snprintf(path, sizeof(path), ".build-id/%.*s/%s", PREFIX_DIGITS,
			       image->build_id, image->build_id + PREFIX_DIGITS);
		(void)unlinkat(store->root_fd, path, 0);
	}
	image_folder(image, path);
	if (image->is_new) {
		strncat(path, "/elf", sizeof(path) - strlen(path) - 1);
		(void)unlinkat(store->root_fd, path, 0);
		for (char *slash; (slash = strrchr(path, '/'));) {
			*slash = '\0';
			if (unlinkat(store->root_fd, path, AT_REMOVEDIR) != 0)
				break;
		}
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
