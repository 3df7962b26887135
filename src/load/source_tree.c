#include "base/arena.h"
#include "base/status.h"
#include "load/load_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder given by mistake, such as the root, must not keep anyone waiting. */
enum { FILE_LIMIT = 200000, DEPTH_LIMIT = 24 };

struct source_tree {
	struct source_tree *next;
	const char *folder;
	VECTOR(const char *) files; /* with the folder in front */
	struct arena arena;
};

static const char *join(struct source_tree *tree, const char *folder, const char *name)
{
	const size_t front = strlen(folder);
	const size_t size = strlen(name) + 1;
	char *path = arena_new(&tree->arena, char, front + 1 + size);
	if (!path)
		return NULL;
	memcpy(path, folder, front);
	path[front] = '/';
	memcpy(path + front + 1, name, size);
	return path;
}

static bool walk(struct source_tree *tree, int fd, const char *folder, unsigned depth);

/* Links are not followed: they lead out of the folder, or in circles. Hidden ones hold no sources.
 */
static bool take_entry(struct source_tree *tree, int folder_fd, const char *folder,
		       const char *name, unsigned depth)
{
	struct stat st;
	if (name[0] == '.' || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return true;
	const char *path = join(tree, folder, name);
	if (!path)
		return false;
	if (S_ISREG(st.st_mode)) {
		const char **slot = vector_push(&tree->files);
		if (slot)
			*slot = path;
		return slot != NULL;
	}
	const int fd =
	    openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 || walk(tree, fd, path, depth + 1);
}

/* Takes over the fd. False without memory. */
static bool walk(struct source_tree *tree, int fd, const char *folder, unsigned depth)
{
	DIR *entries = depth < DEPTH_LIMIT ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool has_memory = true;
	if (!entries) {
		close(fd);
		return true;
	}
	while (has_memory && tree->files.count < FILE_LIMIT && (entry = readdir(entries)))
		has_memory = take_entry(tree, dirfd(entries), folder, entry->d_name, depth);
	closedir(entries);
	return has_memory;
}

static struct source_tree *tree_of(struct load *load, const char *folder)
{
	for (struct source_tree *tree = load->trees; tree; tree = tree->next)
		if (strcmp(tree->folder, folder) == 0)
			return tree;
	struct source_tree *tree = arena_new(&load->scratch, struct source_tree, 1);
	if (!tree)
		return NULL;
	const uint32_t id = intern_text(&load->strings, folder);
	*tree =
	    (struct source_tree){ .next = load->trees, .folder = intern_get(&load->strings, id) };
	load->trees = tree;
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		(void)walk(tree, fd, tree->folder, 0);
	return tree;
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
	return count + (b == 0 && a && file[a - 1] == '/');
}

const char *source_tree_find(struct load *load, const char *folder, const char *path, size_t least)
{
	const struct source_tree *tree = tree_of(load, folder);
	const char *best = NULL;
	size_t best_count = least ? least - 1 : 0;
	for (size_t i = 0; tree && i < tree->files.count; i++) {
		const char *file = tree->files.items[i];
		const size_t count = common_components(file + strlen(folder), path);
		if (count > best_count) {
			best = file;
			best_count = count;
		} else if (count == best_count && best) {
			best = NULL;
		}
	}
	return best;
}

void source_trees_free(struct load *load)
{
	for (struct source_tree *tree = load->trees; tree; tree = tree->next) {
		vector_clear(&tree->files);
		arena_clear(&tree->arena);
	}
	load->trees = NULL;
}
