#include "os/perf_ring.h"

#include "test.h"

#include <stdlib.h>

/* A ring without a kernel: the page and the data are ours, and so is the writing end. */
enum { SIZE = 256 };

struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
	struct perf_ring ring;
};

static void start(struct fake *fake, uint64_t at)
{
	memset(fake, 0, sizeof(*fake));
	fake->ring = (struct perf_ring){
		.page = &fake->page, .data = fake->data, .data_size = SIZE, .tail = at
	};
	fake->page.data_head = fake->page.data_tail = at;
}

/* A record whose body counts up from `seed`. */
static void put(struct fake *fake, uint32_t type, uint16_t size, uint8_t seed)
{
	uint8_t record[SIZE];
	const struct perf_event_header header = { .type = type, .size = size };
	memcpy(record, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i++)
		record[i] = (uint8_t)(seed + i);
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page.data_head + i) % SIZE] = record[i];
	fake->page.data_head += size;
}

static void empty_ring_has_nothing(void **state)
{
	(void)state;
	struct fake fake;
	struct bytes pieces[2];
	start(&fake, 0);
	assert_int_equal(perf_ring_peek(&fake.ring, pieces), 0);
	assert_int_equal(pieces[0].size + pieces[1].size, 0);
	struct perf_ring_walk walk = perf_ring_walk(&fake.ring, 0);
	struct perf_event_header header;
	uint64_t at;
	assert_false(perf_ring_next(&walk, &header, &at));
}

/* Every place in the ring, so that each record wraps at each of its words. */
static void records_wrap_anywhere(void **state)
{
	(void)state;
	for (uint64_t tail = 0; tail < 3 * (uint64_t)SIZE; tail += 8) {
		struct fake fake;
		start(&fake, tail);
		put(&fake, 9, 40, 1);
		put(&fake, 10, 64, 2);
		put(&fake, 2, 24, 3);
		struct bytes pieces[2];
		assert_int_equal(perf_ring_peek(&fake.ring, pieces), 128);
		assert_int_equal(pieces[0].size + pieces[1].size, 128);
		uint8_t copy[128];
		memcpy(copy, pieces[0].data, pieces[0].size);
		memcpy(copy + pieces[0].size, pieces[1].data, pieces[1].size);
		assert_int_equal(copy[8], 1 + 8);
		assert_int_equal(copy[40 + 63], 2 + 63);
		assert_int_equal(copy[104 + 23], 3 + 23);

		struct perf_ring_walk walk = perf_ring_walk(&fake.ring, 128);
		static const uint32_t types[] = { 9, 10, 2 };
		struct perf_event_header header;
		uint64_t at = 0;
		for (size_t i = 0; i < 3; i++) {
			assert_true(perf_ring_next(&walk, &header, &at));
			assert_int_equal(header.type, types[i]);
		}
		assert_false(perf_ring_next(&walk, &header, &at));
		assert_int_equal(walk.at, walk.end);
		uint64_t word;
		memcpy(&word, copy + 104 + 16, 8);
		assert_int_equal(perf_ring_u64(&fake.ring, at + 16), word);

		perf_ring_consume(&fake.ring, 128);
		assert_int_equal(fake.page.data_tail, fake.page.data_head);
		assert_int_equal(perf_ring_peek(&fake.ring, pieces), 0);
	}
}

static void full_ring_is_all_there(void **state)
{
	(void)state;
	struct fake fake;
	struct bytes pieces[2];
	start(&fake, 8 * 1000000 + 16);
	put(&fake, 9, 128, 0);
	put(&fake, 9, 128, 0);
	assert_int_equal(perf_ring_peek(&fake.ring, pieces), SIZE);
	assert_int_equal(pieces[0].size + pieces[1].size, SIZE);
	/* The first is given back, the other stays. */
	perf_ring_consume(&fake.ring, 128);
	assert_int_equal(perf_ring_peek(&fake.ring, pieces), 128);
}

static void walk_stops_at_what_is_no_record(void **state)
{
	(void)state;
	static const uint16_t bad_sizes[] = { 0, 4, 7, 12, 13, 48 };
	for (size_t i = 0; i < sizeof(bad_sizes) / sizeof(bad_sizes[0]); i++) {
		struct fake fake;
		start(&fake, 0);
		put(&fake, 9, 40, 1);
		memcpy(fake.data + 6, &bad_sizes[i], 2);
		struct perf_ring_walk walk = perf_ring_walk(&fake.ring, 40);
		struct perf_event_header header;
		uint64_t at;
		assert_false(perf_ring_next(&walk, &header, &at));
		assert_true(walk.at < walk.end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_ring_has_nothing),
		cmocka_unit_test(records_wrap_anywhere),
		cmocka_unit_test(full_ring_is_all_there),
		cmocka_unit_test(walk_stops_at_what_is_no_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
