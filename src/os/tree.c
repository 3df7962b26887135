#include "os/tree.h"

#include "base/arena.h"
#include "base/vector.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 200000, ENTRY_LIMIT = 1000000, DEPTH_LIMIT = 24 };

struct os_tree {
	size_t front_size;
	size_t entry_count;
	VECTOR(const char *) files; /* with the front */
	struct arena arena;
};

/* "FOLDER/" and "NAME", and a slash behind it if it is a folder itself. */
static const char *join(struct os_tree *tree, const char *folder, const char *name, const char *end)
{
	const size_t sizes[] = { strlen(folder), strlen(name), strlen(end) + 1 };
	char *path = arena_new(&tree->arena, char, sizes[0] + sizes[1] + sizes[2]);
	if (!path)
		return NULL;
	memcpy(path, folder, sizes[0]);
	memcpy(path + sizes[0], name, sizes[1]);
	memcpy(path + sizes[0] + sizes[1], end, sizes[2]);
	return path;
}

static bool walk(struct os_tree *tree, int fd, const char *folder, unsigned depth);

static bool take_entry(struct os_tree *tree, int folder_fd, const char *folder, const char *name,
		       unsigned depth)
{
	struct stat st;
	if (name[0] == '.' || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return true;
	const char *path = join(tree, folder, name, S_ISDIR(st.st_mode) ? "/" : "");
	if (!path)
		return false;
	if (S_ISREG(st.st_mode)) {
		const char **slot = vector_push(&tree->files);
		if (slot)
			*slot = path;
		return slot != NULL;
	}
	return walk(
	    tree,
	    openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
	    path, depth + 1);
}

/* Takes over the fd, which may be -1. False without memory. */
static bool walk(struct os_tree *tree, int fd, const char *folder, unsigned depth)
{
	DIR *entries = fd >= 0 && depth < DEPTH_LIMIT ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool has_memory = true;
	if (!entries) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	while (has_memory && tree->files.count < FILE_LIMIT && tree->entry_count++ < ENTRY_LIMIT &&
	       (entry = readdir(entries)))
		has_memory = take_entry(tree, dirfd(entries), folder, entry->d_name, depth);
	closedir(entries);
	return has_memory;
}

struct os_tree *os_tree_read(int folder_fd, const char *front)
{
	struct os_tree *tree = calloc(1, sizeof(*tree));
	if (tree)
		tree->front_size = strlen(front);
	if (tree && walk(tree, folder_fd, front, 0))
		return tree;
	if (!tree && folder_fd >= 0)
		close(folder_fd);
	os_tree_free(tree);
	return NULL;
}

void os_tree_free(struct os_tree *tree)
{
	if (!tree)
		return;
	vector_clear(&tree->files);
	arena_clear(&tree->arena);
	free(tree);
}

/* How many of their last components are equal. */
static size_t common_components(const char *file, const char *path)
{
	size_t a = strlen(file);
	size_t b = strlen(path);
	size_t count = 0;
	while (a && b && file[a - 1] == path[b - 1]) {
		a--;
		b--;
		count += file[a] == '/' && path[b] == '/';
	}
	/* One of the two ends where a component of the other does. */
	const bool is_whole = (!b && (!a || file[a - 1] == '/')) || (!a && b && path[b - 1] == '/');
	return count + is_whole;
}

const char *os_tree_find(const struct os_tree *tree, const char *path, size_t least)
{
	const char *best = NULL;
	size_t best_count = least ? least - 1 : 0;
	for (size_t i = 0; i < tree->files.count; i++) {
		const char *file = tree->files.items[i];
		const size_t count = common_components(file + tree->front_size, path);
		if (count > best_count) {
			best = file;
			best_count = count;
		} else if (count == best_count && best) {
			best = NULL;
		}
	}
	return best;
}
