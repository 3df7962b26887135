/* image.h - what a walk read of a process, in a text file.
 *
 *   registers IP SP BP BX SI R14 R15 FS DX R12 R13   hexadecimal, as all numbers
 *   runtime BYTES                            struct walk_runtime
 *   memory AVMA BYTES
 *   expect FRAMES                            as told.h prints them, without the numbers
 *
 * Files come from walk_image; tests/data/frames/README tells how.
 */
#ifndef TESTS_INTERP_IMAGE_H
#define TESTS_INTERP_IMAGE_H

#include "base/arena.h"
#include "base/vector.h"
#include "bpf/walk.h"

#include <stdio.h>

struct image_piece {
	uint64_t avma;
	uint8_t *data;
	size_t size;
};

struct image {
	struct arena arena;
	struct walk_registers registers;
	struct walk_runtime runtime;
	VECTOR(struct image_piece) pieces;
	char *expected; /* without the end of its line */
};

bool image_load(struct image *image, const char *path);
void image_clear(struct image *image);
bool image_read(void *context, uint64_t avma, void *to, size_t size);

/* Adds what is not there yet. */
void image_add(struct image *image, uint64_t avma, const void *data, size_t size);
void image_write(const struct image *image, FILE *out);

#endif
