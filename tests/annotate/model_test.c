/* The document: no sample is lost, none counts twice, each is where it was. */
#include "annotate/fixture.h"
#include "annotate/place.h"
#include "test.h"

#include <stdlib.h>

static void check_version(const struct annotate_version *version)
{
	uint64_t rows = 0;
	uint64_t hits = 0;
	uint64_t lines = 0;
	uint64_t at = 0;
	for (size_t i = 0; i < version->hits.count; i++)
		hits += version->hits.items[i].count.samples;
	for (size_t i = 0; i < version->lines.count; i++)
		lines += version->lines.items[i].count.samples;
	for (size_t i = 0; i < version->rows.count; i++) {
		const struct annotate_row *row = &version->rows.items[i];
		rows += row->count.samples;
		assert_true(row->offset >= at);
		at = row->offset;
		assert_true(row->target_row <= version->rows.count);
		assert_int_equal(row->count.weight, FIXTURE_PERIOD * row->count.samples);
	}
	assert_int_equal(hits, version->count.samples);
	assert_int_equal(lines, version->count.samples);
	if (version->rows.count)
		assert_int_equal(rows, version->count.samples);
	else
		assert_non_null(version->no_code);
}

static void check_function(const struct annotate_function *function)
{
	struct annotate_count sum = { 0 };
	uint64_t lines = 0;
	uint64_t splits = 0;
	for (size_t i = 0; i < function->versions.count; i++) {
		check_version(&function->versions.items[i]);
		annotate_count_add(&sum, &function->versions.items[i].count);
	}
	for (size_t i = 0; i < function->lines.count; i++)
		lines += function->lines.items[i].count.samples;
	for (size_t i = 0; i < function->splits.count; i++)
		splits += function->splits.items[i].samples;
	assert_int_equal(sum.samples, function->count.samples);
	assert_int_equal(sum.weight, function->count.weight);
	assert_int_equal(lines, sum.samples);
	assert_int_equal(splits, sum.samples);
}

static void samples_are_at_their_instructions(void **state)
{
	(void)state;
	struct fixture f;
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "fib"), 0);
	assert_int_equal(f.doc.total.samples, 103);
	assert_int_equal(f.doc.functions.count, 1);
	const struct annotate_function *fib = &f.doc.functions.items[0];
	check_function(fib);
	assert_int_equal(fib->count.samples, 98);
	assert_int_equal(fib->versions.count, 2);
	assert_int_equal(annotate_hottest(fib), 1);
	const struct annotate_version *fast = &fib->versions.items[1];
	assert_int_equal(fast->inlined.samples, 30);
	static const struct {
		enum annotate_row_kind kind;
		uint64_t offset;
		uint64_t samples;
	} wanted[] = {
		{ ANNOTATE_ROW_CODE, 0, 0 },      { ANNOTATE_ROW_CODE, 1, 0 },
		{ ANNOTATE_ROW_INSIDE, 2, 3 },    { ANNOTATE_ROW_CODE, 4, 60 },
		{ ANNOTATE_ROW_CODE, 6, 0 },      { ANNOTATE_ROW_CODE, 8, 30 },
		{ ANNOTATE_ROW_CODE, 0xb, 0 },    { ANNOTATE_ROW_CODE, 0x10, 0 },
		{ ANNOTATE_ROW_CODE, 0x12, 0 },   { ANNOTATE_ROW_CODE, 0x13, 0 },
		{ ANNOTATE_ROW_BEYOND, 0x40, 2 }, { ANNOTATE_ROW_NOWHERE, UINT64_MAX, 1 },
	};
	assert_int_equal(fast->rows.count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < fast->rows.count; i++) {
		assert_int_equal(fast->rows.items[i].kind, wanted[i].kind);
		assert_int_equal(fast->rows.items[i].offset, wanted[i].offset);
		assert_int_equal(fast->rows.items[i].count.samples, wanted[i].samples);
	}
	assert_int_equal(fast->rows.items[4].target_row, 7);
	assert_int_equal(fast->rows.items[7].target_row, 4);
	assert_string_equal(fast->rows.items[6].callee, "callee");
	fixture_end(&f);
}

static void an_inlined_function_counts_where_its_code_is(void **state)
{
	(void)state;
	struct fixture f;
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "g"), 0);
	assert_int_equal(f.doc.functions.count, 1);
	const struct annotate_function *g = &f.doc.functions.items[0];
	assert_int_equal(g->count.samples, 0);
	assert_int_equal(g->versions.count, 0);
	assert_int_equal(g->elsewhere.samples, 30);
	assert_int_equal(g->hosts.count, 1);
	assert_int_equal(g->hosts.items[0].function, 2);
	assert_int_equal(g->elsewhere_lines.count, 1);
	assert_int_equal(g->elsewhere_lines.items[0].line, 7);
	fixture_end(&f);
}

/* Inlined frames that lead in a circle end somewhere. */
static void a_circle_of_inlined_frames(void **state)
{
	(void)state;
	struct fixture f;
	fixture_begin(&f);
	const uint32_t id = fixture_function(&f, "fib", "", 1);
	const uint32_t first = fixture_frame(&f, id, 0, "", 0);
	const uint32_t second = fixture_inlined(&f, id, first, "", 0);
	f.profile.frames.items[first].inlined_into = second + 1;
	const uint32_t lost = fixture_frame(&f, id, 0, "", 0);
	f.profile.frames.items[lost].inlined_into = 1000;
	fixture_sample(&f, second, 3);
	fixture_sample(&f, lost, 4);
	assert_int_equal(fixture_build(&f, "fib"), 0);
	assert_int_equal(f.doc.functions.items[0].count.samples, 7);
	check_function(&f.doc.functions.items[0]);
	fixture_end(&f);
}

static void a_file_has_the_lines_of_all_functions(void **state)
{
	(void)state;
	struct fixture f;
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "fib.js"), 0);
	assert_int_equal(f.doc.file_lines.count, 3);
	assert_int_equal(f.doc.file_lines.items[0].line, 0);
	assert_int_equal(f.doc.file_lines.items[0].count.samples, 2);
	assert_int_equal(f.doc.file_lines.items[1].count.samples, 5);
	assert_int_equal(f.doc.file_lines.items[2].count.samples, 60);
	assert_int_equal(f.doc.functions.count, 1);
	assert_int_equal(f.doc.functions.items[0].versions.items[0].rows.count, 0);
	fixture_unbuild(&f);
	/* With a line: only its samples, at their instructions. */
	assert_int_equal(fixture_build(&f, "g.js:7"), 0);
	assert_int_equal(f.doc.file_lines.count, 1);
	assert_int_equal(f.doc.functions.count, 1);
	check_function(&f.doc.functions.items[0]);
	assert_int_equal(f.doc.functions.items[0].count.samples, 30);
	fixture_end(&f);
}

static void line_is(const struct fixture *f, uint32_t line, const char *wanted)
{
	struct bytes text;
	const uint32_t file = annotate_file_name(&f->doc, 1).size ? 1 : 0;
	if (!wanted) {
		assert_false(annotate_line_text(&f->doc, file, line, &text));
		return;
	}
	assert_true(annotate_line_text(&f->doc, file, line, &text));
	assert_int_equal(text.size, strlen(wanted));
	assert_memory_equal(text.data, wanted, text.size);
}

static void lines_of_sources(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *lines[4];
	} cases[] = {
		{ "", { NULL, NULL } },
		{ "one", { "one", NULL } },
		{ "one\n", { "one", NULL } },
		{ "\n\n", { "", "", NULL } },
		{ "one\r\ntwo", { "one", "two", NULL } },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		fixture_begin(&f);
		const uint32_t id = fixture_function(&f, "fib", "", 1);
		fixture_sample(&f, fixture_frame(&f, id, 0, "fib.js", 1), 1);
		/* What a listing tells stands where no file does. */
		fixture_line(fixture_listing(&f, id), 0, "fib.js", 50, 0);
		f.listings[id].lines.items[0].text = "told";
		f.source_name = "fib.js";
		f.source_text = cases[i].text;
		assert_int_equal(fixture_build(&f, "fib"), 0);
		line_is(&f, 0, NULL);
		for (uint32_t line = 0; line == 0 || cases[i].lines[line - 1]; line++)
			line_is(&f, line + 1, cases[i].lines[line]);
		line_is(&f, 50, "told");
		line_is(&f, 51, NULL);
		fixture_end(&f);
	}
}

/* A profile and a listing of which nothing is sure but that samples are samples. */
static void make_any(struct fixture *f, uint8_t *code, size_t size)
{
	static const char *const files[] = { "", "a.js", "dir/a.js", "b\x1b.js" };
	for (uint32_t i = 0; i < 6; i++)
		fixture_function(f, i % 2 ? "fib" : i % 3 ? "g" : "h", i % 2 ? "slow" : "", i);
	for (uint32_t i = 0; i < 60; i++) {
		const uint32_t function = (uint32_t)rand() % 6;
		const char *file = files[rand() % 4];
		uint32_t id = fixture_frame(f, function, (uint64_t)rand() % (size + 8), file,
					    (uint32_t)rand() % 5);
		f->profile.frames.items[id].has_offset = rand() % 8;
		for (int depth = rand() % 3; depth; depth--)
			id = fixture_inlined(f, (uint32_t)rand() % 6, id, files[rand() % 4],
					     (uint32_t)rand() % 5);
		fixture_sample(f, id, (uint64_t)rand() % 9 + 1);
	}
	for (uint32_t i = 0; i < 6; i++) {
		struct listing *listing = fixture_listing(f, i);
		listing->machine = (enum listing_machine)(rand() % 3);
		if (rand() % 4)
			listing->code = (struct bytes){ code, size };
		for (uint32_t n = 0; n < 8; n++) {
			fixture_line(listing, (uint32_t)rand() % 40 + 5 * n, files[rand() % 4],
				     (uint32_t)rand() % 5, (uint32_t)rand() % 4);
			fixture_note(listing, (uint32_t)rand() % 50, (uint32_t)rand() % 9,
				     rand() % 2 ? "data" : "note", "text");
			*vector_push(&listing->bytecodes) =
			    (struct listing_bytecode){ (uint32_t)rand() % 40, rand() % 9 - 1 };
		}
		for (uint32_t n = 0; n < 3; n++)
			*vector_push(&listing->scopes) = (struct listing_scope){
				.name = "s", .call_file = "f", .around = (uint32_t)rand() % 5
			};
	}
}

static void nothing_is_lost_whatever_the_input(void **state)
{
	(void)state;
	static const char *const questions[] = { "fib", "g", "h", "a.js", "a.js:2", NULL };
	srand(4);
	for (int round = 0; round < 300; round++) {
		struct fixture f;
		const size_t size = (size_t)rand() % 60;
		uint8_t *code = malloc(size + 1);
		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)(rand() >> 4);
		fixture_begin(&f);
		make_any(&f, code, size);
		uint64_t all = 0;
		for (int q = 0; q < 6; q++) {
			assert_int_equal(fixture_build(&f, questions[q]), 0);
			const bool shows_code =
			    f.choice.kind == ANNOTATE_FUNCTIONS || f.choice.line;
			for (size_t i = 0; i < f.doc.functions.count; i++) {
				if (shows_code)
					check_function(&f.doc.functions.items[i]);
				all += q < 3 ? f.doc.functions.items[i].count.samples : 0;
			}
			for (enum fixture_format format = FIXTURE_TEXT; format <= FIXTURE_HTML;
			     format++) {
				struct sink out = { 0 };
				const struct annotate_options options = {
					.view = (enum annotate_view)(rand() % 4),
					.context = (unsigned)rand() % 4,
					.percent_limit = rand() % 3,
					.raw_bytes = rand() % 2,
					.all_versions = rand() % 2,
				};
				assert_non_null(fixture_write(&f, &out, format, &options));
				sink_clear(&out);
			}
			fixture_unbuild(&f);
		}
		uint64_t rows = 0;
		for (size_t i = 0; i < f.profile.rows.count; i++)
			rows += f.profile.rows.items[i].count;
		assert_int_equal(all, rows);
		fixture_end(&f);
		free(code);
	}
}

static void context_around_what_is_wanted(void **state)
{
	(void)state;
	bool shown[10] = { [2] = true, [7] = true };
	place_add_context(shown, 10, 1);
	static const bool wanted[10] = {
		[1] = true, [2] = true, [3] = true, [6] = true, [7] = true, [8] = true
	};
	assert_memory_equal(shown, wanted, sizeof(shown));
	place_add_context(shown, 10, 100);
	for (size_t i = 0; i < 10; i++)
		assert_true(shown[i]);
	bool none[3] = { false };
	place_add_context(none, 3, 5);
	assert_false(none[0] || none[1] || none[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_at_their_instructions),
		cmocka_unit_test(an_inlined_function_counts_where_its_code_is),
		cmocka_unit_test(a_circle_of_inlined_frames),
		cmocka_unit_test(a_file_has_the_lines_of_all_functions),
		cmocka_unit_test(lines_of_sources),
		cmocka_unit_test(nothing_is_lost_whatever_the_input),
		cmocka_unit_test(context_around_what_is_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
