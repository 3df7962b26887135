/* Rows against a naive sum: whatever is joined, nothing is lost, and the limits hold. */
#include "page/rows.h"

#include "base/status.h"
#include "failing_memory.h"
#include "test.h"

#include <stdlib.h>

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 20) % limit;
}

static struct page_row sum_of(const struct page_rows *rows)
{
	struct page_row sum = { 0 };
	for (size_t i = 0; i < rows->items.count; i++) {
		sum.count += rows->items.items[i].count;
		sum.weight += rows->items.items[i].weight;
	}
	return sum;
}

static bool is_before(const struct page_row *a, const struct page_row *b)
{
	const uint32_t keys[][2] = { { a->event, b->event },
				     { a->bucket, b->bucket },
				     { a->thread, b->thread },
				     { a->node, b->node } };
	for (size_t i = 0; i < 4; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1];
	return false;
}

enum { SAMPLES = 3000, START_NS = 1000000000 };

/* Each row is the sum of the samples of its key; every sample is in one. */
static void test_model(void **state)
{
	(void)state;
	static struct page_sample samples[SAMPLES];
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct page_rows rows = { 0 };
		random_state = seed;
		const uint64_t length_ns = (uint64_t)1 << (20 + random_below(30));
		for (size_t i = 0; i < SAMPLES; i++) {
			samples[i] = (struct page_sample){
				.time_ns = i ? START_NS + random_below(length_ns) : START_NS,
				.thread = (uint32_t)random_below(3),
				.event = (uint32_t)random_below(2),
				.node = (uint32_t)random_below(20),
				.count = 1 + random_below(2),
				.weight = random_below(1000000),
			};
			assert_int_equal(page_rows_add(&rows, &samples[i]), 0);
		}
		page_rows_sort(&rows);
		assert_int_equal(rows.first_ns, START_NS);
		for (size_t r = 0; r < rows.items.count; r++) {
			const struct page_row *row = &rows.items.items[r];
			uint64_t count = 0;
			uint64_t weight = 0;
			for (size_t i = 0; i < SAMPLES; i++) {
				const struct page_sample *s = &samples[i];
				if ((s->time_ns - START_NS) >> rows.shift != row->bucket ||
				    s->thread != row->thread || s->event != row->event ||
				    s->node != row->node)
					continue;
				count += s->count;
				weight += s->weight;
			}
			assert_int_equal(row->count, count);
			assert_int_equal(row->weight, weight);
			assert_true(row->bucket < PAGE_BUCKETS);
			assert_true(r == 0 || is_before(row - 1, row));
		}
		uint64_t all = 0;
		for (size_t i = 0; i < SAMPLES; i++)
			all += samples[i].count;
		assert_int_equal(sum_of(&rows).count, all);
		page_rows_clear(&rows);
	}
}

static void test_times_that_are_odd(void **state)
{
	(void)state;
	const uint64_t times[] = { 0, 5000, 1, UINT64_MAX, UINT64_MAX - 1, 0 };
	struct page_rows rows = { 0 };
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		assert_int_equal(page_rows_add(&rows, &(struct page_sample){ .time_ns = times[i],
									     .count = 1,
									     .weight = 2 }),
				 0);
	page_rows_sort(&rows);
	assert_int_equal(sum_of(&rows).count, 6);
	assert_int_equal(sum_of(&rows).weight, 12);
	assert_int_equal(rows.items.items[0].bucket, 0);
	assert_int_equal(rows.items.items[0].count, 4);
	assert_true(rows.items.items[rows.items.count - 1].bucket < PAGE_BUCKETS);
	page_rows_clear(&rows);
}

/* Many stacks at many times: buckets get longer. */
static void test_limit_of_rows(void **state)
{
	(void)state;
	struct page_rows rows = { 0 };
	for (uint32_t i = 0; i < PAGE_ROWS + 1000; i++)
		assert_int_equal(page_rows_add(&rows,
					       &(struct page_sample){
						   .time_ns = START_NS + i * 300ul,
						   .node = i % 100000,
						   .count = 1,
						   .weight = 1,
					       }),
				 0);
	assert_true(rows.items.count <= PAGE_ROWS);
	assert_true(rows.items.count >= 100000);
	assert_int_equal(sum_of(&rows).count, PAGE_ROWS + 1000);
	page_rows_clear(&rows);
}

/* So many distinct stacks cannot be fewer rows. */
static void test_more_stacks_than_rows(void **state)
{
	(void)state;
	struct page_rows rows = { 0 };
	for (uint32_t i = 0; i < PAGE_ROWS * 2; i++)
		assert_int_equal(
		    page_rows_add(&rows, &(struct page_sample){ .time_ns = START_NS + i,
								.node = i,
								.count = 1,
								.weight = 1 }),
		    0);
	assert_int_equal(rows.items.count, PAGE_ROWS * 2);
	page_rows_clear(&rows);
}

static void test_coarsens_to_another(void **state)
{
	(void)state;
	struct page_rows rows = { 0 };
	struct page_rows none = { 0 };
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(
		    page_rows_add(
			&rows,
			&(struct page_sample){
			    .time_ns = START_NS + ((uint64_t)i << PAGE_FIRST_SHIFT), .count = 1 }),
		    0);
	assert_int_equal(rows.items.count, 8);
	page_rows_coarsen(&rows, PAGE_FIRST_SHIFT + 2);
	page_rows_coarsen(&none, PAGE_FIRST_SHIFT + 2);
	page_rows_sort(&rows);
	page_rows_sort(&none);
	assert_int_equal(rows.items.count, 2);
	assert_int_equal(rows.items.items[1].count, 4);
	assert_int_equal(none.items.count, 0);
	page_rows_clear(&rows);
	page_rows_clear(&none);
}

static void test_without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct page_rows rows = { 0 };
		int got = 0;
		memory_fail_at(n);
		for (uint32_t i = 0; got == 0 && i < 2000; i++)
			got = page_rows_add(&rows, &(struct page_sample){ .node = i, .count = 1 });
		page_rows_clear(&rows);
		if (!memory_has_failed())
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_times_that_are_odd),
		cmocka_unit_test(test_limit_of_rows),
		cmocka_unit_test(test_more_stacks_than_rows),
		cmocka_unit_test(test_coarsens_to_another),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
