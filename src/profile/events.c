#include "profile/events.h"

#include "base/sort.h"
#include "base/status.h"

#include <stdlib.h>

const char *profile_event_key(enum profile_event_kind kind)
{
	static const char *const keys[] = {
#define X(name, key, text) [PROFILE_EVENT_##name] = key,
		PROFILE_EVENT_LIST(X)
#undef X
	};
	return (unsigned)kind < PROFILE_EVENT_COUNT ? keys[kind] : "";
}

const char *profile_event_text(enum profile_event_kind kind)
{
	static const char *const texts[] = {
#define X(name, key, text) [PROFILE_EVENT_##name] = text,
		PROFILE_EVENT_LIST(X)
#undef X
	};
	return (unsigned)kind < PROFILE_EVENT_COUNT ? texts[kind] : "";
}

void profile_events_clear(struct profile_events *events)
{
	vector_clear(&events->items);
	*events = (struct profile_events){ 0 };
}

int profile_events_sort(struct profile_events *events)
{
	const size_t count = events->items.count;
	if (count < 2)
		return 0;
	struct pair *pairs = calloc(count * 2, sizeof(*pairs));
	struct profile_event *sorted = calloc(count, sizeof(*sorted));
	const bool has_memory = pairs && sorted;
	for (size_t i = 0; has_memory && i < count; i++)
		pairs[i] = (struct pair){ events->items.items[i].time_ns, (uint32_t)i };
	if (has_memory) {
		sort_pairs(pairs, pairs + count, count);
		for (size_t i = 0; i < count; i++)
			sorted[i] = events->items.items[pairs[i].value];
		for (size_t i = 0; i < count; i++)
			events->items.items[i] = sorted[i];
	}
	free(pairs);
	free(sorted);
	return has_memory ? 0 : STATUS_NO_MEMORY;
}
