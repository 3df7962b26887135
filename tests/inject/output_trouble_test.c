/* What goes wrong with an output, and what is large. */
#include "inject/output_internal.h"

#include "base/status.h"
#include "failing_memory.h"
#include "output_input.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY_IDS = 9000 };

static void rounds_end_between_records(void **state)
{
	(void)state;
	enum { RECORD = 60000, COUNT = 100 };
	struct wire w = { 0 };
	wire_begin(&w, INPUT_EVENTS, 1);
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	struct perfdata *input = output_input(file);
	struct inject_output *out = output_open(output_path, input);
	static uint8_t body[RECORD - 8];
	const struct perfdata_record record = { .type = PERFDATA_SAMPLE,
						.misc = 2,
						.body = { body, sizeof(body) } };
	for (int i = 0; i < COUNT; i++) {
		body[0] = (uint8_t)i;
		inject_output_copy(out, &record);
	}
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	struct output_result result = output_result_read();
	struct perfdata_record got;
	size_t since = 0;
	int rounds = 0;
	int records = 0;
	while (perfdata_next(result.perf, &got) > 0) {
		if (got.type == PERFDATA_FINISHED_ROUND) {
			assert_in_range(since, 1 << 20, (1 << 20) + RECORD);
			since = 0;
			rounds++;
			continue;
		}
		assert_int_equal(got.type, PERFDATA_SAMPLE);
		assert_int_equal(got.misc, 2);
		assert_int_equal(got.body.size, sizeof(body));
		assert_int_equal(got.body.data[0], records++);
		since += RECORD;
	}
	assert_int_equal(records, COUNT);
	assert_int_equal(rounds, 5);
	assert_true(since > 0);
	output_result_close(&result);
	wire_free(file);
}

static void what_cannot_be_written_is_refused(void **state)
{
	(void)state;
	struct inject_output *out = NULL;
	struct bytes file = input_file(true);
	struct perfdata *input = output_input(file);
	assert_int_equal(inject_output_open(&out, output_path, input), STATUS_UNSUPPORTED);
	perfdata_close(input);
	wire_free(file);

	static uint64_t ids[MANY_IDS];
	const struct wire_event event = { .type = 1, .ids = ids, .id_count = MANY_IDS };
	struct wire w = { 0 };
	wire_begin(&w, &event, 1);
	wire_end_data(&w, NULL, 0);
	file = wire_finish(&w);
	wire_clear(&w);
	input = output_input(file);
	assert_int_equal(inject_output_open(&out, "/dev/null", input), STATUS_TOO_BIG);
	assert_int_equal(inject_output_open(&out, output_folder, input), STATUS_IO);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(inject_output_open(&out, "/no/such/folder", input), STATUS_IO);
	assert_int_equal(errno, ENOENT);
	inject_output_abandon(NULL);
	perfdata_close(input);
	output_copy(file, false);
	struct output_result result = output_result_read();
	assert_int_equal(perfdata_event(result.perf, 0)->id_count, MANY_IDS);
	output_result_close(&result);
	wire_free(file);
}

static void large_features_do_not_go_through_a_pipe(void **state)
{
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_CMDLINE };
	static uint8_t content[PERFDATA_FEATURE_RECORD_LIMIT + 1];
	(void)state;
	struct wire w = { 0 };
	wire_begin(&w, INPUT_EVENTS, 1);
	input_comm(&w, "one");
	wire_end_data(&w, FEATURES, 2);
	input_feature(&w, content, sizeof(content) - 1);
	input_feature(&w, content, sizeof(content));
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
		output_copy(file, as_pipe);
		struct output_result result = output_result_read();
		assert_int_equal(perfdata_feature(result.perf, FEATURES[0]).size,
				 sizeof(content) - 1);
		assert_int_equal(perfdata_feature(result.perf, FEATURES[1]).size,
				 as_pipe ? 0 : sizeof(content));
		output_result_close(&result);
		assert_int_equal(unlink(output_path), 0);
	}
	wire_free(file);
}

/* Sections may lie upon each other; written apart, each copy would be larger than the one before.
 */
static void features_that_overlap_do_not_grow(void **state)
{
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_OSRELEASE,
					     PERFDATA_FEATURE_VERSION, PERFDATA_FEATURE_ARCH };
	static uint8_t content[10000];
	(void)state;
	struct wire w = { 0 };
	wire_begin(&w, INPUT_EVENTS, 1);
	input_comm(&w, "one");
	wire_end_data(&w, FEATURES, 4);
	input_feature(&w, content, sizeof(content));
	/* The other three are the first once more. */
	for (size_t i = 1; i < 4; i++)
		memcpy(w.out.data + w.table_at + 16 * i, w.out.data + w.table_at, 16);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	output_copy(file, false);
	struct stat st;
	assert_int_equal(stat(output_path, &st), 0);
	assert_true((size_t)st.st_size < file.size + 1000);
	wire_free(file);
}

static void set_file_limit(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void failures_leave_the_old_file(void **state)
{
	static const struct {
		size_t comm_count;
		rlim_t limit;
	} CASES[] = { { 100000, 1 << 20 }, { 1, 400 }, { 1, 10 } };
	(void)state;
	const struct bytes file = input_file(false);
	(void)signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const int old = open(output_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
		assert_int_equal(write(old, "old", 3), 3);
		close(old);
		struct perfdata *input = output_input(file);
		struct inject_output *out = output_open(output_path, input);
		set_file_limit(CASES[i].limit);
		for (size_t k = 0; k < CASES[i].comm_count; k++)
			output_copy_all(out, input);
		const int got = inject_output_commit(out);
		const int error = errno;
		set_file_limit(RLIM_INFINITY);
		assert_int_equal(got, STATUS_IO);
		assert_int_equal(error, EFBIG);
		perfdata_close(input);
		struct os_file kept;
		assert_int_equal(os_file_open(&kept, output_path, OS_FILE_PLAIN), 0);
		assert_int_equal(kept.bytes.size, 3);
		os_file_close(&kept);
	}
	wire_free(file);
}

static void a_reader_that_went_away_is_told(void **state)
{
	(void)state;
	int ends[2];
	char name[64];
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	const struct bytes file = input_file(false);
	struct perfdata *input = output_input(file);
	struct inject_output *out = output_open(name, input);
	close(ends[0]);
	output_copy_all(out, input);
	assert_int_equal(inject_output_commit(out), STATUS_IO);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
	perfdata_close(input);
	wire_free(file);
}

static void an_abandoned_output_leaves_nothing(void **state)
{
	(void)state;
	const struct bytes file = input_file(false);
	struct perfdata *input = output_input(file);
	struct inject_output *out = output_open(output_path, input);
	output_copy_all(out, input);
	inject_output_abandon(out);
	assert_int_equal(access(output_path, F_OK), -1);
	perfdata_close(input);
	wire_free(file);
}

/* As if 5 GiB of records had been written: a hole in the file stands for them. */
static void offsets_are_right_above_four_gib(void **state)
{
	static const uint64_t HOLE = 5ull << 30;
	(void)state;
	const struct bytes file = input_file(false);
	struct perfdata *input = output_input(file);
	struct inject_output *out = output_open(output_path, input);
	output_flush(out);
	const uint64_t data_offset = out->layout.data_offset;
	if (ftruncate(out->file.fd, (off_t)(data_offset + HOLE)) != 0) {
		inject_output_abandon(out);
		perfdata_close(input);
		wire_free(file);
		skip_because("no file of 5 GiB, not even a sparse one, can be made in /tmp");
	}
	out->file.size += HOLE;
	out->data_bytes += HOLE;
	output_copy_all(out, input);
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	struct os_file big;
	assert_int_equal(os_file_open(&big, output_path, OS_FILE_PLAIN), 0);
	assert_int_equal(perfdata_open(&input, big.bytes, NULL), 0);
	expect_event(input, 1, 136, "second:u");
	expect_number(input, PERFDATA_FEATURE_HOSTNAME);
	expect_build_ids(input, (const char *const[]){ "/a" }, 1);
	assert_true(perfdata_feature(input, PERFDATA_FEATURE_HOSTNAME).data - big.bytes.data >
		    (ptrdiff_t)(data_offset + HOLE));
	assert_int_equal(perfdata_end_offset(input), big.bytes.size);
	/* The header's own words. */
	uint64_t data[2];
	memcpy(data, big.bytes.data + 40, sizeof(data));
	assert_int_equal(data[0], data_offset);
	assert_true(data[1] > HOLE && data[1] < HOLE + 1000);
	perfdata_close(input);
	os_file_close(&big);
	wire_free(file);
}

static int copy_without_memory(struct perfdata *input, const char *to)
{
	struct inject_output *out;
	int got = inject_output_open(&out, to, input);
	if (got < 0)
		return got;
	inject_output_build_id(out, 0, 7, (struct bytes){ INPUT_ID_B, 20 }, "/new");
	output_copy_all(out, input);
	return inject_output_commit(out);
}

static void without_memory(void **state)
{
	(void)state;
	const struct bytes bytes[] = { input_file(false), input_pipe() };
	const char *const targets[] = { output_path, "/dev/null" };
	for (size_t i = 0; i < 4; i++) {
		struct perfdata *input = output_input(bytes[i / 2]);
		size_t failed = 0;
		for (size_t n = 1;; n++) {
			memory_fail_at(n);
			const int got = copy_without_memory(input, targets[i % 2]);
			const bool has_failed = memory_has_failed();
			memory_fail_at(0);
			assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
			if (!has_failed)
				break;
			assert_int_equal(access(output_path, F_OK), -1);
			failed++;
		}
		assert_true(failed > 3);
		perfdata_close(input);
		(void)unlink(output_path);
	}
	wire_free(bytes[0]);
	wire_free(bytes[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, output_set_up, output_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rounds_end_between_records),
		TEST(what_cannot_be_written_is_refused),
		TEST(large_features_do_not_go_through_a_pipe),
		TEST(features_that_overlap_do_not_grow),
		TEST(failures_leave_the_old_file),
		TEST(a_reader_that_went_away_is_told),
		TEST(an_abandoned_output_leaves_nothing),
		TEST(offsets_are_right_above_four_gib),
		TEST(without_memory),
	};
	os_file_guard();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
