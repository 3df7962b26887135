#include "load/merged.h"

#include "base/status.h"
#include "load/dumped.h"
#include "load/load_internal.h"
#include "load/stacks.h"

bool merged_is_event(const struct load *load, size_t event)
{
	return stacks_is_event(load, event);
}

bool merged_is_needed(const struct load *load)
{
	size_t others = 0;
	for (size_t i = 0; i < perfdata_event_count(load->perf); i++)
		others += !stacks_is_event(load, i);
	return others && (others < perfdata_event_count(load->perf) || load->dumped);
}

/* Has the sample frames of interpreters, of either origin? */
static bool has_frames(struct load *load, const struct perfdata_sample *sample, uint32_t space)
{
	struct stacks_found found;
	bool is_any;
	if (stacks_wait_for(load, sample, &is_any)) {
		/* One without frames says nothing, and must not wait for another sample. */
		if (!is_any)
			(void)stacks_take(load, sample, &found);
		return is_any;
	}
	return dumped_take(load, sample, space, &found) && found.items[0].frame_count;
}

int merged_begin(struct load *load, struct profile *profile)
{
	return load_walk_begin(load, profile);
}

int merged_sample(struct load *load, const struct perfdata_sample *sample, struct merged *merged)
{
	*merged = (struct merged){ .kind = MERGED_PLAIN };
	if (stacks_is_record(load, sample)) {
		merged->kind = MERGED_RECORD;
		return stacks_keep(load, sample);
	}
	uint64_t from_ns;
	uint64_t to_ns;
	const uint32_t space =
	    timeline_space(load->timeline, sample->pid, sample->time_ns, &from_ns, &to_ns);
	if (!has_frames(load, sample, space))
		return 0;
	const int got = load_chain(load, sample, space, &merged->stack);
	if (got == 0)
		merged->kind = MERGED_STACK;
	return got;
}

void merged_rewind(struct load *load)
{
	stacks_forget(load);
	perfdata_rewind(load->perf);
}

int merged_end(struct load *load)
{
	return load_walk_end(load, 0);
}

uint64_t merged_time_ns(struct load *load, const struct perfdata_record *record)
{
	return stacks_time_ns(load, record);
}
