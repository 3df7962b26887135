/* plausible_internal.h - is there a record at this offset, and where is the next one?
 *
 * Three questions of growing severity, for reader.c alone. None of them changes
 * the reader, so an answer for an offset is the same whenever it is asked.
 */
#ifndef FORMAT_JITDUMP_PLAUSIBLE_INTERNAL_H
#define FORMAT_JITDUMP_PLAUSIBLE_INTERNAL_H

#include "format/jitdump/reader.h"

struct jitdump_prefix {
	uint32_t id;
	uint32_t total_size;
	uint64_t time;
};

/* False if fewer than 16 bytes are left. */
bool jitdump_prefix_at(const struct jitdump_reader *reader, size_t offset,
		       struct jitdump_prefix *prefix);

/* The fixed fields of a known kind fit the claimed size and the file, and a
 * LOAD's name ends. Enough where the record before it ended here.
 */
bool jitdump_fits(const struct jitdump_reader *reader, size_t offset,
		  const struct jitdump_prefix *prefix);

/* It is of a known kind (or an extension of ours), and all its sizes agree with each other. */
bool jitdump_agrees(const struct jitdump_reader *reader, size_t offset,
		    const struct jitdump_prefix *prefix);

/* A record, or the end of the file, may begin here. Of a record whose time is
 * near the file's others nothing but the prefix is looked at.
 */
bool jitdump_may_begin(const struct jitdump_reader *reader, size_t offset);

/* It agrees, and its time is near or another record follows (both, where chance
 * might let a record of its kind agree): enough to believe in it where nothing before it can be
 * trusted.
 */
bool jitdump_is_strict(const struct jitdump_reader *reader, size_t offset,
		       const struct jitdump_prefix *prefix);

/* The total is that of a LOAD with its code bytes, or of one that left them out. */
bool jitdump_load_agrees(size_t name_size, uint64_t code_size, uint32_t total_size);

/* The head of a record that ends too early: its fields fit its size, its time is near. */
bool jitdump_is_credible_cut(const struct jitdump_reader *reader, size_t offset,
			     const struct jitdump_prefix *prefix);

/* Two times of one process's life. */
bool jitdump_is_near(uint64_t time, uint64_t other);
bool jitdump_is_near_anchor(const struct jitdump_reader *reader, uint64_t time);

/* The first strict record that begins in [from, to); `to` if there is none. */
size_t jitdump_find(const struct jitdump_reader *reader, size_t from, size_t to);

#endif
