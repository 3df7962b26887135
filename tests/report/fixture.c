#include "report/fixture.h"

#include <stddef.h>
#include <string.h>

static uint32_t add_function(struct profile *p, const char *name, const char *runtime,
			     const char *tier, uint32_t version)
{
	struct profile_function *f = vector_push(&p->functions);
	f->name = intern_text(&p->strings, name);
	f->raw_name = f->name;
	f->object = intern_text(&p->strings, *tier ? "[jit]" : "app");
	f->runtime = intern_text(&p->strings, runtime);
	f->tier = intern_text(&p->strings, tier);
	f->version = version;
	return (uint32_t)p->functions.count - 1;
}

static uint32_t add_frame(struct profile *p, uint32_t function, enum profile_trust trust,
			  const char *reason)
{
	struct profile_frame *f = vector_push(&p->frames);
	f->avma = f->object_avma = 0x1000 + 0x10 * p->frames.count;
	f->offset = 4;
	f->has_offset = true;
	f->function = function;
	f->trust = (uint8_t)trust;
	f->reason = intern_text(&p->strings, reason);
	f->object_path = intern_text(&p->strings, "/usr/bin/app");
	return (uint32_t)p->frames.count - 1;
}

static void add_row(struct profile *p, uint32_t thread, const uint32_t *frames, uint32_t depth,
		    uint64_t count)
{
	const struct profile_row row = { .thread = thread,
					 .stack = profile_add_stack(p, frames, depth),
					 .count = count,
					 .weight = 10 * count };
	profile_add(p, &row);
}

void fixture_make(struct profile *p)
{
	*vector_push(&p->events) = intern_text(&p->strings, "cpu-clock");
	const uint32_t app = profile_add_thread(p, 7, 7, intern_text(&p->strings, "app"));
	const uint32_t worker = profile_add_thread(p, 7, 8, intern_text(&p->strings, "worker"));
	const uint32_t main_ = add_function(p, "main", "native", "", 1);
	const uint32_t slow = add_function(p, "alpha, \"x\"", "v8", "sparkplug", 1);
	const uint32_t fast = add_function(p, "alpha, \"x\"", "v8", "turbofan", 2);
	const uint32_t beta = add_function(p, "beta\x1b[31m", "v8", "turbofan", 1);
	const uint32_t none = add_function(p, "[unknown]", "", "", 1);
	const uint32_t f_main = add_frame(p, main_, PROFILE_EXACT, "");
	const uint32_t f_slow = add_frame(p, slow, PROFILE_EARLY, "announced after the sample");
	const uint32_t f_fast = add_frame(p, fast, PROFILE_EXACT, "");
	const uint32_t f_beta = add_frame(p, beta, PROFILE_EXACT, "");
	const uint32_t f_none = add_frame(p, none, PROFILE_UNKNOWN, "nobody announced it");
	add_row(p, app, (uint32_t[]){ f_fast, f_main }, 2, 50);
	add_row(p, app, (uint32_t[]){ f_slow, f_main }, 2, 5);
	add_row(p, app, (uint32_t[]){ f_fast, f_fast, f_main }, 3, 5);
	add_row(p, app, (uint32_t[]){ f_beta, f_fast, f_main }, 3, 10);
	add_row(p, worker, (uint32_t[]){ f_beta, f_main }, 2, 20);
	add_row(p, worker, (uint32_t[]){ f_main }, 1, 6);
	add_row(p, worker, (uint32_t[]){ f_none, f_main }, 2, 4);
	p->first_ns = 1000000000;
	p->last_ns = 3000000000;
}

void fixture_make_dumped(struct profile *p)
{
	struct profile plain = { 0 };
	fixture_make(&plain);
	fixture_make(p);
	p->stacks.count = p->frame_ids.count = p->rows.count = 0;
	memset(p->stack_slots.slots, 0, p->stack_slots.count * sizeof(p->stack_slots.slots[0]));
	memset(p->row_slots.slots, 0, p->row_slots.count * sizeof(p->row_slots.slots[0]));
	for (size_t i = 0; i < plain.rows.count; i++) {
		const struct profile_stack *stack = &plain.stacks.items[plain.rows.items[i].stack];
		struct profile_row row = plain.rows.items[i];
		const uint32_t *frames = plain.frame_ids.items + stack->first;
		const enum profile_end end = plain.frames.items[frames[0]].trust == PROFILE_UNKNOWN
						 ? PROFILE_END_NO_UNWINDING
					     : row.count >= 10 && stack->depth > 1
						 ? PROFILE_END_TRUNCATED
						 : PROFILE_END_WHOLE;
		row.stack = profile_add_ended_stack(p, frames, stack->depth, end);
		profile_add(p, &row);
	}
	p->dump_bytes = 8192;
	profile_clear(&plain);
}
