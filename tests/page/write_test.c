/* A page of a profile with all that is hostile in it: what is in the file is what was put in. */
#include "page/page.h"

#include "base/status.h"
#include "export/fixture.h"
#include "failing_memory.h"
#include "page/app.h"
#include "page/reading.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

struct adding {
	struct page_side *side;
	const struct profile *profile;
};

static int add(void *context, const struct export_sample *sample)
{
	const struct adding *adding = context;
	for (uint32_t i = 0; i < adding->profile->rows.count; i++) {
		const struct profile_row *row = &adding->profile->rows.items[i];
		if (row->thread == sample->thread && row->event == sample->event &&
		    row->stack == sample->stack)
			return page_add(
			    adding->side, i,
			    &(struct page_amount){ sample->time_ns, 1, sample->period });
	}
	fail_msg("a sample is in no row");
	return 0;
}

static int fill(struct page_side *side, const struct export_fixture *fixture)
{
	struct adding adding = { side, &fixture->profile };
	int got = 0;
	*side = (struct page_side){ .name = "a</script>b", .profile = &fixture->profile };
	for (uint32_t i = 0; got == 0 && i < fixture->profile.threads.count; i++)
		got = export_samples_each(fixture->samples, i, add, &adding);
	return got;
}

static size_t count_of(struct bytes text, const char *word)
{
	size_t count = 0;
	const uint8_t *at = text.data;
	const uint8_t *end = text.data + text.size;
	while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
		count++;
		at++;
	}
	return count;
}

/* The names of a stack, outermost first, joined by newlines. */
static void put_stack(struct sink *out, const struct page_reading *r, size_t stack)
{
	if (!stack)
		return;
	put_stack(out, r, (size_t)page_value(page_column(r, "stacks.parent"), stack - 1));
	const size_t frame = (size_t)page_value(page_column(r, "stacks.frame"), stack - 1);
	const size_t function = (size_t)page_value(page_column(r, "frames.function"), frame);
	const struct bytes name =
	    page_string(r, (size_t)page_value(page_column(r, "functions.name"), function));
	sink_put(out, name.data, name.size);
	sink_u8(out, '\n');
}

static void put_profile_stack(struct sink *out, const struct profile *p, uint32_t stack)
{
	const struct profile_stack *s = &p->stacks.items[stack];
	for (uint32_t i = s->depth; i > 0; i--) {
		const uint32_t frame = p->frame_ids.items[s->first + i - 1];
		const struct profile_function *f =
		    &p->functions.items[p->frames.items[frame].function];
		const struct bytes name = intern_get_bytes(&p->strings, f->name);
		sink_put(out, name.data, name.size);
		sink_u8(out, '\n');
	}
}

static bool is_equal(const struct sink *a, struct bytes b)
{
	return a->size == b.size && (!b.size || memcmp(a->data, b.data, b.size) == 0);
}

/* Weight of the rows of the page with these names. */
static double weight_of(const struct page_reading *r, struct bytes names, uint32_t event)
{
	const struct page_column *stacks = page_column(r, "rows.stack");
	double weight = 0;
	for (size_t i = 0; i < page_column_count(stacks); i++) {
		struct sink stack = { 0 };
		put_stack(&stack, r, (size_t)page_value(stacks, i));
		if (is_equal(&stack, names) && page_value(page_column(r, "rows.event"), i) == event)
			weight += page_value(page_column(r, "rows.weight"), i);
		sink_clear(&stack);
	}
	return weight;
}

static double profile_weight_of(const struct profile *p, struct bytes names, uint32_t event)
{
	double weight = 0;
	for (size_t i = 0; i < p->rows.count; i++) {
		struct sink stack = { 0 };
		put_profile_stack(&stack, p, p->rows.items[i].stack);
		if (p->rows.items[i].event == event && is_equal(&stack, names))
			weight += (double)p->rows.items[i].weight;
		sink_clear(&stack);
	}
	return weight;
}

static void check_tables(const struct page_reading *r, const struct profile *p)
{
	assert_int_equal(page_column_count(page_column(r, "functions.name")), p->functions.count);
	assert_int_equal(page_column_count(page_column(r, "threads.tid")), p->threads.count);
	for (size_t i = 0; i < p->threads.count; i++) {
		const struct bytes comm =
		    page_string(r, (size_t)page_value(page_column(r, "threads.comm"), i));
		const struct bytes wanted = intern_get_bytes(&p->strings, p->threads.items[i].comm);
		assert_int_equal(page_value(page_column(r, "threads.tid"), i),
				 p->threads.items[i].tid);
		assert_int_equal(comm.size, wanted.size);
		assert_true(!wanted.size || memcmp(comm.data, wanted.data, wanted.size) == 0);
	}
	const struct page_column *parents = page_column(r, "stacks.parent");
	for (size_t i = 0; i < page_column_count(parents); i++)
		assert_true(page_value(parents, i) <= (double)i);
}

static void test_holds_the_profile(void **state)
{
	(void)state;
	struct export_fixture fixture;
	struct page_side side;
	struct sink out = { 0 };
	struct page_reading r = { 0 };
	fixture_open(&fixture);
	const struct profile *p = &fixture.profile;
	assert_int_equal(fill(&side, &fixture), 0);
	assert_int_equal(page_write(&out, &(struct page){ .sides = &side, .side_count = 1 }), 0);
	page_read(&r, sink_bytes(&out), "main");
	check_tables(&r, p);
	for (size_t i = 0; i < p->rows.count; i++) {
		struct sink names = { 0 };
		put_profile_stack(&names, p, p->rows.items[i].stack);
		const uint32_t event = p->rows.items[i].event;
		assert_true(weight_of(&r, sink_bytes(&names), event) ==
			    profile_weight_of(p, sink_bytes(&names), event));
		sink_clear(&names);
	}
	page_reading_clear(&r);
	page_side_clear(&side);
	sink_clear(&out);
	fixture_close(&fixture);
}

/* The document has the marks of the page itself and of its blocks, and no others. */
static void test_no_name_is_markup(void **state)
{
	(void)state;
	struct export_fixture fixture;
	struct page_side side;
	struct sink out = { 0 };
	fixture_open(&fixture);
	assert_int_equal(fill(&side, &fixture), 0);
	assert_int_equal(page_write(&out, &(struct page){ .sides = &side, .side_count = 1 }), 0);
	const struct bytes head = { page_app_head, page_app_head_size };
	const struct bytes tail = { page_app_tail, page_app_tail_size };
	const char *const marks[] = { "<", "</script", "<script", "<!--" };
	const size_t own[] = { 2, 1, 1, 0 };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(count_of(sink_bytes(&out), marks[i]),
				 count_of(head, marks[i]) + count_of(tail, marks[i]) + own[i]);
	page_side_clear(&side);
	sink_clear(&out);
	fixture_close(&fixture);
}

static uint32_t group_of(void *context, size_t side, uint32_t function)
{
	return *(const uint32_t *)context + (uint32_t)side + function;
}

static int put_part(void *context, struct page_block *block)
{
	page_block_text(block, context, (struct bytes){ (const uint8_t *)"x", 1 });
	return 0;
}

static int put_nothing(void *context, struct page_block *block)
{
	(void)context;
	(void)block;
	return STATUS_TOO_BIG;
}

static void test_two_sides_and_parts(void **state)
{
	(void)state;
	struct export_fixture fixture;
	struct page_side sides[2];
	struct sink out = { 0 };
	struct page_reading r = { 0 };
	uint32_t first = 1000;
	char name_a[] = "part.a";
	char name_b[] = "part.b";
	const struct page_part parts[] = { { "main", name_a, put_part },
					   { "more", name_a, put_part },
					   { "more", name_b, put_part } };
	fixture_open(&fixture);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(fill(&sides[i], &fixture), 0);
	sides[1].is_after = true;
	assert_int_equal(page_write(&out, &(struct page){ .sides = sides,
							  .side_count = 2,
							  .parts = parts,
							  .part_count = 3,
							  .group = group_of,
							  .group_context = &first }),
			 0);
	page_read(&r, sink_bytes(&out), "main");
	const size_t functions = fixture.profile.functions.count;
	assert_int_equal(page_value(page_column(&r, "functions.group"), 0), 1000);
	assert_int_equal(page_value(page_column(&r, "functions.group"), functions), 1001);
	const size_t threads = fixture.profile.threads.count;
	assert_int_equal(page_value(page_column(&r, "threads.side"), threads - 1), 0);
	assert_int_equal(page_value(page_column(&r, "threads.side"), threads), 1);
	const struct page_column *thread = page_column(&r, "rows.thread");
	const size_t half = page_column_count(thread) / 2;
	for (size_t i = 0; i < half; i++)
		assert_int_equal(page_value(thread, half + i),
				 page_value(thread, i) + (double)threads);
	(void)page_column(&r, "part.a");
	page_reading_clear(&r);
	page_read(&r, sink_bytes(&out), "more");
	assert_int_equal(r.columns.count, 2);
	(void)page_column(&r, "part.b");
	page_reading_clear(&r);
	sink_reset(&out);
	const struct page_part failing = { "more", NULL, put_nothing };
	assert_int_equal(page_write(&out, &(struct page){ .sides = sides,
							  .side_count = 2,
							  .parts = &failing,
							  .part_count = 1 }),
			 STATUS_TOO_BIG);
	for (size_t i = 0; i < 2; i++)
		page_side_clear(&sides[i]);
	sink_clear(&out);
	fixture_close(&fixture);
}

static void test_without_samples(void **state)
{
	(void)state;
	struct profile empty = { 0 };
	struct page_side side = { .name = "", .profile = &empty };
	struct sink out = { 0 };
	struct page_reading r = { 0 };
	assert_int_equal(page_write(&out, &(struct page){ .sides = &side, .side_count = 1 }), 0);
	page_read(&r, sink_bytes(&out), "main");
	assert_int_equal(page_column(&r, "rows.count")->values.size, 0);
	page_reading_clear(&r);
	page_side_clear(&side);
	sink_clear(&out);
}

static void test_without_memory(void **state)
{
	(void)state;
	struct export_fixture fixture;
	fixture_open(&fixture);
	for (size_t n = 1;; n++) {
		struct page_side side;
		struct sink out = { 0 };
		memory_fail_at(n);
		int got = fill(&side, &fixture);
		if (got == 0)
			got = page_write(&out, &(struct page){ .sides = &side, .side_count = 1 });
		page_side_clear(&side);
		sink_clear(&out);
		if (!memory_has_failed())
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds_the_profile),
		cmocka_unit_test(test_no_name_is_markup),
		cmocka_unit_test(test_two_sides_and_parts),
		cmocka_unit_test(test_without_samples),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
