#include "inject/store_internal.h"

#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PID-<16 hex> */
static bool is_folder_name(const char *name)
{
	enum { HEX_DIGITS = 16, PID_DIGITS = 10 };
	const size_t digits = strspn(name, "0123456789");
	if (!digits || digits > PID_DIGITS || name[digits] != '-')
		return false;
	const char *hex = name + digits + 1;
	return strspn(hex, "0123456789abcdef") == HEX_DIGITS && !hex[HEX_DIGITS];
}

static bool is_image_name(const char *name)
{
	const size_t size = strlen(name);
	return size > strlen("jitted-.so") && strncmp(name, "jitted-", strlen("jitted-")) == 0 &&
	       strcmp(name + size - strlen(".so"), ".so") == 0;
}

static bool is_of_this_run(const struct image_store *store, const char *folder, const char *file)
{
	for (size_t i = 0; i < store->stored.count; i++)
		if (strcmp(store->stored.items[i].folder, folder) == 0 &&
		    (!file || strcmp(store->stored.items[i].file, file) == 0))
			return true;
	return false;
}

static bool is_ours(int folder_fd, const char *name, mode_t kind)
{
	struct stat entry;
	return fstatat(folder_fd, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (entry.st_mode & S_IFMT) == kind && entry.st_uid == geteuid();
}

static void remove_file(int folder_fd, const char *name, int *status)
{
	if (is_ours(folder_fd, name, S_IFREG) && unlinkat(folder_fd, name, 0) != 0 && *status == 0)
		*status = STATUS_IO;
}

static void clean_folder(const struct image_store *store, const char *folder, int *status)
{
	int folder_fd;
	if (!is_ours(store->root_fd, folder, S_IFDIR) ||
	    store_folder_open(store->root_fd, folder, &folder_fd) < 0)
		return;
	DIR *entries = fdopendir(folder_fd);
	if (!entries) {
		close(folder_fd);
		*status = *status ? *status : STATUS_IO;
		return;
	}
	for (const struct dirent *entry; (entry = readdir(entries));)
		if (store_is_unfinished(entry->d_name) ||
		    (is_image_name(entry->d_name) && !is_of_this_run(store, folder, entry->d_name)))
			remove_file(folder_fd, entry->d_name, status);
	closedir(entries);
	/* Stays where something else is in it. */
	if (!is_of_this_run(store, folder, NULL))
		(void)unlinkat(store->root_fd, folder, AT_REMOVEDIR);
}

int image_store_remove_older(struct image_store *store)
{
	if (store->is_cache)
		return 0;
	/* There may be older ones though this run had no image. */
	if (store->root_fd < 0 &&
	    store_folder_open(store->parent_fd, store->root_name, &store->root_fd) < 0)
		return 0;
	const int root_fd = openat(store->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = root_fd < 0 ? NULL : fdopendir(root_fd);
	if (!entries) {
		if (root_fd >= 0)
			close(root_fd);
		return STATUS_IO;
	}
	int status = 0;
	for (const struct dirent *entry; (entry = readdir(entries));) {
		if (is_folder_name(entry->d_name))
			clean_folder(store, entry->d_name, &status);
		else if (store_is_unfinished(entry->d_name))
			remove_file(root_fd, entry->d_name, &status);
	}
	closedir(entries);
	if (!store->stored.count)
		(void)unlinkat(store->parent_fd, store->root_name, AT_REMOVEDIR);
	return status;
}
