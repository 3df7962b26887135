#include "timeline/code_layer.h"

/* A space without an answer asks the one it was forked from, as that one was at the
 * fork, and so on up: the levels of a question. Level 0 is asked for the time of
 * the question, all others for a fixed one.
 */
struct level {
	const struct code_layer *code;
	uint64_t at_ns;
	uint32_t space;
	uint32_t depth;
	bool is_asked; /* at_ns is the question's own time: comparisons narrow its answer */
};

static bool level_of(const struct query *q, const struct ancestor *ancestor, struct level *level)
{
	if (ancestor->space == SPACE_NONE || level->depth == MAX_ANCESTORS)
		return false;
	level->space = ancestor->space;
	level->code = q->tl->spaces.items[ancestor->space].code;
	level->at_ns = ancestor->fork_ns;
	level->depth++;
	level->is_asked = false;
	return level->code;
}

static bool first_level(const struct query *q, uint32_t space, struct level *level)
{
	const struct space *own = &q->tl->spaces.items[space];
	*level = (struct level){
		.code = own->code, .at_ns = q->time_ns, .space = space, .is_asked = true
	};
	return own->code || level_of(q, &own->code_above, level);
}

static bool level_up(const struct query *q, struct level *level)
{
	return level_of(q, &q->tl->spaces.items[level->space].code_above, level);
}

static bool level_before(struct query *q, const struct level *level, uint64_t bound_ns)
{
	return level->is_asked ? query_before(q, bound_ns) : level->at_ns < bound_ns;
}

/* The objects at the address that begin just before and after the level's time. */
static struct rect_neighbours neighbours_of(struct query *q, const struct level *level)
{
	const struct code_layer *code = level->code;
	const struct rect_neighbours found =
	    rects_around(&code->rects, q->avma, rects_begun(&code->rects, level->at_ns));
	if (level->is_asked && found.at_or_before != RECT_NONE)
		query_before(q, code->objects[found.at_or_before].begin_ns);
	if (level->is_asked && found.after != RECT_NONE)
		query_before(q, code->objects[found.after].begin_ns);
	return found;
}

/* How an object's life ended, or would: by an unload, or by a load over it. */
struct ending {
	uint64_t time_ns;     /* UINT64_MAX: never */
	uint64_t possible_ns; /* by then at the latest */
	bool is_unload;
};

static const struct code_unload *first_unload(const struct code_layer *code, uint64_t start_avma)
{
	uint32_t low = 0;
	uint32_t count = code->unload_count;
	while (count > 0) {
		const uint32_t half = count / 2;
		if (code->unloads[low + half].start_avma < start_avma) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low < code->unload_count && code->unloads[low].start_avma == start_avma
		   ? &code->unloads[low]
		   : NULL;
}

/* In the level that the object was loaded in. */
static struct ending ending_at_home(const struct level *home, const struct code_object *object)
{
	return (struct ending){ .time_ns = object->ended_ns,
				.possible_ns = object->killer == RECT_NONE
						   ? object->ended_ns
						   : home->code->objects[object->killer].latest_ns,
				.is_unload = was_unloaded(object) };
}

/* In a level that inherits the object. */
static struct ending ending_of_inherited(const struct level *level,
					 const struct code_object *object)
{
	const struct code_layer *code = level->code;
	const uint32_t killer =
	    rects_first_over(&code->rects, object->start_avma, object->end_avma);
	const struct code_unload *unload = first_unload(code, object->start_avma);
	if (unload && (killer == RECT_NONE || unload->loads_before <= killer))
		return (struct ending){ .time_ns = unload->time_ns,
					.possible_ns = unload->time_ns,
					.is_unload = true };
	if (killer == RECT_NONE)
		return (struct ending){ .time_ns = UINT64_MAX, .possible_ns = UINT64_MAX };
	return (struct ending){ .time_ns = code->objects[killer].begin_ns,
				.possible_ns = code->objects[killer].latest_ns };
}

/* An object and the level it was found in. */
struct found {
	struct level home;
	const struct code_object *object;
	uint32_t after; /* the next load at the address there, or RECT_NONE */
};

/* Did a level between the object's home and `last` end it? If so *ending is that,
 * and *depth the level where it happened (the one nearest to its home).
 */
static bool has_ended_below(struct query *q, const struct found *found, const struct level *last,
			    struct ending *ending, uint32_t *depth)
{
	bool ended = false;
	struct level level = *last;
	while (level.depth < found->home.depth) {
		const struct ending here = ending_of_inherited(&level, found->object);
		if (here.time_ns != UINT64_MAX && !level_before(q, &level, here.time_ns)) {
			*ending = here;
			*depth = level.depth;
			ended = true;
		}
		if (!level_up(q, &level))
			break;
	}
	return ended;
}

/* The same, and at home. */
static bool has_ended(struct query *q, const struct found *found, const struct level *last,
		      struct ending *ending, uint32_t *depth)
{
	const struct ending at_home = ending_at_home(&found->home, found->object);
	if (at_home.time_ns != UINT64_MAX && !level_before(q, &found->home, at_home.time_ns)) {
		*ending = at_home;
		*depth = found->home.depth;
		return true;
	}
	return has_ended_below(q, found, last, ending, depth);
}

static void add_owner(struct owners *owners, uint32_t object)
{
	for (uint32_t i = 0; i < owners->count; i++) {
		if (owners->objects[i] == object)
			return;
	}
	if (owners->count < OWNERS_LISTED)
		owners->objects[owners->count++] = object;
}

/* Loads that, for all that is known, may have replaced the live object already. */
static void add_successors(struct query *q, const struct found *live, const struct level *first,
			   struct owners *owners)
{
	struct level level = *first;
	for (;;) {
		const bool is_home = level.depth == live->home.depth;
		const uint32_t after = is_home ? live->after : neighbours_of(q, &level).after;
		if (after != RECT_NONE) {
			const struct code_object *next = &level.code->objects[after];
			/* What comes after an unload cannot have come before it. */
			const struct ending ending =
			    is_home ? ending_at_home(&level, live->object)
				    : ending_of_inherited(&level, live->object);
			if (next->object != live->object->object && !ending.is_unload &&
			    !level_before(q, &level, next->earliest_ns))
				add_owner(owners, next->object);
		}
		if (is_home || !level_up(q, &level))
			return;
	}
}

/* The owner before the live object, if that may be there still. */
static void add_predecessor(struct query *q, const struct found *live, struct owners *owners)
{
	const struct code_layer *code = live->home.code;
	const uint32_t self = (uint32_t)(live->object - code->objects);
	struct found before = { .home = live->home };
	uint32_t index = rects_around(&code->rects, q->avma, self).at_or_before;
	while (index == RECT_NONE) {
		if (!level_up(q, &before.home))
			return;
		index = neighbours_of(q, &before.home).at_or_before;
	}
	before.object = &before.home.code->objects[index];
	struct ending ending;
	uint32_t depth;
	if (before.object->object != live->object->object &&
	    has_ended(q, &before, &live->home, &ending, &depth) &&
	    level_before(q, &live->home, ending.possible_ns))
		add_owner(owners, before.object->object);
}

static void answer_live(struct query *q, const struct found *live, const struct level *first,
			struct owners *owners)
{
	owners->count = 0;
	if (level_before(q, &live->home, live->object->latest_ns))
		add_predecessor(q, live, owners);
	add_successors(q, live, first, owners);
}

/* Is a load that follows the level's time close enough to have been told late? */
static bool is_near(struct query *q, const struct level *level, uint32_t load)
{
	const struct code_object *object = &level->code->objects[load];
	const uint64_t begin_ns = object->begin_ns;
	const uint64_t skewed_ns = begin_ns > q->tl->skew_ns ? begin_ns - q->tl->skew_ns : 0;
	const uint64_t near_ns = object->earliest_ns < skewed_ns ? object->earliest_ns : skewed_ns;
	return !level_before(q, level, near_ns);
}

static void set_answer(struct code_answer *answer, enum code_standing standing,
		       const struct found *found)
{
	*answer = (struct code_answer){ .standing = standing,
					.start_avma = found->object->start_avma,
					.end_avma = found->object->end_avma,
					.object = found->object->object };
	if (standing == CODE_NEAR || standing == CODE_FAR)
		answer->early_ns = found->object->begin_ns - found->home.at_ns;
}

/* The next load at the address, as far as it can be the answer: one that is near, on the
 * lowest level that has one, or any of the level asked (*far). `last` is where the
 * climb ended. False where no near one counts.
 */
static bool find_near(struct query *q, const struct level *first, const struct found *last,
		      struct found *near, struct found *far)
{
	struct level level = *first;
	for (;;) {
		const bool is_last = level.depth == last->home.depth;
		const uint32_t after = is_last ? last->after : neighbours_of(q, &level).after;
		if (after != RECT_NONE) {
			*near =
			    (struct found){ .home = level, .object = &level.code->objects[after] };
			if (level.is_asked)
				*far = *near;
			struct ending ending;
			uint32_t depth;
			if (is_near(q, &level, after))
				return !has_ended_below(q, near, first, &ending, &depth);
		}
		if (is_last || !level_up(q, &level))
			return false;
	}
}

void code_find(struct query *q, uint32_t space, struct code_answer *answer, struct owners *owners)
{
	*answer = (struct code_answer){ .standing = CODE_NONE };
	struct level first;
	if (!first_level(q, space, &first))
		return;
	struct found last = { .home = first };
	struct rect_neighbours here;
	do {
		here = neighbours_of(q, &last.home);
	} while (here.at_or_before == RECT_NONE && level_up(q, &last.home));
	const bool has_owner = here.at_or_before != RECT_NONE;
	last.after = here.after;
	if (has_owner)
		last.object = &last.home.code->objects[here.at_or_before];

	uint32_t ended_depth = UINT32_MAX;
	struct ending ending;
	if (has_owner && !has_ended(q, &last, &first, &ending, &ended_depth)) {
		set_answer(answer, CODE_LIVE, &last);
		answer_live(q, &last, &first, owners);
		return;
	}
	struct found near;
	struct found far = { .object = NULL };
	/* What is told late counts only in a space where the old owner had gone. */
	if (find_near(q, &first, &last, &near, &far) && near.home.depth <= ended_depth) {
		set_answer(answer, CODE_NEAR, &near);
	} else if (has_owner) {
		set_answer(answer, CODE_STALE, &last);
		answer->was_unloaded = ending.is_unload;
	} else if (far.object) {
		set_answer(answer, CODE_FAR, &far);
	}
}
