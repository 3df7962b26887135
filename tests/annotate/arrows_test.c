/* Jumps as lines beside the rows. */
#include "annotate/arrows.h"
#include "annotate/text_out.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

struct jump {
	uint32_t from;
	uint32_t to;
};

static void make(annotate_rows *rows, size_t count, const struct jump *jumps, size_t jump_count)
{
	for (size_t i = 0; i < count; i++)
		assert_non_null(vector_push(rows));
	for (size_t i = 0; i < jump_count; i++) {
		struct annotate_row *row = &rows->items[jumps[i].from];
		row->flow = ANNOTATE_FLOW_BRANCH;
		row->is_direct = true;
		row->target_row = jumps[i].to + 1;
	}
}

/* Draws them in ASCII, a line a row. */
static void expect(size_t count, const struct jump *jumps, size_t jump_count, const char *drawing)
{
	annotate_rows rows = { 0 };
	struct sink out = { 0 };
	unsigned lanes;
	make(&rows, count, jumps, jump_count);
	assert_int_equal(annotate_arrows(&rows, &lanes), 0);
	for (size_t i = 0; i < count; i++) {
		for (size_t c = ANNOTATE_LANES - lanes; c < ANNOTATE_LANES; c++)
			sink_text(&out, text_cell(rows.items[i].cells[c], true));
		sink_text(&out, rows.items[i].is_arrow ? ">\n" : " \n");
	}
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data, drawing);
	sink_clear(&out);
	vector_clear(&rows);
}

#define EXPECT(count, drawing, ...)                         \
	expect(count, (const struct jump[]){ __VA_ARGS__ }, \
	       sizeof((struct jump[]){ __VA_ARGS__ }) / sizeof(struct jump), drawing)

static void one_down_and_one_up(void **state)
{
	(void)state;
	EXPECT(3, ". \n| \n'>\n", { 0, 2 });
	EXPECT(3, ".>\n| \n' \n", { 2, 0 });
}

static void short_ones_are_inside(void **state)
{
	(void)state;
	EXPECT(4, ".- \n|. \n|'>\n'->\n", { 0, 3 }, { 1, 2 });
}

static void jumps_to_one_place_share_a_line(void **state)
{
	(void)state;
	EXPECT(5, ". \n+ \n+>\n| \n' \n", { 0, 2 }, { 1, 2 }, { 4, 2 });
}

static void lines_that_cross(void **state)
{
	(void)state;
	EXPECT(4, " . \n.+ \n|'>\n'->\n", { 0, 2 }, { 1, 3 });
}

static void a_jump_to_itself_has_no_line(void **state)
{
	(void)state;
	EXPECT(2, " \n \n", { 1, 1 });
}

static void calls_have_none(void **state)
{
	(void)state;
	annotate_rows rows = { 0 };
	unsigned lanes;
	make(&rows, 3, &(struct jump){ 0, 2 }, 1);
	rows.items[0].flow = ANNOTATE_FLOW_CALL;
	assert_int_equal(annotate_arrows(&rows, &lanes), 0);
	assert_int_equal(lanes, 0);
	vector_clear(&rows);
}

/* Whatever the jumps: each drawn one can be followed from its start to its end, and no cell is part
 * of two.
 */
static void each_line_leads_to_its_target(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 500; round++) {
		annotate_rows rows = { 0 };
		struct jump jumps[60];
		const size_t count = 1 + (size_t)rand() % 60;
		const size_t jump_count = (size_t)rand() % 60;
		unsigned lanes;
		for (size_t i = 0; i < jump_count; i++)
			jumps[i] = (struct jump){ (uint32_t)((size_t)rand() % count),
						  (uint32_t)((size_t)rand() % count) };
		make(&rows, count, jumps, jump_count);
		assert_int_equal(annotate_arrows(&rows, &lanes), 0);
		assert_true(lanes <= ANNOTATE_LANES);
		for (size_t c = 0; c < ANNOTATE_LANES; c++)
			for (size_t i = 0; i < count; i++) {
				const uint8_t cell = rows.items[i].cells[c];
				const bool from_above = annotate_cell_comes_from_above(cell);
				const uint8_t above =
				    i ? rows.items[i - 1].cells[c] : ANNOTATE_CELL_NONE;
				const bool above_goes_on =
				    above == ANNOTATE_CELL_PASS || above == ANNOTATE_CELL_FIRST ||
				    above == ANNOTATE_CELL_MIDDLE || above == ANNOTATE_CELL_CROSS;
				assert_int_equal(from_above, above_goes_on);
				if (i + 1 == count)
					assert_true(cell == ANNOTATE_CELL_NONE ||
						    cell == ANNOTATE_CELL_LAST ||
						    cell == ANNOTATE_CELL_ACROSS);
				if (c < ANNOTATE_LANES - lanes)
					assert_int_equal(cell, ANNOTATE_CELL_NONE);
			}
		vector_clear(&rows);
	}
}

/* 20,000 rows that jump to where they please: in time, and most of them undrawn. */
static void many_long_jumps(void **state)
{
	(void)state;
	annotate_rows rows = { 0 };
	unsigned lanes;
	srand(3);
	make(&rows, 20000, NULL, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		rows.items[i].flow = ANNOTATE_FLOW_JUMP;
		rows.items[i].is_direct = true;
		rows.items[i].target_row = (uint32_t)(rand() % 20000) + 1;
	}
	assert_int_equal(annotate_arrows(&rows, &lanes), 0);
	assert_int_equal(lanes, ANNOTATE_LANES);
	vector_clear(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_down_and_one_up),
		cmocka_unit_test(short_ones_are_inside),
		cmocka_unit_test(jumps_to_one_place_share_a_line),
		cmocka_unit_test(lines_that_cross),
		cmocka_unit_test(a_jump_to_itself_has_no_line),
		cmocka_unit_test(calls_have_none),
		cmocka_unit_test(each_line_leads_to_its_target),
		cmocka_unit_test(many_long_jumps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
