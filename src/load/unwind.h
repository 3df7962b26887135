/* unwind.h - dumped stacks: what the files unwind*.c share.
 *
 * unwind.c walks a sample's stack; unwind_place.c says what is known of the code at an address,
 * unwind_table.c keeps the tables that say how its frames are found, unwind_shape.c knows the
 * frames of code that says nothing, and unwind_interpreter.c reads what an interpreter ran from
 * its frames. docs/unwinding.md.
 */
#ifndef LOAD_UNWIND_H
#define LOAD_UNWIND_H

#include "load/load_internal.h"
#include "unwind/walk.h"

enum place_kind {
	PLACE_UNKNOWN,
	PLACE_ROW,    /* a table has a row */
	PLACE_CODE,   /* made at run time, and announced */
	PLACE_MAPPED, /* a file's, or of memory; no table speaks of it */
};

/* What is known of the code at an address. */
struct place {
	struct cfi_row row;  /* PLACE_ROW */
	uint8_t kind;        /* enum place_kind */
	uint8_t end;         /* enum profile_end: why a walk that ends there does so */
	bool is_interpreter; /* its frames can be read */
	bool has_room;       /* is_frameless, but for room for arguments that it may have made */
	bool is_frameless; /* runs on its caller's frame, from the first instruction to the last */
	enum runtime runtime; /* PLACE_CODE */
	/* The function's bytes, as far as they are known. */
	uint64_t start_avma;
	struct bytes code;
};

/* The walk of one sample. */
struct walk {
	struct load *load;
	const struct perfdata_sample *sample;
	uint64_t *words; /* of struct unwound */
	/* Of the frame under way. */
	const struct place *place; /* NULL: there was none yet */
	uint64_t bp_avma;          /* 0: not known */
	uint64_t sp_avma;
};

/* Never NULL; good until the next call. */
const struct place *place_find(struct load *load, const struct address *address);

/* unwind_table.c: NULL where there is none. A table lives as long as the load. */
struct cfi_table *table_of_object(struct load *load, uint32_t object);
struct cfi_table *table_of_piece(struct load *load, uint32_t piece);
/* The bytes of an object's file from there on; empty where they are not to be had. */
struct bytes table_object_bytes(struct load *load, uint32_t object, uint64_t file_off);

/* unwind_shape.c: how a frame of walk->place is found, where no table tells, or only roughly. */
void shape_find(const struct walk *walk, const struct unwind_frame *frame,
		struct unwind_place *how);

/* unwind_interpreter.c, for unwind_callbacks, with a struct walk. */
void interpreter_read(void *context, const struct unwind_frame *frame);

#endif
