/* summary.h - how far the names of a profile can be trusted, in one line, and why
 * some samples have none.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "base/sink.h"
#include "profile/profile.h"
#include "report/ends.h"

/* Why samples are not exact: one entry a (trust, reason, object). */
struct report_reason {
	uint32_t trust; /* enum profile_trust */
	uint32_t reason;
	uint32_t object; /* string */
	uint64_t count;
};

enum { REPORT_EARLY_BUCKETS = 8 };

struct report_summary {
	uint64_t sample_count;
	uint64_t trust_counts[PROFILE_TRUST_COUNT]; /* of the leaf frames */
	VECTOR(struct report_reason) reasons;       /* most samples first */
	struct report_ends ends;
	/* Set by the caller: how early the early samples were. */
	uint64_t early_max_ns;
	uint64_t early_buckets[REPORT_EARLY_BUCKETS]; /* below 10 us, 100 us, ... 10 s, more */
};

int report_summary_build(struct report_summary *summary, const struct profile *profile,
			 uint32_t event);
void report_summary_clear(struct report_summary *summary);

/* "98.7 % exact, 0.9 % early (by up to 75 us), 0.4 % unknown of 10,456 samples of
 * cpu-clock in 8.0 s", without a newline.
 */
void report_trust_line(struct sink *out, const struct report_summary *summary,
		       const struct profile *profile, uint32_t event);

/* "75 us", "11.7 ms", "2.0 s" */
void report_put_duration(struct sink *out, uint64_t ns);

#endif
