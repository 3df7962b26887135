/* symbol_files.h - symbol_files over the disk, for tests. */
#ifndef TESTS_SYMBOL_FILES_H
#define TESTS_SYMBOL_FILES_H

#include "symbol/symbol.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline bool disk_open(void *context, const char *path, struct bytes *bytes)
{
	(void)context;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return false;
	void *at = MAP_FAILED;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	*bytes = (struct bytes){ .data = at, .size = (size_t)st.st_size };
	return true;
}

static inline void disk_close(void *context, struct bytes bytes)
{
	(void)context;
	munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

#endif
