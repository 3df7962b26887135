/* build.h - images for tests, in few words. */
#ifndef TESTS_IMAGE_BUILD_H
#define TESTS_IMAGE_BUILD_H

#include "image/image.h"

struct image *build_new(void);
void build_function(struct image *image, const char *name, uint64_t start_avma, uint64_t size,
		    struct bytes code);
void build_line(struct image *image, uint64_t offset, const char *file, uint32_t line);
void build_inline(struct image *image, uint64_t offset, uint64_t size, uint32_t depth,
		  const char *name);

#endif
