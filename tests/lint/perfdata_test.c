/* One fault a case in a perf.data file of a few records. */
#include "check.h"

#include "format/btf/btf.h"
#include "format/perfdata/bpf.h"
#include "format/perfdata/writer.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <time.h>

enum { PID = 4711 };

static const uint64_t sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

static struct perf_event_attr sound_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = sample_type,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static struct perfdata_new_id id_at(uint64_t time_ns)
{
	return (struct perfdata_new_id){
		.sample_type = sample_type,
		.pid = PID,
		.tid = PID,
		.time_ns = time_ns,
	};
}

static void put_comm(struct sink *records, uint64_t time_ns)
{
	const struct perfdata_new_id id = id_at(time_ns);
	perfdata_put_comm(records, PID, PID, "node", &id);
}

static void put_jitdump(struct sink *records)
{
	const struct perfdata_new_id id = id_at(5);
	const struct perfdata_new_mmap2 map = {
		.pid = PID,
		.tid = PID,
		.start_avma = 0x1000,
		.size = 4096,
		.prot = 5,
		.path = "/home/u/jit-4711.dump",
	};
	perfdata_put_mmap2(records, &map, &id);
}

/* A whole file; frees `records`. */
static struct sink make(struct sink *records, const struct perf_event_attr *attr)
{
	const struct perfdata_new_event event = { .attr = attr, .attr_size = attr->size };
	struct sink file = { 0 };
	struct sink header = { 0 };
	struct perfdata_layout layout = perfdata_begin(&file, &event, 1);
	layout.data_size = records->size;
	sink_put(&file, records->data, records->size);
	perfdata_header(&header, &layout);
	memcpy(file.data, header.data, header.size);
	sink_clear(&header);
	sink_clear(records);
	assert_false(sink_failed(&file));
	return file;
}

/* Where the records of make() begin. */
static uint64_t records_off(void)
{
	const struct perf_event_attr attr = sound_attr();
	struct sink none = { 0 };
	struct sink file = make(&none, &attr);
	const uint64_t offset = file.size;
	sink_clear(&file);
	return offset;
}

static void finds(struct sink *records, const struct perf_event_attr *attr, enum lint_kind kind,
		  uint64_t offset)
{
	struct sink file = make(records, attr);
	check_finds(sink_bytes(&file), kind, offset);
	sink_clear(&file);
}

static void finds_nothing_in_a_sound_file(void **state)
{
	(void)state;
	const struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	put_comm(&records, 3);
	put_jitdump(&records);
	perfdata_put_finished_round(&records);
	put_comm(&records, 4); /* older than the round, newer than the one before it */
	perfdata_put_finished_round(&records);
	put_comm(&records, 9);
	struct sink file = make(&records, &attr);
	check_clean(sink_bytes(&file));
	sink_clear(&file);
}

static void finds_faults_of_attrs(void **state)
{
	(void)state;
	struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	put_comm(&records, 3);
	attr.sample_id_all = 0;
	finds(&records, &attr, LINT_NO_TIMES, 0);

	attr = sound_attr();
	attr.sample_type = PERF_SAMPLE_TID;
	put_comm(&records, 3);
	finds(&records, &attr, LINT_NO_TIMES, 0);

	attr = sound_attr();
	attr.use_clockid = 0;
	put_jitdump(&records);
	finds(&records, &attr, LINT_CLOCK, records_off());
	/* Without a jitdump nobody needs the clock. */
	put_comm(&records, 3);
	struct sink file = make(&records, &attr);
	check_clean(sink_bytes(&file));
	sink_clear(&file);

	struct {
		struct perf_event_attr attr;
		uint64_t newer[8];
	} large = { .attr = sound_attr() };
	large.attr.size = sizeof(large);
	large.newer[7] = 1; /* the writer leaves zeros out */
	put_comm(&records, 3);
	finds(&records, &large.attr, LINT_NEWER, 0);
}

static void finds_what_was_lost(void **state)
{
	(void)state;
	const struct perf_event_attr attr = sound_attr();
	const struct perfdata_new_id id = id_at(4);
	struct sink records = { 0 };
	perfdata_put_lost_samples(&records, 17, &id);
	finds(&records, &attr, LINT_LOST, records_off());

	sink_u32(&records, PERFDATA_THROTTLE);
	sink_u16(&records, 0);
	sink_u16(&records, 8 + 24 + 16);
	sink_zeros(&records, 24);
	perfdata_put_id(&records, &id);
	finds(&records, &attr, LINT_THROTTLED, records_off());
}

static void finds_records_out_of_order(void **state)
{
	(void)state;
	const struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	put_comm(&records, 100);
	perfdata_put_finished_round(&records);
	perfdata_put_finished_round(&records);
	const uint64_t offset = records_off() + records.size;
	put_comm(&records, 99);
	finds(&records, &attr, LINT_ORDER, offset);
}

static void finds_bad_records(void **state)
{
	(void)state;
	const struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	sink_u32(&records, 12345);
	sink_u32(&records, 16 << 16);
	sink_u64(&records, 0);
	struct sink file = make(&records, &attr);
	check_finds(sink_bytes(&file), LINT_UNKNOWN, records_off());
	sink_clear(&file);

	put_comm(&records, 3);
	records.size -= 8;
	finds(&records, &attr, LINT_RECORD, records_off());
}

static void finds_an_interrupted_file(void **state)
{
	(void)state;
	const struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	put_comm(&records, 3);
	struct sink file = make(&records, &attr);
	sink_patch_u64(&file, 48, 0); /* the size of the data */
	check_finds(sink_bytes(&file), LINT_INTERRUPTED, 0);
	sink_clear(&file);
}

/* A file without records whose BPF features are these; an offset into them as it is in the file. */
static struct sink make_bpf(struct sink contents[2], uint64_t offs[2])
{
	const struct perf_event_attr attr = sound_attr();
	struct sink records = { 0 };
	struct sink header = { 0 };
	put_comm(&records, 3);
	const size_t records_size = records.size;
	struct sink file = make(&records, &attr);
	struct perfdata_layout layout;
	const struct perfdata_new_event event = { .attr = &attr, .attr_size = attr.size };
	const struct perfdata_new_feature features[2] = {
		{ PERFDATA_FEATURE_BPF_PROG_INFO, contents[0] },
		{ PERFDATA_FEATURE_BPF_BTF, contents[1] },
	};
	layout = perfdata_begin(&header, &event, 1);
	layout.data_size = records_size;
	perfdata_features(&file, &layout, file.size, features, 2);
	sink_reset(&header);
	perfdata_header(&header, &layout);
	memcpy(file.data, header.data, header.size);
	sink_clear(&header);
	offs[1] = file.size - contents[1].size;
	offs[0] = offs[1] - contents[0].size;
	return file;
}

struct bpf_case {
	uint32_t code_bytes;
	uint32_t line_places;
	uint32_t btf_id;
	uint32_t file_name_off;
	uint8_t btf_version;
};

static const struct bpf_case sound_bpf = { 8, 1, 9, 1, BTF_VERSION };

static void put_bpf(const struct bpf_case *what, struct sink contents[2])
{
	static const char strings[] = "\0a.c";
	const uint64_t avmas[2] = { 0xffffffffc0001000, 0xffffffffc0001004 };
	const uint32_t size = 8;
	const uint32_t line[4] = { 0, what->file_name_off, 0, 7 << 10 };
	const struct bpf_prog_info info = { .id = 3, .btf_id = 9 };
	const struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS] = {
		[PERFDATA_BPF_CODE] = { { (const uint8_t *)"codecodecode", what->code_bytes },
					what->code_bytes,
					1 },
		[PERFDATA_BPF_FUNCTION_AVMAS] = { { (const uint8_t *)avmas, 8 }, 1, 8 },
		[PERFDATA_BPF_FUNCTION_SIZES] = { { (const uint8_t *)&size, 4 }, 1, 4 },
		[PERFDATA_BPF_LINE_INFO] = { { (const uint8_t *)line, 16 }, 1, 16 },
		[PERFDATA_BPF_LINE_AVMAS] = { { (const uint8_t *)avmas, 8 * what->line_places },
					      what->line_places,
					      8 },
	};
	struct sink btf = { 0 };
	sink_u16(&btf, BTF_MAGIC);
	sink_u16(&btf, what->btf_version);
	const uint32_t numbers[] = { 24, 0, 0, 0, sizeof(strings) };
	sink_put(&btf, numbers, sizeof(numbers));
	sink_put(&btf, strings, sizeof(strings));
	for (int i = 0; i < 2; i++)
		sink_u32(&contents[i], 1);
	perfdata_put_bpf_program(&contents[0],
				 (struct bytes){ (const uint8_t *)&info, sizeof(info) }, arrays);
	perfdata_put_bpf_btf(&contents[1],
			     &(struct perfdata_bpf_btf){ what->btf_id, sink_bytes(&btf) });
	sink_clear(&btf);
}

static void check_bpf(struct sink contents[2], enum lint_kind kind, int section)
{
	uint64_t offs[2];
	struct sink file = make_bpf(contents, offs);
	check_finds(sink_bytes(&file), kind, offs[section] + 4);
	sink_clear(&file);
	sink_clear(&contents[0]);
	sink_clear(&contents[1]);
}

static void finds_faults_of_bpf_programs(void **state)
{
	(void)state;
	struct sink contents[2] = { 0 };
	uint64_t offs[2];
	put_bpf(&sound_bpf, contents);
	struct sink file = make_bpf(contents, offs);
	check_clean(sink_bytes(&file));
	sink_clear(&file);

	contents[0].size -= 8; /* the section ends in its data */
	check_bpf(contents, LINT_BPF, 0);
	put_bpf(&sound_bpf, contents);
	contents[1].size -= 1;
	check_bpf(contents, LINT_BPF, 1);
	put_bpf(&sound_bpf, contents);
	sink_patch_u64(&contents[0], 4 + 16 + 24, 1 << 20); /* where the code lies */
	check_bpf(contents, LINT_BPF, 0);

	struct bpf_case what = sound_bpf;
	what.code_bytes = 7;
	put_bpf(&what, contents);
	check_bpf(contents, LINT_BPF, 0);
	what = sound_bpf;
	what.line_places = 2;
	put_bpf(&what, contents);
	check_bpf(contents, LINT_BPF, 0);

	what = sound_bpf;
	what.btf_id = 8;
	put_bpf(&what, contents);
	check_bpf(contents, LINT_BPF_LINES, 0);
	what = sound_bpf;
	what.file_name_off = 1000;
	put_bpf(&what, contents);
	check_bpf(contents, LINT_BPF_LINES, 0);
	what = sound_bpf;
	what.line_places = 0; /* hidden from the recorder */
	put_bpf(&what, contents);
	file = make_bpf(contents, offs);
	check_clean(sink_bytes(&file));
	sink_clear(&file);
	sink_clear(&contents[0]);
	sink_clear(&contents[1]);
}

/* Then nothing in it can be named either. */
static void finds_bad_btf(void **state)
{
	(void)state;
	struct bpf_case what = sound_bpf;
	struct sink contents[2] = { 0 };
	uint64_t offs[2];
	what.btf_version = BTF_VERSION + 1;
	put_bpf(&what, contents);
	struct sink file = make_bpf(contents, offs);
	struct lint lint = { .limit = 0 };
	assert_int_equal(lint_file(&lint, sink_bytes(&file)), 0);
	assert_int_equal(lint.counts[LINT_BPF], 1);
	assert_int_equal(check_find(&lint, LINT_BPF)->offset, offs[1] + 4);
	assert_int_equal(lint.counts[LINT_BPF_LINES], 1);
	lint_clear(&lint);
	sink_clear(&file);
	sink_clear(&contents[0]);
	sink_clear(&contents[1]);
}

static void finds_every_kind(void **state)
{
	(void)state;
	check_all_seen(LINT_RECORD, LINT_NEWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_in_a_sound_file),
		cmocka_unit_test(finds_faults_of_attrs),
		cmocka_unit_test(finds_what_was_lost),
		cmocka_unit_test(finds_records_out_of_order),
		cmocka_unit_test(finds_bad_records),
		cmocka_unit_test(finds_an_interrupted_file),
		cmocka_unit_test(finds_faults_of_bpf_programs),
		cmocka_unit_test(finds_bad_btf),
		cmocka_unit_test(finds_every_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
