/* store.h - what all code objects of a recording are, from their definitions.
 *
 *   struct frames_store *store;
 *   frames_store_open(&store, 256 << 20);
 *   frames_store_add(store, &record);                    each record, in any order of stacks
 *   ... when all were added:
 *   const struct walk_key key = { frame.code_avma, frame.check, head.pid, stack.runtime };
 *   const struct frames_code *code = frames_store_find(store, &key);
 *   if (code)
 *           show(code->name, code->file, frames_code_line(code, &frame));
 *   frames_store_close(store);
 *
 * Definitions hold whatever their time (a key never means two things), and may come later
 * than stacks that need them, from another CPU's ring. One that is told again, because it
 * could not be told whole before, takes the place of the first. What is found is valid until
 * the next add. One thread.
 */
#ifndef FORMAT_FRAMES_STORE_H
#define FORMAT_FRAMES_STORE_H

#include "format/frames/reader.h"

struct frames_code {
	struct walk_key key;
	uint8_t language;   /* enum walk_language */
	uint8_t kind;       /* enum walk_code_kind */
	uint8_t table_kind; /* enum walk_table_kind */
	bool is_whole;      /* nothing of it was unreadable */
	uint32_t number;    /* of those of the store, from 0 */
	int32_t first_line; /* 0: unknown */
	const char *name;   /* UTF-8, as all texts; "" where there is none */
	const char *owner;
	const char *file;
	struct bytes table; /* as much of it as has come */
};

struct frames_store;

/* `limit` in bytes is for what is kept of hostile recordings; 0: none. 0 or STATUS_NO_MEMORY. */
int frames_store_open(struct frames_store **store, size_t limit);
void frames_store_close(struct frames_store *store); /* NULL is harmless */

/* Takes definitions and pieces of tables, passes over stacks and over pieces that belong to
 * nothing. Returns 0 or STATUS_NO_MEMORY (the limit counts, too).
 */
int frames_store_add(struct frames_store *store, const struct frames_record *record);

size_t frames_store_count(const struct frames_store *store);
const struct frames_code *frames_store_find(const struct frames_store *store,
					    const struct walk_key *key);

/* The line that a frame of this code is at; 0: unknown. */
int32_t frames_code_line(const struct frames_code *code, const struct walk_frame *frame);

#endif
