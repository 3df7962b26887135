#include "base/idmap.h"

#include "base/hash.h"

#include <stdlib.h>

enum { FIRST_COUNT = 64 };

static struct idmap_slot *slot_of(const struct idmap *map, uint64_t key)
{
	size_t at = hash_mix(key, 0) & (map->slot_count - 1);
	while (map->slots[at].is_used && map->slots[at].key != key)
		at = (at + 1) & (map->slot_count - 1);
	return &map->slots[at];
}

static int grow(struct idmap *map)
{
	struct idmap wider = { .slot_count = map->slot_count ? map->slot_count * 2 : FIRST_COUNT,
			       .used = map->used };
	wider.slots = calloc(wider.slot_count, sizeof(*wider.slots));
	if (!wider.slots)
		return 0;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].is_used)
			*slot_of(&wider, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = wider;
	return 1;
}

uint32_t *idmap_put(struct idmap *map, uint64_t key)
{
	if (map->used * 2 >= map->slot_count && !grow(map))
		return NULL;
	struct idmap_slot *slot = slot_of(map, key);
	map->used += !slot->is_used;
	slot->key = key;
	slot->is_used = 1;
	return &slot->value;
}

uint32_t idmap_get(const struct idmap *map, uint64_t key)
{
	return map->slot_count ? slot_of(map, key)->value : 0;
}

void idmap_clear(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ 0 };
}
