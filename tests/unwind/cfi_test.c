/* Sections as producers write them, and as nobody should. */
#include "unwind/cfi.h"

#include "base/status.h"
#include "test.h"
#include "unwind/build.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_SVMA = 0x401000, CODE_SIZE = 0x40 };

#define USUAL BYTES(0x0c, 7, 8, 0x90, 1) /* rsp + 8, the return address below */

static void check_row(struct cfi_table *table, uint64_t svma, unsigned cfa_register, int cfa_offset)
{
	const struct cfi_row *row = cfi_find(table, svma);
	assert_non_null(row);
	assert_int_equal(row->cfa.kind, CFI_REGISTER);
	assert_int_equal(row->cfa.number, cfa_register);
	assert_int_equal(row->cfa.operand, cfa_offset);
}

/* A function that pushes rbp, makes it the frame pointer and takes 16 bytes:
 *
 *   +0 rsp+8   +1 rsp+16, rbp at -16   +4 rbp+16   +0x30 rsp+8
 */
static void put_usual(struct section *s)
{
	put_cie(s, USUAL);
	put_fde(s, CODE_SVMA, CODE_SIZE,
		BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x2c, 0x0c, 7, 8));
}

static void check_usual(struct section *s)
{
	put_usual(s);
	struct cfi_table *table = table_of(s);
	assert_non_null(table);
	assert_int_equal(cfi_table_count(table), 1);
	assert_int_equal(cfi_table_start(table, 0), CODE_SVMA);
	assert_int_equal(cfi_table_machine(table), s->machine);
	assert_null(cfi_find(table, CODE_SVMA - 1));
	check_row(table, CODE_SVMA, 7, 8);
	check_row(table, CODE_SVMA + 1, 7, 16);
	check_row(table, CODE_SVMA + 3, 7, 16);
	check_row(table, CODE_SVMA + 4, 6, 16);
	check_row(table, CODE_SVMA + 0x2f, 6, 16);
	check_row(table, CODE_SVMA + 0x30, 7, 8);
	check_row(table, CODE_SVMA + CODE_SIZE - 1, 7, 8);
	assert_null(cfi_find(table, CODE_SVMA + CODE_SIZE));
	const bool is_signal = s->letters && strchr(s->letters, 'S');
	assert_int_equal(cfi_find(table, CODE_SVMA)->is_signal, is_signal);
	cfi_table_free(table);
	sink_clear(&s->out);
}

static void producers_write_them_in_many_ways(void **state)
{
	(void)state;
	check_usual(&(struct section){ 0 });
	check_usual(&(struct section){ .machine = UNWIND_AARCH64 });
	check_usual(&(struct section){ .version = 3 });
	check_usual(&(struct section){ .encoding = 0x04 });
	check_usual(&(struct section){ .encoding = 0x0c });
	check_usual(&(struct section){ .letters = "" });
	check_usual(&(struct section){ .letters = "eh" });
	check_usual(&(struct section){ .is_64 = true });
	/* Personality and LSDA, of a signal's frame; letters behind the last one we know. */
	check_usual(
	    &(struct section){ .letters = "zPLRS", .extra = BYTES(0x9b, 1, 2, 3, 4, 0x1b, 0x1b) });
	check_usual(&(struct section){ .letters = "zRBG", .extra = BYTES(0x1b) });
	check_usual(&(struct section){ .letters = "zR?", .extra = BYTES(0x1b, 1, 2, 3) });
	check_usual(&(struct section){ .letters = "zPR", .extra = BYTES(0xff, 0x1b) });
	for (int is_64 = 0; is_64 < 2; is_64++) {
		check_usual(&(struct section){ .is_debug_frame = true, .is_64 = is_64 });
		check_usual(
		    &(struct section){ .is_debug_frame = true, .is_64 = is_64, .version = 3 });
		check_usual(
		    &(struct section){ .is_debug_frame = true, .is_64 = is_64, .version = 4 });
	}
}

static void what_makes_no_sense_is_left_out(void **state)
{
	(void)state;
	static const struct {
		uint8_t version;
		const char *letters;
		uint8_t encoding;
	} bad[] = {
		{ .version = 2 },
		{ .version = 5 },
		{ .letters = "x" },
		{ .letters = "zRRRRRRRRRRRRRRRRRRRRRRRRRRRR" },
		{ .letters = "zPR" }, /* without the data */
		{ .encoding = 0x07 },
		{ .encoding = 0x20 }, /* from a place that objects do not have */
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct section s = { .version = bad[i].version,
				     .letters = bad[i].letters,
				     .encoding = bad[i].encoding };
		put_usual(&s);
		assert_null(table_of(&s));
		sink_clear(&s.out);
	}
	/* A CIE whose instructions would be run for each of its functions. */
	uint8_t nops[5000] = { 0 };
	struct section s = { 0 };
	put_cie(&s, (struct bytes){ nops, sizeof(nops) });
	put_fde(&s, CODE_SVMA, CODE_SIZE, BYTES(0));
	assert_null(table_of(&s));
	sink_reset(&s.out);
	/* Functions without size, and past the end of all addresses. */
	put_cie(&s, USUAL);
	put_fde(&s, CODE_SVMA, 0, BYTES(0));
	assert_null(table_of(&s));
	sink_clear(&s.out);
	s = (struct section){ .encoding = 0x04 };
	put_cie(&s, USUAL);
	put_fde(&s, UINT64_MAX - 2, 16, BYTES(0));
	assert_null(table_of(&s));
	sink_clear(&s.out);
}

/* Linkers leave the ends of the sections they join in the middle. */
static void a_length_of_zero_ends_nothing(void **state)
{
	(void)state;
	struct section s = { 0 };
	put_cie(&s, USUAL);
	put_fde(&s, CODE_SVMA, 16, BYTES(0));
	sink_u32(&s.out, 0);
	put_fde(&s, CODE_SVMA + 16, 16, BYTES(0x0e, 32));
	sink_u32(&s.out, 0);
	struct cfi_table *table = table_of(&s);
	check_row(table, CODE_SVMA + 15, 7, 8);
	check_row(table, CODE_SVMA + 16, 7, 32);
	cfi_table_free(table);
	sink_clear(&s.out);
}

static void functions_are_put_in_order_and_do_not_overlap(void **state)
{
	(void)state;
	struct section s = { 0 };
	put_cie(&s, USUAL);
	put_fde(&s, CODE_SVMA + 0x100, 0x10, BYTES(0x0e, 16));
	put_fde(&s, CODE_SVMA, 0x20, BYTES(0x0e, 24));
	put_fde(&s, CODE_SVMA + 0x10, 0x20, BYTES(0x0e, 32));
	put_fde(&s, CODE_SVMA + 0x100, 0x20, BYTES(0x0e, 40));
	struct cfi_table *table = table_of(&s);
	assert_int_equal(cfi_table_count(table), 3);
	check_row(table, CODE_SVMA + 0xf, 7, 24);
	check_row(table, CODE_SVMA + 0x10, 7, 32);
	check_row(table, CODE_SVMA + 0x2f, 7, 32);
	assert_null(cfi_find(table, CODE_SVMA + 0x30));
	check_row(table, CODE_SVMA + 0x100, 7, 16);
	assert_null(cfi_find(table, CODE_SVMA + 0x110));
	cfi_table_free(table);
	sink_clear(&s.out);
}

static void debug_frame_fills_the_gaps(void **state)
{
	(void)state;
	struct section eh = { 0 };
	struct section debug = { .is_debug_frame = true };
	put_cie(&eh, USUAL);
	put_fde(&eh, CODE_SVMA + 0x20, 0x20, BYTES(0x0e, 16));
	put_fde(&eh, CODE_SVMA + 0x60, 0x20, BYTES(0x0e, 16));
	put_cie(&debug, USUAL);
	put_fde(&debug, 0, 0x1000, BYTES(0x0e, 80)); /* the linker dropped it */
	put_fde(&debug, CODE_SVMA, 0x20, BYTES(0x0e, 24));
	put_fde(&debug, CODE_SVMA + 0x20, 0x20, BYTES(0x0e, 32)); /* told twice */
	put_fde(&debug, CODE_SVMA + 0x40, 0x20, BYTES(0x0e, 40));
	put_fde(&debug, CODE_SVMA + 0x70, 0x20, BYTES(0x0e, 48)); /* contradicts */
	put_fde(&debug, CODE_SVMA + 0x80, 0x20, BYTES(0x0e, 56));
	const struct cfi_sections sections = { .eh_frame = sink_bytes(&eh.out),
					       .eh_frame_svma = SECTION_SVMA,
					       .debug_frame = sink_bytes(&debug.out) };
	struct cfi_table *table;
	assert_int_equal(cfi_table_sections(&table, &sections), 0);
	check_row(table, CODE_SVMA, 7, 24);
	check_row(table, CODE_SVMA + 0x20, 7, 16);
	check_row(table, CODE_SVMA + 0x40, 7, 40);
	check_row(table, CODE_SVMA + 0x7f, 7, 16);
	check_row(table, CODE_SVMA + 0x80, 7, 56);
	assert_null(cfi_find(table, CODE_SVMA + 0xa0));
	cfi_table_free(table);
	sink_clear(&eh.out);
	sink_clear(&debug.out);
}

/* Enough of them that what was found last is remembered. */
static void many_functions_are_found_again(void **state)
{
	(void)state;
	enum { COUNT = 3000, SIZE = 16 };
	struct section s = { 0 };
	put_cie(&s, USUAL);
	for (unsigned i = 0; i < COUNT; i++)
		put_fde(&s, CODE_SVMA + i * SIZE, SIZE - i % 2,
			BYTES(0x44, 0x0e, (uint8_t)(8 + i % 7 * 8)));
	struct cfi_table *table = table_of(&s);
	assert_int_equal(cfi_table_count(table), COUNT);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < COUNT; i++) {
			const uint64_t svma = CODE_SVMA + i * SIZE;
			check_row(table, svma, 7, 8);
			check_row(table, svma + 4, 7, 8 + (int)(i % 7) * 8);
			const struct cfi_row *last = cfi_find(table, svma + SIZE - 1);
			assert_int_equal(last == NULL, i % 2);
		}
	}
	assert_null(cfi_find(table, 0));
	assert_null(cfi_find(table, UINT64_MAX));
	assert_true(cfi_table_bytes(table) > COUNT * sizeof(uint64_t));
	cfi_table_free(table);
	sink_clear(&s.out);
}

/* The first one pushes twice, the others once from some byte on. */
static void stubs_are_known_by_their_shape(void **state)
{
	(void)state;
	enum { PLT = 0x3000, SEC = 0x4000, SIZE = 64 };
	uint8_t plt[SIZE] = { 0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25 };
	static const uint8_t sec[SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct cfi_sections sections = {
		.stubs = { { { plt, SIZE }, PLT }, { { sec, SIZE }, SEC } },
	};
	struct cfi_table *table;
	for (int has_endbr = 0; has_endbr < 2; has_endbr++) {
		if (has_endbr)
			memcpy(plt + 16, sec, 4);
		assert_int_equal(cfi_table_sections(&table, &sections), 0);
		check_row(table, PLT, 7, 16);
		check_row(table, PLT + 6, 7, 24);
		const struct cfi_row *row = cfi_find(table, PLT + 20);
		assert_int_equal(row->cfa.kind, CFI_VALUE_EXPRESSION);
		assert_int_equal(row->expressions[row->cfa.operand + 6],
				 0x30 + (has_endbr ? 9 : 11));
		check_row(table, SEC, 7, 8);
		check_row(table, SEC + SIZE - 1, 7, 8);
		assert_null(cfi_find(table, SEC + SIZE));
		cfi_table_free(table);
	}
	static const uint8_t arm[SIZE] = { 0xf0, 0x7b, 0xbf, 0xa9 };
	sections =
	    (struct cfi_sections){ .machine = UNWIND_AARCH64, .stubs = { { { arm, SIZE }, PLT } } };
	assert_int_equal(cfi_table_sections(&table, &sections), 0);
	check_row(table, PLT, UNWIND_AARCH64_SP, 0);
	check_row(table, PLT + 4, UNWIND_AARCH64_SP, 16);
	check_row(table, PLT + 32, UNWIND_AARCH64_SP, 0);
	cfi_table_free(table);
}

/* On a heap copy of exact size, so that a sanitizer guards its end. */
static void read_copy(const struct section *s)
{
	const size_t size = s->out.size;
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	if (size)
		memcpy(copy, s->out.data, size);
	struct section other = *s;
	other.out.data = copy;
	struct cfi_table *table = table_of(&other);
	for (uint64_t at = 0; table && at <= CODE_SIZE; at++)
		(void)cfi_find(table, CODE_SVMA + at);
	cfi_table_free(table);
	free(copy);
}

static void every_truncation_and_every_changed_byte_is_survived(void **state)
{
	(void)state;
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	for (unsigned kind = 0; kind < 4; kind++) {
		struct section s = { .is_debug_frame = kind & 1, .is_64 = kind & 2 };
		put_usual(&s);
		put_fde(&s, CODE_SVMA + CODE_SIZE, 16,
			BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 3, 2, 0x76, 0, 0x0a, 0x41, 0x0b));
		const size_t whole = s.out.size;
		for (s.out.size = 0; s.out.size < whole; s.out.size++)
			read_copy(&s);
		for (size_t at = 0; at < whole; at++) {
			const uint8_t was = s.out.data[at];
			for (size_t v = 0; v < sizeof(values); v++) {
				s.out.data[at] = values[v];
				read_copy(&s);
			}
			s.out.data[at] = was;
		}
		sink_clear(&s.out);
	}
}

static void what_is_no_elf_is_refused(void **state)
{
	(void)state;
	struct cfi_table *table;
	static const uint8_t text[] = "hello, world";
	assert_int_equal(cfi_table_elf(&table, (struct bytes){ text, sizeof(text) }),
			 STATUS_NOT_FORMAT);
	assert_int_equal(cfi_table_elf(&table, (struct bytes){ 0 }), STATUS_NOT_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(producers_write_them_in_many_ways),
		cmocka_unit_test(what_makes_no_sense_is_left_out),
		cmocka_unit_test(a_length_of_zero_ends_nothing),
		cmocka_unit_test(functions_are_put_in_order_and_do_not_overlap),
		cmocka_unit_test(debug_frame_fills_the_gaps),
		cmocka_unit_test(many_functions_are_found_again),
		cmocka_unit_test(stubs_are_known_by_their_shape),
		cmocka_unit_test(every_truncation_and_every_changed_byte_is_survived),
		cmocka_unit_test(what_is_no_elf_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
