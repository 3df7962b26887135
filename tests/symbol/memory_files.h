/* memory_files.h - symbol_files over a list of paths and bytes, which also counts.
 *
 *   struct memory_files disk = { .count = 1, .entries = { { "/bin/a", image } } };
 *   struct symbol_files files = memory_files(&disk);
 */
#ifndef TESTS_MEMORY_FILES_H
#define TESTS_MEMORY_FILES_H

#include "symbol/symbol.h"

#include <stdio.h>

struct memory_files {
	struct {
		const char *path;
		struct bytes bytes;
	} entries[4];
	size_t count;
	int open_count;  /* now open */
	char asked[512]; /* all paths, a line each */
};

static inline bool memory_open(void *context, const char *path, struct bytes *bytes)
{
	struct memory_files *disk = context;
	const size_t used = strlen(disk->asked);
	snprintf(disk->asked + used, sizeof(disk->asked) - used, "%s\n", path);
	for (size_t i = 0; i < disk->count; i++) {
		if (strcmp(disk->entries[i].path, path) == 0) {
			*bytes = disk->entries[i].bytes;
			disk->open_count++;
			return true;
		}
	}
	return false;
}

static inline void memory_close(void *context, struct bytes bytes)
{
	struct memory_files *disk = context;
	for (size_t i = 0; i < disk->count; i++) {
		if (disk->entries[i].bytes.data == bytes.data) {
			disk->open_count--;
			return;
		}
	}
}

static inline struct symbol_files memory_files(struct memory_files *disk)
{
	return (struct symbol_files){ .context = disk, .open = memory_open, .close = memory_close };
}

#endif
