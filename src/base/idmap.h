/* idmap.h - small numbers by 64-bit keys.
 *
 *   struct idmap map = { 0 };
 *   uint32_t *slot = idmap_put(&map, pid);     0 where the key is new; NULL without memory
 *   if (slot && !*slot)
 *           *slot = make() + 1;
 *   uint32_t value = idmap_get(&map, pid);     0 where it is not there
 *   idmap_clear(&map);
 *
 * Zero-initialise to use. A slot is good until the next put. One thread.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key;
	uint32_t value;
	uint32_t is_used;
};

struct idmap {
	struct idmap_slot *slots;
	size_t slot_count; /* 0 or a power of two */
	size_t used;
};

uint32_t *idmap_put(struct idmap *map, uint64_t key);
uint32_t idmap_get(const struct idmap *map, uint64_t key);
void idmap_clear(struct idmap *map);

#endif
