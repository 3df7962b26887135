#include "output_input.h"

#include "format/perfdata/writer.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const uint64_t IDS_A[] = { 11, 12 };
static const uint64_t IDS_B[] = { 21 };
const uint64_t INPUT_TYPE = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
			    PERFDATA_SAMPLE_BRANCH_STACK | PERFDATA_SAMPLE_IDENTIFIER;
const struct wire_event INPUT_EVENTS[2] = {
	{ .type = 1, .sample_type = INPUT_TYPE, .ids = IDS_A, .id_count = 2, .attr_size = 136 },
	{ .type = 1,
	  .config = 1,
	  .sample_type = INPUT_TYPE,
	  .ids = IDS_B,
	  .id_count = 1,
	  .attr_size = 136 },
};
static const uint8_t ID_A[20] = { 0xaa };
const uint8_t INPUT_ID_B[20] = { 0xbb };

char output_folder[64];
char output_path[96];

int output_set_up(void **state)
{
	(void)state;
	(void)snprintf(output_folder, sizeof(output_folder), "/tmp/output_test-XXXXXX");
	if (!mkdtemp(output_folder))
		return -1;
	(void)snprintf(output_path, sizeof(output_path), "%s/out", output_folder);
	return 0;
}

/* Nothing but the output may be there. */
int output_tear_down(void **state)
{
	(void)state;
	(void)unlink(output_path);
	return rmdir(output_folder);
}

struct perfdata *output_input(struct bytes bytes)
{
	struct perfdata *perf;
	struct perfdata_record record;
	assert_int_equal(perfdata_open(&perf, bytes, NULL), 0);
	while (perfdata_next(perf, &record) > 0)
		;
	perfdata_rewind(perf);
	return perf;
}

struct output_result output_result_read(void)
{
	struct output_result result;
	assert_int_equal(os_file_open(&result.file, output_path, OS_FILE_PLAIN), 0);
	result.perf = output_input(result.file.bytes);
	assert_int_equal(perfdata_problem_count(result.perf), 0);
	return result;
}

void output_result_close(struct output_result *result)
{
	perfdata_close(result->perf);
	os_file_close(&result->file);
}

void input_comm(struct wire *w, const char *comm)
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

void input_feature(struct wire *w, const void *data, size_t size)
{
	wire_feature(w);
	wire_put(w, data, size);
	wire_end_feature(w);
}

/* Features with contents "N", besides those that must make sense. */
struct bytes input_file(bool swap)
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
	wire_begin(&w, INPUT_EVENTS, 2);
	input_comm(&w, "one");
	put_untimed(&w, PERFDATA_FINISHED_ROUND);
	put_untimed(&w, PERFDATA_ID_INDEX);
	input_comm(&w, "two");
	wire_end_data(&w, FEATURES, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const uint8_t number[2] = { (uint8_t)FEATURES[i], 0 };
		if (FEATURES[i] == PERFDATA_FEATURE_BUILD_ID)
			input_feature(&w, build_ids.data, build_ids.size);
		else if (FEATURES[i] == PERFDATA_FEATURE_EVENT_DESC)
			input_feature(&w, desc.data, desc.size);
		else
			input_feature(&w, number,
				      FEATURES[i] == PERFDATA_FEATURE_BRANCH_STACK ? 0 : 2);
	}
	const struct bytes file = wire_finish(&w);
	sink_clear(&build_ids);
	sink_clear(&desc);
	wire_clear(&w);
	return file;
}

void input_attr(struct wire *w, const struct wire_event *event)
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

struct bytes input_pipe(void)
{
	struct wire w = { 0 };
	wire_begin_pipe(&w);
	input_attr(&w, &INPUT_EVENTS[0]);
	input_attr(&w, &INPUT_EVENTS[1]);
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
	input_comm(&w, "one");
	put_build_id_record(&w, INPUT_ID_B, "/b");
	input_comm(&w, "two");
	const struct bytes pipe = wire_finish(&w);
	wire_clear(&w);
	return pipe;
}

void output_copy_all(struct inject_output *out, struct perfdata *perf)
{
	struct perfdata_record record;
	while (perfdata_next(perf, &record) > 0)
		inject_output_copy(out, &record);
	perfdata_rewind(perf);
}

struct inject_output *output_open(const char *to, struct perfdata *input)
{
	struct inject_output *out;
	assert_int_equal(inject_output_open(&out, to, input), 0);
	return out;
}

/* Copies `bytes` to a file at `output_path`, or through a device's name in pipe mode. */
void output_copy(struct bytes bytes, bool as_pipe)
{
	struct perfdata *input = output_input(bytes);
	char name[64];
	const int fd = as_pipe ? open(output_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600) : -1;
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	struct inject_output *out = output_open(as_pipe ? name : output_path, input);
	output_copy_all(out, input);
	assert_int_equal(inject_output_commit(out), 0);
	perfdata_close(input);
	if (fd >= 0)
		close(fd);
}

void expect_types(struct perfdata *perf, const uint32_t *types, size_t count)
{
	struct perfdata_record record = { 0 };
	size_t i = 0;
	perfdata_rewind(perf);
	while (perfdata_next(perf, &record) > 0) {
		assert_true(i < count);
		assert_int_equal(record.type, types[i++]);
	}
	assert_int_equal(i, count);
}

void expect_event(const struct perfdata *perf, size_t index, uint32_t attr_size, const char *name)
{
	const struct perfdata_event *event = perfdata_event(perf, index);
	const struct wire_event *wanted = &INPUT_EVENTS[index];
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

void expect_build_ids(const struct perfdata *perf, const char *const *names, size_t count)
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

void expect_number(const struct perfdata *perf, unsigned feature)
{
	const struct bytes content = perfdata_feature(perf, feature);
	assert_true(content.size >= 2);
	assert_int_equal(content.data[0], feature);
}
