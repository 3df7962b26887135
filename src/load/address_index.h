/* address_index.h - the code objects of one process by where they start. */
#ifndef LOAD_ADDRESS_INDEX_H
#define LOAD_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_entry {
	uint64_t start_avma; /* 0: a free slot; code at address 0 is not kept */
	uint64_t size;
	uint32_t code;
};

/* Zero-initialise to use. The last one put at an address wins. */
struct address_index {
	struct address_entry *slots;
	size_t slot_count;
	size_t used;
};

bool address_index_put(struct address_index *index, const struct address_entry *entry);
const struct address_entry *address_index_find(const struct address_index *index,
					       uint64_t start_avma);
void address_index_clear(struct address_index *index);

#endif
