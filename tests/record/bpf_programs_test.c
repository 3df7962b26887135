#include "record/bpf_programs.h"

#include "format/perfdata/bpf.h"
#include "format/perfdata/records.h"
#include "format/perfdata/writer.h"
#include "os/bpf_program.h"
#include "record/sideband.h"
#include "test.h"

#include <linux/perf_event.h>
#include <unistd.h>

enum { NOBODY = 0xfffffff0, LOADED = 1, SAMPLE_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME };

/* The program, or a skip where there can be none. */
static int begin(struct bpf_programs *programs)
{
	*programs = (struct bpf_programs){ .info_count = 0 };
	const int fd = bpf_program_load();
	if (fd < 0)
		skip_because("this user may not load BPF programs");
	return fd;
}

static void done(struct bpf_programs *programs, int fd)
{
	bpf_programs_clear(programs);
	close(fd);
}

/* A file with these features and records. */
static struct sink make(const struct bpf_programs *programs, struct bytes records)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attr),
					      .sample_type = SAMPLE_TYPE,
					      .sample_id_all = 1 };
	const struct perfdata_new_event event = { .attr = &attr, .attr_size = sizeof(attr) };
	struct perfdata_new_feature features[2] = { { .feature = PERFDATA_FEATURE_BPF_PROG_INFO },
						    { .feature = PERFDATA_FEATURE_BPF_BTF } };
	struct sink file = { 0 };
	struct sink header = { 0 };
	struct perfdata_layout layout = perfdata_begin(&file, &event, 1);
	bpf_programs_put(programs, &features[0].content, &features[1].content);
	sink_put(&file, records.data, records.size);
	layout.data_size = records.size;
	perfdata_features(&file, &layout, file.size, features, 2);
	perfdata_header(&header, &layout);
	memcpy(file.data, header.data, header.size);
	for (size_t i = 0; i < 2; i++)
		sink_clear(&features[i].content);
	sink_clear(&header);
	assert_false(sink_failed(&file));
	return file;
}

static uint32_t count_in_file(const struct perfdata *file, uint32_t id)
{
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(file);
	struct perfdata_bpf_program program;
	uint32_t count = 0;
	while (perfdata_bpf_program_next(&walk, &program) > 0) {
		assert_int_equal(program.bad_arrays, 0);
		if (program.id != id)
			continue;
		count++;
		assert_string_equal(program.name, BPF_PROGRAM_NAME);
		assert_int_equal(program.arrays[PERFDATA_BPF_FUNCTION_AVMAS].count, 1);
		assert_int_equal(program.arrays[PERFDATA_BPF_TAGS].count, 1);
	}
	return count;
}

static uint32_t count_events(struct perfdata *file, uint32_t id)
{
	struct perfdata_record record;
	struct perfdata_bpf_event event;
	uint32_t count = 0;
	while (perfdata_next(file, &record) > 0) {
		assert_int_equal(perfdata_decode_bpf_event(file, &record, &event), 0);
		assert_int_equal(event.kind, LOADED);
		assert_int_equal(event.id.time_ns, 0);
		count += event.program_id == id;
	}
	assert_int_equal(perfdata_problem_count(file), 0);
	return count;
}

static void programs_that_are_there_are_found_once(void **state)
{
	(void)state;
	struct bpf_programs programs;
	const int fd = begin(&programs);
	const uint32_t id = bpf_program_id(fd);
	bpf_programs_find(&programs);
	bpf_programs_take(&programs, id);
	bpf_programs_find(&programs);
	if (!programs.info_count) {
		done(&programs, fd);
		skip_because("BPF programs are hidden here, or not compiled");
	}
	struct sink records = { 0 };
	bpf_programs_put_events(&programs, &records, SAMPLE_TYPE);
	struct sink bytes = make(&programs, sink_bytes(&records));
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, sink_bytes(&bytes), NULL), 0);
	assert_int_equal(count_in_file(file, id), 1);
	assert_int_equal(count_events(file, id), 1);
	perfdata_close(file);
	sink_clear(&bytes);
	sink_clear(&records);
	assert_int_equal(programs.gone_count, 0);
	assert_int_equal(programs.over_count, 0);
	done(&programs, fd);
}

static void put_event(struct sink *records, uint16_t kind, uint32_t id)
{
	static const uint8_t tag[8] = { 0 };
	const struct perfdata_new_id trailer = { .sample_type = SAMPLE_TYPE };
	perfdata_put_bpf_event(records, kind, id, tag, &trailer);
}

static void programs_that_come_are_taken_at_once(void **state)
{
	(void)state;
	struct bpf_programs programs;
	const int fd = begin(&programs);
	struct build_ids build_ids = { 0 };
	struct sideband sideband = { .build_ids = &build_ids };
	struct sink records = { 0 };
	put_event(&records, LOADED, bpf_program_id(fd));
	put_event(&records, LOADED, NOBODY);
	put_event(&records, LOADED, NOBODY);
	put_event(&records, LOADED + 1, NOBODY - 1); /* unloaded: there is nothing to ask */
	sideband_scan(&sideband, records.data, records.size); /* nobody keeps them */
	sideband.bpf = &programs;
	sideband_scan(&sideband, records.data, records.size);
	sink_clear(&records);
	assert_int_equal(programs.gone_count, 1);
	assert_true(programs.info_count <= 1);
	assert_int_equal(programs.list.count, programs.info_count);
	build_ids_clear(&build_ids);
	done(&programs, fd);
}

static void sections_without_programs_tell_so(void **state)
{
	(void)state;
	const struct bpf_programs none = { .info_count = 0 };
	struct sink infos = { 0 };
	struct sink btfs = { 0 };
	bpf_programs_put(&none, &infos, &btfs);
	assert_int_equal(infos.size, 4);
	assert_int_equal(btfs.size, 4);
	sink_clear(&infos);
	sink_clear(&btfs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_that_are_there_are_found_once),
		cmocka_unit_test(programs_that_come_are_taken_at_once),
		cmocka_unit_test(sections_without_programs_tell_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
