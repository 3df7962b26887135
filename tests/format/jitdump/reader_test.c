/* Well-formed dumps, in both byte orders, and every way to shorten or change one. */
#include "build.h"
#include "changed_bytes.h"

#include "base/status.h"

enum { KINDS_COUNT = 7 };

static void assert_bytes_equal(struct bytes got, const char *want)
{
	assert_int_equal(got.size, strlen(want));
	assert_memory_equal(got.data, want, got.size);
}

static void check_all_kinds(struct bytes dump, bool swap)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(reader.swap, swap);
	assert_int_equal(reader.version, 1);
	assert_int_equal(reader.elf_machine, 62);
	assert_int_equal(reader.pid, 4711);
	assert_int_equal(reader.header_time, BUILD_TIME - 1000);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_DEBUG_INFO);
	assert_int_equal(record.offset, 40);
	assert_int_equal(record.time_ns, BUILD_TIME);
	assert_int_equal(record.debug_info.code_avma, 0x7f0000001000);
	assert_int_equal(record.debug_info.entry_count, 3);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_UNWINDING_INFO);
	assert_int_equal(record.unwinding_info.unwinding.size, 68);
	assert_int_equal(record.unwinding_info.eh_frame_hdr_size, 20);
	assert_int_equal(record.unwinding_info.mapped_size, 80);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CODE_LOAD);
	assert_int_equal(record.code_load.pid, 4711);
	assert_int_equal(record.code_load.tid, 4712);
	assert_int_equal(record.code_load.vma, 0x7f0000001000);
	assert_int_equal(record.code_load.code_avma, 0x7f0000001000);
	assert_int_equal(record.code_load.code_size, 32);
	assert_bytes_equal(record.code_load.name, "alpha");
	assert_int_equal(record.code_load.code.size, 32);
	assert_int_equal(record.code_load.code.data[1], 0x91);
	assert_false(record.is_torn);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CODE_MOVE);
	assert_int_equal(record.code_move.old_avma, 0x7f0000001000);
	assert_int_equal(record.code_move.new_avma, 0x7f0000002000);
	assert_int_equal(record.code_move.code_size, 32);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, 0x505000f1);
	assert_int_equal(record.body.size, 8);

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_bytes_equal(record.code_load.name, "beta b\n\x80 with any byte");

	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CLOSE);
	assert_int_equal(record.time_ns, BUILD_TIME + 6);
	assert_int_equal(jitdump_reader_next(&reader, &record), 0);
	assert_int_equal(reader.problem_count, 0);
}

static void reads_every_kind_in_both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_all_kinds(swap);
		assert_true(jitdump_is_magic(dump));
		check_all_kinds(dump, swap);
		build_free(dump);
	}
}

static void reads_a_header_larger_than_ours(void **state)
{
	(void)state;
	struct build b = { 0 };
	build_header(&b, 72);
	build_load(&b, BUILD_TIME, 0x1000, "alpha", 4);
	const struct bytes dump = build_copy(&b);
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.offset, 72);
	assert_int_equal(jitdump_reader_next(&reader, &record), 0);
	assert_int_equal(reader.problem_count, 0);
	build_free(dump);
}

static int init_with_version(uint32_t version, bool has_record)
{
	struct build b = { 0 };
	build_header(&b, 40);
	sink_patch_u32(&b.out, 4, version);
	if (has_record)
		build_load(&b, BUILD_TIME, 0x1000, "alpha", 4);
	const struct bytes dump = build_copy(&b);
	struct jitdump_reader reader;
	const int got = jitdump_reader_init(&reader, dump);
	build_free(dump);
	return got;
}

static void takes_a_version_whose_layout_it_knows(void **state)
{
	(void)state;
	assert_int_equal(init_with_version(1, false), 0);
	assert_int_equal(init_with_version(2, false), 0);
	assert_int_equal(init_with_version(9, true), 0);
	assert_int_equal(init_with_version(9, false), STATUS_UNSUPPORTED);
}

static bool is_tsc(uint64_t flags)
{
	struct build b = { 0 };
	build_header(&b, 40);
	sink_patch_u64(&b.out, 32, flags);
	const struct bytes dump = build_copy(&b);
	struct jitdump_reader reader;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	build_free(dump);
	return reader.is_arch_timestamp;
}

static void believes_no_flag_among_unknown_ones(void **state)
{
	(void)state;
	assert_false(is_tsc(0));
	assert_true(is_tsc(1));
	assert_false(is_tsc(0xf5880666c26d));
}

static void tells_what_is_no_dump(void **state)
{
	(void)state;
	struct jitdump_reader reader;
	const struct bytes empty = { .data = NULL, .size = 0 };
	assert_int_equal(jitdump_reader_init(&reader, empty), STATUS_TRUNCATED);
	const struct bytes elf = { .data = (const uint8_t *)"\177ELF", .size = 4 };
	assert_int_equal(jitdump_reader_init(&reader, elf), STATUS_NOT_FORMAT);
	assert_false(jitdump_is_magic(elf));
	const struct bytes magic = { .data = (const uint8_t *)"DTiJ", .size = 4 };
	assert_int_equal(jitdump_reader_init(&reader, magic), STATUS_TRUNCATED);
	assert_true(jitdump_is_magic(magic));
}

/* The offsets of the records of a sound dump. */
static size_t record_offsets(struct bytes dump, size_t offsets[KINDS_COUNT + 1])
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	size_t count = 0;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	while (jitdump_reader_next(&reader, &record) > 0)
		offsets[count++] = record.offset;
	offsets[count] = dump.size;
	assert_int_equal(count, KINDS_COUNT);
	return count;
}

static void check_invariants(const struct jitdump_reader *reader,
			     const struct jitdump_record *record)
{
	const uint8_t *start = reader->file.data;
	const uint8_t *end = start + reader->file.size;
	assert_true(record->body.data >= start && record->body.data + record->body.size <= end);
	if (record->id == JITDUMP_CODE_LOAD) {
		const struct jitdump_code_load *load = &record->code_load;
		assert_true(load->name.data + load->name.size < end);
		assert_null(memchr(load->name.data, 0, load->name.size));
		assert_true(load->code.size <= load->code_size);
		assert_true(load->code.data + load->code.size <= end);
	}
	struct jitdump_reader copy = *reader;
	struct jitdump_record again;
	assert_int_equal(jitdump_reader_at(&copy, record->offset, &again), 1);
	assert_int_equal(again.id, record->id);
	assert_int_equal(again.body.size, record->body.size);
	assert_int_equal(again.is_torn, record->is_torn);
}

/* Marks in found[] which of the sound dump's records the reader still finds. */
static void read_and_mark(struct bytes dump, const size_t *offsets, bool *found)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	memset(found, 0, KINDS_COUNT);
	if (jitdump_reader_init(&reader, dump) < 0)
		return;
	uint64_t last = 0;
	size_t count = 0;
	while (jitdump_reader_next(&reader, &record) > 0) {
		assert_true(record.offset > last);
		last = record.offset;
		check_invariants(&reader, &record);
		for (size_t i = 0; i < KINDS_COUNT; i++)
			found[i] |= offsets[i] == record.offset;
		assert_true(++count <= KINDS_COUNT);
	}
}

static void survives_every_truncation(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_all_kinds(swap);
		size_t offsets[KINDS_COUNT + 1];
		bool found[KINDS_COUNT];
		record_offsets(dump, offsets);
		for (size_t size = 0; size < dump.size; size++) {
			const struct bytes part = build_part(dump, size);
			read_and_mark(part, offsets, found);
			for (size_t i = 0; i < KINDS_COUNT; i++) {
				if (offsets[i + 1] <= size)
					assert_true(found[i]);
				if (offsets[i] >= size)
					assert_false(found[i]);
			}
			build_free(part);
		}
		build_free(dump);
	}
}

static void loses_no_record_but_the_changed_one(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_all_kinds(swap);
		size_t offsets[KINDS_COUNT + 1];
		bool found[KINDS_COUNT];
		record_offsets(dump, offsets);
		changed_bytes_lose_no_other(dump, offsets, KINDS_COUNT, found, read_and_mark);
		build_free(dump);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind_in_both_byte_orders),
		cmocka_unit_test(reads_a_header_larger_than_ours),
		cmocka_unit_test(takes_a_version_whose_layout_it_knows),
		cmocka_unit_test(believes_no_flag_among_unknown_ones),
		cmocka_unit_test(tells_what_is_no_dump),
		cmocka_unit_test(survives_every_truncation),
		cmocka_unit_test(loses_no_record_but_the_changed_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
