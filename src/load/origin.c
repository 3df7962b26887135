#include "load/origin.h"

void origin_see(struct origins *origins, uint32_t function, uint32_t pid,
		const struct origin_place *place)
{
	if (function >= origins->items.count)
		return;
	struct origin *origin = &origins->items.items[function];
	if (!origin->was_seen || place->time_ns < origin->first.time_ns)
		origin->first = *place;
	if (!origin->was_seen || place->time_ns >= origin->last.time_ns)
		origin->last = *place;
	if (!origin->was_seen)
		origin->pid = pid;
	origin->was_seen = true;
}
