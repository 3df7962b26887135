#include "load/tally.h"

#include "base/status.h"
#include "load/chain.h"
#include "profile/weight.h"

#include <stdlib.h>

enum { BATCH = 16 };

/* Samples of one chain, thread and event. */
struct counter {
	uint32_t chain; /* its id; 0: free */
	uint32_t thread;
	uint32_t event;
	uint32_t stack;
	uint64_t count;
	uint64_t weight;
};

struct waiting {
	struct perfdata_sample sample;
	struct chain chain;
	struct counter counter; /* the sample as a counter of one */
	size_t slot;            /* where to begin to look for it */
};

struct tally {
	struct waiting batch[BATCH];
	size_t waiting;
	struct counter *counters;
	size_t slot_count;
	size_t used;
};

static size_t slot_of(const struct tally *tally, const struct counter *c)
{
	return hash_mix(((uint64_t)c->chain << 32) | c->thread, c->event) & (tally->slot_count - 1);
}

static struct counter *find(const struct tally *tally, const struct counter *key, size_t slot)
{
	for (; tally->counters[slot].chain; slot = (slot + 1) & (tally->slot_count - 1)) {
		const struct counter *c = &tally->counters[slot];
		if (c->chain == key->chain && c->thread == key->thread && c->event == key->event)
			break;
	}
	return &tally->counters[slot];
}

/* Room for a batch more, so that slots stay where they are while one is counted. */
static bool grow(struct tally *tally)
{
	if ((tally->used + BATCH) * 2 < tally->slot_count)
		return true;
	struct tally wider = { .slot_count = tally->slot_count ? tally->slot_count * 2 : 1024 };
	wider.counters = calloc(wider.slot_count, sizeof(*wider.counters));
	if (!wider.counters)
		return false;
	for (size_t i = 0; i < tally->slot_count; i++) {
		const struct counter *c = &tally->counters[i];
		if (c->chain)
			*find(&wider, c, slot_of(&wider, c)) = *c;
	}
	free(tally->counters);
	tally->counters = wider.counters;
	tally->slot_count = wider.slot_count;
	return true;
}

struct perfdata_sample *tally_next(struct load *load)
{
	if (!load->tally)
		load->tally = calloc(1, sizeof(*load->tally));
	return load->tally ? &load->tally->batch[load->tally->waiting].sample : NULL;
}

static int flush(struct load *load)
{
	struct tally *tally = load->tally;
	if (!grow(tally))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < tally->waiting; i++) {
		struct waiting *w = &tally->batch[i];
		struct cached_chain found;
		const int got = chain_find(load, &w->sample, &w->chain, &found);
		if (got < 0)
			return got;
		w->counter.chain = found.id;
		w->counter.stack = found.stack;
		w->slot = slot_of(tally, &w->counter);
		__builtin_prefetch(&tally->counters[w->slot], 1);
		if (found.is_early)
			load_count_early(load, found.stack, w->sample.time_ns);
	}
	for (size_t i = 0; i < tally->waiting; i++) {
		const struct waiting *w = &tally->batch[i];
		struct counter *counter = find(tally, &w->counter, w->slot);
		if (!counter->chain) {
			*counter = w->counter;
			tally->used++;
		}
		counter->count++;
		counter->weight = weight_sum(counter->weight, w->sample.period);
	}
	tally->waiting = 0;
	return 0;
}

int tally_add(struct load *load, uint32_t space, uint32_t thread, bool is_stable)
{
	struct tally *tally = load->tally;
	struct waiting *w = &tally->batch[tally->waiting];
	const int got = chain_prepare(load, &w->sample, space, &w->chain);
	if (got < 0)
		return got;
	w->counter = (struct counter){ .thread = thread, .event = (uint32_t)w->sample.event };
	tally->waiting++;
	const bool must_go = !is_stable || w->chain.is_built || tally->waiting == BATCH;
	return must_go ? flush(load) : 0;
}

int tally_finish(struct load *load)
{
	if (!load->tally)
		return 0;
	const int got = flush(load);
	const struct tally *tally = load->tally;
	for (size_t i = 0; got == 0 && i < tally->slot_count; i++) {
		const struct counter *counter = &tally->counters[i];
		const struct profile_row row = {
			.thread = counter->thread,
			.event = counter->event,
			.stack = counter->stack,
			.count = counter->count,
			.weight = counter->weight,
		};
		if (counter->chain && profile_add(load->profile, &row) == INTERN_NONE)
			return STATUS_NO_MEMORY;
	}
	return got;
}

void tally_free(struct load *load)
{
	if (load->tally)
		free(load->tally->counters);
	free(load->tally);
	load->tally = NULL;
}
