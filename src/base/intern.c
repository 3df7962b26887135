#include "base/intern.h"

#include "base/hash.h"

#include <stdlib.h>

static bool same(struct bytes a, struct bytes b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static uint64_t hash_of(struct bytes text)
{
	return hash_bytes(text.data, text.size, 0);
}

static bool grow(struct intern *in)
{
	const size_t count = in->slot_count ? in->slot_count * 2 : 64;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < in->texts.count; i++) {
		size_t at = hash_of(in->texts.items[i]) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)(i + 1);
	}
	free(in->slots);
	in->slots = slots;
	in->slot_count = count;
	return true;
}

uint32_t intern_bytes(struct intern *in, struct bytes text)
{
	if (!text.size)
		return 0;
	if (in->texts.count * 2 >= in->slot_count && !grow(in))
		return INTERN_NONE;
	size_t at = hash_of(text) & (in->slot_count - 1);
	for (; in->slots[at]; at = (at + 1) & (in->slot_count - 1))
		if (same(in->texts.items[in->slots[at] - 1], text))
			return in->slots[at];

	if (in->texts.count >= INTERN_NONE - 1)
		return INTERN_NONE;
	uint8_t *copy = arena_new(&in->arena, uint8_t, text.size + 1);
	struct bytes *item = copy ? vector_push(&in->texts) : NULL;
	if (!item)
		return INTERN_NONE;
	memcpy(copy, text.data, text.size);
	*item = (struct bytes){ .data = copy, .size = text.size };
	in->slots[at] = (uint32_t)in->texts.count;
	return in->slots[at];
}

uint32_t intern_text(struct intern *in, const char *text)
{
	return intern_bytes(in, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

struct bytes intern_get_bytes(const struct intern *in, uint32_t id)
{
	if (id == 0 || id > in->texts.count)
		return (struct bytes){ .data = (const uint8_t *)"", .size = 0 };
	return in->texts.items[id - 1];
}

const char *intern_get(const struct intern *in, uint32_t id)
{
	return (const char *)intern_get_bytes(in, id).data;
}

void intern_clear(struct intern *in)
{
	arena_clear(&in->arena);
	vector_clear(&in->texts);
	free(in->slots);
	*in = (struct intern){ 0 };
}
