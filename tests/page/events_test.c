/* What became of code, in a page: all is counted, and of too many events the telling ones are
 * listed. */
#include "page/events.h"

#include "base/status.h"
#include "failing_memory.h"
#include "page/reading.h"
#include "test.h"

#include <string.h>

enum { FIRST_NS = 1000000000, MANY = PAGE_EVENTS + 200 };

struct scene {
	struct profile profile;
	struct profile_events events;
	struct page_side side;
};

static uint32_t text(struct scene *s, const char *text)
{
	return intern_text(&s->profile.strings, text);
}

/* One sample, at FIRST_NS, of alpha: the only function that has any. */
static int begin(struct scene *s)
{
	*s = (struct scene){ .side.name = "" };
	s->side.profile = &s->profile;
	struct profile_function *f = vector_push(&s->profile.functions);
	struct profile_frame *frame = vector_push(&s->profile.frames);
	uint32_t *event = vector_push(&s->profile.events);
	if (!f || !frame || !event)
		return STATUS_NO_MEMORY;
	*f = (struct profile_function){ .name = text(s, "alpha"),
					.object = text(s, "[jit]"),
					.runtime = text(s, "v8"),
					.tier = text(s, "turbofan"),
					.version = 1 };
	if (f->name == INTERN_NONE || f->object == INTERN_NONE || f->runtime == INTERN_NONE ||
	    f->tier == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const uint32_t stack = profile_add_stack(&s->profile, (const uint32_t[]){ 0 }, 1);
	if (stack == INTERN_NONE || profile_add_thread(&s->profile, 7, 7, 0) == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const uint32_t row = profile_add(
	    &s->profile, &(struct profile_row){ .stack = stack, .count = 1, .weight = 1 });
	if (row == INTERN_NONE)
		return STATUS_NO_MEMORY;
	return page_add(&s->side, row,
			&(struct page_amount){ .time_ns = FIRST_NS, .count = 1, .weight = 1 });
}

static int tell(struct scene *s, enum profile_event_kind kind, const char *name, uint64_t ms)
{
	struct profile_event *event = vector_push(&s->events.items);
	if (!event)
		return STATUS_NO_MEMORY;
	*event = (struct profile_event){ .time_ns = FIRST_NS + ms * 1000000,
					 .earliest_ns = FIRST_NS + ms * 1000000 - 500000,
					 .size_bytes = kind == PROFILE_EVENT_FELL_BACK ? 0 : 100,
					 .pid = 7,
					 .tid = 8,
					 .name = text(s, name),
					 .object = text(s, "[jit]"),
					 .runtime = text(s, "v8"),
					 .tier = text(s, "turbofan"),
					 .from_tier = 0,
					 .function = INTERN_NONE,
					 .kind = (uint8_t)kind,
					 .is_inferred = kind == PROFILE_EVENT_FELL_BACK };
	const bool failed = event->name == INTERN_NONE || event->object == INTERN_NONE ||
			    event->runtime == INTERN_NONE || event->tier == INTERN_NONE;
	return failed ? STATUS_NO_MEMORY : 0;
}

static int write(struct scene *s, struct sink *out)
{
	struct page_events told = { .side = &s->side, .events = &s->events };
	const struct page_part part = page_events_part(&told);
	return page_write(
	    out,
	    &(struct page){ .sides = &s->side, .side_count = 1, .parts = &part, .part_count = 1 });
}

static void end(struct scene *s)
{
	page_side_clear(&s->side);
	profile_events_clear(&s->events);
	profile_clear(&s->profile);
}

static double value(const struct page_reading *r, const char *column, size_t index)
{
	return page_value(page_column(r, column), index);
}

static void check_name(const struct page_reading *r, const char *column, size_t index,
		       const char *name)
{
	const struct bytes found = page_string(r, (size_t)value(r, column, index));
	assert_int_equal(found.size, strlen(name));
	assert_memory_equal(found.data, name, found.size);
}

static void a_few_are_all_there(void **state)
{
	(void)state;
	struct scene s;
	struct sink out = { 0 };
	struct page_reading r = { 0 };
	assert_int_equal(begin(&s), 0);
	assert_int_equal(tell(&s, PROFILE_EVENT_COMPILED, "alpha", 1), 0);
	assert_int_equal(tell(&s, PROFILE_EVENT_COMPILED, "</script>", 2), 0);
	assert_int_equal(tell(&s, PROFILE_EVENT_FELL_BACK, "alpha", 3), 0);
	assert_int_equal(tell(&s, PROFILE_EVENT_COMPILED, "alpha", 4), 0);
	s.events.untimed_count = 5;
	assert_int_equal(write(&s, &out), 0);
	page_read(&r, sink_bytes(&out), "events");
	assert_int_equal(page_column_count(page_column(&r, "events.time")), 4);
	assert_true(value(&r, "events.time", 2) == 3e6);
	assert_true(value(&r, "events.earliest", 2) == 2.5e6);
	assert_true(value(&r, "events.kind", 2) == PROFILE_EVENT_FELL_BACK);
	assert_true(value(&r, "events.inferred", 2) == 1 && value(&r, "events.inferred", 1) == 0);
	assert_true(value(&r, "events.function", 0) == 1 && value(&r, "events.function", 1) == 0);
	assert_true(value(&r, "events.pid", 0) == 7 && value(&r, "events.tid", 0) == 8);
	check_name(&r, "events.name", 1, "</script>");
	check_name(&r, "events.tier", 1, "turbofan");
	/* alpha alone was compiled twice, or fell. */
	assert_int_equal(page_column_count(page_column(&r, "changed.name")), 1);
	check_name(&r, "changed.name", 0, "alpha");
	assert_true(value(&r, "changed.compiled", 0) == 2 &&
		    value(&r, "changed.fell_back", 0) == 1 && value(&r, "changed.size", 0) == 200);
	static const char about[] = "{\"count\":4,\"listed\":4,\"functions\":2,\"untimed\":5,";
	assert_memory_equal(page_column(&r, "about")->values.data, about, sizeof(about) - 1);
	page_reading_clear(&r);
	sink_clear(&out);
	end(&s);
}

/* What is of no function with samples goes first; what is left stays in the order of time. */
static void of_too_many_the_telling_ones_stay(void **state)
{
	(void)state;
	struct scene s;
	struct sink out = { 0 };
	struct page_reading r = { 0 };
	assert_int_equal(begin(&s), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(tell(&s, PROFILE_EVENT_COMPILED, "other", i / 100), 0);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(tell(&s, PROFILE_EVENT_COMPILED, "alpha", MANY), 0);
	assert_int_equal(tell(&s, PROFILE_EVENT_FELL_BACK, "other", MANY), 0);
	assert_int_equal(write(&s, &out), 0);
	page_read(&r, sink_bytes(&out), "events");
	assert_int_equal(page_column_count(page_column(&r, "events.time")), PAGE_EVENTS);
	double last = 0;
	size_t of_alpha = 0;
	size_t fell = 0;
	for (size_t i = 0; i < PAGE_EVENTS; i++) {
		assert_true(value(&r, "events.time", i) >= last);
		last = value(&r, "events.time", i);
		of_alpha += value(&r, "events.function", i) != 0;
		fell += value(&r, "events.kind", i) == PROFILE_EVENT_FELL_BACK;
	}
	assert_int_equal(of_alpha, 10);
	assert_int_equal(fell, 1);
	double all = 0;
	for (size_t i = 0; i < page_column_count(page_column(&r, "sums.count")); i++)
		all += value(&r, "sums.count", i);
	assert_true(all == MANY + 11);
	/* What fell comes before what was compiled more often. */
	check_name(&r, "changed.name", 0, "other");
	assert_true(value(&r, "changed.compiled", 0) == MANY);
	check_name(&r, "changed.name", 1, "alpha");
	page_reading_clear(&r);
	sink_clear(&out);
	end(&s);
}

static void without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct scene s;
		struct sink out = { 0 };
		memory_fail_at(n);
		int got = begin(&s);
		if (got == 0)
			got = tell(&s, PROFILE_EVENT_COMPILED, "alpha", 1);
		if (got == 0)
			got = tell(&s, PROFILE_EVENT_FELL_BACK, "alpha", 2);
		if (got == 0)
			got = write(&s, &out);
		end(&s);
		sink_clear(&out);
		if (!memory_has_failed())
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_are_all_there),
		cmocka_unit_test(of_too_many_the_telling_ones_stay),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
