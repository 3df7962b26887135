#include "agent/jvmti/told_classes.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024, LIMIT = 1 << 20 };

static struct told_class *find(const struct told_classes *classes, uint64_t id)
{
	size_t at = (size_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (classes->slot_count - 1);
	while (classes->slots[at].id && classes->slots[at].id != id)
		at = (at + 1) & (classes->slot_count - 1);
	return &classes->slots[at];
}

/* Classes that went are left behind when the table grows. */
static bool grow(struct told_classes *classes)
{
	if (classes->used * 2 < classes->slot_count)
		return true;
	struct told_classes wider = {
		.slot_count = classes->slot_count ? classes->slot_count * 2 : FIRST_SLOTS,
	};
	if (classes->used >= LIMIT)
		return false;
	wider.slots = calloc(wider.slot_count, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < classes->slot_count; i++) {
		const struct told_class *told = &classes->slots[i];
		if (!told->method_avma)
			continue;
		*find(&wider, told->id) = *told;
		wider.used++;
	}
	free(classes->slots);
	*classes = wider;
	return true;
}

bool told_classes_put(struct told_classes *classes, const struct told_class *told)
{
	if (!told->id || !grow(classes))
		return false;
	struct told_class *slot = find(classes, told->id);
	classes->used += slot->id == 0;
	*slot = *told;
	return true;
}

uint64_t told_classes_get(const struct told_classes *classes, uint64_t id)
{
	return classes->slot_count && id ? find(classes, id)->method_avma : 0;
}

void told_classes_clear(struct told_classes *classes)
{
	free(classes->slots);
	*classes = (struct told_classes){ 0 };
}
