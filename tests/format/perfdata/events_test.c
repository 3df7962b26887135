/* Which event a record belongs to, what the events are called, and attrs of all ages. */
#include "format/perfdata/wire.h"

#include "test.h"

static const uint64_t IDS_A[] = { 0x101, 0x102 };
static const uint64_t IDS_B[] = { 0x201, 0x202, 0x203 };

static struct perfdata *open_wire(struct wire *w, struct bytes *in)
{
	struct perfdata *file;
	*in = wire_finish(w);
	assert_int_equal(perfdata_open(&file, *in, NULL), 0);
	return file;
}

static void close_wire(struct perfdata *file, struct bytes in, struct wire *w)
{
	perfdata_close(file);
	wire_free(in);
	wire_clear(w);
}

static int next_sample(struct perfdata *file, struct perfdata_sample *sample)
{
	struct perfdata_record record;
	assert_int_equal(perfdata_next(file, &record), 1);
	assert_int_equal(record.type, PERFDATA_SAMPLE);
	return perfdata_decode_sample(file, &record, sample);
}

/* Events of different shapes: the id in front says whose sample it is. */
static void test_identifier_tells_the_shape(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct wire_event events[] = {
			{ .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP,
			  .ids = IDS_A,
			  .id_count = 2 },
			{ .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_TIME |
					 PERFDATA_SAMPLE_CPU,
			  .ids = IDS_B,
			  .id_count = 3 },
		};
		struct wire w = { .swap = swap };
		struct bytes in;
		struct perfdata_sample sample;
		wire_begin(&w, events, 2);
		size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x203);
		wire_u64(&w, 5000);
		wire_u32(&w, 9);
		wire_u32(&w, 0);
		wire_end_record(&w, at);
		at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x102);
		wire_u64(&w, 0x400000);
		wire_end_record(&w, at);
		at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x999);
		wire_u64(&w, 0x400000);
		wire_end_record(&w, at);
		wire_end_data(&w, NULL, 0);
		struct perfdata *file = open_wire(&w, &in);
		assert_int_equal(next_sample(file, &sample), 0);
		assert_int_equal(sample.event, 1);
		assert_int_equal(sample.time_ns, 5000);
		assert_int_equal(sample.cpu, 9);
		assert_int_equal(next_sample(file, &sample), 0);
		assert_int_equal(sample.event, 0);
		assert_int_equal(sample.ip_avma, 0x400000);
		assert_int_equal(next_sample(file, &sample), STATUS_NOT_FOUND);
		assert_int_equal(perfdata_problem_count(file), 1);
		close_wire(file, in, &w);
	}
}

/* Without IDENTIFIER the id lies behind other fields, at the same place in all events. */
static void test_id_inside_the_sample(void **state)
{
	(void)state;
	const uint64_t type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
			      PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_PERIOD;
	const struct wire_event events[] = {
		{ .sample_type = type, .ids = IDS_A, .id_count = 2 },
		{ .sample_type = type, .ids = IDS_B, .id_count = 3 },
	};
	struct wire w = { 0 };
	struct bytes in;
	wire_begin(&w, events, 2);
	static const uint64_t IDS[] = { 0x101, 0x202, 0 };
	for (size_t i = 0; i < 3; i++) {
		const size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x400000);
		wire_u64(&w, 0);
		wire_u64(&w, 1);
		wire_u64(&w, IDS[i]);
		wire_u64(&w, 7);
		wire_end_record(&w, at);
	}
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_wire(&w, &in);
	static const size_t WANTED[] = { 0, 1, 0 };
	for (size_t i = 0; i < 3; i++) {
		struct perfdata_sample sample;
		assert_int_equal(next_sample(file, &sample), 0);
		assert_int_equal(sample.event, WANTED[i]);
		assert_int_equal(sample.id, IDS[i]);
		assert_int_equal(sample.period, 7);
	}
	close_wire(file, in, &w);
}

/* Not something perf writes, but it can be told apart. */
static void test_ids_at_different_places(void **state)
{
	(void)state;
	const struct wire_event events[] = {
		{ .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_ID,
		  .ids = IDS_A,
		  .id_count = 2 },
		{ .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID,
		  .ids = IDS_B,
		  .id_count = 3 },
	};
	struct wire w = { 0 };
	struct bytes in;
	struct perfdata_sample sample;
	wire_begin(&w, events, 2);
	size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
	wire_u64(&w, 1);
	wire_u64(&w, 2);
	wire_u64(&w, 0x201);
	wire_end_record(&w, at);
	at = wire_record(&w, PERFDATA_SAMPLE, 0);
	wire_u64(&w, 3);
	wire_u64(&w, 0x101);
	wire_end_record(&w, at);
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_wire(&w, &in);
	assert_int_equal(next_sample(file, &sample), 0);
	assert_int_equal(sample.event, 1);
	assert_int_equal(sample.time_ns, 2);
	assert_int_equal(next_sample(file, &sample), 0);
	assert_int_equal(sample.event, 0);
	assert_int_equal(sample.ip_avma, 3);
	close_wire(file, in, &w);
}

/* Trailers of different shapes: the id at the end says which. */
static void test_trailer_is_found_by_id(void **state)
{
	(void)state;
	const struct wire_event events[] = {
		{ .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_TIME,
		  .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
		  .ids = IDS_A,
		  .id_count = 2 },
		{ .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_TID |
				 PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU,
		  .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
		  .ids = IDS_B,
		  .id_count = 3 },
	};
	struct wire w = { 0 };
	struct bytes in;
	wire_begin(&w, events, 2);
	const struct perfdata_sample_id ids[] = {
		{ .time_ns = 41, .id = 0x102 },
		{ .pid = 5, .tid = 6, .time_ns = 42, .cpu = 1, .id = 0x203 },
		{ .time_ns = 0, .id = 0 }, /* made up by perf: of the first event's shape */
	};
	static const size_t OWNER[] = { 0, 1, 0 };
	for (size_t i = 0; i < 3; i++) {
		const size_t at = wire_record(&w, PERFDATA_COMM, 0);
		wire_u64(&w, 0);
		wire_text(&w, "a name of many bytes");
		wire_trailer(&w, events[OWNER[i]].sample_type, &ids[i]);
		wire_end_record(&w, at);
	}
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_wire(&w, &in);
	for (size_t i = 0; i < 3; i++) {
		struct perfdata_record record;
		struct perfdata_comm comm;
		assert_int_equal(perfdata_next(file, &record), 1);
		assert_int_equal(perfdata_decode_comm(file, &record, &comm), 0);
		assert_string_equal(comm.comm, "a name of many bytes");
		assert_int_equal(comm.id.time_ns, ids[i].time_ns);
		assert_int_equal(comm.id.id, ids[i].id);
		assert_int_equal(comm.id.tid, ids[i].tid);
		assert_int_equal(comm.id.cpu, ids[i].cpu);
		assert_int_equal(perfdata_record_time_ns(file, &record), ids[i].time_ns);
	}
	close_wire(file, in, &w);
}

/* Every size from the first version's to one of the far future. */
static void test_attrs_of_any_size(void **state)
{
	(void)state;
	for (uint32_t size = 64; size <= 512; size += 8) {
		const struct wire_event event = { .attr_size = size,
						  .type = 1,
						  .sample_type = PERFDATA_SAMPLE_IP,
						  .flags = PERFDATA_ATTR_SAMPLE_ID_ALL |
							   PERFDATA_ATTR_USE_CLOCKID,
						  .branch_sample_type = 5,
						  .regs_user = 6,
						  .regs_intr = 7,
						  .ids = IDS_B,
						  .id_count = 3 };
		for (int swap = 0; swap < 2; swap++) {
			struct wire w = { .swap = swap };
			struct bytes in;
			wire_begin(&w, &event, 1);
			wire_end_data(&w, NULL, 0);
			struct perfdata *file = open_wire(&w, &in);
			assert_int_equal(perfdata_event_count(file), 1);
			const struct perfdata_event *got = perfdata_event(file, 0);
			assert_int_equal(got->attr.size, size);
			assert_int_equal(got->attr.type, 1);
			assert_int_equal(got->attr.sample_type, PERFDATA_SAMPLE_IP);
			assert_int_equal(got->attr.flags, event.flags);
			assert_int_equal(got->attr.branch_sample_type, size >= 80 ? 5 : 0);
			assert_int_equal(got->attr.sample_regs_user, size >= 88 ? 6 : 0);
			assert_int_equal(got->attr.sample_stack_user, size >= 96 ? 8192 : 0);
			assert_int_equal(got->attr.clockid, size >= 96 ? 1 : 0);
			assert_int_equal(got->attr.sample_regs_intr, size >= 104 ? 7 : 0);
			assert_int_equal(got->id_count, 3);
			assert_int_equal(got->ids[2], 0x203);
			close_wire(file, in, &w);
		}
	}
}

/* An old perf inject: attr.size of the original, entries of its own attr's size. */
static void test_attr_smaller_than_its_entry(void **state)
{
	(void)state;
	const struct wire_event event = {
		.sample_type = PERFDATA_SAMPLE_IP, .regs_intr = 7, .ids = IDS_A, .id_count = 2
	};
	struct wire w = { 0 };
	struct bytes in;
	wire_begin(&w, &event, 1);
	wire_end_data(&w, NULL, 0);
	const size_t attr_at = 104 + 16;
	const uint32_t smaller = 96;
	memcpy(w.out.data + attr_at + 4, &smaller, sizeof(smaller));
	struct perfdata *file = open_wire(&w, &in);
	assert_int_equal(perfdata_event(file, 0)->id_count, 2);
	assert_int_equal(perfdata_event(file, 0)->ids[1], 0x102);
	/* A field behind attr.size is not the attr's. */
	assert_int_equal(perfdata_event(file, 0)->attr.sample_regs_intr, 0);
	close_wire(file, in, &w);
}

static void test_made_up_names(void **state)
{
	(void)state;
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} CASES[] = {
		{ 0, 0, "cycles" },
		{ 0, 1, "instructions" },
		{ 0, 4ull << 32 | 0, "cycles" },
		{ 1, 0, "cpu-clock" },
		{ 1, 1, "task-clock" },
		{ 1, 9, "dummy" },
		{ 1, 99, "type 1 config 0x63" },
		{ 2, 314, "tracepoint 314" },
		{ 3, 0x10000, "L1-dcache-load-misses" },
		{ 3, 0x00103, "dTLB-stores" },
		{ 3, 0xff, "cache 0xff" },
		{ 4, 0x1a8, "r1a8" },
		{ 5, 0, "mem:0x1111" },
		{ 23, 5, "type 23 config 0x5" },
	};
	enum { COUNT = sizeof(CASES) / sizeof(CASES[0]) };
	struct wire_event events[COUNT] = { 0 };
	for (size_t i = 0; i < COUNT; i++) {
		events[i].type = CASES[i].type;
		events[i].config = CASES[i].config;
	}
	struct wire w = { 0 };
	struct bytes in;
	wire_begin(&w, events, COUNT);
	wire_end_data(&w, NULL, 0);
	struct perfdata *file = open_wire(&w, &in);
	for (size_t i = 0; i < COUNT; i++)
		assert_string_equal(perfdata_event(file, i)->name, CASES[i].name);
	assert_null(perfdata_event(file, COUNT));
	close_wire(file, in, &w);
}

/* A pipe: attrs and names as records, learned once however often they are read. */
static void test_pipe_mode(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const uint64_t type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_ID;
		const struct wire_event events[] = {
			{ .sample_type = type, .attr_size = 128, .ids = IDS_A, .id_count = 2 },
			{ .sample_type = type, .attr_size = 200, .ids = IDS_B, .id_count = 3 },
		};
		struct wire w = { .swap = swap };
		struct bytes in;
		wire_begin_pipe(&w);
		for (size_t i = 0; i < 2; i++) {
			const size_t at = wire_record(&w, PERFDATA_HEADER_ATTR, 0);
			wire_attr(&w, &events[i]);
			for (size_t k = 0; k < events[i].id_count; k++)
				wire_u64(&w, events[i].ids[k]);
			wire_end_record(&w, at);
		}
		size_t at = wire_record(&w, PERFDATA_EVENT_UPDATE, 0);
		wire_u64(&w, PERFDATA_EVENT_UPDATE_NAME);
		wire_u64(&w, 0x201);
		wire_text(&w, "my-event");
		wire_end_record(&w, at);
		at = wire_record(&w, PERFDATA_HEADER_FEATURE, 0);
		wire_u64(&w, PERFDATA_FEATURE_HOSTNAME);
		wire_string(&w, "far-away", 64);
		wire_end_record(&w, at);
		at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x400000);
		wire_u64(&w, 0x202);
		wire_end_record(&w, at);
		struct perfdata *file = open_wire(&w, &in);
		assert_true(perfdata_is_pipe(file));
		assert_int_equal(perfdata_is_swapped(file), swap);
		assert_int_equal(perfdata_event_count(file), 0);
		for (int pass = 0; pass < 2; pass++) {
			struct perfdata_record record;
			struct perfdata_sample sample;
			for (int i = 0; i < 5; i++)
				assert_int_equal(perfdata_next(file, &record), 1);
			assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
			assert_int_equal(sample.event, 1);
			assert_int_equal(perfdata_next(file, &record), 0);
			assert_int_equal(perfdata_event_count(file), 2);
			assert_int_equal(perfdata_event(file, 1)->id_count, 3);
			assert_string_equal(perfdata_event(file, 1)->name, "my-event");
			assert_string_equal(perfdata_feature_text(file, PERFDATA_FEATURE_HOSTNAME),
					    "far-away");
			perfdata_rewind(file);
		}
		assert_int_equal(perfdata_problem_count(file), 0);
		close_wire(file, in, &w);
	}
}

/* The header of perf before 3.3: another magic, event names in the file, no feature bits. */
static void test_version_1(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct wire_event event = {
			.attr_size = 64, .type = 1, .config = 77, .sample_type = PERFDATA_SAMPLE_IP
		};
		struct wire w = { .swap = swap };
		struct bytes in;
		struct perfdata_sample sample;
		wire_begin(&w, &event, 1);
		memcpy(w.out.data, "PERFFILE", 8);
		const size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
		wire_u64(&w, 0x400000);
		wire_end_record(&w, at);
		wire_end_data(&w, NULL, 0);
		const uint64_t types_at = w.out.size;
		wire_u64(&w, 77);
		wire_put(&w, "old-event", 10);
		sink_zeros(&w.out, 54);
		const uint64_t places[] = { types_at, 72 };
		for (size_t i = 0; i < 2; i++)
			sink_patch_u64(&w.out, 56 + 8 * i,
				       swap ? __builtin_bswap64(places[i]) : places[i]);
		struct perfdata *file = open_wire(&w, &in);
		assert_int_equal(perfdata_is_swapped(file), swap);
		assert_string_equal(perfdata_event(file, 0)->name, "old-event");
		assert_int_equal(next_sample(file, &sample), 0);
		assert_int_equal(sample.ip_avma, 0x400000);
		close_wire(file, in, &w);
	}
}

static void test_no_events_at_all(void **state)
{
	(void)state;
	struct wire w = { 0 };
	struct bytes in;
	struct perfdata_sample sample;
	wire_begin_pipe(&w);
	const size_t at = wire_record(&w, PERFDATA_SAMPLE, 0);
	wire_u64(&w, 1);
	wire_end_record(&w, at);
	struct perfdata *file = open_wire(&w, &in);
	assert_int_equal(next_sample(file, &sample), STATUS_NOT_FOUND);
	close_wire(file, in, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identifier_tells_the_shape),
		cmocka_unit_test(test_id_inside_the_sample),
		cmocka_unit_test(test_ids_at_different_places),
		cmocka_unit_test(test_trailer_is_found_by_id),
		cmocka_unit_test(test_attrs_of_any_size),
		cmocka_unit_test(test_attr_smaller_than_its_entry),
		cmocka_unit_test(test_made_up_names),
		cmocka_unit_test(test_pipe_mode),
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_no_events_at_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
