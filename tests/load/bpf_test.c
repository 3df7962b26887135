/* BPF programs of a recording: their code and lines, joined to the kernel's symbols. */
#include "load/code.h"

#include "base/status.h"
#include "format/btf/btf.h"
#include "format/perfdata/bpf.h"
#include "load/listing.h"
#include "load/recording.h"
#include "test.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

enum { PID = 4000001, LOADED = 1, BTF_ID = 9, CODE_SIZE = 16 };

static const uint64_t FIRST = 0xffffffffc0001000;
static const uint64_t SECOND = 0xffffffffc0000800;

/* File names at 1 and 8, texts at 15 and 29. */
static const char strings[] = "\0main.c\0util.h\0return x * 31;\0\treturn mix(x);";
enum { MAIN_C = 1, UTIL_H = 8, RETURN_X = 15, RETURN_MIX = 30 };

struct test_line {
	uint64_t avma;
	uint32_t file;
	uint32_t text;
	uint32_t line;
	uint32_t column;
};

struct test_program {
	uint32_t id;
	const uint8_t *tag; /* of the program; NULL: that of its first function */
	const uint64_t *avmas;
	const uint8_t (*tags)[8];
	uint32_t function_count; /* each CODE_SIZE long */
	const struct test_line *lines;
	uint32_t line_count;
	uint8_t first_byte; /* of the code; each function's is one more */
};

static struct perfdata_bpf_array array_of(const struct sink *bytes, uint32_t count)
{
	return (struct perfdata_bpf_array){ sink_bytes(bytes), count,
					    (uint32_t)bytes->size / count };
}

static void put_program(struct sink *content, const struct test_program *p)
{
	struct bpf_prog_info info = { .type = 1, .id = p->id, .btf_id = BTF_ID };
	struct sink code = { 0 }, sizes = { 0 }, lines = { 0 }, line_avmas = { 0 };
	struct sink avmas = { 0 }, tags = { 0 };
	memcpy(info.tag, p->tag ? p->tag : p->tags[0], sizeof(info.tag));
	for (uint32_t i = 0; i < p->function_count; i++) {
		for (int k = 0; k < CODE_SIZE; k++)
			sink_u8(&code, (uint8_t)(p->first_byte + i));
		sink_u32(&sizes, CODE_SIZE);
		sink_u64(&avmas, p->avmas[i]);
		sink_put(&tags, p->tags[i], 8);
	}
	for (uint32_t i = 0; i < p->line_count; i++) {
		sink_u32(&lines, i);
		sink_u32(&lines, p->lines[i].file);
		sink_u32(&lines, p->lines[i].text);
		sink_u32(&lines, p->lines[i].line << 10 | p->lines[i].column);
		sink_u64(&line_avmas, p->lines[i].avma);
	}
	struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS] = {
		[PERFDATA_BPF_CODE] = array_of(&code, p->function_count * CODE_SIZE),
		[PERFDATA_BPF_FUNCTION_AVMAS] = array_of(&avmas, p->function_count),
		[PERFDATA_BPF_FUNCTION_SIZES] = array_of(&sizes, p->function_count),
		[PERFDATA_BPF_TAGS] = array_of(&tags, p->function_count),
	};
	if (p->line_count) {
		arrays[PERFDATA_BPF_LINE_INFO] = array_of(&lines, p->line_count);
		arrays[PERFDATA_BPF_LINE_AVMAS] = array_of(&line_avmas, p->line_count);
	}
	perfdata_put_bpf_program(content, (struct bytes){ (const uint8_t *)&info, sizeof(info) },
				 arrays);
	sink_clear(&code);
	sink_clear(&sizes);
	sink_clear(&lines);
	sink_clear(&line_avmas);
	sink_clear(&avmas);
	sink_clear(&tags);
}

static void put_btf(struct sink *content)
{
	struct sink btf = { 0 };
	sink_u16(&btf, BTF_MAGIC);
	sink_u8(&btf, BTF_VERSION);
	sink_u8(&btf, 0);
	sink_u32(&btf, 24);
	for (int i = 0; i < 3; i++)
		sink_u32(&btf, 0);
	sink_u32(&btf, sizeof(strings));
	sink_put(&btf, strings, sizeof(strings));
	sink_u32(content, 1);
	perfdata_put_bpf_btf(content, &(struct perfdata_bpf_btf){ BTF_ID, sink_bytes(&btf) });
	sink_clear(&btf);
}

static void add_programs(struct recording *r, const struct test_program *programs, uint32_t count)
{
	r->features[0].feature = PERFDATA_FEATURE_BPF_PROG_INFO;
	r->features[1].feature = PERFDATA_FEATURE_BPF_BTF;
	sink_u32(&r->features[0].content, count);
	for (uint32_t i = 0; i < count; i++)
		put_program(&r->features[0].content, &programs[i]);
	put_btf(&r->features[1].content);
}

static struct perfdata_new_id id_at(const struct recording *r, uint64_t time_ns)
{
	return (struct perfdata_new_id){
		.sample_type = r->sample_type, .pid = (uint32_t)-1, .time_ns = time_ns, .id = 100
	};
}

static void symbol_at(struct recording *r, uint64_t time_ns, uint64_t avma, const char *name)
{
	const struct perfdata_new_id id = id_at(r, time_ns);
	perfdata_put_ksymbol(&r->out, avma, CODE_SIZE, 1, name, &id);
}

static void event_at(struct recording *r, uint64_t time_ns, uint32_t program_id)
{
	static const uint8_t tag[8] = { 0 };
	const struct perfdata_new_id id = id_at(r, time_ns);
	perfdata_put_bpf_event(&r->out, LOADED, program_id, tag, &id);
}

static void sample_at(struct recording *r, uint64_t time_ns, uint64_t avma)
{
	recording_put_sample(
	    r, &(struct recording_what){ .pid = PID,
					 .tid = PID,
					 .time_ns = time_ns,
					 .ip_avma = avma,
					 .is_kernel = true,
					 .chain = (uint64_t[]){ PERF_CONTEXT_KERNEL, avma },
					 .chain_count = 2 });
}

static struct load *open_load(const struct recording *r, bool keep_code)
{
	struct load *load;
	struct load_error error;
	const struct load_options options = { .input = r->path,
					      .lines = true,
					      .keep_code = keep_code,
					      .in_order = true,
					      .self_contained = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	return load;
}

/* "name file:line" of each sample, in time order. */
static int see(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	const struct profile_frame *frame =
	    &profile->frames.items[profile->frame_ids.items[stack->first]];
	sink_printf(seen, "%s %s:%u\n",
		    profile_text(profile, profile->functions.items[frame->function].raw_name),
		    profile_text(profile, frame->file), frame->line);
	return 0;
}

static void check_samples(const struct recording *r, const char *expected)
{
	struct load *load = open_load(r, false);
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	assert_int_equal(load_samples(load, &profile, see, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
}

static const uint8_t tags[2][8] = { { 0x11, 2, 3, 4, 5, 6, 7, 8 }, { 0x22, 2, 3, 4, 5, 6, 7, 8 } };
static const uint64_t avmas[2] = { FIRST, SECOND };
#define NAME_1 "bpf_prog_1102030405060708_hot"
#define NAME_2 "bpf_prog_2202030405060708_alpha"

/* The second function lies before the first; two lines begin at one place. */
static const struct test_line lines[] = {
	{ FIRST, MAIN_C, RETURN_MIX, 10, 5 },      { FIRST + 4, UTIL_H, RETURN_X, 3, 1 },
	{ FIRST + 12, MAIN_C, 0, 12, 0 },          { SECOND, MAIN_C, RETURN_MIX, 20, 9 },
	{ SECOND + 6, MAIN_C, RETURN_MIX, 21, 9 }, { SECOND + 6, UTIL_H, RETURN_X, 7, 2 },
};
static const struct test_program program = { .id = 77,
					     .avmas = avmas,
					     .tags = tags,
					     .function_count = 2,
					     .lines = lines,
					     .line_count = sizeof(lines) / sizeof(lines[0]),
					     .first_byte = 0xa0 };

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
}

static void test_lines(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	symbol_at(&r, 0, SECOND, NAME_2);
	event_at(&r, 0, 77);
	sample_at(&r, 100, FIRST);
	sample_at(&r, 101, FIRST + 3);
	sample_at(&r, 102, FIRST + 4);
	sample_at(&r, 103, FIRST + 15);
	sample_at(&r, 104, SECOND + 5);
	sample_at(&r, 105, SECOND + 6);
	add_programs(&r, &program, 1);
	recording_finish(&r);
	check_samples(&r, NAME_1 " main.c:10\n" NAME_1 " main.c:10\n" NAME_1 " util.h:3\n" NAME_1
				 " main.c:12\n" NAME_2 " main.c:20\n" NAME_2 " util.h:7\n");
	recording_remove(&r);
}

static void check_line(const struct load *load, uint32_t index, uint32_t entry, const char *text)
{
	const char *told = load_code_line_text(load, index, entry);
	if (text)
		assert_string_equal(told, text);
	else
		assert_null(told);
}

static void test_code_and_texts(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	symbol_at(&r, 0, SECOND, NAME_2);
	symbol_at(&r, 0, FIRST + 0x10000, "bpf_trampoline_1");
	add_programs(&r, &program, 1);
	recording_finish(&r);
	struct load *load = open_load(&r, true);
	assert_int_equal(load_code_count(load), 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct load_code code;
		struct jitdump_debug_walk walk;
		struct jitdump_debug_entry entry;
		assert_int_equal(load_code(load, i, &code), 0);
		assert_int_equal(code.pid, LOAD_KERNEL_PID);
		assert_int_equal(code.start_avma, avmas[i]);
		assert_int_equal(code.code.size, CODE_SIZE);
		assert_int_equal(code.code.data[0], 0xa0 + i);
		assert_true(load_code_lines(load, i, &walk));
		for (uint32_t k = 0; k < 3; k++) {
			assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 1);
			assert_int_equal(entry.line, lines[3 * i + k].line);
			assert_int_equal(entry.column, lines[3 * i + k].column);
		}
		assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
		check_line(load, i, 3, NULL);
	}
	check_line(load, 0, 0, "\treturn mix(x);");
	check_line(load, 0, 1, "return x * 31;");
	check_line(load, 0, 2, NULL);
	check_line(load, 1, 2, "return x * 31;");
	load_close(load);
	recording_remove(&r);
}

static void test_listing(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	sample_at(&r, 100, FIRST + 4);
	add_programs(&r, &program, 1);
	recording_finish(&r);
	struct load *load = open_load(&r, true);
	struct profile profile = { 0 };
	struct listing listing = { 0 };
	assert_int_equal(load_profile(load, &profile), 0);
	assert_int_equal(load_listing(load, &profile, profile.frames.items[0].function, &listing),
			 0);
	assert_null(listing.reason);
	assert_int_equal(listing.start_avma, FIRST);
	assert_int_equal(listing.code.size, CODE_SIZE);
	assert_int_equal(listing.lines.count, 3);
	assert_int_equal(listing.lines.items[1].offset, 4);
	assert_int_equal(listing.lines.items[1].line, 3);
	assert_string_equal(listing.lines.items[1].file, "util.h");
	assert_string_equal(listing.lines.items[0].text, "\treturn mix(x);");
	assert_string_equal(listing.lines.items[1].text, "return x * 31;");
	assert_null(listing.lines.items[2].text);
	listing_clear(&listing);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

/* Kernels name the first function by the whole program's tag. */
static void test_program_tag(void **state)
{
	(void)state;
	static const uint8_t whole[8] = { 0x33, 2, 3, 4, 5, 6, 7, 8 };
	struct test_program tagged = program;
	struct recording r;
	tagged.tag = whole;
	begin(&r);
	symbol_at(&r, 0, FIRST, "bpf_prog_3302030405060708_hot");
	symbol_at(&r, 0, SECOND, "bpf_prog_3302030405060708_alpha"); /* not the second */
	sample_at(&r, 100, FIRST);
	sample_at(&r, 101, SECOND);
	add_programs(&r, &tagged, 1);
	recording_finish(&r);
	check_samples(&r, "bpf_prog_3302030405060708_hot main.c:10\n"
			  "bpf_prog_3302030405060708_alpha :0\n");
	recording_remove(&r);
}

/* The same program again, built from another source, where the first had been. */
static void test_one_place_twice(void **state)
{
	(void)state;
	static const struct test_line later[] = { { FIRST, UTIL_H, RETURN_X, 99, 1 } };
	struct test_program programs[2] = { program, program };
	struct recording r;
	programs[0].id = 5; /* told in the other order than they came */
	programs[0].lines = later;
	programs[0].line_count = 1;
	programs[1].id = 4;
	begin(&r);
	symbol_at(&r, 50, FIRST, NAME_1);
	event_at(&r, 51, 4);
	sample_at(&r, 60, FIRST);
	symbol_at(&r, 70, FIRST, NAME_1);
	event_at(&r, 71, 5);
	sample_at(&r, 80, FIRST);
	add_programs(&r, programs, 2);
	recording_finish(&r);
	check_samples(&r, NAME_1 " main.c:10\n" NAME_1 " util.h:99\n");
	recording_remove(&r);
}

/* Without lines, without BTF, without a size: names stay. */
static void test_without(void **state)
{
	(void)state;
	struct test_program bare = program;
	struct recording r;
	bare.line_count = 0;
	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	sample_at(&r, 60, FIRST);
	add_programs(&r, &bare, 1);
	recording_finish(&r);
	check_samples(&r, NAME_1 " :0\n");
	recording_remove(&r);

	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	sample_at(&r, 60, FIRST);
	add_programs(&r, &program, 1);
	memset(r.features[1].content.data, 0, r.features[1].content.size);
	recording_finish(&r);
	check_samples(&r, NAME_1 " :0\n");
	recording_remove(&r);

	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	sample_at(&r, 60, FIRST);
	recording_finish(&r);
	check_samples(&r, NAME_1 " :0\n");
	recording_remove(&r);
}

/* Keeps the reads. */
static volatile uint8_t sum;

static void walk_all(const char *path, struct bytes content)
{
	const struct load_options options = {
		.input = path, .lines = true, .keep_code = true, .self_contained = true
	};
	struct load_error error;
	struct load *load;
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(content.data, 1, content.size, file), content.size);
	assert_int_equal(fclose(file), 0);
	if (load_open(&load, &options, &error) < 0)
		return;
	for (uint32_t i = 0; i < load_code_count(load); i++) {
		struct load_code code;
		struct jitdump_debug_walk walk = { .left = 0 };
		struct jitdump_debug_entry entry;
		assert_int_equal(load_code(load, i, &code), 0);
		for (size_t k = 0; k < code.code.size; k++)
			sum ^= code.code.data[k];
		for (uint32_t k = 0; k < 8; k++) {
			const char *text = load_code_line_text(load, i, k);
			sum ^= (uint8_t)(text ? strlen(text) : 0);
		}
		(void)load_code_lines(load, i, &walk);
		while (jitdump_debug_entry_next(&walk, &entry) > 0)
			for (size_t k = 0; k < entry.file.size; k++)
				sum ^= entry.file.data[k];
		(void)sum;
	}
	struct profile profile = { 0 };
	(void)load_profile(load, &profile);
	profile_clear(&profile);
	load_close(load);
}

/* Every byte of both features, changed. */
static void test_changed(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	symbol_at(&r, 0, FIRST, NAME_1);
	symbol_at(&r, 0, SECOND, NAME_2);
	sample_at(&r, 60, FIRST);
	add_programs(&r, &program, 1);
	const size_t size = r.features[0].content.size + r.features[1].content.size;
	const struct bytes file = recording_seal(&r);
	for (size_t at = file.size - size; at < file.size; at++) {
		const uint8_t was = file.data[at];
		static const uint8_t masks[] = { 0xff, 0x01 };
		for (size_t i = 0; i < sizeof(masks); i++) {
			((uint8_t *)file.data)[at] = was ^ masks[i];
			walk_all(r.path, file);
		}
		((uint8_t *)file.data)[at] = was;
	}
	sink_clear(&r.out);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),           cmocka_unit_test(test_code_and_texts),
		cmocka_unit_test(test_listing),         cmocka_unit_test(test_program_tag),
		cmocka_unit_test(test_one_place_twice), cmocka_unit_test(test_without),
		cmocka_unit_test(test_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
