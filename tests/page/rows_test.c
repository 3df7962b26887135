/* Rows against a naive sum: whatever is joined, nothing is lost, and the limits hold. */
#include "page/rows.h"

#include "base/intern.h"
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

struct sample {
	struct page_key key;
	struct page_amount amount;
};

static int add(struct page_rows *rows, const struct sample *sample)
{
	const uint32_t series = page_rows_series(rows, &sample->key);
	return series == INTERN_NONE ? STATUS_NO_MEMORY
				     : page_rows_add(rows, series, &sample->amount);
}

static int add_at(struct page_rows *rows, uint64_t time_ns, uint32_t node)
{
	return add(rows, &(struct sample){ { .node = node }, { time_ns, 1, 1 } });
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

static bool is_before(const struct page_rows *rows, size_t a, size_t b)
{
	const struct page_key *key_a = page_row_key(rows, a);
	const struct page_key *key_b = page_row_key(rows, b);
	const uint32_t keys[][2] = {
		{ key_a->event, key_b->event },
		{ rows->items.items[a].bucket, rows->items.items[b].bucket },
		{ key_a->thread, key_b->thread },
		{ key_a->node, key_b->node },
	};
	for (size_t i = 0; i < 4; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1];
	return false;
}

enum { SAMPLES = 3000, START_NS = 1000000000 };

/* In the order of time, nearly so, and in none. */
static void make_samples(struct sample *samples, uint64_t length_ns, uint64_t disorder_ns)
{
	for (size_t i = 0; i < SAMPLES; i++)
		samples[i] = (struct sample){
			.key = { .thread = (uint32_t)random_below(3),
				 .event = (uint32_t)random_below(2) * 7,
				 .node = (uint32_t)random_below(20) },
			.amount = { .time_ns = START_NS + (i ? length_ns * i / SAMPLES +
								   random_below(disorder_ns)
							     : 0),
				    .count = 1 + random_below(2),
				    .weight = random_below(1000000) },
		};
}

static void check_row(const struct page_rows *rows, size_t r, const struct sample *samples)
{
	const struct page_row *row = &rows->items.items[r];
	const struct page_key *key = page_row_key(rows, r);
	uint64_t count = 0;
	uint64_t weight = 0;
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct sample *s = &samples[i];
		if ((s->amount.time_ns - START_NS) >> rows->shift != row->bucket ||
		    s->key.thread != key->thread || s->key.event != key->event ||
		    s->key.node != key->node)
			continue;
		count += s->amount.count;
		weight += s->amount.weight;
	}
	assert_int_equal(row->count, count);
	assert_int_equal(row->weight, weight);
	assert_true(row->bucket < PAGE_BUCKETS);
	assert_true(r == 0 || is_before(rows, r - 1, r));
}

/* Each row is the sum of the samples of its key; every sample is in one. */
static void test_model(void **state)
{
	(void)state;
	static struct sample samples[SAMPLES];
	for (uint64_t seed = 0; seed < 24; seed++) {
		struct page_rows rows = { .limit = seed % 3 ? 0 : 500 };
		uint64_t all = 0;
		random_state = seed;
		const uint64_t length_ns = (uint64_t)1 << (20 + random_below(30));
		make_samples(samples, length_ns, seed % 2 ? 1 : length_ns);
		for (size_t i = 0; i < SAMPLES; i++) {
			assert_int_equal(add(&rows, &samples[i]), 0);
			all += samples[i].amount.count;
		}
		assert_true(seed % 3 || rows.items.count <= rows.limit);
		assert_int_equal(page_rows_sort(&rows), 0);
		assert_int_equal(rows.first_ns, START_NS);
		assert_int_equal(sum_of(&rows).count, all);
		for (size_t r = 0; r < rows.items.count; r++)
			check_row(&rows, r, samples);
		page_rows_clear(&rows);
	}
}

static void test_times_that_are_odd(void **state)
{
	(void)state;
	const uint64_t times[] = { 0, 5000, 1, UINT64_MAX, UINT64_MAX - 1, 0 };
	struct page_rows rows = { 0 };
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		assert_int_equal(add_at(&rows, times[i], 0), 0);
	assert_int_equal(page_rows_sort(&rows), 0);
	assert_int_equal(sum_of(&rows).count, 6);
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
		assert_int_equal(add_at(&rows, START_NS + i * 300ul, i % 100000), 0);
	assert_true(rows.items.count <= PAGE_ROWS);
	assert_true(rows.items.count >= 100000);
	assert_int_equal(sum_of(&rows).count, PAGE_ROWS + 1000);
	page_rows_clear(&rows);
}

/* So many distinct stacks cannot be fewer rows. */
static void test_more_stacks_than_rows(void **state)
{
	(void)state;
	struct page_rows rows = { .limit = 1000 };
	for (uint32_t i = 0; i < 4000; i++)
		assert_int_equal(add_at(&rows, START_NS + i * 1000000ul, i), 0);
	assert_int_equal(rows.items.count, 4000);
	page_rows_clear(&rows);
}

static void test_coarsens_to_another(void **state)
{
	(void)state;
	struct page_rows rows = { 0 };
	struct page_rows none = { 0 };
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(add_at(&rows, START_NS + ((uint64_t)i << PAGE_FIRST_SHIFT), 0), 0);
	assert_int_equal(rows.items.count, 8);
	assert_int_equal(page_rows_coarsen(&rows, PAGE_FIRST_SHIFT + 2), 0);
	assert_int_equal(page_rows_coarsen(&none, PAGE_FIRST_SHIFT + 2), 0);
	assert_int_equal(page_rows_sort(&rows), 0);
	assert_int_equal(page_rows_sort(&none), 0);
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
		struct page_rows rows = { .limit = 500 };
		int got = 0;
		memory_fail_at(n);
		for (uint32_t i = 0; got == 0 && i < 2000; i++)
			got = add_at(&rows, START_NS + i % 7 * 1000000000ul, i % 100);
		if (got == 0)
			got = page_rows_sort(&rows);
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
