/* build.h - images for tests, in few words. */
#ifndef TESTS_IMAGE_BUILD_H
#define TESTS_IMAGE_BUILD_H

#include "base/sink.h"
#include "image/image.h"

struct image *build_new(void);
void build_function(struct image *image, const char *name, uint64_t start_avma, uint64_t size,
		    struct bytes code);
void build_line(struct image *image, uint64_t offset, const char *file, uint32_t line);
void build_inline(struct image *image, uint64_t offset, uint64_t size, uint32_t depth,
		  const char *name);

/* What CPython tells of a function: it pushes a register in its first 4 bytes. */
struct sink build_unwinding(uint64_t code_size, size_t *hdr_size);
void build_unwound(struct image *image, const char *name, uint64_t start_avma, uint64_t size,
		   struct bytes code);

/* One of everything: reuse, no bytes, lines, inlined functions, and unwinding where wanted. */
struct image *build_everything(uint32_t count, bool has_unwinding);
enum { BUILD_STRIDE = 128, BUILD_SIZE = 96 };

#endif
