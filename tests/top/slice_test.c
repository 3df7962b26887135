#include "top/slice.h"

#include "made.h"

/* A profile of two functions: main calls leaf, which is interpreted and compiled. */
struct scene {
	struct profile profile;
	uint32_t frames[4];
	uint32_t thread;
	uint32_t other;
};

static uint32_t text(struct profile *p, const char *value)
{
	return intern_text(&p->strings, value);
}

static uint32_t add_frame(struct profile *p, const char *name, const char *tier, uint32_t line,
			  enum profile_trust trust)
{
	struct profile_function *function = vector_push(&p->functions);
	struct profile_frame *frame = vector_push(&p->frames);
	assert_non_null(function);
	assert_non_null(frame);
	function->name = text(p, name);
	function->object = text(p, "[jit]");
	function->runtime = text(p, "v8");
	function->tier = text(p, tier);
	function->is_unknown = name[0] == '0';
	frame->function = (uint32_t)p->functions.count - 1;
	frame->file = line ? text(p, "a.js") : 0;
	frame->line = line;
	frame->trust = (uint8_t)trust;
	return (uint32_t)p->frames.count - 1;
}

static void add(struct scene *s, uint32_t thread, uint32_t count, const uint32_t *frames,
		uint32_t depth)
{
	const struct profile_row row = { .thread = thread,
					 .stack = profile_add_stack(&s->profile, frames, depth),
					 .count = count,
					 .weight = (uint64_t)count * 10 };
	assert_true(profile_add(&s->profile, &row) != INTERN_NONE);
}

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	struct profile *p = &s->profile;
	uint32_t *event = vector_push(&p->events);
	assert_non_null(event);
	if (event)
		*event = text(p, "cpu-clock");
	s->frames[0] = add_frame(p, "leaf", "ignition", 3, PROFILE_EXACT);
	s->frames[1] = add_frame(p, "leaf", "turbofan", 4, PROFILE_EXACT);
	s->frames[2] = add_frame(p, "main", "ignition", 9, PROFILE_EXACT);
	s->frames[3] = add_frame(p, "0xdeadbeef", "", 0, PROFILE_UNKNOWN);
	s->thread = profile_add_thread(p, 7, 7, text(p, "node"));
	s->other = profile_add_thread(p, 7, 8, text(p, "worker"));
}

static uint32_t name_of(void *context, uint32_t pid)
{
	return pid == 7 ? intern_text(context, "node") : INTERN_NONE;
}

static void test_functions_tiers_lines(void **state)
{
	(void)state;
	struct scene s;
	struct intern strings = { 0 };
	struct live_cells cells = { 0 };
	begin(&s);
	add(&s, s.thread, 2, (uint32_t[]){ s.frames[0], s.frames[2] }, 2);
	add(&s, s.other, 5, (uint32_t[]){ s.frames[1], s.frames[2], s.frames[2] }, 3);
	add(&s, s.thread, 1, (uint32_t[]){ s.frames[2] }, 1);
	add(&s, s.thread, 1, (uint32_t[]){ s.frames[3] }, 1);
	const struct live_slice_options options = { .with_callers = true,
						    .process_name = name_of,
						    .context = &strings };
	assert_int_equal(live_slice(&cells, &strings, &s.profile, &options), 0);
	assert_int_equal(cells.items.count, 3);
	const struct live_cell *leaf = made_find(&cells, &strings, "leaf");
	assert_true(made_is_near(leaf->self, 70));
	assert_true(made_is_near(leaf->total, 70));
	assert_true(made_is_near(leaf->samples, 7));
	assert_int_equal(leaf->line, 4);
	assert_string_equal(intern_get(&strings, leaf->file), "a.js");
	assert_string_equal(intern_get(&strings, leaf->last_tier), "turbofan");
	assert_string_equal(intern_get(&strings, leaf->key.process), "node");
	const struct live_cell *outer = made_find(&cells, &strings, "main");
	assert_true(made_is_near(outer->self, 10));
	assert_true(made_is_near(outer->total, 80));
	assert_true(made_find(&cells, &strings, LIVE_UNKNOWN)->is_unknown);
	assert_true(made_is_near(cells.weight, 90));
	assert_true(made_is_near(cells.trust[PROFILE_EXACT], 8));
	assert_true(made_is_near(cells.trust[PROFILE_UNKNOWN], 1));
	live_cells_clear(&cells);
	intern_clear(&strings);
	profile_clear(&s.profile);
}

static void test_threads_name_processes_that_are_gone(void **state)
{
	(void)state;
	struct scene s;
	struct intern strings = { 0 };
	struct live_cells cells = { 0 };
	begin(&s);
	add(&s, s.thread, 2, (uint32_t[]){ s.frames[0] }, 1);
	add(&s, s.other, 2, (uint32_t[]){ s.frames[0] }, 1);
	const struct live_slice_options options = { .event = 0 };
	assert_int_equal(live_slice(&cells, &strings, &s.profile, &options), 0);
	assert_int_equal(cells.items.count, 2);
	assert_string_equal(intern_get(&strings, cells.items.items[1].key.process), "worker");
	assert_true(made_is_near(cells.items.items[0].total, 0));
	live_cells_clear(&cells);
	/* Another event has nothing. */
	assert_int_equal(
	    live_slice(&cells, &strings, &s.profile, &(struct live_slice_options){ .event = 1 }),
	    0);
	assert_int_equal(cells.items.count, 0);
	live_cells_clear(&cells);
	intern_clear(&strings);
	profile_clear(&s.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_tiers_lines),
		cmocka_unit_test(test_threads_name_processes_that_are_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
