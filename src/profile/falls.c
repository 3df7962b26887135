/* Functions that samples show in a lower tier than before. */
#include "profile/events.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/status.h"
#include "profile/level.h"

#include <stdlib.h>
#include <string.h>

/* The highest tier that a function was seen in, in one thread. */
struct height {
	uint32_t thread;
	uint32_t name; /* strings of the profile, as all below */
	uint32_t object;
	uint32_t tier;
	uint32_t rank;
	uint64_t last_ns; /* when it was last seen there */
};

struct profile_falls {
	VECTOR(struct height) heights;
	struct idmap height_of;        /* by hash of thread, name and object: index + 1 */
	VECTOR(uint8_t) ranks;         /* by function: rank + 1; 0: not yet asked for */
	VECTOR(uint32_t) innermost_of; /* by stack: what innermost() says, + 1; 0: not yet asked */
	VECTOR(struct profile_event) found;
};

struct profile_falls *profile_falls_new(void)
{
	return calloc(1, sizeof(struct profile_falls));
}

void profile_falls_free(struct profile_falls *falls)
{
	if (!falls)
		return;
	vector_clear(&falls->heights);
	vector_clear(&falls->ranks);
	vector_clear(&falls->innermost_of);
	vector_clear(&falls->found);
	idmap_clear(&falls->height_of);
	free(falls);
}

static uint32_t rank_of(struct profile_falls *falls, const struct profile *p, uint32_t function)
{
	uint8_t *known = &falls->ranks.items[function];
	const struct profile_function *f = &p->functions.items[function];
	if (!*known) {
		const uint32_t rank = f->is_osr ? 0
						: profile_tier_rank(profile_text(p, f->runtime),
								    profile_text(p, f->tier));
		*known = (uint8_t)(rank + 1);
	}
	return *known - 1u;
}

static bool grow_ranks(struct profile_falls *falls, const struct profile *p)
{
	while (falls->ranks.count < p->functions.count)
		if (!vector_push(&falls->ranks))
			return false;
	return true;
}

/* Names that may be another function's, or another time's, prove nothing. */
static bool is_certain(const struct profile_frame *frame)
{
	return !frame->is_kernel && !frame->inlined_into &&
	       (frame->trust == PROFILE_EXACT || frame->trust == PROFILE_EARLY);
}

/* The place in the stack of the innermost function that has a rank; the depth where none has. */
static uint32_t innermost(struct profile_falls *falls, const struct profile *p,
			  const struct profile_stack *stack)
{
	uint32_t at = 0;
	for (; at < stack->depth; at++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + at]];
		if (rank_of(falls, p, frame->function))
			return is_certain(frame) ? at : stack->depth;
		/* OSR code of a function, or code inlined into it: it is the innermost, too. */
		if (p->functions.items[frame->function].is_osr)
			break;
	}
	return stack->depth;
}

/* The same, asked once a stack: programs without such functions have deep ones. NULL without
 * memory. */
static const uint32_t *known_innermost(struct profile_falls *falls, const struct profile *p,
				       uint32_t stack)
{
	while (falls->innermost_of.count <= stack)
		if (!vector_push(&falls->innermost_of))
			return NULL;
	uint32_t *known = &falls->innermost_of.items[stack];
	if (!*known)
		*known = innermost(falls, p, &p->stacks.items[stack]) + 1;
	return known;
}

/* Whether an older call of the function is there, in a lower tier. */
static bool has_lower(struct profile_falls *falls, const struct profile *p,
		      const struct profile_stack *stack, uint32_t at)
{
	const struct profile_frame *frame = &p->frames.items[p->frame_ids.items[stack->first + at]];
	const struct profile_function *inner = &p->functions.items[frame->function];
	const uint32_t rank = rank_of(falls, p, frame->function);
	for (uint32_t i = at + 1; i < stack->depth; i++) {
		const uint32_t function =
		    p->frames.items[p->frame_ids.items[stack->first + i]].function;
		const struct profile_function *f = &p->functions.items[function];
		if (f->name == inner->name && f->object == inner->object &&
		    (f->is_osr || rank_of(falls, p, function) < rank))
			return true;
	}
	return false;
}

static struct height *height_of(struct profile_falls *falls, const struct height *key)
{
	const uint64_t hash = hash_mix(((uint64_t)key->thread << 32) | key->name, key->object);
	uint32_t *slot = idmap_put(&falls->height_of, hash);
	if (!slot)
		return NULL;
	if (*slot) {
		struct height *known = &falls->heights.items[*slot - 1];
		const bool is_same = known->thread == key->thread && known->name == key->name &&
				     known->object == key->object;
		/* Two keys of one hash: the later one takes the place, nothing is claimed. */
		if (!is_same)
			*known = *key;
		return known;
	}
	struct height *made = vector_push(&falls->heights);
	if (!made)
		return NULL;
	*slot = (uint32_t)falls->heights.count;
	*made = *key;
	return made;
}

static int add_fall(struct profile_falls *falls, const struct profile *p,
		    const struct height *height, const struct profile_event *where)
{
	struct profile_event *event = vector_push(&falls->found);
	if (!event)
		return STATUS_NO_MEMORY;
	const struct profile_function *f = &p->functions.items[where->function];
	*event = (struct profile_event){
		.time_ns = where->time_ns,
		.earliest_ns = height->last_ns,
		.pid = p->threads.items[height->thread].pid,
		.tid = p->threads.items[height->thread].tid,
		.name = f->name,
		.object = f->object,
		.runtime = f->runtime,
		.tier = f->tier,
		.from_tier = height->tier,
		.function = where->function,
		.kind = PROFILE_EVENT_FELL_BACK,
		.is_inferred = true,
		.is_of_thread = profile_runtime_is_of_thread(profile_text(p, f->runtime)),
	};
	return 0;
}

int profile_falls_see(struct profile_falls *falls, const struct profile *p, uint32_t thread,
		      uint32_t stack_id, uint64_t time_ns)
{
	const struct profile_stack *stack = &p->stacks.items[stack_id];
	if (!time_ns)
		return 0;
	if (!grow_ranks(falls, p))
		return STATUS_NO_MEMORY;
	const uint32_t *known = known_innermost(falls, p, stack_id);
	if (!known)
		return STATUS_NO_MEMORY;
	const uint32_t at = *known - 1;
	if (at == stack->depth)
		return 0;
	const uint32_t function = p->frames.items[p->frame_ids.items[stack->first + at]].function;
	const struct profile_function *f = &p->functions.items[function];
	const uint32_t rank = rank_of(falls, p, function);
	struct height *height = height_of(
	    falls, &(struct height){ .thread = thread, .name = f->name, .object = f->object });
	if (!height)
		return STATUS_NO_MEMORY;
	if (rank < height->rank) {
		const struct profile_event where = { .time_ns = time_ns, .function = function };
		if (add_fall(falls, p, height, &where) < 0)
			return STATUS_NO_MEMORY;
	} else if (has_lower(falls, p, stack, at)) {
		/* It may return into the older call, which never was higher. */
		height->rank = 0;
		return 0;
	}
	height->rank = rank;
	height->tier = f->tier;
	height->last_ns = time_ns;
	return 0;
}

enum { RANKS = 8 };

/* What is known of a function while its events are looked through. */
struct course {
	size_t fall;                 /* the last one that was kept: index + 1; 0: none */
	uint64_t compiled_ns[RANKS]; /* when code of each rank was last compiled; 0: never */
};

struct joining {
	const struct profile *profile;
	struct idmap
	    course_of; /* by process and function; and by thread, where that has its own code */
	VECTOR(struct course) courses;
};

static uint32_t rank_of_event(const struct profile *p, const struct profile_event *event)
{
	return profile_tier_rank(profile_text(p, event->runtime), profile_text(p, event->tier));
}

static struct course *course_of(struct joining *j, const struct profile_event *event, uint32_t tid)
{
	const uint64_t key =
	    hash_mix(hash_mix(((uint64_t)event->pid << 32) | event->name, event->object), tid);
	uint32_t *slot = idmap_put(&j->course_of, key);
	if (!slot || (!*slot && !vector_push(&j->courses)))
		return NULL;
	if (!*slot)
		*slot = (uint32_t)j->courses.count;
	return &j->courses.items[*slot - 1];
}

static int note_compiled(struct joining *j, const struct profile_event *event)
{
	const uint32_t rank = rank_of_event(j->profile, event);
	struct course *course = rank ? course_of(j, event, 0) : NULL;
	if (course)
		course->compiled_ns[rank] = event->time_ns;
	return rank && !course ? STATUS_NO_MEMORY : 0;
}

/* Has the function got up again since it fell? Where no compilation of it is known nobody can say.
 */
static bool has_climbed(const struct joining *j, const struct course *all,
			const struct profile_event *fall)
{
	bool is_known = false;
	bool has = false;
	for (uint32_t rank = 1; rank < RANKS; rank++) {
		is_known |= all->compiled_ns[rank] != 0;
		has |= rank > rank_of_event(j->profile, fall) &&
		       all->compiled_ns[rank] >= fall->time_ns;
	}
	return has || !is_known;
}

/* One fall may be seen several times: in what was compiled, and in samples of each thread. What did
 * not get up again has not fallen again, unless it is lower still.
 */
static bool is_same_fall(const struct joining *j, const struct course *all,
			 const struct profile_event *a, const struct profile_event *b)
{
	if (b->earliest_ns < a->time_ns)
		return true;
	return !has_climbed(j, all, a) &&
	       rank_of_event(j->profile, b) >= rank_of_event(j->profile, a);
}

/* Into the fall that was kept, which was over first; or a course's new one at `index`. */
static int join_fall(struct joining *j, struct profile_events *events,
		     const struct profile_event *event, size_t index)
{
	/* A pointer is good until the next course is made. */
	if (!course_of(j, event, 0) || !course_of(j, event, event->is_of_thread ? event->tid : 0))
		return STATUS_NO_MEMORY;
	const struct course *all = course_of(j, event, 0);
	struct course *own = course_of(j, event, event->is_of_thread ? event->tid : 0);
	struct profile_event *last = own->fall ? &events->items.items[own->fall - 1] : NULL;
	if (!last || !is_same_fall(j, all, last, event)) {
		own->fall = index + 1;
		return 1;
	}
	if (event->earliest_ns > last->earliest_ns && event->earliest_ns < last->time_ns)
		last->earliest_ns = event->earliest_ns;
	if (!last->tid)
		last->tid = event->tid;
	return 0;
}

/* `events` are sorted. */
static int join_falls(const struct profile *p, struct profile_events *events)
{
	struct joining j = { .profile = p };
	size_t kept = 0;
	int got = 0;
	for (size_t i = 0; got >= 0 && i < events->items.count; i++) {
		const struct profile_event event = events->items.items[i];
		got = 1;
		if (event.kind == PROFILE_EVENT_COMPILED)
			got = note_compiled(&j, &event) < 0 ? STATUS_NO_MEMORY : 1;
		else if (event.kind == PROFILE_EVENT_FELL_BACK)
			got = join_fall(&j, events, &event, kept);
		if (got > 0)
			events->items.items[kept++] = event;
	}
	if (got >= 0)
		events->items.count = kept;
	idmap_clear(&j.course_of);
	vector_clear(&j.courses);
	return got < 0 ? got : 0;
}

int profile_falls_take(struct profile_falls *falls, const struct profile *p,
		       struct profile_events *events)
{
	for (size_t i = 0; i < falls->found.count; i++) {
		struct profile_event *slot = vector_push(&events->items);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = falls->found.items[i];
	}
	falls->found.count = 0;
	const int got = profile_events_sort(events);
	return got < 0 ? got : join_falls(p, events);
}
