#include "inject/store_internal.h"

#include "base/sink.h"
#include "base/status.h"
#include "inject/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MIN = 8, BUILD_ID_MAX = 20, PROGRAM_MAX = 64 };

static char *text_of(struct sink *text)
{
	sink_u8(text, 0);
	if (!sink_failed(text))
		return (char *)text->data;
	sink_clear(text);
	return NULL;
}

/* OUT.data's folder, with every link in its path followed once and for all. */
static int open_beside(struct image_store *store, const char *output_path)
{
	struct sink root = { 0 };
	struct sink name = { 0 };
	char *copy = strdup(output_path);
	char *for_name = strdup(output_path);
	char *parent = copy ? realpath(dirname(copy), NULL) : NULL;
	const int error = errno;
	int status = copy && for_name ? 0 : STATUS_NO_MEMORY;
	if (status == 0 && !parent)
		status = error == ENOMEM ? STATUS_NO_MEMORY : STATUS_IO;
	if (status == 0) {
		sink_printf(&name, "%s.d", basename(for_name));
		store->root_name = text_of(&name);
		sink_printf(&root, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent,
			    store->root_name ? store->root_name : "");
		store->root_path = text_of(&root);
		store->parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!store->root_name || !store->root_path)
			status = STATUS_NO_MEMORY;
		else if (store->parent_fd < 0)
			status = STATUS_IO;
	}
	const int saved = parent ? errno : error;
	free(parent);
	free(for_name);
	free(copy);
	errno = saved;
	return status;
}

static int open_in_cache(struct image_store *store, const char *cache_dir)
{
	store->is_cache = true;
	store->folder_mode = 0755;
	store->file_mode = 0644;
	if (!cache_dir)
		return image_store_default_cache(&store->root_path);
	store->root_path = strdup(cache_dir);
	return store->root_path ? 0 : STATUS_NO_MEMORY;
}

int image_store_open(struct image_store **opened, const char *output_path, const char *cache_dir)
{
	struct image_store *store = calloc(1, sizeof(*store));
	if (!store)
		return STATUS_NO_MEMORY;
	store->parent_fd = -1;
	store->root_fd = -1;
	store->begun.fd = -1;
	store->folder_mode = 0777;
	store->file_mode = 0666;
	const int status = cache_dir || inject_output_is_pipe(output_path)
			       ? open_in_cache(store, cache_dir)
			       : open_beside(store, output_path);
	if (status < 0) {
		const int error = errno;
		image_store_close(store);
		errno = error;
		return status;
	}
	*opened = store;
	return 0;
}

static int open_root(struct image_store *store)
{
	if (store->root_fd >= 0)
		return 0;
	if (store->is_cache)
		return store_open_cache(store);
	store->made_root =
	    faccessat(store->parent_fd, store->root_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
	return store_folder_make(store->parent_fd, store->root_name, store->folder_mode,
				 &store->root_fd);
}

int image_store_begin(struct image_store *store, int *fd)
{
	store_file_drop(&store->begun);
	int status = open_root(store);
	if (status == 0)
		status = store_file_open(&store->begun, store->root_fd, store->file_mode, false);
	if (status == 0)
		*fd = store->begun.fd;
	return status;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._+-", c));
}

static void make_names(struct stored *image, uint32_t pid, const char *program,
		       struct bytes build_id)
{
	static const char HEX[] = "0123456789abcdef";
	char plain[PROGRAM_MAX + 1] = "";
	for (size_t i = 0; i < PROGRAM_MAX && program[i]; i++) {
		plain[i] = '_';
		if (is_plain(program[i]))
			plain[i] = program[i];
	}
	for (size_t i = 0; i < build_id.size; i++) {
		image->build_id[2 * i] = HEX[build_id.data[i] >> 4];
		image->build_id[2 * i + 1] = HEX[build_id.data[i] & 15];
	}
	(void)snprintf(image->folder, sizeof(image->folder), "%" PRIu32 "-%.16s", pid,
		       image->build_id);
	(void)snprintf(image->file, sizeof(image->file), "jitted-%s.so", plain[0] ? plain : "code");
}

static int commit_beside(struct image_store *store, struct stored *image)
{
	int folder_fd;
	int status =
	    store_folder_make(store->root_fd, image->folder, store->folder_mode, &folder_fd);
	if (status < 0)
		return status;
	status = store_file_publish(&store->begun, folder_fd, image->file, &image->is_new);
	const int error = errno;
	close(folder_fd);
	errno = error;
	return status;
}

static const char *path_of(struct image_store *store, const struct stored *image)
{
	const char *root = store->root_path;
	const size_t room =
	    strlen(root) + sizeof("/jit//") + sizeof(image->folder) + sizeof(image->file);
	char *path = arena_new(&store->paths, char, room);
	if (path)
		(void)snprintf(path, room, "%s%s/%s/%s", root, store->is_cache ? "/jit" : "",
			       image->folder, image->file);
	return path;
}

static int commit(struct image_store *store, const struct stored *image, const char **path)
{
	struct stored *kept = vector_push(&store->stored);
	const char *made = kept ? path_of(store, image) : NULL;
	if (!made) {
		store->stored.count -= kept != NULL;
		return STATUS_NO_MEMORY;
	}
	*kept = *image;
	const int status =
	    store->is_cache ? store_commit_to_cache(store, kept) : commit_beside(store, kept);
	if (status < 0) {
		const struct stored failed = *kept;
		store->stored.count--;
		if (store->is_cache)
			store_discard_from_cache(store, &failed);
		return status;
	}
	*path = made;
	return 0;
}

int image_store_commit(struct image_store *store, uint32_t pid, const char *program,
		       struct bytes build_id, const char **path)
{
	struct stored image = { .folder = "" };
	int status = STATUS_CORRUPT;
	if (store->begun.fd >= 0 && build_id.size >= BUILD_ID_MIN &&
	    build_id.size <= BUILD_ID_MAX) {
		make_names(&image, pid, program, build_id);
		status = commit(store, &image, path);
	}
	store_file_drop(&store->begun);
	return status;
}

/* In a cache a build id leads to the image, whatever the path. */
static int link_alias(const struct image_store *store, const struct stored *image,
		      struct stored *alias)
{
	int folder_fd;
	if (store->is_cache)
		return 0;
	int status = store_folder_open(store->root_fd, image->folder, &folder_fd);
	if (status < 0)
		return status;
	status = store_second_name(folder_fd, image->file, folder_fd, alias->file, &alias->is_new);
	const int error = errno;
	close(folder_fd);
	errno = error;
	return status;
}

int image_store_alias(struct image_store *store, uint32_t number, const char **path)
{
	struct stored *alias = store->stored.count ? vector_push(&store->stored) : NULL;
	if (!alias)
		return STATUS_NO_MEMORY;
	const struct stored *image = alias - 1;
	while (image->is_alias)
		image--;
	*alias = (struct stored){ .is_alias = true };
	memcpy(alias->folder, image->folder, sizeof(alias->folder));
	const int stem = (int)strlen(image->file) - (int)strlen(".so");
	(void)snprintf(alias->file, sizeof(alias->file), "%.*s.%" PRIu32 ".so", stem, image->file,
		       number);
	*path = path_of(store, alias);
	const int status = *path ? link_alias(store, image, alias) : STATUS_NO_MEMORY;
	store->stored.count -= status < 0;
	return status;
}

static void discard_beside(struct image_store *store, const struct stored *image)
{
	int folder_fd;
	if (!image->is_new || store_folder_open(store->root_fd, image->folder, &folder_fd) < 0)
		return;
	(void)unlinkat(folder_fd, image->file, 0);
	close(folder_fd);
	(void)unlinkat(store->root_fd, image->folder, AT_REMOVEDIR);
}

void image_store_discard(struct image_store *store)
{
	for (size_t i = 0; i < store->stored.count; i++) {
		if (store->is_cache && !store->stored.items[i].is_alias)
			store_discard_from_cache(store, &store->stored.items[i]);
		else if (!store->is_cache)
			discard_beside(store, &store->stored.items[i]);
	}
	store->stored.count = 0;
}

void image_store_close(struct image_store *store)
{
	if (!store)
		return;
	store_file_drop(&store->begun);
	if (store->root_fd >= 0)
		close(store->root_fd);
	/* Does nothing to a folder in which something lies. */
	if (store->made_root && store->parent_fd >= 0)
		(void)unlinkat(store->parent_fd, store->root_name, AT_REMOVEDIR);
	if (store->parent_fd >= 0)
		close(store->parent_fd);
	vector_clear(&store->stored);
	arena_clear(&store->paths);
	free(store->root_path);
	free(store->root_name);
	free(store);
}
