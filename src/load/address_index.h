/* address_index.h - things of one process or object by the address where they start.
 *
 * Putting only appends; the first find makes the table. A dump of many functions
 * is read without one unless something asks.
 */
#ifndef LOAD_ADDRESS_INDEX_H
#define LOAD_ADDRESS_INDEX_H

#include "base/vector.h"

#include <stdint.h>

struct address_entry {
	uint64_t start_avma; /* 0 is not kept */
	uint64_t size;
	uint32_t code;
};

/* Zero-initialise to use. The last one put at an address wins. */
struct address_index {
	VECTOR(struct address_entry) entries;
	uint32_t *slots; /* entry + 1 */
	size_t slot_count;
	size_t indexed; /* how many entries the slots know */
};

/* False without memory; then it is as before. */
bool address_index_put(struct address_index *index, const struct address_entry *entry);

/* NULL where there is none; valid until the next put. */
const struct address_entry *address_index_find(struct address_index *index, uint64_t start_avma);
void address_index_clear(struct address_index *index);

#endif
