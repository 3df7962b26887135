/* build.h - short ways to say what happened, for the tests of the timeline.
 *
 * Drawings in the tests: address goes up, time to the right, one column a
 * nanosecond group; letters are objects.
 */
#ifndef TESTS_TIMELINE_BUILD_H
#define TESTS_TIMELINE_BUILD_H

#include "test.h"

#include "timeline/timeline.h"

enum { PID = 7, SKEW_NS = 10 };

/* NOLINTBEGIN(readability-function-size): many small numbers, and each test reads as a table. */

/* Objects are written as letters. */
static inline struct timeline *new_timeline(void)
{
	struct timeline *tl = timeline_new(&(struct timeline_options){ .skew_ns = SKEW_NS });
	assert_non_null(tl);
	return tl;
}

static inline void load_in(struct timeline *tl, uint32_t pid, char object, uint64_t time_ns,
			   uint64_t start, uint64_t size)
{
	assert_int_equal(timeline_load(tl, pid,
				       &(struct timeline_load){ .start_avma = start,
								.size = size,
								.earliest_ns = time_ns,
								.time_ns = time_ns,
								.latest_ns = time_ns,
								.object = (uint32_t)object }),
			 0);
}

static inline void load(struct timeline *tl, char object, uint64_t time_ns, uint64_t start,
			uint64_t size)
{
	load_in(tl, PID, object, time_ns, start, size);
}

/* times: earliest, best, latest. */
static inline void load_between(struct timeline *tl, char object, const uint64_t times[3],
				uint64_t start, uint64_t size)
{
	assert_int_equal(timeline_load(tl, PID,
				       &(struct timeline_load){ .start_avma = start,
								.size = size,
								.earliest_ns = times[0],
								.time_ns = times[1],
								.latest_ns = times[2],
								.object = (uint32_t)object }),
			 0);
}

static inline void untimed_in(struct timeline *tl, uint32_t pid, char object, uint64_t start,
			      uint64_t size)
{
	assert_int_equal(timeline_untimed(tl, pid,
					  &(struct timeline_load){ .start_avma = start,
								   .size = size,
								   .object = (uint32_t)object }),
			 0);
}

static inline void map_in(struct timeline *tl, uint32_t pid, char object, uint64_t time_ns,
			  uint64_t start, uint64_t size)
{
	assert_int_equal(timeline_map(tl, pid, time_ns,
				      &(struct timeline_mapping){ .start_avma = start,
								  .size = size,
								  .file_off = start / 2,
								  .object = (uint32_t)object }),
			 0);
}

static inline struct timeline_hit find_in(const struct timeline *tl, uint32_t pid, uint64_t time_ns,
					  uint64_t avma)
{
	struct timeline_hit hit;
	timeline_find(tl, pid, avma, time_ns, &hit);
	assert_true(hit.valid_from_ns <= time_ns && time_ns < hit.valid_to_ns);
	return hit;
}

static inline void expect_in(const struct timeline *tl, uint32_t pid, uint64_t time_ns,
			     uint64_t avma, enum timeline_trust trust, char object)
{
	const struct timeline_hit hit = find_in(tl, pid, time_ns, avma);
	assert_int_equal(hit.trust, trust);
	if (trust == TRUST_UNKNOWN)
		assert_int_equal(hit.layer, LAYER_NONE);
	else
		assert_int_equal(hit.object, object);
}

/* At a time and address: this trust, this object. */
static inline void expect(const struct timeline *tl, uint64_t time_ns, uint64_t avma,
			  enum timeline_trust trust, char object)
{
	expect_in(tl, PID, time_ns, avma, trust, object);
}

/* The further owners of an ambiguous answer, one letter each, in order. */
static inline void expect_others(const struct timeline *tl, uint64_t time_ns, uint64_t avma,
				 const char *others)
{
	uint32_t object;
	uint32_t count = 0;
	for (; others[count]; count++) {
		assert_true(timeline_other(tl, PID, avma, time_ns, count, &object));
		assert_int_equal(object, others[count]);
	}
	assert_false(timeline_other(tl, PID, avma, time_ns, count, &object));
	assert_int_equal(find_in(tl, PID, time_ns, avma).other_count, count);
}

/* NOLINTEND(readability-function-size) */

static inline void seal(struct timeline *tl)
{
	assert_int_equal(timeline_seal(tl), 0);
}

#endif
