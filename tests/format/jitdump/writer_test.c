/* What the writer writes the reader must give back, byte for byte. */
#include "format/jitdump/writer.h"

#include "build.h"
#include "failing_memory.h"

enum { SIZE = 96 };

static const uint8_t code[SIZE] = { 0x55, 0x48, 0x89, 0xe5, [SIZE - 1] = 0xc3 };

static struct jitdump_code_load load_of(const char *name, size_t name_size, size_t code_size)
{
	return (struct jitdump_code_load){
		.pid = 4711,
		.tid = 4712,
		.vma = 0x7f0000001000,
		.code_avma = 0x7f0000001000,
		.code_size = code_size,
		.code_index = 77,
		.name = { (const uint8_t *)name, name_size },
		.code = { code, code_size },
	};
}

static void put_all(struct sink *out)
{
	const struct jitdump_code_load first = load_of("alpha", 5, SIZE);
	const struct jitdump_code_load nul = load_of("a\0b", 3, 1);
	const struct jitdump_code_load nameless = load_of(NULL, 0, 7);
	jitdump_put_header(out, &(struct jitdump_new_header){ 62, 4711, BUILD_TIME - 1 });
	jitdump_put_load(out, BUILD_TIME, &first);
	jitdump_put_load(out, BUILD_TIME + 1, &nul);
	jitdump_put_load(out, BUILD_TIME + 2, &nameless);
	jitdump_put_close(out, BUILD_TIME + 3);
}

static void expect_load(struct jitdump_reader *reader, uint64_t time, const char *name,
			size_t code_size)
{
	struct jitdump_record record;
	const struct jitdump_code_load *load = &record.code_load;
	assert_int_equal(jitdump_reader_next(reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CODE_LOAD);
	assert_int_equal(record.time_ns, time);
	assert_false(record.is_torn);
	assert_int_equal(load->pid, 4711);
	assert_int_equal(load->tid, 4712);
	assert_int_equal(load->vma, 0x7f0000001000);
	assert_int_equal(load->code_avma, 0x7f0000001000);
	assert_int_equal(load->code_index, 77);
	assert_int_equal(load->code_size, code_size);
	assert_int_equal(load->name.size, strlen(name));
	assert_memory_equal(load->name.data, name, strlen(name));
	assert_int_equal(load->code.size, code_size);
	assert_memory_equal(load->code.data, code, code_size);
}

static void test_round_trip(void **state)
{
	(void)state;
	struct build b = { 0 };
	put_all(&b.out);
	const struct bytes dump = build_copy(&b);
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(reader.version, JITDUMP_VERSION);
	assert_int_equal(reader.claimed_header_size, JITDUMP_HEADER_SIZE);
	assert_int_equal(reader.elf_machine, 62);
	assert_int_equal(reader.pid, 4711);
	assert_int_equal(reader.header_time, BUILD_TIME - 1);
	assert_int_equal(reader.flags, 0);
	expect_load(&reader, BUILD_TIME, "alpha", SIZE);
	expect_load(&reader, BUILD_TIME + 1, "a", 1);
	expect_load(&reader, BUILD_TIME + 2, "", 7);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CLOSE);
	assert_int_equal(record.time_ns, BUILD_TIME + 3);
	assert_int_equal(jitdump_reader_next(&reader, &record), 0);
	assert_int_equal(reader.problem_count, 0);
	build_free(dump);
}

static void test_sizes_are_told_before(void **state)
{
	(void)state;
	struct sink out = { 0 };
	const struct jitdump_code_load load = load_of("a\0b", 3, SIZE);
	jitdump_put_load(&out, BUILD_TIME, &load);
	assert_int_equal(out.size, jitdump_load_bytes(&load));
	assert_int_equal(out.size, JITDUMP_CODE_LOAD_SIZE + 2 + SIZE);
	sink_clear(&out);
}

/* A record's size has 32 bits; the bytes must not be looked at before that is known. */
static void test_a_record_too_large(void **state)
{
	(void)state;
	struct sink out = { 0 };
	struct jitdump_code_load load = load_of("alpha", 5, SIZE);
	load.code.size = UINT32_MAX;
	jitdump_put_load(&out, BUILD_TIME, &load);
	assert_true(sink_failed(&out));
	assert_int_equal(out.size, 0);
	sink_clear(&out);
}

static void test_within_a_limit(void **state)
{
	(void)state;
	struct sink all = { 0 };
	put_all(&all);
	for (size_t limit = 1; limit < all.size; limit++) {
		struct sink out = { .limit = limit };
		put_all(&out);
		assert_true(sink_failed(&out));
		assert_true(out.size <= limit);
		sink_clear(&out);
	}
	sink_clear(&all);
}

static void test_without_memory(void **state)
{
	(void)state;
	size_t n = 1;
	for (;; n++) {
		struct sink out = { 0 };
		memory_fail_at(n);
		put_all(&out);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(sink_failed(&out), has_failed);
		sink_clear(&out);
		if (!has_failed)
			break;
	}
	assert_true(n > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_sizes_are_told_before),
		cmocka_unit_test(test_a_record_too_large),
		cmocka_unit_test(test_within_a_limit),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
