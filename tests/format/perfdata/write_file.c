/* write_file.c - perfdata_write_file [-z] PATH: a small but complete recording, made
 * with the writer alone, for stock perf to judge.
 */
#include "format/perfdata/writer.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLES = 5000, MAPS_AT = 0x400000, BLOCK_BYTES = 1 << 20 };

static const uint64_t SAMPLE_TYPE =
    PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
    PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_CALLCHAIN;
static const uint64_t IDS[] = { 11, 12 };
static const uint8_t BUILD_ID[20] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"
				    "\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14";

static struct perfdata_new_id id_at(uint64_t time_ns)
{
	return (struct perfdata_new_id){
		.sample_type = SAMPLE_TYPE, .pid = 100, .tid = 100, .time_ns = time_ns, .id = 11
	};
}

static void put_sample(struct sink *out, uint64_t index)
{
	const uint32_t type = PERFDATA_SAMPLE;
	const size_t at = out->size;
	sink_u32(out, type);
	sink_u16(out, PERFDATA_CPUMODE_USER);
	sink_u16(out, 0);
	sink_u64(out, IDS[index & 1]);
	sink_u64(out, MAPS_AT + 0x100 + index % 7);
	sink_u32(out, 100);
	sink_u32(out, 100);
	sink_u64(out, 2000 + index);
	sink_u32(out, (uint32_t)(index & 1));
	sink_u32(out, 0);
	sink_u64(out, 1000000);
	sink_u64(out, 3);
	sink_u64(out, PERFDATA_CONTEXT_USER);
	sink_u64(out, MAPS_AT + 0x100 + index % 7);
	sink_u64(out, MAPS_AT + 0x500);
	const uint16_t size = (uint16_t)(out->size - at);
	if (!sink_failed(out))
		memcpy(out->data + at + 6, &size, sizeof(size));
}

static void put_records(struct sink *out)
{
	static const uint64_t NAMESPACES[7][2] = { { 4, 1 }, { 4, 2 }, { 4, 3 }, { 4, 4 },
						   { 4, 5 }, { 4, 6 }, { 4, 7 } };
	const struct perfdata_new_id start = id_at(0);
	const struct perfdata_new_id later = id_at(1500);
	const struct perfdata_new_mmap2 map = { .pid = 100,
						.tid = 100,
						.start_avma = MAPS_AT,
						.size = 0x10000,
						.build_id = { BUILD_ID, sizeof(BUILD_ID) },
						.prot = PROT_READ | PROT_EXEC,
						.flags = MAP_PRIVATE,
						.misc = PERFDATA_CPUMODE_USER,
						.path = "/opt/example/program" };
	struct perfdata_new_mmap2 plain = map;
	plain.start_avma += 0x20000;
	plain.build_id = (struct bytes){ 0 };
	plain.inode = 77;
	plain.path = "/opt/example/library.so";
	perfdata_put_time_conv(out, 31, 1000, 0);
	perfdata_put_kernel_mmap(out, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
				 "[kernel.kallsyms]_text", &start);
	perfdata_put_ksymbol(out, 0xffffffffc0001000, 100, 1, "bpf_prog_6deef7357e7b4530", &start);
	perfdata_put_namespaces(out, 100, 100, NAMESPACES, 7, &start);
	perfdata_put_comm(out, 100, 100, "program", &start);
	perfdata_put_mmap2(out, &map, &start);
	perfdata_put_mmap2(out, &plain, &later);
	for (uint64_t i = 0; i < SAMPLES; i++)
		put_sample(out, i);
	perfdata_put_fork(out, 101, 100, 101, 100, &later);
	perfdata_put_lost_samples(out, 5, &later);
	perfdata_put_exit(out, 101, 100, 101, 100, &later);
	perfdata_put_finished_round(out);
}

static const char *const ARGS[] = { "/opt/example/polyperf", "record", "--", "./program" };

/* Fills up to 16 features; returns how many. */
static size_t make_features(struct perfdata_new_feature *f, const struct perfdata_new_event *events,
			    bool packed)
{
	static const struct {
		unsigned feature;
		const char *text;
	} TEXTS[] = {
		{ PERFDATA_FEATURE_HOSTNAME, "example" },   { PERFDATA_FEATURE_OSRELEASE, "6.1.0" },
		{ PERFDATA_FEATURE_VERSION, "polyperf 0" }, { PERFDATA_FEATURE_ARCH, "x86_64" },
		{ PERFDATA_FEATURE_CPUDESC, "A CPU" },
	};
	size_t n = 0;
	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
		f[n].feature = TEXTS[i].feature;
		perfdata_put_text(&f[n++].content, TEXTS[i].text);
	}
	f[n].feature = PERFDATA_FEATURE_NRCPUS;
	perfdata_put_nrcpus(&f[n++].content, 2, 2);
	f[n].feature = PERFDATA_FEATURE_TOTAL_MEM;
	perfdata_put_total_memory(&f[n++].content, 1 << 20);
	f[n].feature = PERFDATA_FEATURE_CMDLINE;
	perfdata_put_cmdline(&f[n++].content, ARGS, 4);
	f[n].feature = PERFDATA_FEATURE_EVENT_DESC;
	perfdata_put_event_desc(&f[n++].content, events, 2);
	f[n].feature = PERFDATA_FEATURE_BUILD_ID;
	perfdata_put_build_id(&f[n].content, PERFDATA_CPUMODE_USER, -1,
			      (struct bytes){ BUILD_ID, sizeof(BUILD_ID) },
			      "/opt/example/library.so");
	perfdata_put_build_id(&f[n++].content, PERFDATA_CPUMODE_USER, -1,
			      (struct bytes){ BUILD_ID, 16 }, "/opt/example/program");
	f[n].feature = PERFDATA_FEATURE_SAMPLE_TIME;
	perfdata_put_sample_time(&f[n++].content, 2000, 2000 + SAMPLES);
	f[n].feature = PERFDATA_FEATURE_CLOCKID;
	perfdata_put_clock_resolution(&f[n++].content, 1);
	f[n].feature = PERFDATA_FEATURE_CLOCK_DATA;
	perfdata_put_clock_data(&f[n++].content, 1, 1700000000000000000, 1000);
	if (packed) {
		f[n].feature = PERFDATA_FEATURE_COMPRESSED;
		perfdata_put_compressed_feature(&f[n++].content, 3, 4, BLOCK_BYTES);
	}
	return n;
}

static int put_packed(struct sink *out, struct bytes records)
{
	struct perfdata_compressor *compressor;
	if (perfdata_compressor_open(&compressor, 3) < 0)
		return -1;
	const int status = perfdata_compress(compressor, records, out);
	perfdata_compressor_close(compressor);
	return status;
}

static bool make_file(struct sink *out, bool packed)
{
	const struct perf_event_attr attr = { .size = sizeof(attr),
					      .type = PERF_TYPE_SOFTWARE,
					      .sample_type = SAMPLE_TYPE,
					      .sample_period = 1000000,
					      .sample_id_all = 1,
					      .use_clockid = 1,
					      .clockid = 1 };
	const struct perfdata_new_event events[] = {
		{ &attr, sizeof(attr), &IDS[0], 1, "cpu-clock" },
		{ &attr, sizeof(attr), &IDS[1], 1, "task-clock" },
	};
	struct perfdata_new_feature features[16] = { 0 };
	struct sink records = { 0 };
	struct sink header = { 0 };
	struct perfdata_layout layout = perfdata_begin(out, events, 2);
	put_records(&records);
	const bool packing_failed = packed && put_packed(out, sink_bytes(&records)) < 0;
	if (!packed)
		sink_put(out, records.data, records.size);
	layout.data_size = out->size - layout.data_offset;
	const size_t count = make_features(features, events, packed);
	perfdata_features(out, &layout, out->size, features, count);
	perfdata_header(&header, &layout);
	const bool failed =
	    packing_failed || sink_failed(out) || sink_failed(&header) || sink_failed(&records);
	if (!failed)
		memcpy(out->data, header.data, header.size);
	for (size_t i = 0; i < count; i++)
		sink_clear(&features[i].content);
	sink_clear(&header);
	sink_clear(&records);
	return !failed;
}

int main(int argc, char **argv)
{
	const bool packed = argc == 3 && strcmp(argv[1], "-z") == 0;
	if (argc != 2 && !packed)
		return 2;
	struct sink out = { 0 };
	bool ok = make_file(&out, packed);
	FILE *file = fopen(argv[argc - 1], "wbe");
	ok = ok && file && fwrite(out.data, 1, out.size, file) == out.size;
	if (file)
		ok = fclose(file) == 0 && ok;
	sink_clear(&out);
	return !ok;
}
