#include "load/address_index.h"

#include "base/hash.h"

#include <stdlib.h>

static uint32_t *slot_of(const struct address_index *index, uint64_t start_avma)
{
	size_t at = hash_mix(start_avma, 0) & (index->slot_count - 1);
	while (index->slots[at] &&
	       index->entries.items[index->slots[at] - 1].start_avma != start_avma)
		at = (at + 1) & (index->slot_count - 1);
	return &index->slots[at];
}

static bool make_room(struct address_index *index)
{
	size_t count = index->slot_count ? index->slot_count : 64;
	while (count < index->entries.count * 2)
		count *= 2;
	if (count == index->slot_count)
		return true;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(index->slots);
	index->slots = slots;
	index->slot_count = count;
	index->indexed = 0;
	return true;
}

bool address_index_put(struct address_index *index, const struct address_entry *entry)
{
	if (!entry->start_avma)
		return true;
	struct address_entry *slot =
	    index->entries.count < UINT32_MAX ? vector_push(&index->entries) : NULL;
	if (!slot)
		return false;
	*slot = *entry;
	if (make_room(index))
		return true;
	index->entries.count--;
	return false;
}

const struct address_entry *address_index_find(struct address_index *index, uint64_t start_avma)
{
	if (!start_avma || !index->entries.count)
		return NULL;
	for (; index->indexed < index->entries.count; index->indexed++)
		*slot_of(index, index->entries.items[index->indexed].start_avma) =
		    (uint32_t)index->indexed + 1;
	const uint32_t found = *slot_of(index, start_avma);
	return found ? &index->entries.items[found - 1] : NULL;
}

void address_index_clear(struct address_index *index)
{
	vector_clear(&index->entries);
	free(index->slots);
	*index = (struct address_index){ 0 };
}
