#include "test.h"

#include "timeline/ladder.h"
#include "timeline/rankset.h"
#include "timeline/rects.h"

/* The structures below the timeline, each against the obvious way. */

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % limit;
}

static void a_ladder_finds_the_last_key_at_most(void **state)
{
	(void)state;
	static const uint32_t counts[] = { 0, 1, 2, 15, 16, 17, 255, 256, 257, 5000 };
	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		struct arena arena = { 0 };
		struct ladder ladder;
		/* Half the room stays empty. */
		uint64_t *keys = ladder_init(&ladder, &arena, counts[c] * 2);
		assert_non_null(keys);
		uint64_t key = 1;
		for (uint32_t i = 0; i < counts[c]; i++) {
			key += random_below(3);
			keys[i] = key;
		}
		ladder_seal(&ladder, counts[c]);
		int64_t at = -1;
		for (uint64_t k = 0; k <= key + 1; k++) {
			while (at + 1 < counts[c] && keys[at + 1] <= k)
				at++;
			assert_int_equal(ladder_at_most(&ladder, k), at);
		}
		assert_int_equal(ladder_at_most(&ladder, UINT64_MAX), (int64_t)counts[c] - 1);
		assert_int_equal(ladder_at_most(&ladder, UINT64_MAX - 1), (int64_t)counts[c] - 1);
		arena_clear(&arena);
	}
}

static void a_rankset_knows_the_member_below(void **state)
{
	(void)state;
	enum { CAPACITY = 64 * 64 + 70 };
	struct arena arena = { 0 };
	struct rankset set;
	static bool has[CAPACITY];
	assert_true(rankset_init(&set, &arena, CAPACITY));
	for (int step = 0; step < 4000; step++) {
		const uint32_t rank = (uint32_t)random_below(CAPACITY);
		/* Mostly emptied again, so that whole words are free at times. */
		if (random_below(step % 1000 < 300 ? 3 : 30) > 0) {
			rankset_remove(&set, rank);
			has[rank] = false;
		} else {
			rankset_add(&set, rank);
			has[rank] = true;
		}
		const uint32_t asked = (uint32_t)random_below(CAPACITY + 1);
		uint32_t below = RANKSET_NONE;
		for (uint32_t i = 0; i < asked; i++)
			below = has[i] ? i : below;
		assert_int_equal(rankset_below(&set, asked), below);
		assert_int_equal(rankset_has(&set, rank), has[rank]);
	}
	arena_clear(&arena);
}

enum { RECTS = 400 };

struct range {
	uint64_t start;
	uint64_t end;
};

static void build_rects(struct rects *rects, struct arena *arena, const struct range *ranges,
			uint32_t count)
{
	struct rect_ranges room;
	assert_true(rect_ranges_init(&room, arena, count));
	uint64_t *begins = ladder_init(&rects->begins, arena, count);
	assert_non_null(begins);
	for (uint32_t i = 0; i < count; i++) {
		room.starts[i] = (struct pair){ ranges[i].start, i };
		room.ends[i] = (struct pair){ ranges[i].end, i };
		begins[i] = i / 2;
	}
	ladder_seal(&rects->begins, count);
	rects->rect_count = count;
	assert_true(rects_rank(rects, arena, &room));
	assert_true(rects_index(rects, arena, room.spans, true));
}

static void check_around(const struct rects *rects, const struct range *ranges, uint64_t avma,
			 uint32_t rect)
{
	struct rect_neighbours want = { RECT_NONE, RECT_NONE };
	for (uint32_t i = 0; i < rects->rect_count; i++) {
		if (avma < ranges[i].start || avma >= ranges[i].end)
			continue;
		if (i < rect)
			want.at_or_before = i;
		else if (want.after == RECT_NONE)
			want.after = i;
	}
	const struct rect_neighbours got = rects_around(rects, avma, rect);
	assert_int_equal(got.at_or_before, want.at_or_before);
	assert_int_equal(got.after, want.after);
}

static void check_first_over(const struct rects *rects, const struct range *ranges, uint64_t start,
			     uint64_t end)
{
	uint32_t want = RECT_NONE;
	for (uint32_t i = 0; i < rects->rect_count && want == RECT_NONE; i++) {
		const bool is_empty = ranges[i].start == ranges[i].end;
		if (!is_empty && ranges[i].start < end && start < ranges[i].end && start < end)
			want = i;
	}
	assert_int_equal(rects_first_over(rects, start, end), want);
}

static void rectangles_are_found_by_address_and_number(void **state)
{
	(void)state;
	/* Mostly small ranges, mostly large ones, wide gaps between, and few of them. */
	static const struct {
		uint32_t count;
		uint64_t size;
		uint64_t space;
	} kinds[] = {
		{ RECTS, 6, 1000 }, { RECTS, 900, 1000 }, { RECTS, 3, 5000 }, { 20, 30, 100 }
	};
	for (size_t k = 0; k < 200; k++) {
		const uint32_t count = kinds[k % 4].count;
		const uint64_t space = kinds[k % 4].space;
		struct arena arena = { 0 };
		struct rects rects = { 0 };
		struct range ranges[RECTS];
		for (uint32_t i = 0; i < count; i++) {
			ranges[i].start = 100 + random_below(space);
			ranges[i].end = ranges[i].start + random_below(kinds[k % 4].size);
		}
		build_rects(&rects, &arena, ranges, count);
		for (int i = 0; i < 1000; i++) {
			const uint64_t avma = 90 + random_below(space + kinds[k % 4].size + 20);
			check_around(&rects, ranges, avma, (uint32_t)random_below(count + 1));
			check_first_over(&rects, ranges, avma,
					 avma + random_below(i % 2 ? 9 : space));
		}
		assert_int_equal(rects_begun(&rects, 0), 2);
		assert_int_equal(rects_begun(&rects, 5), 12);
		assert_int_equal(rects_begun(&rects, UINT64_MAX - 1), count);
		check_first_over(&rects, ranges, 0, UINT64_MAX);
		arena_clear(&arena);
	}
}

static void a_segment_is_found_by_where_it_begins(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	struct rects rects = { 0 };
	struct range ranges[RECTS];
	for (uint64_t i = 0; i < RECTS; i++)
		ranges[i] = (struct range){ 10 * i, 10 * i + 5 };
	build_rects(&rects, &arena, ranges, RECTS);
	assert_int_equal(rects.segment_count, 2 * RECTS - 1);
	assert_int_equal(rects_segment_from(&rects, 0), 0);
	assert_int_equal(rects_segment_from(&rects, 25), 5);
	assert_int_equal(rects_segment_from(&rects, 26), RECT_NONE);
	/* The last edge begins nothing. */
	assert_int_equal(rects_segment_from(&rects, 10 * (RECTS - 1) + 5), RECT_NONE);
	arena_clear(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ladder_finds_the_last_key_at_most),
		cmocka_unit_test(a_rankset_knows_the_member_below),
		cmocka_unit_test(rectangles_are_found_by_address_and_number),
		cmocka_unit_test(a_segment_is_found_by_where_it_begins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
