/* guarded.h - an image that ends at a page that cannot be read.
 *
 * So a read past its end is seen in libraries too, which no sanitizer watches. It cannot be written
 * either. For targets whose readers open files: every path opens as the image itself.
 */
#ifndef FUZZ_GUARDED_H
#define FUZZ_GUARDED_H

#include "base/bytes.h"

#include <stdlib.h>
#include <sys/mman.h>

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

struct guarded {
	struct bytes bytes;
	void *pages;
	size_t pages_size;
};

static inline bool guard(struct guarded *g, const uint8_t *data, size_t size)
{
	enum { PAGE = 4096 };
	const size_t whole = (size + PAGE - 1) / PAGE * PAGE;
	g->pages_size = whole + PAGE;
	g->pages =
	    mmap(NULL, g->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->pages == MAP_FAILED)
		return false;
	uint8_t *start = (uint8_t *)g->pages + (whole - size);
	if (size)
		memcpy(start, data, size);
	/* libelf must leave the image alone. */
	require(mprotect(g->pages, whole ? whole : PAGE, PROT_READ) == 0);
	require(mprotect((uint8_t *)g->pages + whole, PAGE, PROT_NONE) == 0);
	g->bytes = (struct bytes){ .data = start, .size = size };
	return true;
}

static inline bool open_image(void *context, const char *path, struct bytes *bytes)
{
	const struct guarded *g = context;
	require(path[0] != '\0');
	*bytes = g->bytes;
	return true;
}

static inline void close_image(void *context, struct bytes bytes)
{
	const struct guarded *g = context;
	require(bytes.data == g->bytes.data && bytes.size == g->bytes.size);
}

#endif
