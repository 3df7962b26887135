/* ends.h - where stacks end, and how many of them are whole.
 *
 *   struct report_ends ends = { 0 };
 *   report_ends_count(&ends, profile, &profile->rows.items[i]);      for each row
 *   report_ends_sort(&ends);
 *   report_ends_line(&out, &ends, profile);
 *   report_ends_clear(&ends);
 *
 * Only stacks that were unwound from a dump have an end to speak of: what the kernel
 * followed by frame pointers does not say why it ends.
 */
#ifndef REPORT_ENDS_H
#define REPORT_ENDS_H

#include "base/sink.h"
#include "profile/profile.h"

/* Stacks that end early in one function. */
struct report_end_place {
	uint32_t end;    /* enum profile_end */
	uint32_t object; /* string */
	uint32_t name;   /* string: of the outermost function that was found; "" where there is none
			  */
	uint64_t count;  /* of samples */
};

struct report_ends {
	uint64_t dumped_count; /* samples whose stack was dumped */
	uint64_t counts[PROFILE_END_COUNT];
	VECTOR(struct report_end_place) places; /* as far as they are not whole */
};

/* False without memory. */
bool report_ends_count(struct report_ends *ends, const struct profile *profile,
		       const struct profile_row *row);
/* Most samples first. */
void report_ends_sort(struct report_ends *ends);
void report_ends_clear(struct report_ends *ends);

/* "stacks: 98.7 % whole, 1.3 % cut off by the size of the dump (-g dwarf,65528 takes more)" and a
 * newline; nothing where no stack was dumped.
 */
void report_ends_line(struct sink *out, const struct report_ends *ends,
		      const struct profile *profile);

/* The places with most samples, as lines of a text report. */
void report_ends_places(struct sink *out, const struct report_ends *ends,
			const struct profile *profile);

/* "stack_ends":{"whole":98,...},"ends_early":[{...}] */
void report_ends_json(struct sink *out, const struct report_ends *ends,
		      const struct profile *profile);

#endif
