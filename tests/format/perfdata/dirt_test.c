/* Files that were cut, interrupted, damaged, or have something behind their end. */
#include "format/perfdata/exercise.h"
#include "format/perfdata/wire.h"

#include "test.h"

#include <stdlib.h>

static const struct wire_event EVENT = { .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME,
					 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL };

static void put_sample(struct wire *w, uint64_t ip)
{
	const size_t at = wire_record(w, PERFDATA_SAMPLE, PERFDATA_CPUMODE_USER);
	wire_u64(w, ip);
	wire_u64(w, 1000 + ip);
	wire_end_record(w, at);
}

/* Reads the ips of all samples; returns how many. */
static size_t read_ips(struct perfdata *file, uint64_t *ips, size_t limit)
{
	struct perfdata_record record;
	struct perfdata_sample sample;
	size_t count = 0;
	int got;
	while ((got = perfdata_next(file, &record)) > 0)
		if (record.type == PERFDATA_SAMPLE && count < limit &&
		    perfdata_decode_sample(file, &record, &sample) == 0)
			ips[count++] = sample.ip_avma;
	assert_int_equal(got, 0);
	return count;
}

static struct perfdata *open_copy(struct wire *w, struct bytes *in)
{
	struct perfdata *file;
	*in = wire_finish(w);
	assert_int_equal(perfdata_open(&file, *in, NULL), 0);
	return file;
}

static void close_copy(struct perfdata *file, struct bytes in, struct wire *w)
{
	perfdata_close(file);
	wire_free(in);
	wire_clear(w);
}

static void assert_problem(const struct perfdata *file, int status, uint64_t offset, uint64_t count)
{
	assert_int_equal(perfdata_problem_count(file), 1);
	const struct perfdata_problem *problem = perfdata_problem(file, 0);
	assert_int_equal(problem->status, status);
	assert_int_equal(problem->first_offset, offset);
	assert_int_equal(problem->count, count);
	assert_null(perfdata_problem(file, 1));
}

/* The header's data size is 0: records go to the end of the bytes. */
static void test_interrupted_recording(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < 24; cut++) {
		struct wire w = { 0 };
		struct bytes in;
		uint64_t ips[4];
		wire_begin(&w, &EVENT, 1);
		put_sample(&w, 1);
		put_sample(&w, 2);
		w.out.size -= cut;
		struct perfdata *file = open_copy(&w, &in);
		assert_true(perfdata_is_interrupted(file));
		assert_int_equal(perfdata_end_offset(file), in.size);
		assert_int_equal(read_ips(file, ips, 4), cut ? 1 : 2);
		assert_int_equal(ips[0], 1);
		assert_int_equal(perfdata_end_offset(file), cut ? in.size + cut - 24 : in.size);
		if (cut)
			assert_problem(file, STATUS_TRUNCATED, in.size + cut - 24, 1);
		else
			assert_int_equal(perfdata_problem_count(file), 0);
		close_copy(file, in, &w);
	}
}

static void test_interrupted_recording_with_zero_tail(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	uint64_t ips[4];
	wire_begin(&w, &EVENT, 1);
	put_sample(&w, 1);
	const size_t end = w.out.size;
	sink_zeros(&w.out, 4096);
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(read_ips(file, ips, 4), 1);
	assert_problem(file, STATUS_TRUNCATED, end, 1);
	assert_int_equal(perfdata_end_offset(file), end);
	close_copy(file, in, &w);
}

/* An appended zip file ends the records without complaint, however they are held. */
static void test_zip_tail(void **state)
{
	(void)state;
	enum { PIPE, INTERRUPTED, WHOLE, KINDS };
	for (int kind = 0; kind < KINDS; kind++) {
		struct wire w = { 0 };
		struct bytes in;
		uint64_t ips[4];
		if (kind == PIPE) {
			wire_begin_pipe(&w);
			const size_t at = wire_record(&w, PERFDATA_HEADER_ATTR, 0);
			wire_attr(&w, &EVENT);
			wire_end_record(&w, at);
		} else {
			wire_begin(&w, &EVENT, 1);
		}
		put_sample(&w, 1);
		put_sample(&w, 2);
		if (kind == WHOLE)
			wire_end_data(&w, NULL, 0);
		const size_t end = w.out.size;
		wire_put(&w, "PK\3\4 and the rest of an archive", 31);
		struct perfdata *file = open_copy(&w, &in);
		assert_int_equal(read_ips(file, ips, 4), 2);
		assert_int_equal(perfdata_end_offset(file), end);
		assert_int_equal(perfdata_problem_count(file), 0);
		close_copy(file, in, &w);
	}
}

/* Records are found again behind bytes that are none; damage is told once a place. */
static void test_garbage_between_records(void **state)
{
	(void)state;
	for (int zeros = 0; zeros < 2; zeros++) {
		struct wire w = { 0 };
		struct bytes in;
		uint64_t ips[16];
		wire_begin(&w, &EVENT, 1);
		put_sample(&w, 1);
		const size_t garbage_at = w.out.size;
		for (int i = 0; i < 100; i++)
			wire_u64(&w, zeros ? 0 : 0x0003ffff00000000u + (uint64_t)i);
		for (uint64_t ip = 2; ip < 7; ip++)
			put_sample(&w, ip);
		wire_end_data(&w, NULL, 0);
		struct perfdata *file = open_copy(&w, &in);
		for (int pass = 0; pass < 3; pass++) {
			assert_int_equal(read_ips(file, ips, 16), 6);
			for (size_t i = 0; i < 6; i++)
				assert_int_equal(ips[i], i + 1);
			perfdata_rewind(file);
			assert_problem(file, STATUS_CORRUPT, garbage_at, 1);
		}
		close_copy(file, in, &w);
	}
}

/* What one pass learned (here: that sizes may be odd) must not lead another one elsewhere. */
static void test_all_passes_go_the_same_way(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	uint64_t ips[16];
	wire_begin(&w, &EVENT, 1);
	put_sample(&w, 1);
	sink_zeros(&w.out, 13);
	for (uint64_t ip = 2; ip < 7; ip++)
		put_sample(&w, ip);
	sink_zeros(&w.out, 3);
	for (uint64_t ip = 7; ip < 12; ip++)
		put_sample(&w, ip);
	const size_t at = wire_record(&w, PERFDATA_COMPRESSED, 0);
	wire_put(&w, "odd", 3);
	wire_end_record(&w, at);
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	const size_t first = read_ips(file, ips, 16);
	assert_int_equal(first, 6);
	for (int pass = 0; pass < 3; pass++) {
		perfdata_rewind(file);
		assert_int_equal(read_ips(file, ips, 16), first);
		assert_int_equal(perfdata_end_offset(file), in.size);
	}
	close_copy(file, in, &w);
}

static void test_record_larger_than_the_rest(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	uint64_t ips[4];
	wire_begin(&w, &EVENT, 1);
	put_sample(&w, 1);
	const size_t at = w.out.size;
	put_sample(&w, 2);
	w.out.data[at + 6] = 0xff;
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(read_ips(file, ips, 4), 1);
	assert_problem(file, STATUS_TRUNCATED, at, 1);
	close_copy(file, in, &w);
}

/* The file ends before the place where its header says that the data end. */
static void test_file_cut_inside_its_data(void **state)
{
	(void)state;
	struct wire w = { 0 };
	uint64_t ips[4];
	wire_begin(&w, &EVENT, 1);
	put_sample(&w, 1);
	put_sample(&w, 2);
	wire_end_data(&w, NULL, 0);
	w.out.size -= 24;
	struct bytes in;
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(read_ips(file, ips, 4), 1);
	assert_problem(file, STATUS_TRUNCATED, in.size, 1);
	close_copy(file, in, &w);
}

static void test_unknown_types_are_counted_and_given(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	struct perfdata_record record;
	wire_begin(&w, &EVENT, 1);
	const size_t first = wire_record(&w, 99, 0);
	wire_u64(&w, 5);
	wire_end_record(&w, first);
	wire_end_record(&w, wire_record(&w, 99, 0));
	put_sample(&w, 1);
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(record.type, 99);
	assert_int_equal(record.body.size, 8);
	assert_string_equal(perfdata_record_name(record.type), "unknown");
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(record.type, PERFDATA_SAMPLE);
	assert_int_equal(perfdata_next(file, &record), 0);
	assert_problem(file, STATUS_UNSUPPORTED, first, 2);
	assert_int_equal(perfdata_problem(file, 0)->record_type, 99);
	close_copy(file, in, &w);
}

/* A hostile file names many problems; the list stays short and loses none. */
static void test_many_kinds_of_problems(void **state)
{
	(void)state;
	enum { TYPES = 3000 };
	struct wire w = { 0 };
	struct bytes in;
	struct perfdata_record record;
	wire_begin(&w, &EVENT, 1);
	for (uint32_t type = 0; type < TYPES; type++)
		wire_end_record(&w, wire_record(&w, 1000 + type, 0));
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	uint64_t given = 0;
	while (perfdata_next(file, &record) > 0)
		given++;
	assert_int_equal(given, TYPES);
	assert_true(perfdata_problem_count(file) <= 128);
	uint64_t counted = 0;
	for (size_t i = 0; i < perfdata_problem_count(file); i++)
		counted += perfdata_problem(file, i)->count;
	assert_int_equal(counted, TYPES);
	close_copy(file, in, &w);
}

/* Trace data follows its record and is not counted in the record's size. */
static void test_payload_behind_records(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct wire w = { .swap = swap };
		struct bytes in;
		uint64_t ips[4];
		wire_begin(&w, &EVENT, 1);
		size_t at = wire_record(&w, PERFDATA_AUXTRACE, 0);
		wire_u64(&w, 1000);
		for (int i = 0; i < 4; i++)
			wire_u64(&w, 0);
		wire_end_record(&w, at);
		for (int i = 0; i < 1000; i++)
			wire_u8(&w, 0x11);
		put_sample(&w, 1);
		at = wire_record(&w, PERFDATA_HEADER_TRACING_DATA, 0);
		wire_u32(&w, 64);
		wire_end_record(&w, at);
		for (int i = 0; i < 64; i++)
			wire_u8(&w, 0x22);
		put_sample(&w, 2);
		wire_end_data(&w, NULL, 0);
		struct perfdata *file = open_copy(&w, &in);
		assert_int_equal(read_ips(file, ips, 4), 2);
		assert_int_equal(ips[1], 2);
		assert_int_equal(perfdata_problem_count(file), 0);
		close_copy(file, in, &w);
	}
}

static void test_payload_that_is_not_there(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	uint64_t ips[4];
	wire_begin(&w, &EVENT, 1);
	put_sample(&w, 1);
	const size_t at = wire_record(&w, PERFDATA_AUXTRACE, 0);
	wire_u64(&w, UINT64_MAX - 4);
	wire_end_record(&w, at);
	put_sample(&w, 2);
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(read_ips(file, ips, 4), 1);
	assert_problem(file, STATUS_TRUNCATED, at, 1);
	close_copy(file, in, &w);
}

static void test_not_a_perf_data(void **state)
{
	(void)state;
	struct perfdata *file = NULL;
	uint64_t at = 99;
	const struct bytes empty = wire_copy((struct bytes){ 0 }, 0);
	assert_int_equal(perfdata_open(&file, empty, &at), STATUS_NOT_FORMAT);
	assert_int_equal(at, 0);
	assert_int_equal(perfdata_open(&file, (struct bytes){ 0 }, NULL), STATUS_NOT_FORMAT);
	const struct bytes text =
	    wire_copy((struct bytes){ (const uint8_t *)"PERFILE3 is none", 16 }, 16);
	assert_int_equal(perfdata_open(&file, text, &at), STATUS_NOT_FORMAT);
	assert_null(file);
	wire_free(text);
	wire_free(empty);
}

/* What makes opening fail, and the byte that is to blame. */
static void test_broken_headers(void **state)
{
	(void)state;
	enum { HEADER_SIZE_AT = 8, ATTR_SIZE_AT = 16, ATTRS_AT = 24, DATA_AT = 40 };
	static const struct {
		size_t at;
		uint64_t value;
		int status;
		uint64_t error_at;
	} CASES[] = {
		{ HEADER_SIZE_AT, 20, STATUS_CORRUPT, HEADER_SIZE_AT },
		{ ATTR_SIZE_AT, 16, STATUS_CORRUPT, ATTR_SIZE_AT },
		{ ATTR_SIZE_AT, 1ull << 40, STATUS_CORRUPT, ATTR_SIZE_AT },
		{ ATTRS_AT, 1ull << 50, STATUS_TRUNCATED, 1ull << 50 },
		{ DATA_AT, UINT64_MAX, STATUS_TRUNCATED, UINT64_MAX },
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct wire w = { 0 };
		wire_begin(&w, &EVENT, 1);
		put_sample(&w, 1);
		wire_end_data(&w, NULL, 0);
		sink_patch_u64(&w.out, CASES[i].at, CASES[i].value);
		const struct bytes in = wire_finish(&w);
		struct perfdata *file = NULL;
		uint64_t error_at = 0;
		assert_int_equal(perfdata_open(&file, in, &error_at), CASES[i].status);
		assert_true(error_at == CASES[i].error_at);
		wire_free(in);
		wire_clear(&w);
	}
}

/* Ids that all events claim of one another would make memory grow with the square. */
static void test_overlapping_ids_are_refused(void **state)
{
	(void)state;
	enum { EVENTS = 50, IDS = 100 };
	static uint64_t ids[IDS];
	struct wire_event events[EVENTS];
	for (size_t i = 0; i < IDS; i++)
		ids[i] = 1 + i;
	for (size_t i = 0; i < EVENTS; i++)
		events[i] = (struct wire_event){ .sample_type = PERFDATA_SAMPLE_ID };
	events[0].ids = ids;
	events[0].id_count = IDS;
	struct wire w = { 0 };
	struct bytes in;
	wire_begin(&w, events, EVENTS);
	for (size_t i = 1; i < EVENTS; i++) {
		const size_t place = 104 + 8 * IDS + i * 152 + 136;
		sink_patch_u64(&w.out, place, 104);
		sink_patch_u64(&w.out, place + 8, 8 * IDS);
	}
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_copy(&w, &in);
	assert_int_equal(perfdata_event_count(file), EVENTS);
	size_t total = 0;
	for (size_t i = 0; i < EVENTS; i++)
		total += perfdata_event(file, i)->id_count;
	assert_true(8 * total <= in.size);
	assert_true(perfdata_problem_count(file) > 0);
	close_copy(file, in, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupted_recording),
		cmocka_unit_test(test_interrupted_recording_with_zero_tail),
		cmocka_unit_test(test_zip_tail),
		cmocka_unit_test(test_garbage_between_records),
		cmocka_unit_test(test_all_passes_go_the_same_way),
		cmocka_unit_test(test_record_larger_than_the_rest),
		cmocka_unit_test(test_file_cut_inside_its_data),
		cmocka_unit_test(test_unknown_types_are_counted_and_given),
		cmocka_unit_test(test_many_kinds_of_problems),
		cmocka_unit_test(test_payload_behind_records),
		cmocka_unit_test(test_payload_that_is_not_there),
		cmocka_unit_test(test_not_a_perf_data),
		cmocka_unit_test(test_broken_headers),
		cmocka_unit_test(test_overlapping_ids_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
