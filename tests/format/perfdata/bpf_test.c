/* The features BPF_PROG_INFO and BPF_BTF: read in both byte orders, whole and damaged; written. */
#include "format/perfdata/bpf.h"

#include "format/perfdata/wire.h"
#include "format/perfdata/writer.h"
#include "test.h"

#include <linux/bpf.h>

static const uint64_t IDS[] = { 0x101 };
static const struct wire_event EVENTS[] = {
	{ .type = 1, .sample_type = PERFDATA_SAMPLE_ID, .ids = IDS, .id_count = 1 },
};
static const unsigned FEATURES[] = { PERFDATA_FEATURE_BPF_PROG_INFO, PERFDATA_FEATURE_BPF_BTF };

enum {
	INFO_SIZE = sizeof(struct bpf_prog_info),
	FUNCTIONS = 2,
	LINES = 3,
	CODE_AT = 0,
	AVMAS_AT = 16,
	SIZES_AT = 32,
	LINES_AT = 40,
	LINE_AVMAS_AT = 88,
	TAGS_AT = 112,
	DATA_SIZE = 128,
	MASK = 1 << PERFDATA_BPF_CODE | 1 << PERFDATA_BPF_FUNCTION_AVMAS |
	       1 << PERFDATA_BPF_FUNCTION_SIZES | 1 << PERFDATA_BPF_LINE_INFO |
	       1 << PERFDATA_BPF_LINE_AVMAS | 1 << PERFDATA_BPF_TAGS,
};

struct scene {
	struct wire w;
	struct bytes in;
	struct perfdata *file;
};

/* The fields in the kernel's order. */
static void put_info(struct wire *w)
{
	const size_t start = w->out.size;
	wire_u32(w, 1); /* a socket filter */
	wire_u32(w, 77);
	wire_put(w, "\1\2\3\4\5\6\7\10", 8);
	wire_u32(w, 12); /* bytes of code */
	wire_u32(w, 64); /* bytes of instructions, which are not kept */
	wire_u64(w, CODE_AT);
	wire_u64(w, 0);
	wire_u64(w, 123456); /* loaded */
	wire_u32(w, 0);
	wire_u32(w, 2); /* maps */
	wire_u64(w, 0);
	wire_put(w, "a_name_of_15_ch\0", 16);
	wire_u32(w, 0);
	wire_u32(w, 1);
	wire_u64(w, 0);
	wire_u64(w, 0);
	wire_u32(w, FUNCTIONS);
	wire_u32(w, FUNCTIONS);
	wire_u64(w, AVMAS_AT);
	wire_u64(w, SIZES_AT);
	wire_u32(w, 9); /* BTF */
	wire_u32(w, 0);
	wire_u64(w, 0);
	wire_u32(w, 0);
	wire_u32(w, LINES);
	wire_u64(w, LINES_AT);
	wire_u64(w, LINE_AVMAS_AT);
	wire_u32(w, LINES);
	wire_u32(w, 16);
	wire_u32(w, 8);
	wire_u32(w, FUNCTIONS);
	wire_u64(w, TAGS_AT);
	while (w->out.size < start + INFO_SIZE)
		wire_u8(w, 0);
	assert_int_equal(w->out.size, start + INFO_SIZE);
}

static void put_data(struct wire *w)
{
	const size_t start = w->out.size;
	wire_put(w, "ABCDEFGHIJKL\0\0\0\0", 16);
	wire_u64(w, 0xffffffffc0001000);
	wire_u64(w, 0xffffffffc0002000);
	wire_u32(w, 8);
	wire_u32(w, 4);
	for (uint32_t i = 0; i < LINES; i++) {
		wire_u32(w, i);
		wire_u32(w, 1);
		wire_u32(w, 8);
		wire_u32(w, (10 + i) << 10 | 5);
	}
	wire_u64(w, 0xffffffffc0001000);
	wire_u64(w, 0xffffffffc0001004);
	wire_u64(w, 0xffffffffc0002000);
	wire_put(w, "\1\2\3\4\5\6\7\10tag--two", 16);
	assert_int_equal(w->out.size, start + DATA_SIZE);
}

static void make(struct scene *s)
{
	wire_begin(&s->w, EVENTS, 1);
	wire_end_record(&s->w, wire_record(&s->w, PERFDATA_FINISHED_ROUND, 0));
	wire_end_data(&s->w, FEATURES, 2);
	wire_feature(&s->w);
	wire_u32(&s->w, 1);
	wire_u32(&s->w, INFO_SIZE);
	wire_u32(&s->w, DATA_SIZE);
	wire_u64(&s->w, MASK);
	put_info(&s->w);
	put_data(&s->w);
	wire_end_feature(&s->w);
	wire_feature(&s->w);
	wire_u32(&s->w, 2);
	wire_u32(&s->w, 9);
	wire_u32(&s->w, 5);
	wire_put(&s->w, "abcde", 5);
	wire_u32(&s->w, 10);
	wire_u32(&s->w, 0);
	wire_end_feature(&s->w);
	s->in = wire_finish(&s->w);
}

static void done(struct scene *s)
{
	perfdata_close(s->file);
	wire_free(s->in);
	wire_clear(&s->w);
}

static uint64_t u64_of(const struct perfdata_bpf_program *program,
		       enum perfdata_bpf_array_kind kind, uint32_t index)
{
	struct cursor c = perfdata_bpf_cursor(program, kind, index);
	return cursor_u64(&c);
}

static void check_program(const struct perfdata_bpf_program *p)
{
	assert_int_equal(p->kind, 1);
	assert_int_equal(p->id, 77);
	assert_int_equal(p->btf_id, 9);
	assert_string_equal(p->name, "a_name_of_15_ch");
	assert_memory_equal(p->tag, "\1\2\3\4\5\6\7\10", 8);
	assert_int_equal(p->bad_arrays, 0);
	assert_int_equal(p->arrays[PERFDATA_BPF_CODE].count, 12);
	assert_memory_equal(p->arrays[PERFDATA_BPF_CODE].bytes.data, "ABCDEFGHIJKL", 12);
	/* Counted, but not kept. */
	assert_int_equal(p->arrays[PERFDATA_BPF_BYTECODE].count, 0);
	assert_int_equal(p->arrays[PERFDATA_BPF_MAP_IDS].count, 0);
	assert_int_equal(p->arrays[PERFDATA_BPF_FUNCTION_AVMAS].count, FUNCTIONS);
	assert_int_equal(u64_of(p, PERFDATA_BPF_FUNCTION_AVMAS, 1), 0xffffffffc0002000);
	struct cursor size = perfdata_bpf_cursor(p, PERFDATA_BPF_FUNCTION_SIZES, 1);
	assert_int_equal(cursor_u32(&size), 4);
	struct cursor line = perfdata_bpf_cursor(p, PERFDATA_BPF_LINE_INFO, 2);
	assert_int_equal(cursor_u32(&line), 2);
	assert_int_equal(cursor_u32(&line), 1);
	assert_int_equal(cursor_u32(&line), 8);
	assert_int_equal(cursor_u32(&line), 12 << 10 | 5);
	assert_int_equal(cursor_left(&line), 0);
	assert_int_equal(u64_of(p, PERFDATA_BPF_LINE_AVMAS, 2), 0xffffffffc0002000);
	struct cursor tag = perfdata_bpf_cursor(p, PERFDATA_BPF_TAGS, 1);
	assert_memory_equal(cursor_take(&tag, 8).data, "tag--two", 8);
	struct cursor none = perfdata_bpf_cursor(p, PERFDATA_BPF_TAGS, FUNCTIONS);
	assert_int_equal(cursor_left(&none), 0);
}

static void test_read(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w.swap = swap };
		struct perfdata_bpf_program program;
		struct perfdata_bpf_btf btf;
		make(&s);
		assert_int_equal(perfdata_open(&s.file, s.in, NULL), 0);
		struct perfdata_bpf_walk walk = perfdata_bpf_programs(s.file);
		assert_int_equal(perfdata_bpf_program_next(&walk, &program), 1);
		check_program(&program);
		assert_int_equal(perfdata_bpf_program_next(&walk, &program), 0);
		walk = perfdata_bpf_btfs(s.file);
		assert_int_equal(perfdata_bpf_btf_next(&walk, &btf), 1);
		assert_int_equal(btf.id, 9);
		assert_int_equal(btf.content.size, 5);
		assert_memory_equal(btf.content.data, "abcde", 5);
		assert_int_equal(perfdata_bpf_btf_next(&walk, &btf), 1);
		assert_int_equal(btf.content.size, 0);
		assert_int_equal(perfdata_bpf_btf_next(&walk, &btf), 0);
		done(&s);
	}
}

/* Where the entry of the program is in the file. */
static size_t info_off(const struct scene *s)
{
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, s->in, NULL), 0);
	const struct bytes feature = perfdata_feature(file, PERFDATA_FEATURE_BPF_PROG_INFO);
	const size_t off = (size_t)(feature.data - s->in.data) + 4 + 16;
	perfdata_close(file);
	return off;
}

static struct perfdata_bpf_program read_with(struct scene *s, size_t at, uint32_t value)
{
	struct perfdata_bpf_program program = { 0 };
	uint32_t was;
	memcpy(&was, s->in.data + at, sizeof(was));
	memcpy((uint8_t *)s->in.data + at, &value, sizeof(value));
	assert_int_equal(perfdata_open(&s->file, s->in, NULL), 0);
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(s->file);
	assert_int_equal(perfdata_bpf_program_next(&walk, &program), 1);
	memcpy((uint8_t *)s->in.data + at, &was, sizeof(was));
	perfdata_close(s->file);
	s->file = NULL;
	return program;
}

/* Each alone is left out, and told. */
static void test_bad_arrays(void **state)
{
	(void)state;
	struct scene s = { 0 };
	make(&s);
	const size_t info = info_off(&s);
	const struct {
		size_t field;
		uint32_t value;
		enum perfdata_bpf_array_kind kind;
	} cases[] = {
		{ 16, DATA_SIZE + 1, PERFDATA_BPF_CODE },
		{ 24, DATA_SIZE + 1, PERFDATA_BPF_CODE },
		{ 28, 1, PERFDATA_BPF_CODE },
		{ 104, 0x40000000, PERFDATA_BPF_FUNCTION_AVMAS },
		{ 108, UINT32_MAX, PERFDATA_BPF_FUNCTION_SIZES },
		{ 148, UINT32_MAX, PERFDATA_BPF_LINE_INFO },
		{ 152, DATA_SIZE - 47, PERFDATA_BPF_LINE_INFO },
		{ 168, 6, PERFDATA_BPF_LINE_AVMAS },
		{ 172, 15, PERFDATA_BPF_LINE_INFO },
		{ 172, 0, PERFDATA_BPF_LINE_INFO },
		{ 176, 4, PERFDATA_BPF_LINE_AVMAS },
		{ 180, 3, PERFDATA_BPF_TAGS },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct perfdata_bpf_program p =
		    read_with(&s, info + cases[i].field, cases[i].value);
		assert_int_equal(p.bad_arrays, 1u << cases[i].kind);
		for (uint32_t k = 0; k < PERFDATA_BPF_ARRAYS; k++)
			assert_int_equal(p.arrays[k].count != 0,
					 MASK >> k & 1 && k != cases[i].kind);
	}
	/* Larger items of a newer kernel: the first bytes of each are known. */
	const struct perfdata_bpf_program larger = read_with(&s, info + 172, 24);
	assert_int_equal(larger.bad_arrays, 0);
	assert_int_equal(larger.arrays[PERFDATA_BPF_LINE_INFO].bytes.size, LINES * 24);
	done(&s);
}

/* Keeps the reads. */
static volatile uint8_t sum;

static void touch(struct bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		sum ^= bytes.data[i];
}

static int read_all(const struct perfdata *file)
{
	struct perfdata_bpf_program program;
	struct perfdata_bpf_btf btf;
	int got;
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(file);
	while ((got = perfdata_bpf_program_next(&walk, &program)) > 0)
		for (size_t i = 0; i < PERFDATA_BPF_ARRAYS; i++)
			touch(program.arrays[i].bytes);
	assert_int_equal(perfdata_bpf_program_next(&walk, &program), 0);
	walk = perfdata_bpf_btfs(file);
	int got_btf;
	while ((got_btf = perfdata_bpf_btf_next(&walk, &btf)) > 0)
		touch(btf.content);
	return got < 0 ? got : got_btf;
}

/* The sections alone, each cut everywhere. */
static void test_cut(void **state)
{
	(void)state;
	struct scene s = { 0 };
	make(&s);
	assert_int_equal(perfdata_open(&s.file, s.in, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct bytes whole = perfdata_feature(s.file, FEATURES[i]);
		for (size_t size = 1; size < whole.size; size++) {
			struct wire w = { 0 };
			struct perfdata *file;
			wire_begin(&w, EVENTS, 1);
			wire_end_record(&w, wire_record(&w, PERFDATA_FINISHED_ROUND, 0));
			wire_end_data(&w, FEATURES + i, 1);
			wire_feature(&w);
			wire_put(&w, whole.data, size);
			wire_end_feature(&w);
			const struct bytes in = wire_finish(&w);
			assert_int_equal(perfdata_open(&file, in, NULL), 0);
			assert_int_equal(read_all(file), STATUS_TRUNCATED);
			perfdata_close(file);
			wire_free(in);
			wire_clear(&w);
		}
	}
	done(&s);
}

static void test_changed(void **state)
{
	(void)state;
	struct scene s = { 0 };
	make(&s);
	size_t readable = 0;
	for (size_t at = 0; at < s.in.size; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			struct bytes in = wire_copy(s.in, s.in.size);
			struct perfdata *file;
			((uint8_t *)in.data)[at] ^= (uint8_t)(1u << bit);
			if (perfdata_open(&file, in, NULL) == 0) {
				readable += read_all(file) == 0;
				perfdata_close(file);
			}
			wire_free(in);
		}
	}
	assert_true(readable > 0);
	s.file = NULL;
	done(&s);
}

/* What is written is what was given, and no longer than perf 5.1 takes. */
static void test_write(void **state)
{
	(void)state;
	enum { OLDEST_SIZE = offsetof(struct bpf_prog_info, run_cnt) + 8 };
	struct scene s = { 0 };
	struct perfdata_bpf_program program;
	struct perfdata_bpf_program again;
	make(&s);
	assert_int_equal(perfdata_open(&s.file, s.in, NULL), 0);
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(s.file);
	assert_int_equal(perfdata_bpf_program_next(&walk, &program), 1);

	struct perfdata_new_feature features[2] = { { .feature = FEATURES[0] },
						    { .feature = FEATURES[1] } };
	sink_u32(&features[0].content, 1);
	perfdata_put_bpf_program(&features[0].content,
				 (struct bytes){ s.in.data + info_off(&s), INFO_SIZE },
				 program.arrays);
	sink_u32(&features[1].content, 1);
	perfdata_put_bpf_btf(&features[1].content,
			     &(struct perfdata_bpf_btf){ 9, { (const uint8_t *)"xyz", 3 } });
	uint32_t info_size;
	memcpy(&info_size, features[0].content.data + 4, sizeof(info_size));
	assert_int_equal(info_size, OLDEST_SIZE);

	struct sink out = { 0 };
	struct sink header = { 0 };
	struct perfdata_layout layout = perfdata_begin(&out, NULL, 0);
	perfdata_put_finished_round(&out);
	layout.data_size = out.size - layout.data_offset;
	perfdata_features(&out, &layout, out.size, features, 2);
	perfdata_header(&header, &layout);
	memcpy(out.data, header.data, header.size);
	struct perfdata *file;
	assert_int_equal(perfdata_open(&file, sink_bytes(&out), NULL), 0);
	walk = perfdata_bpf_programs(file);
	assert_int_equal(perfdata_bpf_program_next(&walk, &again), 1);
	check_program(&again);
	struct perfdata_bpf_btf btf;
	walk = perfdata_bpf_btfs(file);
	assert_int_equal(perfdata_bpf_btf_next(&walk, &btf), 1);
	assert_memory_equal(btf.content.data, "xyz", 3);
	perfdata_close(file);
	for (size_t i = 0; i < 2; i++)
		sink_clear(&features[i].content);
	sink_clear(&out);
	sink_clear(&header);
	done(&s);
}

/* A kernel that knew less: what its info lacks is not there. */
static void test_short_info(void **state)
{
	(void)state;
	static const unsigned FEATURE[] = { PERFDATA_FEATURE_BPF_PROG_INFO };
	struct wire w = { 0 };
	struct perfdata *file;
	struct perfdata_bpf_program program;
	wire_begin(&w, EVENTS, 1);
	wire_end_record(&w, wire_record(&w, PERFDATA_FINISHED_ROUND, 0));
	wire_end_data(&w, FEATURE, 1);
	wire_feature(&w);
	wire_u32(&w, 1);
	wire_u32(&w, 8);
	wire_u32(&w, 0);
	wire_u64(&w, MASK);
	wire_u32(&w, 5);
	wire_u32(&w, 6);
	wire_end_feature(&w);
	const struct bytes in = wire_finish(&w);
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(file);
	assert_int_equal(perfdata_bpf_program_next(&walk, &program), 1);
	assert_int_equal(program.kind, 5);
	assert_int_equal(program.id, 6);
	assert_int_equal(program.btf_id, 0);
	assert_int_equal(program.bad_arrays, 0);
	assert_string_equal(program.name, "");
	perfdata_close(file);
	wire_free(in);
	wire_clear(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),       cmocka_unit_test(test_bad_arrays),
		cmocka_unit_test(test_cut),        cmocka_unit_test(test_changed),
		cmocka_unit_test(test_short_info), cmocka_unit_test(test_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
