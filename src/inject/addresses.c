#include "inject/addresses.h"

enum { WORD = sizeof(uint64_t), UNWIND_LIMIT = 512, BRANCH_SIZE = 24 };

struct walk {
	struct load_place place;
	int (*each)(void *context, const struct load_place *place);
	void *context;
	bool has_callers;
};

/* Neither the marks in chains nor, in branches and data, the last page of all are user space. */
static int see(struct walk *walk, uint64_t avma)
{
	walk->place.avma = avma;
	return avma < PERFDATA_CONTEXT_MAX ? walk->each(walk->context, &walk->place) : 0;
}

static int walk_chain(struct walk *walk, const struct perfdata_sample *sample)
{
	bool is_user = sample->cpumode == PERFDATA_CPUMODE_USER;
	int got = 0;
	walk->place.is_return = false;
	for (size_t i = 0; got == 0 && i < sample->chain_count; i++) {
		memcpy(&walk->place.avma, sample->chain + i * WORD, WORD);
		if (walk->place.avma >= PERFDATA_CONTEXT_MAX) {
			is_user = walk->place.avma == PERFDATA_CONTEXT_USER ||
				  walk->place.avma == PERFDATA_CONTEXT_USER_DEFERRED;
			walk->place.is_return = false;
			continue;
		}
		if (!is_user)
			continue;
		got = walk->each(walk->context, &walk->place);
		walk->has_callers |= walk->place.is_return;
		walk->place.is_return = true;
	}
	return got;
}

static int walk_stack(struct walk *walk, struct load *load, const struct perfdata_sample *sample)
{
	uint64_t avmas[UNWIND_LIMIT];
	const size_t count = load_unwound(load, sample, avmas, UNWIND_LIMIT);
	int got = 0;
	for (size_t i = 0; got == 0 && i < count; i++) {
		walk->place.is_return = i > 0;
		got = see(walk, avmas[i]);
	}
	return got;
}

/* From where to where: the first two words of each. */
static int walk_branches(struct walk *walk, struct load *load, const struct perfdata_record *record)
{
	struct perfdata_sample_extra extra;
	if (perfdata_decode_sample_extra(load_recording(load), record, &extra) < 0)
		return 0;
	int got = 0;
	for (size_t at = 0; got == 0 && at + BRANCH_SIZE <= extra.branches.size; at += BRANCH_SIZE)
		for (size_t word = 0; got == 0 && word < 2; word++) {
			uint64_t avma;
			memcpy(&avma, extra.branches.data + at + word * WORD, WORD);
			got = see(walk, avma);
		}
	return got;
}

int addresses_walk(struct load *load, const struct perfdata_record *record,
		   const struct perfdata_sample *sample,
		   int (*each)(void *context, const struct load_place *place), void *context)
{
	struct walk walk = { .place = { .pid = sample->pid, .time_ns = sample->time_ns },
			     .each = each,
			     .context = context };
	if (sample->pid == UINT32_MAX) /* the task had gone */
		return 0;
	int got = walk_chain(&walk, sample);
	if (got == 0 && !walk.has_callers && sample->user_stack.size)
		got = walk_stack(&walk, load, sample);
	walk.place.is_return = false;
	if (got == 0 && sample->cpumode == PERFDATA_CPUMODE_USER)
		got = see(&walk, sample->ip_avma);
	if (got == 0 && sample->addr)
		got = see(&walk, sample->addr);
	if (got == 0 && sample->present & PERFDATA_SAMPLE_BRANCH_STACK)
		got = walk_branches(&walk, load, record);
	return got;
}
