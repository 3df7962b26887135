#include "inject/output.h"

#include "base/status.h"
#include "format/perfdata/writer.h"
#include "output_input.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_file_keeps_attrs_and_features(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_COMM, PERFDATA_ID_INDEX, PERFDATA_COMM };
	static const unsigned LEFT_OUT[] = { PERFDATA_FEATURE_AUXTRACE, PERFDATA_FEATURE_DIR_FORMAT,
					     PERFDATA_FEATURE_COMPRESSED, 40 };
	(void)state;
	const struct bytes file = input_file(false);
	output_copy(file, false);
	struct output_result result = output_result_read();
	assert_false(perfdata_is_pipe(result.perf));
	assert_false(perfdata_is_interrupted(result.perf));
	assert_false(perfdata_is_compressed(result.perf));
	expect_event(result.perf, 0, 136, "first");
	expect_event(result.perf, 1, 136, "second:u");
	expect_types(result.perf, TYPES, 3);
	expect_number(result.perf, PERFDATA_FEATURE_TRACING_DATA);
	expect_number(result.perf, PERFDATA_FEATURE_HOSTNAME);
	expect_number(result.perf, PERFDATA_FEATURE_PMU_CAPS);
	assert_true(perfdata_has_feature(result.perf, PERFDATA_FEATURE_BRANCH_STACK));
	for (size_t i = 0; i < sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]); i++)
		assert_false(perfdata_has_feature(result.perf, LEFT_OUT[i]));
	expect_build_ids(result.perf, (const char *const[]){ "/a" }, 1);
	output_result_close(&result);
	wire_free(file);
}

static void a_pipe_becomes_a_file(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_EVENT_UPDATE, PERFDATA_COMM, PERFDATA_COMM };
	(void)state;
	const struct bytes pipe = input_pipe();
	output_copy(pipe, false);
	struct output_result result = output_result_read();
	assert_false(perfdata_is_pipe(result.perf));
	expect_event(result.perf, 0, 136, "cpu-clock");
	expect_event(result.perf, 1, 136, "renamed");
	expect_types(result.perf, TYPES, 3);
	expect_number(result.perf, PERFDATA_FEATURE_HOSTNAME);
	assert_int_equal(perfdata_feature(result.perf, PERFDATA_FEATURE_TRACING_DATA).size, 16);
	/* What a pipe tells by other means. */
	assert_true(perfdata_has_feature(result.perf, PERFDATA_FEATURE_BRANCH_STACK));
	assert_true(perfdata_has_feature(result.perf, PERFDATA_FEATURE_EVENT_DESC));
	expect_build_ids(result.perf, (const char *const[]){ "/a", "/b" }, 2);
	output_result_close(&result);
	wire_free(pipe);
}

static void a_file_becomes_a_pipe(void **state)
{
	static const uint32_t TYPES[] = {
		PERFDATA_HEADER_ATTR,     PERFDATA_HEADER_ATTR,
		PERFDATA_EVENT_UPDATE,    PERFDATA_EVENT_UPDATE,
		PERFDATA_HEADER_FEATURE,  PERFDATA_HEADER_FEATURE,
		PERFDATA_HEADER_FEATURE,  PERFDATA_HEADER_TRACING_DATA,
		PERFDATA_HEADER_BUILD_ID, PERFDATA_COMM,
		PERFDATA_ID_INDEX,        PERFDATA_COMM,
	};
	(void)state;
	const struct bytes file = input_file(false);
	output_copy(file, true);
	struct output_result result = output_result_read();
	assert_true(perfdata_is_pipe(result.perf));
	expect_event(result.perf, 0, 136, "first");
	expect_event(result.perf, 1, 136, "second:u");
	expect_types(result.perf, TYPES, sizeof(TYPES) / sizeof(TYPES[0]));
	expect_number(result.perf, PERFDATA_FEATURE_TRACING_DATA);
	/* Perf counts on a size that it can divide by 8. */
	assert_int_equal(perfdata_feature(result.perf, PERFDATA_FEATURE_TRACING_DATA).size, 8);
	expect_number(result.perf, PERFDATA_FEATURE_HOSTNAME);
	expect_build_ids(result.perf, (const char *const[]){ "/a" }, 1);
	output_result_close(&result);
	wire_free(file);
}

static void a_pipe_stays_one(void **state)
{
	(void)state;
	const struct bytes pipe = input_pipe();
	output_copy(pipe, true);
	struct output_result result = output_result_read();
	assert_true(perfdata_is_pipe(result.perf));
	expect_event(result.perf, 0, 136, "cpu-clock");
	expect_event(result.perf, 1, 136, "renamed");
	expect_build_ids(result.perf, (const char *const[]){ "/a", "/b" }, 2);
	output_result_close(&result);
	wire_free(pipe);
}

/* Perfs of before late 2023 look for a pipe's ids behind an attr of their own size. */
static void short_attrs_are_as_long_as_that_of_perf_in_a_pipe(void **state)
{
	(void)state;
	struct wire_event events[] = { INPUT_EVENTS[0], INPUT_EVENTS[1] };
	struct wire w = { 0 };
	events[0].attr_size = 96;
	events[1].attr_size = 96;
	wire_begin(&w, events, 2);
	input_comm(&w, "one");
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	output_copy(file, true);
	struct output_result result = output_result_read();
	for (size_t i = 0; i < 2; i++) {
		const struct perfdata_event *event = perfdata_event(result.perf, i);
		assert_int_equal(event->raw.size, 128);
		assert_int_equal(event->attr.size, 128);
		assert_int_equal(event->attr.sample_type, INPUT_TYPE);
		assert_int_equal(event->id_count, INPUT_EVENTS[i].id_count);
		assert_memory_equal(event->ids, INPUT_EVENTS[i].ids, 8 * INPUT_EVENTS[i].id_count);
	}
	output_result_close(&result);
	assert_int_equal(unlink(output_path), 0);
	/* In a file they stay as they are. */
	output_copy(file, false);
	result = output_result_read();
	assert_int_equal(perfdata_event(result.perf, 0)->raw.size, 96);
	output_result_close(&result);
	wire_free(file);
}

static void new_build_ids_stand_behind_the_old(void **state)
{
	(void)state;
	const struct bytes file = input_file(false);
	struct perfdata *input = output_input(file);
	struct inject_output *out = output_open(output_path, input);
	inject_output_build_id(out, PERFDATA_CPUMODE_USER, 7, (struct bytes){ INPUT_ID_B, 20 },
			       "/new");
	output_copy_all(out, input);
	inject_output_build_id(out, PERFDATA_CPUMODE_USER, 8, (struct bytes){ INPUT_ID_B, 20 },
			       "/last");
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	struct output_result result = output_result_read();
	expect_build_ids(result.perf, (const char *const[]){ "/a", "/new", "/last" }, 3);
	output_result_close(&result);
	wire_free(file);
}

static void first_build_ids_stand_in_front_of_a_pipe(void **state)
{
	(void)state;
	struct wire w = { 0 };
	wire_begin_pipe(&w);
	input_attr(&w, &INPUT_EVENTS[0]);
	const struct bytes pipe = wire_finish(&w);
	wire_clear(&w);
	struct perfdata *input = output_input(pipe);
	char name[64];
	const int fd = open(output_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	struct inject_output *out = output_open(name, input);
	enum { COUNT = 10000 }; /* more than is kept in memory */
	for (int i = 0; i < COUNT; i++)
		inject_output_build_id(out, 0, i, (struct bytes){ INPUT_ID_B, 20 }, "/new");
	struct sink comm = { 0 };
	perfdata_put_comm(&comm, 7, 7, "one", NULL);
	inject_output_records(out, sink_bytes(&comm));
	inject_output_records(out, (struct bytes){ 0 });
	sink_clear(&comm);
	assert_int_equal(inject_output_commit(out), 0);
	close(fd);
	perfdata_close(input);
	struct output_result result = output_result_read();
	struct perfdata_record record;
	assert_int_equal(perfdata_next(result.perf, &record), 1);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(perfdata_next(result.perf, &record), 1);
		assert_int_equal(record.type, PERFDATA_HEADER_BUILD_ID);
	}
	assert_int_equal(perfdata_next(result.perf, &record), 1);
	assert_int_equal(record.type, PERFDATA_COMM);
	output_result_close(&result);
	wire_free(pipe);
}

static void a_recording_without_records_is_complete(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_FINISHED_ROUND };
	(void)state;
	struct wire w = { 0 };
	wire_begin(&w, INPUT_EVENTS, 1);
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	output_copy(file, false);
	struct output_result result = output_result_read();
	assert_false(perfdata_is_interrupted(result.perf));
	expect_types(result.perf, TYPES, 1);
	output_result_close(&result);
	wire_free(file);
}

static void what_is_not_copied_has_a_reason(void **state)
{
	static const struct {
		uint32_t type;
		enum inject_omission omission;
	} CASES[] = {
		{ PERFDATA_MMAP2, INJECT_COPIED },
		{ PERFDATA_SAMPLE, INJECT_COPIED },
		{ PERFDATA_ID_INDEX, INJECT_COPIED },
		{ PERFDATA_THREAD_MAP, INJECT_COPIED },
		{ PERFDATA_CPU_MAP, INJECT_COPIED },
		{ PERFDATA_TIME_CONV, INJECT_COPIED },
		{ PERFDATA_EVENT_UPDATE, INJECT_COPIED },
		{ PERFDATA_FINISHED_INIT, INJECT_COPIED },
		{ PERFDATA_AUXTRACE_ERROR, INJECT_COPIED },
		{ 200, INJECT_COPIED },
		{ PERFDATA_FINISHED_ROUND, INJECT_REWRITTEN },
		{ PERFDATA_COMPRESSED, INJECT_REWRITTEN },
		{ PERFDATA_COMPRESSED2, INJECT_REWRITTEN },
		{ PERFDATA_HEADER_ATTR, INJECT_REWRITTEN },
		{ PERFDATA_HEADER_EVENT_TYPE, INJECT_REWRITTEN },
		{ PERFDATA_HEADER_FEATURE, INJECT_REWRITTEN },
		{ PERFDATA_HEADER_TRACING_DATA, INJECT_REWRITTEN },
		{ PERFDATA_AUX, INJECT_HARDWARE_TRACE },
		{ PERFDATA_ITRACE_START, INJECT_HARDWARE_TRACE },
		{ PERFDATA_AUX_OUTPUT_HW_ID, INJECT_HARDWARE_TRACE },
		{ PERFDATA_AUXTRACE_INFO, INJECT_HARDWARE_TRACE },
		{ PERFDATA_AUXTRACE, INJECT_HARDWARE_TRACE },
	};
	(void)state;
	const struct bytes bytes[] = { input_file(false), input_pipe() };
	for (size_t k = 0; k < 2; k++) {
		struct perfdata *input = output_input(bytes[k]);
		for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
			assert_int_equal(inject_output_omission(input, CASES[i].type),
					 CASES[i].omission);
		assert_int_equal(inject_output_omission(input, PERFDATA_HEADER_BUILD_ID),
				 k ? INJECT_REWRITTEN : INJECT_COPIED);
		perfdata_close(input);
		wire_free(bytes[k]);
	}
}

static void pipes_are_told_by_their_kind(void **state)
{
	(void)state;
	assert_true(inject_output_is_pipe("-"));
	assert_true(inject_output_is_pipe("/dev/null"));
	assert_true(inject_output_is_pipe("/dev/stdout"));
	assert_false(inject_output_is_pipe(output_path));
	assert_false(inject_output_is_pipe(output_folder));
	assert_int_equal(mkfifo(output_path, 0600), 0);
	assert_true(inject_output_is_pipe(output_path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, output_set_up, output_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_keeps_attrs_and_features),
		TEST(a_pipe_becomes_a_file),
		TEST(a_file_becomes_a_pipe),
		TEST(a_pipe_stays_one),
		TEST(short_attrs_are_as_long_as_that_of_perf_in_a_pipe),
		TEST(new_build_ids_stand_behind_the_old),
		TEST(first_build_ids_stand_in_front_of_a_pipe),
		TEST(a_recording_without_records_is_complete),
		TEST(what_is_not_copied_has_a_reason),
		TEST(pipes_are_told_by_their_kind),
	};
	os_file_guard();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
