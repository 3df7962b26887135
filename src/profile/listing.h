/* listing.h - the code of one function of a profile, byte by byte: what annotate shows.
 *
 * Filled by load/, read by annotate/. Texts and code are borrowed from whoever filled it, except
 * that all vectors are the listing's own: listing_clear(). Offsets are bytes from the start of
 * `code`. One thread.
 */
#ifndef PROFILE_LISTING_H
#define PROFILE_LISTING_H

#include "base/bytes.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum listing_machine {
	LISTING_UNKNOWN_MACHINE,
	LISTING_X86_64,
	LISTING_AARCH64,
};

/* From this offset up to the next entry's, the code is of this line. */
struct listing_line {
	uint32_t offset;
	uint32_t line;    /* from 1; 0: not known */
	uint32_t column;  /* from 1; 0: not known */
	uint32_t scope;   /* the innermost inlined function: index into scopes + 1; 0: none */
	const char *file; /* "" where not known */
	const char
	    *text; /* of the line itself, where the producer gave it and no file; else NULL */
};

/* A function inlined into the code. The same one inlined in two places is two scopes. */
struct listing_scope {
	const char *name; /* as people write it */
	const char *call_file;
	uint32_t call_line;
	uint32_t call_column;
	uint32_t around; /* the scope around: index + 1; 0: the function itself */
};

/* What the runtime says of a place: "safepoint", "deopt: wrong map". */
struct listing_note {
	uint32_t offset;
	uint32_t size;    /* in bytes; 0: one place */
	const char *kind; /* "prologue", "safepoint", "oop map", "deopt", "data", "note", ... */
	const char *text; /* "" where there is no more to say */
};

struct listing_bytecode {
	uint32_t offset;
	int32_t bytecode; /* index; -1: none */
};

struct listing {
	enum listing_machine machine;
	uint64_t start_avma; /* where it lay; for files the address as linked */
	bool is_svma;
	struct bytes code;    /* empty where there is none */
	const char *reason;   /* why there is no code: a static sentence; NULL where there is */
	uint64_t loaded_ns;   /* 0: before the recording, or not known */
	uint64_t unloaded_ns; /* 0: it stayed, or not known */
	VECTOR(struct listing_line) lines; /* ascending offsets */
	VECTOR(struct listing_scope) scopes;
	VECTOR(struct listing_note) notes;         /* ascending offsets */
	VECTOR(struct listing_bytecode) bytecodes; /* ascending offsets */
};

struct listing_source_text {
	struct bytes text; /* borrowed, as the listing's texts */
	/* Where: the path of a file, "in the recording", "in the symbols of PATH". */
	const char *found;
	bool is_newer; /* the file was changed after the recording was made */
};

/* Where those who show code get what no profile holds. Each may be NULL. */
struct listing_inputs {
	void *context;
	/* Fills an empty listing; 0 or STATUS_NO_MEMORY. */
	int (*listing)(void *context, uint32_t function, struct listing *listing);
	/* The name of what lies at an address outside the function; "" where nobody knows. */
	const char *(*target)(void *context, uint32_t function, uint64_t address);
	/* 0, STATUS_NO_MEMORY, or any other status where there is no text. */
	int (*source)(void *context, const char *file, struct listing_source_text *text);
};

static inline void listing_clear(struct listing *listing)
{
	vector_clear(&listing->lines);
	vector_clear(&listing->scopes);
	vector_clear(&listing->notes);
	vector_clear(&listing->bytecodes);
}

#endif
