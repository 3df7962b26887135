/* Machine code as rows: every byte in one, whatever the bytes. */
#include "annotate/decode.h"
#include "test.h"

#include "base/status.h"

#include <stdlib.h>

struct decoded {
	annotate_rows rows;
	struct sink texts;
};

static void decode(struct decoded *d, const struct listing *listing, bool att)
{
	*d = (struct decoded){ .texts = { .limit = 0 } };
	assert_int_equal(annotate_decode(listing, att, &d->rows, &d->texts), 0);
	uint64_t at = 0;
	for (size_t i = 0; i < d->rows.count; i++) {
		const struct annotate_row *row = &d->rows.items[i];
		assert_int_equal(row->offset, at);
		assert_true(row->size > 0);
		assert_true(row->text + row->text_size <= d->texts.size);
		at += row->size;
	}
	assert_int_equal(at, listing->code.size);
}

static void clear(struct decoded *d)
{
	vector_clear(&d->rows);
	sink_clear(&d->texts);
}

static void expect(const struct decoded *d, size_t index, enum annotate_row_kind kind,
		   enum annotate_flow flow, const char *text)
{
	const struct annotate_row *row = &d->rows.items[index];
	assert_true(index < d->rows.count);
	assert_int_equal(row->kind, kind);
	assert_int_equal(row->flow, flow);
	assert_int_equal(row->text_size, strlen(text));
	assert_memory_equal(d->texts.data + row->text, text, row->text_size);
}

#define CODE(...)                                                                    \
	{                                                                            \
		(const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }) \
	}

static void x86_in_both_syntaxes(void **state)
{
	(void)state;
	const struct listing listing = {
		.machine = LISTING_X86_64,
		.start_avma = 0x1000,
		.code = CODE(0x48, 0x89, 0xe5, 0x7e, 0x03, 0xeb, 0xfe, 0xe8, 0, 1, 0, 0, 0xc3, 0xff,
			     0xe0, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0),
	};
	struct decoded d;
	decode(&d, &listing, false);
	expect(&d, 0, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "mov     rbp, rsp");
	expect(&d, 1, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_BRANCH, "jle     ");
	expect(&d, 2, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_JUMP, "jmp     ");
	expect(&d, 3, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_CALL, "call    ");
	expect(&d, 4, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_RETURN, "ret");
	expect(&d, 5, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_JUMP, "jmp     rax");
	expect(&d, 6, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "mov     rax, qword ptr [rip + 0x10]");
	const struct annotate_row *rows = d.rows.items;
	assert_true(rows[1].is_direct && rows[1].target == 0x1008);
	assert_true(rows[2].is_direct && rows[2].target == 0x1005);
	assert_true(rows[3].is_direct && rows[3].target == 0x110c);
	assert_false(rows[5].has_target);
	assert_true(rows[6].has_target && !rows[6].is_direct && rows[6].target == 0x1026);
	clear(&d);
	decode(&d, &listing, true);
	expect(&d, 0, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "movq    %rsp, %rbp");
	expect(&d, 1, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_BRANCH, "jle     ");
	expect(&d, 3, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_CALL, "callq   ");
	assert_int_equal(d.rows.items[3].target, 0x110c);
	clear(&d);
}

static void aarch64(void **state)
{
	(void)state;
	const struct listing listing = {
		.machine = LISTING_AARCH64,
		.start_avma = 0x1000,
		.code = CODE(0xfd, 0x7b, 0xbf, 0xa9, 0x41, 0x00, 0x00, 0x54, 0x40, 0x00, 0x00, 0x94,
			     0xff, 0xff, 0xff, 0x17, 0x20, 0x00, 0x00, 0xb4, 0x20, 0x00, 0x10, 0x36,
			     0xc0, 0x03, 0x5f, 0xd6, 0x00, 0x00, 0x3f, 0xd6, 0xff, 0xff, 0xff, 0xff,
			     0x01, 0x02),
	};
	struct decoded d;
	decode(&d, &listing, false);
	expect(&d, 0, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "stp     x29, x30, [sp, #-0x10]!");
	expect(&d, 1, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_BRANCH, "b.ne    ");
	expect(&d, 2, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_CALL, "bl      ");
	expect(&d, 3, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_JUMP, "b       ");
	expect(&d, 4, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_BRANCH, "cbz     x0, ");
	expect(&d, 5, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_BRANCH, "tbz     w0, #2, ");
	expect(&d, 6, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_RETURN, "ret");
	expect(&d, 7, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_CALL, "blr     x0");
	expect(&d, 8, ANNOTATE_ROW_BYTES, ANNOTATE_FLOW_ON, ".word   0xffffffff");
	expect(&d, 9, ANNOTATE_ROW_BYTES, ANNOTATE_FLOW_ON, ".byte   0x01, 0x02");
	const uint64_t targets[] = { 0x100c, 0x1108, 0x1008, 0x1014, 0x1018 };
	assert_int_equal(d.rows.items[1].target, targets[0]);
	assert_int_equal(d.rows.items[2].target, targets[1]);
	assert_int_equal(d.rows.items[3].target, targets[2]);
	assert_int_equal(d.rows.items[4].target, targets[3]);
	assert_int_equal(d.rows.items[5].target, targets[4]);
	clear(&d);
}

static void what_is_data_is_not_decoded(void **state)
{
	(void)state;
	struct listing listing = {
		.machine = LISTING_X86_64,
		.code = CODE(0x90, 0x90, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0x90,
			     0x06),
	};
	*vector_push(&listing.notes) = (struct listing_note){ 0, 2, "prologue", "" };
	*vector_push(&listing.notes) = (struct listing_note){ 2, 9, "data", "table" };
	*vector_push(&listing.notes) = (struct listing_note){ 4, 2, "data", "inside the other" };
	*vector_push(&listing.notes) = (struct listing_note){ 0xfffffff0, 0xff, "data", "" };
	struct decoded d;
	decode(&d, &listing, false);
	expect(&d, 1, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "nop");
	expect(&d, 2, ANNOTATE_ROW_DATA, ANNOTATE_FLOW_ON,
	       ".byte   0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3");
	expect(&d, 3, ANNOTATE_ROW_DATA, ANNOTATE_FLOW_ON, ".byte   0xc3, 0xc3, 0xc3");
	expect(&d, 4, ANNOTATE_ROW_CODE, ANNOTATE_FLOW_ON, "nop");
	expect(&d, 5, ANNOTATE_ROW_BYTES, ANNOTATE_FLOW_ON, ".byte   0x06");
	clear(&d);
	listing_clear(&listing);
}

/* On copies of exact size, so that a read past the end shows. */
static void any_bytes_of_any_length(void **state)
{
	(void)state;
	srand(1);
	for (size_t round = 0; round < 4000; round++) {
		const size_t size = round % 80;
		uint8_t *bytes = malloc(size ? size : 1);
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(rand() >> 5);
		struct listing listing = { .start_avma = round % 3 ? 0x401000 : UINT64_MAX - 8,
					   .code = { bytes, size } };
		if (round % 4 == 0)
			*vector_push(&listing.notes) =
			    (struct listing_note){ bytes[0] % 64, bytes[0] % 32, "data", "" };
		for (int kind = 0; kind < 3; kind++) {
			struct decoded d;
			listing.machine = kind < 2 ? LISTING_X86_64 : LISTING_AARCH64;
			decode(&d, &listing, kind == 1);
			clear(&d);
		}
		listing_clear(&listing);
		free(bytes);
	}
}

/* No processor takes more than 15 bytes for an instruction, whatever stands in front of it. */
static void prefixes_without_end(void **state)
{
	(void)state;
	enum { LONGEST = 15, MANY = 1 << 20 };
	static const uint8_t prefixes[] = { 0x66, 0x40, 0xf3, 0x2e };
	uint8_t *code = malloc(MANY);
	assert_non_null(code);
	for (size_t i = 0; i < sizeof(prefixes); i++) {
		memset(code, prefixes[i], MANY);
		code[MANY - 1] = 0x90; /* nop */
		const struct listing listing = { .machine = LISTING_X86_64,
						 .code = { code, MANY } };
		struct decoded d;
		decode(&d, &listing, false);
		for (size_t k = 0; k < d.rows.count; k++)
			assert_in_range(d.rows.items[k].size, 1, LONGEST);
		clear(&d);
	}
	free(code);
}

static void another_machine(void **state)
{
	(void)state;
	const struct listing listing = { .code = CODE(0x90) };
	struct decoded d = { .texts = { .limit = 0 } };
	assert_int_equal(annotate_decode(&listing, false, &d.rows, &d.texts), STATUS_UNSUPPORTED);
	assert_int_equal(d.rows.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_in_both_syntaxes),
		cmocka_unit_test(aarch64),
		cmocka_unit_test(what_is_data_is_not_decoded),
		cmocka_unit_test(any_bytes_of_any_length),
		cmocka_unit_test(prefixes_without_end),
		cmocka_unit_test(another_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
