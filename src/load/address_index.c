#include "load/address_index.h"

#include "base/hash.h"

#include <stdlib.h>

static struct address_entry *slot_of(const struct address_index *index, uint64_t start_avma)
{
	size_t at = hash_mix(start_avma, 0) & (index->slot_count - 1);
	while (index->slots[at].start_avma && index->slots[at].start_avma != start_avma)
		at = (at + 1) & (index->slot_count - 1);
	return &index->slots[at];
}

static bool grow(struct address_index *index)
{
	if (index->used * 2 < index->slot_count)
		return true;
	struct address_index wider = { .slot_count =
					   index->slot_count ? index->slot_count * 2 : 256,
				       .used = index->used };
	wider.slots = calloc(wider.slot_count, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < index->slot_count; i++)
		if (index->slots[i].start_avma)
			*slot_of(&wider, index->slots[i].start_avma) = index->slots[i];
	free(index->slots);
	*index = wider;
	return true;
}

bool address_index_put(struct address_index *index, const struct address_entry *entry)
{
	if (!entry->start_avma)
		return true;
	if (!grow(index))
		return false;
	struct address_entry *slot = slot_of(index, entry->start_avma);
	index->used += slot->start_avma == 0;
	*slot = *entry;
	return true;
}

const struct address_entry *address_index_find(const struct address_index *index,
					       uint64_t start_avma)
{
	if (!start_avma || !index->slot_count)
		return NULL;
	const struct address_entry *slot = slot_of(index, start_avma);
	return slot->start_avma ? slot : NULL;
}

void address_index_clear(struct address_index *index)
{
	free(index->slots);
	*index = (struct address_index){ 0 };
}
