#include "inject/output_internal.h"

#include "base/status.h"
#include "failing_memory.h"
#include "format/perfdata/wire.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY_IDS = 9000 };

static const uint64_t IDS_A[] = { 11, 12 };
static const uint64_t IDS_B[] = { 21 };
static const uint64_t TYPE = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
			     PERFDATA_SAMPLE_BRANCH_STACK | PERFDATA_SAMPLE_IDENTIFIER;
static const struct wire_event EVENTS[] = {
	{ .type = 1, .sample_type = TYPE, .ids = IDS_A, .id_count = 2, .attr_size = 136 },
	{ .type = 1,
	  .config = 1,
	  .sample_type = TYPE,
	  .ids = IDS_B,
	  .id_count = 1,
	  .attr_size = 136 },
};
static const uint8_t ID_A[20] = { 0xaa };
static const uint8_t ID_B[20] = { 0xbb };

static char folder[64];
static char path[96];

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/output_test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	return 0;
}

/* Nothing but the output may be there. */
static int tear_down(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static struct perfdata *open_through(struct bytes bytes)
{
	struct perfdata *perf;
	struct perfdata_record record;
	assert_int_equal(perfdata_open(&perf, bytes, NULL), 0);
	while (perfdata_next(perf, &record) > 0)
		;
	perfdata_rewind(perf);
	return perf;
}

/* What was written, as a reader sees it. */
struct result {
	struct os_file file;
	struct perfdata *perf;
};

static struct result read_result(void)
{
	struct result result;
	assert_int_equal(os_file_open(&result.file, path, OS_FILE_PLAIN), 0);
	result.perf = open_through(result.file.bytes);
	assert_int_equal(perfdata_problem_count(result.perf), 0);
	return result;
}

static void close_result(struct result *result)
{
	perfdata_close(result->perf);
	os_file_close(&result->file);
}

static void put_comm(struct wire *w, const char *comm)
{
	const size_t at = wire_record(w, PERFDATA_COMM, 0);
	wire_u32(w, 7);
	wire_u32(w, 7);
	wire_text(w, comm);
	wire_end_record(w, at);
}

static void put_untimed(struct wire *w, uint32_t type)
{
	const size_t at = wire_record(w, type, 0);
	wire_u64(w, 0);
	wire_end_record(w, at);
}

static struct sink build_id_entry(const uint8_t id[20], const char *name)
{
	struct sink entry = { 0 };
	perfdata_put_build_id(&entry, PERFDATA_CPUMODE_USER, -1, (struct bytes){ id, 20 }, name);
	return entry;
}

static struct sink event_desc(void)
{
	struct sink desc = { 0 };
	static const uint8_t ATTR[136] = { 0 };
	const struct perfdata_new_event events[] = {
		{ .attr = ATTR, .attr_size = 136, .ids = IDS_A, .id_count = 2, .name = "first" },
		{ .attr = ATTR, .attr_size = 136, .ids = IDS_B, .id_count = 1, .name = "second:u" },
	};
	perfdata_put_event_desc(&desc, events, 2);
	return desc;
}

static void put_feature(struct wire *w, const void *data, size_t size)
{
	wire_feature(w);
	wire_put(w, data, size);
	wire_end_feature(w);
}

/* Features with contents "N", besides those that must make sense. */
static struct bytes make_file(bool swap)
{
	static const unsigned FEATURES[] = {
		PERFDATA_FEATURE_TRACING_DATA, PERFDATA_FEATURE_BUILD_ID,
		PERFDATA_FEATURE_HOSTNAME,     PERFDATA_FEATURE_EVENT_DESC,
		PERFDATA_FEATURE_BRANCH_STACK, PERFDATA_FEATURE_AUXTRACE,
		PERFDATA_FEATURE_DIR_FORMAT,   PERFDATA_FEATURE_COMPRESSED,
		PERFDATA_FEATURE_PMU_CAPS,     40,
	};
	enum { COUNT = sizeof(FEATURES) / sizeof(FEATURES[0]) };
	struct wire w = { .swap = swap };
	struct sink build_ids = build_id_entry(ID_A, "/a");
	struct sink desc = event_desc();
	wire_begin(&w, EVENTS, 2);
	put_comm(&w, "one");
	put_untimed(&w, PERFDATA_FINISHED_ROUND);
	put_untimed(&w, PERFDATA_ID_INDEX);
	put_comm(&w, "two");
	wire_end_data(&w, FEATURES, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const uint8_t number[2] = { (uint8_t)FEATURES[i], 0 };
		if (FEATURES[i] == PERFDATA_FEATURE_BUILD_ID)
			put_feature(&w, build_ids.data, build_ids.size);
		else if (FEATURES[i] == PERFDATA_FEATURE_EVENT_DESC)
			put_feature(&w, desc.data, desc.size);
		else
			put_feature(&w, number,
				    FEATURES[i] == PERFDATA_FEATURE_BRANCH_STACK ? 0 : 2);
	}
	const struct bytes file = wire_finish(&w);
	sink_clear(&build_ids);
	sink_clear(&desc);
	wire_clear(&w);
	return file;
}

static void put_attr_record(struct wire *w, const struct wire_event *event)
{
	const size_t at = wire_record(w, PERFDATA_HEADER_ATTR, 0);
	wire_attr(w, event);
	for (size_t i = 0; i < event->id_count; i++)
		wire_u64(w, event->ids[i]);
	wire_end_record(w, at);
}

static void put_build_id_record(struct wire *w, const uint8_t id[20], const char *name)
{
	struct sink entry = build_id_entry(id, name);
	wire_put(w, entry.data, entry.size);
	sink_clear(&entry);
}

static struct bytes make_pipe(void)
{
	struct wire w = { 0 };
	wire_begin_pipe(&w);
	put_attr_record(&w, &EVENTS[0]);
	put_attr_record(&w, &EVENTS[1]);
	size_t at = wire_record(&w, PERFDATA_HEADER_FEATURE, 0);
	wire_u64(&w, PERFDATA_FEATURE_HOSTNAME);
	wire_u64(&w, 3);
	wire_end_record(&w, at);
	at = wire_record(&w, PERFDATA_EVENT_UPDATE, 0);
	wire_u64(&w, PERFDATA_EVENT_UPDATE_NAME);
	wire_u64(&w, 21);
	wire_text(&w, "renamed");
	wire_end_record(&w, at);
	at = wire_record(&w, PERFDATA_HEADER_TRACING_DATA, 0);
	wire_u32(&w, 16);
	wire_end_record(&w, at);
	wire_u64(&w, 0x1111);
	wire_u64(&w, 0x2222);
	put_build_id_record(&w, ID_A, "/a");
	put_comm(&w, "one");
	put_build_id_record(&w, ID_B, "/b");
	put_comm(&w, "two");
	const struct bytes pipe = wire_finish(&w);
	wire_clear(&w);
	return pipe;
}

static void copy_all(struct inject_output *out, struct perfdata *perf)
{
	struct perfdata_record record;
	while (perfdata_next(perf, &record) > 0)
		inject_output_copy(out, &record);
	perfdata_rewind(perf);
}

static struct inject_output *open_output(const char *to, struct perfdata *input)
{
	struct inject_output *out;
	assert_int_equal(inject_output_open(&out, to, input), 0);
	return out;
}

/* Copies `bytes` to a file at `path`, or through a device's name in pipe mode. */
static void copy_bytes(struct bytes bytes, bool as_pipe)
{
	struct perfdata *input = open_through(bytes);
	char name[64];
	const int fd = as_pipe ? open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600) : -1;
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	struct inject_output *out = open_output(as_pipe ? name : path, input);
	copy_all(out, input);
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	if (fd >= 0)
		close(fd);
}

static void expect_types(struct perfdata *perf, const uint32_t *types, size_t count)
{
	struct perfdata_record record;
	size_t i = 0;
	perfdata_rewind(perf);
	while (perfdata_next(perf, &record) > 0) {
		assert_true(i < count);
		assert_int_equal(record.type, types[i++]);
	}
	assert_int_equal(i, count);
}

static void expect_event(const struct perfdata *perf, size_t index, uint32_t attr_size,
			 const char *name)
{
	const struct perfdata_event *event = perfdata_event(perf, index);
	const struct wire_event *wanted = &EVENTS[index];
	struct wire w = { 0 };
	assert_non_null(event);
	assert_string_equal(event->name, name);
	assert_int_equal(event->id_count, wanted->id_count);
	assert_memory_equal(event->ids, wanted->ids, 8 * wanted->id_count);
	wire_attr(&w, wanted);
	assert_int_equal(event->raw.size, attr_size);
	assert_memory_equal(event->raw.data, w.out.data, attr_size);
	wire_clear(&w);
}

static void expect_build_ids(const struct perfdata *perf, const char *const *names, size_t count)
{
	struct perfdata_build_id id;
	struct cursor c = perfdata_build_ids(perf);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(perfdata_build_id_next(&c, &id), 1);
		assert_string_equal(id.path, names[i]);
		assert_int_equal(id.build_id.size, 20);
	}
	assert_int_equal(perfdata_build_id_next(&c, &id), 0);
}

static void expect_number(const struct perfdata *perf, unsigned feature)
{
	const struct bytes content = perfdata_feature(perf, feature);
	assert_true(content.size >= 2);
	assert_int_equal(content.data[0], feature);
}

static void a_file_keeps_attrs_and_features(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_COMM, PERFDATA_ID_INDEX, PERFDATA_COMM };
	static const unsigned LEFT_OUT[] = { PERFDATA_FEATURE_AUXTRACE, PERFDATA_FEATURE_DIR_FORMAT,
					     PERFDATA_FEATURE_COMPRESSED, 40 };
	(void)state;
	const struct bytes file = make_file(false);
	copy_bytes(file, false);
	struct result result = read_result();
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
	close_result(&result);
	wire_free(file);
}

static void a_pipe_becomes_a_file(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_EVENT_UPDATE, PERFDATA_COMM, PERFDATA_COMM };
	(void)state;
	const struct bytes pipe = make_pipe();
	copy_bytes(pipe, false);
	struct result result = read_result();
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
	close_result(&result);
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
	const struct bytes file = make_file(false);
	copy_bytes(file, true);
	struct result result = read_result();
	assert_true(perfdata_is_pipe(result.perf));
	expect_event(result.perf, 0, 136, "first");
	expect_event(result.perf, 1, 136, "second:u");
	expect_types(result.perf, TYPES, sizeof(TYPES) / sizeof(TYPES[0]));
	expect_number(result.perf, PERFDATA_FEATURE_TRACING_DATA);
	/* Perf counts on a size that it can divide by 8. */
	assert_int_equal(perfdata_feature(result.perf, PERFDATA_FEATURE_TRACING_DATA).size, 8);
	expect_number(result.perf, PERFDATA_FEATURE_HOSTNAME);
	expect_build_ids(result.perf, (const char *const[]){ "/a" }, 1);
	close_result(&result);
	wire_free(file);
}

static void a_pipe_stays_one(void **state)
{
	(void)state;
	const struct bytes pipe = make_pipe();
	copy_bytes(pipe, true);
	struct result result = read_result();
	assert_true(perfdata_is_pipe(result.perf));
	expect_event(result.perf, 0, 136, "cpu-clock");
	expect_event(result.perf, 1, 136, "renamed");
	expect_build_ids(result.perf, (const char *const[]){ "/a", "/b" }, 2);
	close_result(&result);
	wire_free(pipe);
}

/* Perfs before 6.5 look for a pipe's ids behind an attr of their own size. */
static void short_attrs_are_as_long_as_that_of_perf_in_a_pipe(void **state)
{
	(void)state;
	struct wire_event events[] = { EVENTS[0], EVENTS[1] };
	struct wire w = { 0 };
	events[0].attr_size = 96;
	events[1].attr_size = 96;
	wire_begin(&w, events, 2);
	put_comm(&w, "one");
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	copy_bytes(file, true);
	struct result result = read_result();
	for (size_t i = 0; i < 2; i++) {
		const struct perfdata_event *event = perfdata_event(result.perf, i);
		assert_int_equal(event->raw.size, 128);
		assert_int_equal(event->attr.size, 128);
		assert_int_equal(event->attr.sample_type, TYPE);
		assert_int_equal(event->id_count, EVENTS[i].id_count);
		assert_memory_equal(event->ids, EVENTS[i].ids, 8 * EVENTS[i].id_count);
	}
	close_result(&result);
	assert_int_equal(unlink(path), 0);
	/* In a file they stay as they are. */
	copy_bytes(file, false);
	result = read_result();
	assert_int_equal(perfdata_event(result.perf, 0)->raw.size, 96);
	close_result(&result);
	wire_free(file);
}

static void new_build_ids_stand_behind_the_old(void **state)
{
	(void)state;
	const struct bytes file = make_file(false);
	struct perfdata *input = open_through(file);
	struct inject_output *out = open_output(path, input);
	inject_output_build_id(out, PERFDATA_CPUMODE_USER, 7, (struct bytes){ ID_B, 20 }, "/new");
	copy_all(out, input);
	inject_output_build_id(out, PERFDATA_CPUMODE_USER, 8, (struct bytes){ ID_B, 20 }, "/last");
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	struct result result = read_result();
	expect_build_ids(result.perf, (const char *const[]){ "/a", "/new", "/last" }, 3);
	close_result(&result);
	wire_free(file);
}

static void first_build_ids_stand_in_front_of_a_pipe(void **state)
{
	(void)state;
	struct wire w = { 0 };
	wire_begin_pipe(&w);
	put_attr_record(&w, &EVENTS[0]);
	const struct bytes pipe = wire_finish(&w);
	wire_clear(&w);
	struct perfdata *input = open_through(pipe);
	char name[64];
	const int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	struct inject_output *out = open_output(name, input);
	enum { COUNT = 10000 }; /* more than is kept in memory */
	for (int i = 0; i < COUNT; i++)
		inject_output_build_id(out, 0, i, (struct bytes){ ID_B, 20 }, "/new");
	struct sink comm = { 0 };
	perfdata_put_comm(&comm, 7, 7, "one", NULL);
	inject_output_records(out, sink_bytes(&comm));
	inject_output_records(out, (struct bytes){ 0 });
	sink_clear(&comm);
	assert_int_equal(inject_output_commit(out), 0);
	close(fd);
	perfdata_close(input);
	struct result result = read_result();
	struct perfdata_record record;
	assert_int_equal(perfdata_next(result.perf, &record), 1);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(perfdata_next(result.perf, &record), 1);
		assert_int_equal(record.type, PERFDATA_HEADER_BUILD_ID);
	}
	assert_int_equal(perfdata_next(result.perf, &record), 1);
	assert_int_equal(record.type, PERFDATA_COMM);
	close_result(&result);
	wire_free(pipe);
}

static void a_recording_without_records_is_complete(void **state)
{
	static const uint32_t TYPES[] = { PERFDATA_FINISHED_ROUND };
	(void)state;
	struct wire w = { 0 };
	wire_begin(&w, EVENTS, 1);
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	copy_bytes(file, false);
	struct result result = read_result();
	assert_false(perfdata_is_interrupted(result.perf));
	expect_types(result.perf, TYPES, 1);
	close_result(&result);
	wire_free(file);
}

static void rounds_end_between_records(void **state)
{
	(void)state;
	enum { RECORD = 60000, COUNT = 100 };
	struct wire w = { 0 };
	wire_begin(&w, EVENTS, 1);
	wire_end_data(&w, NULL, 0);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	struct perfdata *input = open_through(file);
	struct inject_output *out = open_output(path, input);
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
	struct result result = read_result();
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
	close_result(&result);
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
	const struct bytes bytes[] = { make_file(false), make_pipe() };
	for (size_t k = 0; k < 2; k++) {
		struct perfdata *input = open_through(bytes[k]);
		for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
			assert_int_equal(inject_output_omission(input, CASES[i].type),
					 CASES[i].omission);
		assert_int_equal(inject_output_omission(input, PERFDATA_HEADER_BUILD_ID),
				 k ? INJECT_REWRITTEN : INJECT_COPIED);
		perfdata_close(input);
		wire_free(bytes[k]);
	}
}

static void what_cannot_be_written_is_refused(void **state)
{
	(void)state;
	struct inject_output *out = NULL;
	struct bytes file = make_file(true);
	struct perfdata *input = open_through(file);
	assert_int_equal(inject_output_open(&out, path, input), STATUS_UNSUPPORTED);
	perfdata_close(input);
	wire_free(file);

	static uint64_t ids[MANY_IDS];
	const struct wire_event event = { .type = 1, .ids = ids, .id_count = MANY_IDS };
	struct wire w = { 0 };
	wire_begin(&w, &event, 1);
	wire_end_data(&w, NULL, 0);
	file = wire_finish(&w);
	wire_clear(&w);
	input = open_through(file);
	assert_int_equal(inject_output_open(&out, "/dev/null", input), STATUS_TOO_BIG);
	assert_int_equal(inject_output_open(&out, folder, input), STATUS_IO);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(inject_output_open(&out, "/no/such/folder", input), STATUS_IO);
	assert_int_equal(errno, ENOENT);
	inject_output_abandon(NULL);
	perfdata_close(input);
	copy_bytes(file, false);
	struct result result = read_result();
	assert_int_equal(perfdata_event(result.perf, 0)->id_count, MANY_IDS);
	close_result(&result);
	wire_free(file);
}

static void pipes_are_told_by_their_kind(void **state)
{
	(void)state;
	assert_true(inject_output_is_pipe("-"));
	assert_true(inject_output_is_pipe("/dev/null"));
	assert_true(inject_output_is_pipe("/dev/stdout"));
	assert_false(inject_output_is_pipe(path));
	assert_false(inject_output_is_pipe(folder));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(inject_output_is_pipe(path));
}

static void large_features_do_not_go_through_a_pipe(void **state)
{
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_CMDLINE };
	static uint8_t content[PERFDATA_FEATURE_RECORD_LIMIT + 1];
	(void)state;
	struct wire w = { 0 };
	wire_begin(&w, EVENTS, 1);
	put_comm(&w, "one");
	wire_end_data(&w, FEATURES, 2);
	put_feature(&w, content, sizeof(content) - 1);
	put_feature(&w, content, sizeof(content));
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
		copy_bytes(file, as_pipe);
		struct result result = read_result();
		assert_int_equal(perfdata_feature(result.perf, FEATURES[0]).size,
				 sizeof(content) - 1);
		assert_int_equal(perfdata_feature(result.perf, FEATURES[1]).size,
				 as_pipe ? 0 : sizeof(content));
		close_result(&result);
		assert_int_equal(unlink(path), 0);
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
	wire_begin(&w, EVENTS, 1);
	put_comm(&w, "one");
	wire_end_data(&w, FEATURES, 4);
	put_feature(&w, content, sizeof(content));
	/* The other three are the first once more. */
	for (size_t i = 1; i < 4; i++)
		memcpy(w.out.data + w.table_at + 16 * i, w.out.data + w.table_at, 16);
	const struct bytes file = wire_finish(&w);
	wire_clear(&w);
	copy_bytes(file, false);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
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
	const struct bytes file = make_file(false);
	(void)signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const int old = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
		assert_int_equal(write(old, "old", 3), 3);
		close(old);
		struct perfdata *input = open_through(file);
		struct inject_output *out = open_output(path, input);
		set_file_limit(CASES[i].limit);
		for (size_t k = 0; k < CASES[i].comm_count; k++)
			copy_all(out, input);
		const int got = inject_output_commit(out);
		const int error = errno;
		set_file_limit(RLIM_INFINITY);
		assert_int_equal(got, STATUS_IO);
		assert_int_equal(error, EFBIG);
		perfdata_close(input);
		struct os_file kept;
		assert_int_equal(os_file_open(&kept, path, OS_FILE_PLAIN), 0);
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
	const struct bytes file = make_file(false);
	struct perfdata *input = open_through(file);
	struct inject_output *out = open_output(name, input);
	close(ends[0]);
	copy_all(out, input);
	assert_int_equal(inject_output_commit(out), STATUS_IO);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
	perfdata_close(input);
	wire_free(file);
}

static void an_abandoned_output_leaves_nothing(void **state)
{
	(void)state;
	const struct bytes file = make_file(false);
	struct perfdata *input = open_through(file);
	struct inject_output *out = open_output(path, input);
	copy_all(out, input);
	inject_output_abandon(out);
	assert_int_equal(access(path, F_OK), -1);
	perfdata_close(input);
	wire_free(file);
}

/* As if 5 GiB of records had been written: a hole in the file stands for them. */
static void offsets_are_right_above_four_gib(void **state)
{
	static const uint64_t HOLE = 5ull << 30;
	(void)state;
	const struct bytes file = make_file(false);
	struct perfdata *input = open_through(file);
	struct inject_output *out = open_output(path, input);
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
	copy_all(out, input);
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	struct os_file big;
	assert_int_equal(os_file_open(&big, path, OS_FILE_PLAIN), 0);
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
	inject_output_build_id(out, 0, 7, (struct bytes){ ID_B, 20 }, "/new");
	copy_all(out, input);
	return inject_output_commit(out);
}

static void without_memory(void **state)
{
	(void)state;
	const struct bytes bytes[] = { make_file(false), make_pipe() };
	const char *const targets[] = { path, "/dev/null" };
	for (size_t i = 0; i < 4; i++) {
		struct perfdata *input = open_through(bytes[i / 2]);
		size_t failed = 0;
		for (size_t n = 1;; n++) {
			memory_fail_at(n);
			const int got = copy_without_memory(input, targets[i % 2]);
			const bool has_failed = memory_has_failed();
			memory_fail_at(0);
			assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
			if (!has_failed)
				break;
			assert_int_equal(access(path, F_OK), -1);
			failed++;
		}
		assert_true(failed > 3);
		perfdata_close(input);
		(void)unlink(path);
	}
	wire_free(bytes[0]);
	wire_free(bytes[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
		TEST(rounds_end_between_records),
		TEST(what_is_not_copied_has_a_reason),
		TEST(what_cannot_be_written_is_refused),
		TEST(pipes_are_told_by_their_kind),
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
