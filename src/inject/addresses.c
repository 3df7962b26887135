#include "inject/addresses.h"

enum { WORD = sizeof(uint64_t), UNWIND_LIMIT = 512 };

struct walk {
	struct load_place place;
	int (*each)(void *context, const struct load_place *place);
	void *context;
	bool has_callers;
};

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

int addresses_walk(struct load *load, const struct perfdata_sample *sample,
		   int (*each)(void *context, const struct load_place *place), void *context)
{
	struct walk walk = { .place = { .pid = sample->pid, .time_ns = sample->time_ns },
			     .each = each,
			     .context = context };
	int got = walk_chain(&walk, sample);
	if (got == 0 && sample->cpumode == PERFDATA_CPUMODE_USER) {
		walk.place.avma = sample->ip_avma;
		walk.place.is_return = false;
		got = each(context, &walk.place);
	}
	if (got || walk.has_callers || !sample->user_stack.size)
		return got;
	uint64_t avmas[UNWIND_LIMIT];
	const size_t count = load_unwound(load, sample, avmas, UNWIND_LIMIT);
	for (size_t i = 0; got == 0 && i < count; i++) {
		walk.place.avma = avmas[i];
		walk.place.is_return = i > 0;
		got = each(context, &walk.place);
	}
	return got;
}
