/* origin.h - where the functions of a profile came from, so that their code can be found again.
 *
 * Kept by function id while a profile is filled, and until the next one is begun.
 */
#ifndef LOAD_ORIGIN_H
#define LOAD_ORIGIN_H

#include "base/vector.h"

#include <stdint.h>

struct load;

enum origin_kind {
	ORIGIN_UNKNOWN,
	ORIGIN_CODE,        /* made at run time */
	ORIGIN_SYMBOL,      /* of a mapped file */
	ORIGIN_KERNEL,      /* of the kernel or a module */
	ORIGIN_INTERPRETED, /* an interpreter ran it */
	ORIGIN_INLINED,     /* into code made at run time, or into a mapped file's */
};

/* Where code lay when a frame was in it. */
struct origin_place {
	uint64_t start_avma;
	uint64_t time_ns; /* of the sample */
};

struct origin {
	enum origin_kind kind;
	uint32_t id;  /* of a code (ORIGIN_CODE), an object (ORIGIN_SYMBOL) */
	uint32_t pid; /* ORIGIN_CODE: whose the samples are; a fork has its parent's code */
	bool was_seen;
	/* ORIGIN_CODE: code may be moved, so where its earliest and latest frame were. */
	struct origin_place first;
	struct origin_place last;
	/* Symbols: as linked; in the kernel as it ran. */
	uint64_t start_svma;
	uint64_t size;
};

/* By function id. */
struct origins {
	VECTOR(struct origin) items;
};

/* A frame of a function was there. */
void origin_see(struct origins *origins, uint32_t function, uint32_t pid,
		const struct origin_place *place);

#endif
