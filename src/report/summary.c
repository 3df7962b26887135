#include "report/summary.h"

#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REASON_LIMIT = 256 };

static int count_reason(struct report_summary *summary, const struct report_reason *seen)
{
	for (size_t i = 0; i < summary->reasons.count; i++) {
		struct report_reason *r = &summary->reasons.items[i];
		if (r->trust != seen->trust || r->reason != seen->reason ||
		    r->object != seen->object)
			continue;
		r->count += seen->count;
		return 0;
	}
	if (summary->reasons.count >= REASON_LIMIT)
		return 0;
	struct report_reason *r = vector_push(&summary->reasons);
	if (!r)
		return STATUS_NO_MEMORY;
	*r = *seen;
	return 0;
}

static int by_count(const void *left, const void *right)
{
	const struct report_reason *a = left;
	const struct report_reason *b = right;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->reason < b->reason ? -1 : a->reason > b->reason;
}

int report_summary_build(struct report_summary *summary, const struct profile *profile,
			 uint32_t event)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		if (row->event != event)
			continue;
		const struct profile_stack *stack = &profile->stacks.items[row->stack];
		summary->sample_count += row->count;
		struct report_reason seen = { .trust = PROFILE_UNKNOWN, .count = row->count };
		if (stack->depth) {
			const uint32_t leaf = profile->frame_ids.items[stack->first];
			const struct profile_frame *frame = &profile->frames.items[leaf];
			seen.trust = frame->trust;
			seen.reason = frame->reason;
			seen.object = profile->functions.items[frame->function].object;
		}
		summary->trust_counts[seen.trust] += row->count;
		if (!report_ends_count(&summary->ends, profile, row) ||
		    (seen.trust != PROFILE_EXACT && count_reason(summary, &seen) < 0))
			return STATUS_NO_MEMORY;
	}
	report_ends_sort(&summary->ends);
	if (summary->reasons.count)
		qsort(summary->reasons.items, summary->reasons.count,
		      sizeof(summary->reasons.items[0]), by_count);
	return 0;
}

void report_summary_clear(struct report_summary *summary)
{
	vector_clear(&summary->reasons);
	report_ends_clear(&summary->ends);
}

void report_put_duration(struct sink *out, uint64_t ns)
{
	if (ns < 1000000)
		sink_printf(out, "%" PRIu64 " us", ns / 1000);
	else if (ns < 1000000000)
		sink_printf(out, "%.1f ms", (double)ns / 1e6);
	else
		sink_printf(out, "%.1f s", (double)ns / 1e9);
}

static void put_shares(struct sink *out, const struct report_summary *summary)
{
	const char *separator = "";
	for (int trust = 0; trust < PROFILE_TRUST_COUNT; trust++) {
		const uint64_t count = summary->trust_counts[trust];
		if (!count && trust != PROFILE_EXACT)
			continue;
		sink_printf(out, "%s%.1f %% %s", separator,
			    100.0 * (double)count / (double)summary->sample_count,
			    profile_trust_name((enum profile_trust)trust));
		separator = ", ";
		if (trust == PROFILE_EARLY && summary->early_max_ns) {
			sink_text(out, " (by up to ");
			report_put_duration(out, summary->early_max_ns);
			sink_text(out, ")");
		}
	}
}

void report_trust_line(struct sink *out, const struct report_summary *summary,
		       const struct profile *profile, uint32_t event)
{
	if (summary->sample_count) {
		put_shares(out, summary);
		sink_text(out, " of ");
		sink_grouped(out, summary->sample_count);
		sink_text(out, " samples of ");
	} else {
		sink_text(out, "no samples of ");
	}
	sink_text(out, event < profile->events.count
			   ? profile_text(profile, profile->events.items[event])
			   : "unknown");
	if (profile->last_ns > profile->first_ns) {
		sink_text(out, " in ");
		report_put_duration(out, profile->last_ns - profile->first_ns);
	}
	if (profile->lost_count) {
		sink_text(out, ", ");
		sink_grouped(out, profile->lost_count);
		sink_text(out, " lost");
	}
}
