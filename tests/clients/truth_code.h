/* truth_code.h - functions made at run time that do nothing but stay in their own code.
 *
 *   struct code_region region;
 *   code_region_open(&region, 65536, CODE_MPROTECT);
 *   code_calibrate(&region);
 *   code_write(&region, 256, 128, 7);
 *   code_run(&region, 256, 128, 1000000);
 *
 * A function is one loop over its whole body, so that a sampler finds the
 * instruction pointer anywhere in it, and nowhere else, until it returns.
 * The wanted time holds on an idle machine only.
 */
#ifndef CLIENTS_TRUTH_CODE_H
#define CLIENTS_TRUTH_CODE_H

#include <stddef.h>
#include <stdint.h>

enum {
	CODE_SIZE_MIN = 64,
	CODE_SIZE_MAX = 1024,
	CODE_ALIGN = 16,
};

/* How code becomes executable after it was written. */
enum code_access {
	CODE_RWX,      /* one mapping that may do both */
	CODE_MPROTECT, /* writable, then executable */
	CODE_DUAL,     /* two mappings of one memfd, as .NET does */
};

struct code_region {
	uint8_t *writable;
	uint8_t *executable;
	size_t size;
	enum code_access access;
};

/* Each returns 0, or -1 with errno set. */
int code_region_open(struct code_region *region, size_t size, enum code_access access);
/* A function of `size` bytes, a multiple of CODE_ALIGN, at `offset`. No two of different marks,
 * which have 32 bits, have the same bytes.
 */
int code_write(struct code_region *region, size_t offset, size_t size, uint32_t mark);
int code_move(struct code_region *region, size_t from, size_t to, size_t size);

/* Measures how long a turn of the loop takes; overwrites the start of the region. Once, before
 * any thread.
 */
int code_calibrate(struct code_region *region);

/* Runs the function for about ns; `size` is the one it was written with. */
void code_run(const struct code_region *region, size_t offset, size_t size, uint64_t ns);

#endif
