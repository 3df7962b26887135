#include "inject/hits.h"

#include "base/hash.h"
#include "base/status.h"
#include "inject/addresses.h"

#include <stdlib.h>

enum { KNOWN = 1 << 14 };

/* An address whose owner is marked, as long as it has it. */
struct known {
	uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
	uint32_t pid;
	bool is_return;
};

struct search {
	struct load *load;
	uint8_t *hits;
	struct known *known;
};

static int look_up(void *context, const struct load_place *place)
{
	struct search *search = context;
	const uint64_t hash = hash_mix(place->avma, ((uint64_t)place->pid << 1) | place->is_return);
	struct known *known = &search->known[hash & (KNOWN - 1)];
	if (known->avma == place->avma && known->pid == place->pid &&
	    known->is_return == place->is_return && place->time_ns >= known->valid_from_ns &&
	    place->time_ns < known->valid_to_ns)
		return 0;
	struct load_owner owner;
	const int got = load_owner_at(search->load, place, &owner);
	if (got < 0)
		return got;
	if (owner.kind == LOAD_OWNER_CODE)
		search->hits[owner.code] = 1;
	*known = (struct known){ .avma = place->avma,
				 .valid_from_ns = owner.valid_from_ns,
				 .valid_to_ns = owner.valid_to_ns,
				 .pid = place->pid,
				 .is_return = place->is_return };
	return 0;
}

int hits_find(struct load *load, uint8_t *hits)
{
	struct perfdata *perf = load_recording(load);
	struct perfdata_record record;
	struct perfdata_sample sample;
	struct search search = { load, hits, calloc(KNOWN, sizeof(*search.known)) };
	int got = search.known ? 0 : STATUS_NO_MEMORY;
	perfdata_rewind(perf);
	while (got == 0 && perfdata_next(perf, &record) > 0)
		if (record.type == PERFDATA_SAMPLE &&
		    perfdata_decode_sample(perf, &record, &sample) == 0)
			got = addresses_walk(load, &record, &sample, look_up, &search);
	free(search.known);
	return got;
}
