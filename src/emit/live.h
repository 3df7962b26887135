/* live.h - which code of a dump is still there, found by reading the dump.
 *
 *   struct ppjit_live live;
 *   ppjit_live_init(&live);
 *   ppjit_live_scan(&live, base, JITDUMP_HEADER_SIZE, used);   again, as the dump grows
 *   ppjit_live_prune(&live, at_most_bytes);
 *   ... live.total_bytes of room ...
 *   ppjit_live_order(&live);
 *   ppjit_live_write(&live, base, &to);
 *   ppjit_live_clear(&live);
 *
 * So calls need keep no list: the file is the list, and is read when a new file is begun, or in a
 * forked child. Memory comes from mmap(), since a call may be made where malloc() may not.
 * Only the offsets are kept; `base` must be the same each time.
 */
#ifndef EMIT_LIVE_H
#define EMIT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ppjit_live_kind { PPJIT_LIVE_NONE, PPJIT_LIVE_CODE, PPJIT_LIVE_METHOD };

struct ppjit_live_entry {
	uint64_t address; /* where it is now; a method's id */
	uint64_t size;
	uint64_t group_off; /* of its first record */
	uint64_t order;     /* the offset of the record that put it where it is */
	uint64_t time_ns;   /* that record's */
	uint32_t group_size;
	uint32_t kind; /* enum ppjit_live_kind; NONE: a free slot */
};

struct ppjit_live {
	struct ppjit_live_entry *slots; /* a hash table with open addressing */
	size_t capacity;                /* a power of two, or 0 */
	size_t count;
	uint64_t total_bytes; /* of all groups */
	uint64_t lost_count;  /* entries that ppjit_live_prune() or want of memory left out */
};

void ppjit_live_init(struct ppjit_live *live);
void ppjit_live_clear(struct ppjit_live *live);

/* Takes the records in [from, to) of a dump, which nobody may be writing at this moment. What was
 * never finished is a PAD and passed over.
 */
void ppjit_live_scan(struct ppjit_live *live, const uint8_t *base, uint64_t from, uint64_t to);

/* Leaves out what newer code lies over, and the oldest where all together exceed `limit_bytes`. */
void ppjit_live_prune(struct ppjit_live *live, uint64_t limit_bytes);

/* Makes slots[0 .. count) a list in the order of the dump; only _write() and _clear() may follow.
 */
void ppjit_live_order(struct ppjit_live *live);

struct ppjit_live_target {
	uint8_t *at; /* room of `size`, all of it within one PAD record */
	uint64_t size;
	uint32_t pid;
	uint64_t time_ns; /* what all get; 0: each keeps its own */
	uint64_t pad_time_ns;
};

/* Writes the groups as ordered; what is left of the room stays a PAD. */
void ppjit_live_write(struct ppjit_live *live, const uint8_t *base,
		      const struct ppjit_live_target *to);

#endif
