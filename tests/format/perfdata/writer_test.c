/* What is written reads back the same; packed records too. */
#include "format/perfdata/wire.h"
#include "format/perfdata/writer.h"

#include "test.h"

#include <linux/perf_event.h>
#include <stdlib.h>

static const uint64_t IDS_A[] = { 0x101, 0x102 };
static const uint64_t IDS_B[] = { 0x201 };
static const uint64_t SAMPLE_TYPE =
    PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
    PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_ID;
static const struct perfdata_new_id ID = {
	.sample_type = SAMPLE_TYPE, .pid = 1, .tid = 2, .time_ns = 3000, .id = 0x102, .cpu = 5
};

static struct perf_event_attr make_attr(void)
{
	return (struct perf_event_attr){ .size = sizeof(struct perf_event_attr),
					 .type = PERF_TYPE_SOFTWARE,
					 .sample_type = SAMPLE_TYPE,
					 .sample_period = 1000,
					 .sample_id_all = 1 };
}

/* The parts of a file, joined as who writes one joins them. */
struct scene {
	struct sink file;
	struct perfdata_layout layout;
	struct perfdata *reader;
	struct perfdata_record record;
};

static void begin(struct scene *s)
{
	const struct perf_event_attr attr = make_attr();
	const struct perfdata_new_event events[] = {
		{ &attr, sizeof(attr), IDS_A, 2, "first" },
		{ &attr, sizeof(attr), IDS_B, 1, "second" },
	};
	s->layout = perfdata_begin(&s->file, events, 2);
	assert_int_equal(s->file.size, s->layout.data_offset);
}

static void finish(struct scene *s, const struct perfdata_new_feature *features, size_t count)
{
	struct sink header = { 0 };
	s->layout.data_size = s->file.size - s->layout.data_offset;
	perfdata_features(&s->file, &s->layout, s->file.size, features, count);
	perfdata_header(&header, &s->layout);
	assert_int_equal(header.size, PERFDATA_HEADER_SIZE);
	assert_false(sink_failed(&s->file) || sink_failed(&header));
	memcpy(s->file.data, header.data, header.size);
	sink_clear(&header);
	assert_int_equal(perfdata_open(&s->reader, sink_bytes(&s->file), NULL), 0);
}

static void next(struct scene *s, uint32_t type)
{
	assert_int_equal(perfdata_next(s->reader, &s->record), 1);
	assert_int_equal(s->record.type, type);
	assert_int_equal(s->record.body.size % 8, 0);
}

static void done(struct scene *s)
{
	assert_int_equal(perfdata_next(s->reader, &s->record), 0);
	assert_int_equal(perfdata_problem_count(s->reader), 0);
	perfdata_close(s->reader);
	sink_clear(&s->file);
}

static void check_id(const struct perfdata_sample_id *id)
{
	assert_int_equal(id->pid, 1);
	assert_int_equal(id->tid, 2);
	assert_int_equal(id->time_ns, 3000);
	assert_int_equal(id->id, 0x102);
	assert_int_equal(id->cpu, 5);
	assert_int_equal(id->present, SAMPLE_TYPE & ~PERFDATA_SAMPLE_IP);
}

static void test_events(void **state)
{
	(void)state;
	struct scene s = { 0 };
	begin(&s);
	perfdata_put_finished_round(&s.file);
	finish(&s, NULL, 0);
	assert_int_equal(perfdata_event_count(s.reader), 2);
	const struct perfdata_event *event = perfdata_event(s.reader, 0);
	assert_int_equal(event->attr.sample_type, SAMPLE_TYPE);
	assert_int_equal(event->attr.flags, PERFDATA_ATTR_SAMPLE_ID_ALL);
	assert_int_equal(event->attr.sample_period, 1000);
	assert_int_equal(event->id_count, 2);
	assert_int_equal(event->ids[1], 0x102);
	assert_string_equal(event->name, "cpu-clock");
	assert_int_equal(perfdata_event(s.reader, 1)->ids[0], 0x201);
	next(&s, PERFDATA_FINISHED_ROUND);
	done(&s);
}

/* A recording that dies before its header is patched. */
static void test_file_without_its_last_header(void **state)
{
	(void)state;
	struct scene s = { 0 };
	begin(&s);
	perfdata_put_comm(&s.file, 1, 2, "first", &ID);
	perfdata_put_comm(&s.file, 1, 2, "second", &ID);
	assert_int_equal(perfdata_open(&s.reader, sink_bytes(&s.file), NULL), 0);
	assert_true(perfdata_is_interrupted(s.reader));
	next(&s, PERFDATA_COMM);
	next(&s, PERFDATA_COMM);
	done(&s);
}

/* Perf opens attrs up to its own size only: zeros at the end are left out, the rest is kept. */
static void test_attr_sizes(void **state)
{
	(void)state;
	uint8_t attr[256] = { 0 };
	const uint64_t sample_type = SAMPLE_TYPE;
	memcpy(attr + 24, &sample_type, 8);
	static const struct {
		size_t used;
		uint32_t size;
	} CASES[] = { { 32, 112 }, { 112, 112 }, { 113, 120 }, { 136, 136 }, { 256, 256 } };
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct perf_event_attr usual = make_attr();
		const struct perfdata_new_event events[] = {
			{ &usual, 64, IDS_A, 2, "small" },
			{ attr, sizeof(attr), IDS_B, 1, "large" },
		};
		if (i)
			attr[CASES[i].used - 1] = 0xff;
		struct scene s = { 0 };
		s.layout = perfdata_begin(&s.file, events, 2);
		finish(&s, NULL, 0);
		assert_int_equal(s.layout.attr_entry_size, CASES[i].size + 16);
		assert_int_equal(perfdata_event(s.reader, 0)->attr.size, CASES[i].size);
		assert_int_equal(perfdata_event(s.reader, 1)->attr.size, CASES[i].size);
		assert_int_equal(perfdata_event(s.reader, 0)->attr.sample_type, SAMPLE_TYPE);
		assert_int_equal(perfdata_event(s.reader, 1)->ids[0], 0x201);
		const uint8_t *last = s.file.data + s.layout.data_offset - 16 - CASES[i].size;
		assert_memory_equal(last + 8, attr + 8, CASES[i].used - 8);
		perfdata_close(s.reader);
		sink_clear(&s.file);
	}
}

static void test_mmaps(void **state)
{
	(void)state;
	struct scene s = { 0 };
	struct perfdata_mmap map;
	const uint8_t build_id[20] = "abcdefghijklmnopqrst";
	struct perfdata_new_mmap2 wanted = { .pid = 100,
					     .tid = 101,
					     .start_avma = 0x7f0000000000,
					     .size = 0x2000,
					     .file_off = 0x1000,
					     .maj = 8,
					     .min = 1,
					     .inode = 1234567890123,
					     .inode_generation = 9,
					     .prot = 5,
					     .flags = 2,
					     .misc = PERFDATA_CPUMODE_USER,
					     .path = "/usr/bin/node" };
	begin(&s);
	perfdata_put_mmap2(&s.file, &wanted, &ID);
	wanted.build_id = (struct bytes){ build_id, 20 };
	wanted.path = "12345678";
	perfdata_put_mmap2(&s.file, &wanted, &ID);
	perfdata_put_kernel_mmap(&s.file, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
				 "[kernel.kallsyms]_text", &ID);
	finish(&s, NULL, 0);
	next(&s, PERFDATA_MMAP2);
	assert_int_equal(perfdata_decode_mmap(s.reader, &s.record, &map), 0);
	check_id(&map.id);
	assert_int_equal(s.record.misc, PERFDATA_CPUMODE_USER);
	assert_int_equal(map.pid, 100);
	assert_int_equal(map.tid, 101);
	assert_int_equal(map.start_avma, 0x7f0000000000);
	assert_int_equal(map.size, 0x2000);
	assert_int_equal(map.file_off, 0x1000);
	assert_int_equal(map.maj, 8);
	assert_int_equal(map.min, 1);
	assert_int_equal(map.inode, 1234567890123);
	assert_int_equal(map.inode_generation, 9);
	assert_int_equal(map.prot, 5);
	assert_int_equal(map.flags, 2);
	assert_string_equal(map.path, "/usr/bin/node");
	next(&s, PERFDATA_MMAP2);
	assert_int_equal(perfdata_decode_mmap(s.reader, &s.record, &map), 0);
	assert_int_equal(map.build_id.size, 20);
	assert_memory_equal(map.build_id.data, build_id, 20);
	assert_int_equal(map.inode, 0);
	assert_string_equal(map.path, "12345678");
	next(&s, PERFDATA_MMAP);
	assert_int_equal(perfdata_decode_mmap(s.reader, &s.record, &map), 0);
	assert_true(map.is_kernel && map.is_exec);
	assert_true(map.file_off == 0xffffffff81000000);
	done(&s);
}

static void put_small_records(struct sink *out)
{
	static const uint64_t NAMESPACES[2][2] = { { 4, 0xf0000001 }, { 4, 0xf0000002 } };
	perfdata_put_comm(out, 5, 6, "worker", &ID);
	perfdata_put_fork(out, 1, 2, 3, 4, &ID);
	perfdata_put_exit(out, 1, 2, 3, 4, &ID);
	perfdata_put_namespaces(out, 5, 6, NAMESPACES, 2, &ID);
	perfdata_put_ksymbol(out, 0xffffffffc0001000, 100, 1, "bpf_prog_1", &ID);
	perfdata_put_bpf_event(out, 1, 77, (const uint8_t *)"ABCDEFGH", &ID);
	perfdata_put_cgroup(out, 55, "/a/b", &ID);
	perfdata_put_lost_samples(out, 1000, &ID);
	perfdata_put_time_conv(out, 31, 7, 8);
}

static void check_tasks(struct scene *s)
{
	struct perfdata_comm comm;
	struct perfdata_task task;
	struct perfdata_namespaces namespaces;
	next(s, PERFDATA_COMM);
	assert_int_equal(perfdata_decode_comm(s->reader, &s->record, &comm), 0);
	check_id(&comm.id);
	assert_int_equal(comm.pid, 5);
	assert_int_equal(comm.tid, 6);
	assert_string_equal(comm.comm, "worker");
	for (int i = 0; i < 2; i++) {
		next(s, i ? PERFDATA_EXIT : PERFDATA_FORK);
		assert_int_equal(perfdata_decode_task(s->reader, &s->record, &task), 0);
		check_id(&task.id);
		assert_int_equal(task.pid, 1);
		assert_int_equal(task.parent_pid, 2);
		assert_int_equal(task.tid, 3);
		assert_int_equal(task.parent_tid, 4);
		assert_int_equal(task.time_ns, 3000);
	}
	next(s, PERFDATA_NAMESPACES);
	assert_int_equal(perfdata_decode_namespaces(s->reader, &s->record, &namespaces), 0);
	check_id(&namespaces.id);
	assert_int_equal(namespaces.count, 2);
	assert_int_equal(namespaces.links[1].inode, 0xf0000002);
}

static void check_kernel_records(struct scene *s)
{
	struct perfdata_ksymbol symbol;
	struct perfdata_bpf_event event;
	struct perfdata_cgroup cgroup;
	struct perfdata_lost lost;
	struct perfdata_time_conv conv;
	next(s, PERFDATA_KSYMBOL);
	assert_int_equal(perfdata_decode_ksymbol(s->reader, &s->record, &symbol), 0);
	check_id(&symbol.id);
	assert_true(symbol.start_avma == 0xffffffffc0001000);
	assert_int_equal(symbol.size, 100);
	assert_int_equal(symbol.kind, 1);
	assert_false(symbol.is_unregister);
	assert_string_equal(symbol.name, "bpf_prog_1");
	next(s, PERFDATA_BPF_EVENT);
	assert_int_equal(perfdata_decode_bpf_event(s->reader, &s->record, &event), 0);
	check_id(&event.id);
	assert_int_equal(event.program_id, 77);
	assert_memory_equal(event.tag, "ABCDEFGH", 8);
	next(s, PERFDATA_CGROUP);
	assert_int_equal(perfdata_decode_cgroup(s->reader, &s->record, &cgroup), 0);
	check_id(&cgroup.id);
	assert_int_equal(cgroup.cgroup, 55);
	assert_string_equal(cgroup.path, "/a/b");
	next(s, PERFDATA_LOST_SAMPLES);
	assert_int_equal(perfdata_decode_lost(s->reader, &s->record, &lost), 0);
	check_id(&lost.id);
	assert_int_equal(lost.count, 1000);
	next(s, PERFDATA_TIME_CONV);
	assert_int_equal(perfdata_decode_time_conv(s->reader, &s->record, &conv), 0);
	assert_int_equal(conv.shift, 31);
	assert_int_equal(conv.mult, 7);
	assert_int_equal(conv.zero, 8);
	assert_true(conv.cap_zero);
}

static void test_small_records(void **state)
{
	(void)state;
	struct scene s = { 0 };
	begin(&s);
	put_small_records(&s.file);
	finish(&s, NULL, 0);
	check_tasks(&s);
	check_kernel_records(&s);
	done(&s);
}

/* Longer than a record holds: cut, never torn. */
static void test_long_texts_are_cut(void **state)
{
	(void)state;
	static char text[100000];
	memset(text, 'x', sizeof(text) - 1);
	struct scene s = { 0 };
	struct perfdata_mmap map;
	struct perfdata_comm comm;
	struct sink build_ids = { 0 };
	struct perfdata_build_id id;
	begin(&s);
	perfdata_put_kernel_mmap(&s.file, 1, 2, 3, text, &ID);
	perfdata_put_comm(&s.file, 1, 2, text, &ID);
	perfdata_put_build_id(&build_ids, 2, -1, (struct bytes){ (const uint8_t *)text, 4000 },
			      text);
	const struct perfdata_new_feature feature = { PERFDATA_FEATURE_BUILD_ID, build_ids };
	finish(&s, &feature, 1);
	next(&s, PERFDATA_MMAP);
	assert_int_equal(perfdata_decode_mmap(s.reader, &s.record, &map), 0);
	assert_int_equal(strlen(map.path), 4095);
	next(&s, PERFDATA_COMM);
	assert_int_equal(perfdata_decode_comm(s.reader, &s.record, &comm), 0);
	assert_int_equal(strlen(comm.comm), 255);
	struct cursor c = perfdata_build_ids(s.reader);
	assert_int_equal(perfdata_build_id_next(&c, &id), 1);
	assert_int_equal(id.build_id.size, 20);
	assert_int_equal(strlen(id.path), 4095);
	assert_int_equal(perfdata_build_id_next(&c, &id), 0);
	done(&s);
	sink_clear(&build_ids);
}

enum { FEATURE_COUNT = 9 };

static void make_features(struct perfdata_new_feature *features)
{
	static const char *const ARGS[] = { "polyperf", "record", "--", "node" };
	const struct perf_event_attr attr = make_attr();
	const struct perfdata_new_event events[] = {
		{ &attr, sizeof(attr), IDS_A, 2, "my-first" },
		{ &attr, 64, IDS_B, 1, "my-second" },
	};
	/* Out of order on purpose. */
	features[0].feature = PERFDATA_FEATURE_CLOCK_DATA;
	perfdata_put_clock_data(&features[0].content, 1, 1700000000, 55);
	features[1].feature = PERFDATA_FEATURE_HOSTNAME;
	perfdata_put_text(&features[1].content, "far-away");
	features[2].feature = PERFDATA_FEATURE_CMDLINE;
	perfdata_put_cmdline(&features[2].content, ARGS, 4);
	features[3].feature = PERFDATA_FEATURE_EVENT_DESC;
	perfdata_put_event_desc(&features[3].content, events, 2);
	features[4].feature = PERFDATA_FEATURE_NRCPUS;
	perfdata_put_nrcpus(&features[4].content, 6, 8);
	features[5].feature = PERFDATA_FEATURE_SAMPLE_TIME;
	perfdata_put_sample_time(&features[5].content, 100, 200);
	features[6].feature = PERFDATA_FEATURE_CLOCKID;
	perfdata_put_clock_resolution(&features[6].content, 1);
	features[7].feature = PERFDATA_FEATURE_COMPRESSED;
	perfdata_put_compressed_feature(&features[7].content, 3, 5, 1 << 20);
	features[8].feature = PERFDATA_FEATURE_TOTAL_MEM;
	perfdata_put_total_memory(&features[8].content, 4096);
}

static void test_features(void **state)
{
	(void)state;
	struct scene s = { 0 };
	struct perfdata_new_feature features[FEATURE_COUNT] = { 0 };
	struct perfdata_clock_data clocks;
	struct perfdata_compression compression;
	uint32_t online;
	uint32_t available;
	uint64_t a;
	uint64_t b;
	make_features(features);
	begin(&s);
	finish(&s, features, FEATURE_COUNT);
	assert_string_equal(perfdata_feature_text(s.reader, PERFDATA_FEATURE_HOSTNAME), "far-away");
	assert_string_equal(perfdata_cmdline(s.reader, 3), "node");
	assert_null(perfdata_cmdline(s.reader, 4));
	assert_string_equal(perfdata_event(s.reader, 0)->name, "my-first");
	assert_string_equal(perfdata_event(s.reader, 1)->name, "my-second");
	assert_int_equal(perfdata_cpu_count(s.reader, &online, &available), 0);
	assert_int_equal(online, 6);
	assert_int_equal(available, 8);
	assert_int_equal(perfdata_sample_time(s.reader, &a, &b), 0);
	assert_int_equal(a, 100);
	assert_int_equal(b, 200);
	assert_int_equal(perfdata_clock_resolution(s.reader, &a), 0);
	assert_int_equal(a, 1);
	assert_int_equal(perfdata_total_memory(s.reader, &a), 0);
	assert_int_equal(a, 4096);
	assert_int_equal(perfdata_compression(s.reader, &compression), 0);
	assert_int_equal(compression.kind, PERFDATA_COMPRESSION_ZSTD);
	assert_int_equal(compression.block_bytes, 1 << 20);
	assert_int_equal(perfdata_clock_data(s.reader, &clocks), 0);
	assert_int_equal(clocks.clockid, 1);
	assert_int_equal(clocks.wall_clock_ns, 1700000000);
	assert_int_equal(clocks.clockid_ns, 55);
	assert_int_equal(perfdata_end_offset(s.reader), s.file.size);
	done(&s);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		sink_clear(&features[i].content);
}

/* A feature that could not be made is an error of the file, not a short section. */
static void test_failed_feature(void **state)
{
	(void)state;
	struct sink out = { 0 };
	struct perfdata_layout layout = { 0 };
	struct perfdata_new_feature feature = { PERFDATA_FEATURE_HOSTNAME, { .limit = 10 } };
	perfdata_put_text(&feature.content, "far-away");
	perfdata_features(&out, &layout, 0, &feature, 1);
	assert_true(sink_failed(&out));
	sink_clear(&out);
	sink_clear(&feature.content);
}

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return random_state >> 16;
}

/* Blocks of many sizes, of what packs well and of what does not pack at all. */
static void test_compressor(void **state)
{
	(void)state;
	static const size_t BLOCK_RECORDS[] = { 1, 3, 100, 5000 };
	struct scene s = { 0 };
	struct sink block = { 0 };
	struct perfdata_compressor *compressor;
	uint64_t written = 0;
	begin(&s);
	assert_int_equal(perfdata_compressor_open(&compressor, 3), 0);
	for (size_t b = 0; b < 8; b++) {
		sink_reset(&block);
		for (size_t i = 0; i < BLOCK_RECORDS[b % 4]; i++) {
			char name[200];
			for (size_t k = 0; k < sizeof(name); k++)
				name[k] = b < 4 ? 'x' : (char)(33 + random_word() % 90);
			name[sizeof(name) - 1] = '\0';
			perfdata_put_comm(&block, (uint32_t)written++, 2, name, &ID);
		}
		const size_t before = s.file.size;
		assert_int_equal(perfdata_compress(compressor, sink_bytes(&block), &s.file), 0);
		if (b == 3)
			assert_true((s.file.size - before) * 10 < block.size);
		perfdata_put_finished_round(&s.file);
	}
	assert_int_equal(perfdata_compress(compressor, (struct bytes){ 0 }, &s.file), 0);
	perfdata_compressor_close(compressor);
	finish(&s, NULL, 0);
	uint64_t read = 0;
	uint64_t rounds = 0;
	while (perfdata_next(s.reader, &s.record) > 0) {
		struct perfdata_comm comm;
		if (s.record.type == PERFDATA_FINISHED_ROUND) {
			/* All that went in before comes out before. */
			rounds++;
			continue;
		}
		assert_int_equal(perfdata_decode_comm(s.reader, &s.record, &comm), 0);
		assert_int_equal(comm.pid, read);
		assert_int_equal(strlen(comm.comm), 199);
		read++;
	}
	assert_int_equal(read, written);
	assert_int_equal(rounds, 8);
	assert_true(perfdata_is_compressed(s.reader));
	done(&s);
	sink_clear(&block);
}

static void test_compressor_without_room(void **state)
{
	(void)state;
	struct perfdata_compressor *compressor;
	struct sink out = { .limit = 100 };
	assert_int_equal(perfdata_compressor_open(&compressor, 1), 0);
	assert_int_equal(
	    perfdata_compress(compressor, (struct bytes){ (const uint8_t *)"x", 1 }, &out),
	    STATUS_NO_MEMORY);
	assert_true(sink_failed(&out));
	perfdata_compressor_close(compressor);
	perfdata_compressor_close(NULL);
	sink_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_file_without_its_last_header),
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_mmaps),
		cmocka_unit_test(test_small_records),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_failed_feature),
		cmocka_unit_test(test_compressor),
		cmocka_unit_test(test_compressor_without_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
