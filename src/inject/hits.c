#include "inject/hits.h"

#include "base/status.h"
#include "inject/addresses.h"
#include "inject/place_answer.h"

#include <stdlib.h>

enum { KNOWN = 1 << 14 };

struct search {
	struct load *load;
	hit_marks *hits;
	struct place_answer *known; /* owners that are marked */
};

/* There may be one more now. */
static int reach(hit_marks *hits, uint32_t count)
{
	while (hits->count < count) {
		uint8_t *slot = vector_push(hits);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = 0;
	}
	return 0;
}

static int look_up(void *context, const struct load_place *place)
{
	struct search *search = context;
	struct place_answer *known = &search->known[place_answer_slot(place) & (KNOWN - 1)];
	if (place_answer_holds(known, place))
		return 0;
	struct load_owner owner;
	int got = load_owner_at(search->load, place, &owner);
	if (got == 0 && owner.kind == LOAD_OWNER_CODE)
		got = reach(search->hits, owner.code + 1);
	if (got < 0)
		return got;
	if (owner.kind == LOAD_OWNER_CODE)
		search->hits->items[owner.code] = 1;
	*known = place_answer_of(place, &owner);
	return 0;
}

int hits_find(struct load *load, hit_marks *hits)
{
	struct perfdata *perf = load_recording(load);
	struct perfdata_record record;
	struct perfdata_sample sample;
	struct search search = { load, hits, calloc(KNOWN, sizeof(*search.known)) };
	int got = search.known ? 0 : STATUS_NO_MEMORY;
	load_find_methods(load, true);
	perfdata_rewind(perf);
	while (got == 0 && load_next(load, &record, "code in use") > 0)
		if (record.type == PERFDATA_SAMPLE &&
		    perfdata_decode_sample(perf, &record, &sample) == 0)
			got = addresses_walk(load, &record, &sample, look_up, &search);
	load_find_methods(load, false);
	free(search.known);
	return got == 0 ? reach(hits, load_code_count(load)) : got;
}
