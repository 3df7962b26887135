/* events.h - the code events of a run as a part of the page: docs/page.md lists the columns.
 *
 *   struct page_events told = { .side = &side, .events = &events };
 *   const struct page_part part = page_events_part(&told);       for page.parts
 *
 * All are counted by bucket of time, kind and level, and by function; one by one at most
 * PAGE_EVENTS are in the page: those that fell back first, then those of functions that have
 * samples. Borrows both.
 */
#ifndef PAGE_EVENTS_H
#define PAGE_EVENTS_H

#include "page/page.h"
#include "profile/events.h"

enum {
	PAGE_EVENTS = 50 * 1000,
	PAGE_CHANGED = 2000, /* functions that were compiled several times, or fell back */
};

struct page_events {
	const struct page_side *side;
	const struct profile_events *events;
};

struct page_part page_events_part(struct page_events *told);

#endif
