#include "diff/fixture.h"

uint32_t fixture_put(struct profile *p, const struct fixture_function *function)
{
	if (!p->events.count) {
		*vector_push(&p->events) = intern_text(&p->strings, "cycles");
		profile_add_thread(p, 7, 7, intern_text(&p->strings, "app"));
	}
	struct profile_function *f = vector_push(&p->functions);
	f->name = f->raw_name = intern_text(&p->strings, function->name);
	f->object = intern_text(&p->strings, function->object);
	f->runtime = intern_text(&p->strings, function->runtime);
	const uint32_t id = (uint32_t)p->functions.count - 1;
	struct profile_frame *frame = vector_push(&p->frames);
	frame->function = id;
	/* A frame has its function's id. */
	const uint32_t stack[] = { id, function->caller - 1 };
	const struct profile_row row = {
		.stack = profile_add_stack(p, stack, function->caller ? 2 : 1),
		.count = function->count,
		.weight = function->weight,
	};
	if (function->count)
		profile_add(p, &row);
	return id;
}

uint32_t fixture_add(struct profile *p, const char *name, uint64_t count)
{
	return fixture_put(p, &(struct fixture_function){ .name = name,
							  .object = "[jit]",
							  .runtime = "v8",
							  .count = count,
							  .weight = count });
}

uint32_t fixture_random(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % limit);
}

uint64_t fixture_draw(uint64_t *state, uint64_t count, double probability)
{
	uint64_t hits = 0;
	for (uint64_t i = 0; i < count; i++)
		hits += fixture_random(state, 1u << 30) < probability * (1u << 30);
	return hits;
}
