/* walk_define.h - telling what a code object is, the first time that it is seen.
 *
 * A language fills a definition in three steps:
 *
 *   if (walk_must_define(walk, &key)) {
 *           walk_define(walk, &key, WALK_CODE_FUNCTION, first_line);
 *           ... walk_text(walk, &at, WALK_TEXT_NAME, limit, avma, bytes, encoding);
 *           walk_defined(walk, at, table_avma, table_bytes);
 *   }
 *
 * at the time of the sample: code objects die, and what is at their address later is
 * another one. A definition that could not be written, or not read whole, is tried again
 * with the next sample of that code.
 */
#ifndef BPF_WALK_DEFINE_H
#define BPF_WALK_DEFINE_H

#include "bpf/walk.h"

WALK_INLINE bool walk_must_define(struct walk *walk, const struct walk_key *key)
{
	if (walk_is_known(key))
		return false;
	if (walk->definitions_left)
		return true;
	walk->space->stack.flags |= WALK_STACK_UNDEFINED;
	return false;
}

WALK_INLINE void walk_define(struct walk *walk, const struct walk_key *key,
			     enum walk_code_kind kind, uint32_t first_line)
{
	struct walk_definition *definition = &walk->space->definition;
	walk->definitions_left--;
	definition->head = walk->space->stack.head;
	definition->head.kind = WALK_DEFINITION;
	definition->key = *key;
	definition->first_line = first_line;
	definition->zero = 0;
	definition->table_kind = WALK_TABLE_NONE;
	definition->table_flags = 0;
	definition->code_kind = kind;
	for (int i = 0; i < WALK_TEXT_COUNT; i++)
		definition->texts[i] = (struct walk_text){ 0, 0, 0 };
}

/* There is a text, but not to be had now. */
WALK_INLINE void walk_text_unread(struct walk *walk, enum walk_text_index index)
{
	walk->space->definition.texts[index].flags |= WALK_TEXT_UNREAD;
}

/* The texts together, so the mask changes nothing unless a language breaks the limits. */
enum { WALK_TEXT_MASK = 2047 };
_Static_assert(WALK_MAX_NAME + WALK_MAX_OWNER + WALK_MAX_FILE <= WALK_TEXT_MASK + 1 &&
		   WALK_TEXT_MASK + 1 + WALK_MAX_PIECE <= sizeof(((struct walk_space *)0)->data),
	       "all parts of a definition find room");

/* A text of known length, behind the `*at` bytes that are there. `limit` is one of
 * WALK_MAX_NAME, _OWNER and _FILE, as fits the index.
 */
WALK_INLINE void walk_text(struct walk *walk, uint32_t *at, enum walk_text_index index,
			   uint32_t limit, uint64_t avma, uint64_t bytes)
{
	struct walk_text *text = &walk->space->definition.texts[index];
	uint32_t here = bytes < limit ? (uint32_t)bytes : limit;
	uint32_t to = *at;
	WALK_OPAQUE(here);
	WALK_OPAQUE(to);
	if (here > limit)
		here = limit;
	to &= WALK_TEXT_MASK;
	if (bytes > limit)
		text->flags |= WALK_TEXT_CUT;
	if (!here)
		return;
	if (walk_read(&walk->space->data[to], here, avma)) {
		text->flags |= WALK_TEXT_UNREAD;
		return;
	}
	text->bytes = (uint16_t)here;
	*at = to + ((here + 7) & ~7u);
}

/* A text that ends with a zero byte. */
WALK_INLINE void walk_text_terminated(struct walk *walk, uint32_t *at, enum walk_text_index index,
				      uint32_t limit, uint64_t avma)
{
	struct walk_text *text = &walk->space->definition.texts[index];
	uint32_t to = *at;
	WALK_OPAQUE(to);
	to &= WALK_TEXT_MASK;
	long got = walk_read_text(&walk->space->data[to], limit, avma);
	if (got <= 0) {
		text->flags |= WALK_TEXT_UNREAD;
		return;
	}
	/* Cut or not cannot be told where it just fits: say so rather than not. */
	if (got >= (long)limit)
		text->flags |= WALK_TEXT_CUT;
	text->bytes = (uint16_t)(got - 1);
	*at = to + (((uint32_t)got + 6) & ~7u);
}

/* One more piece of the table, in a record of its own. */
static long walk_table_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	struct walk_space *space = walk->space;
	(void)index;
	uint32_t left = space->definition.table_bytes - walk->table_at;
	if (!left || left > WALK_MAX_TABLE)
		return 1;
	if (left > WALK_MAX_PIECE)
		left = WALK_MAX_PIECE;
	WALK_OPAQUE(left);
	if (left > WALK_MAX_PIECE)
		return 1;
	space->table.head = space->definition.head;
	space->table.head.kind = WALK_TABLE;
	space->table.head.size = (uint32_t)sizeof(space->table) + left;
	space->table.key = space->definition.key;
	space->table.offset = walk->table_at;
	space->table.bytes = left;
	if (walk_read(space->piece, left, walk->table_avma + walk->table_at) ||
	    walk_write(walk->context, &space->table, (uint32_t)sizeof(space->table) + left)) {
		space->stack.flags |= WALK_STACK_UNDEFINED;
		return 1;
	}
	walk->table_at += left;
	return 0;
}

/* Writes the definition, whose texts are `at` bytes long, with its table. Returns false where
 * it was not written.
 */
WALK_INLINE bool walk_define_write(struct walk *walk, uint32_t at, uint64_t table_avma,
				   uint64_t table_bytes)
{
	struct walk_space *space = walk->space;
	struct walk_definition *definition = &space->definition;
	if (table_bytes > WALK_MAX_TABLE) {
		table_bytes = WALK_MAX_TABLE;
		definition->table_flags |= WALK_TEXT_CUT;
	}
	uint32_t here = table_bytes < WALK_MAX_PIECE ? (uint32_t)table_bytes : WALK_MAX_PIECE;
	WALK_OPAQUE(here);
	WALK_OPAQUE(at);
	at &= WALK_TEXT_MASK;
	if (here > WALK_MAX_PIECE)
		here = WALK_MAX_PIECE;
	if (here && walk_read(&space->data[at], here, table_avma)) {
		definition->table_flags |= WALK_TEXT_UNREAD;
		table_bytes = 0;
		here = 0;
	}
	definition->table_bytes = (uint32_t)table_bytes;
	definition->table_here = (uint16_t)here;
	const uint32_t size = (uint32_t)sizeof(*definition) + at + here;
	definition->head.size = size;
	walk->table_avma = table_avma;
	walk->table_at = here;
	return walk_write(walk->context, definition, size) == 0;
}

/* The last step: the key becomes known if all of it could be told. */
WALK_INLINE void walk_defined(struct walk *walk, uint32_t at, uint64_t table_avma,
			      uint64_t table_bytes)
{
	struct walk_definition *definition = &walk->space->definition;
	const bool is_written = walk_define_write(walk, at, table_avma, table_bytes);
	if (is_written)
		WALK_LOOP(WALK_MAX_TABLE / WALK_MAX_PIECE, walk_table_step, walk);
	uint32_t flags = definition->table_flags;
	for (int i = 0; i < WALK_TEXT_COUNT; i++)
		flags |= definition->texts[i].flags;
	if (is_written && !(flags & WALK_TEXT_UNREAD) && walk->table_at == definition->table_bytes)
		walk_know(&definition->key);
	else
		walk->space->stack.flags |= WALK_STACK_UNDEFINED;
}

#endif
