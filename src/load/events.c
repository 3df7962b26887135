/* What was told of code over the run, as events of a profile. */
#include "load/events.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/status.h"
#include "load/naming.h"
#include "profile/level.h"

#include <stdlib.h>

int load_keep_event(struct load *load, const struct told_event *what)
{
	if (!load->options.code_events)
		return 0;
	struct told_event *kept = vector_push(&load->events);
	if (!kept)
		return STATUS_NO_MEMORY;
	*kept = *what;
	return 0;
}

void load_count_untimed(struct load *load)
{
	load->untimed_events++;
}

/* The highest tier that a function was compiled in, as far as the dump has got. */
struct height {
	uint64_t time_ns;
	uint32_t rank;
	uint32_t tier; /* string of the profile */
};

/* While a recording's events are made into a profile's. */
struct telling {
	struct load *load;
	struct profile *profile;
	struct profile_events *events;
	struct idmap function_of_code; /* id + 1 */
	struct idmap code_at;          /* by process and start: index + 1 of what was told last */
	struct idmap height_of;        /* by process, thread and function: index + 1 */
	VECTOR(struct height) heights;
};

static int index_functions(struct telling *t)
{
	const struct origins *origins = &t->load->origins;
	for (size_t i = 0; i < origins->items.count && i < t->profile->functions.count; i++) {
		if (origins->items.items[i].kind != ORIGIN_CODE)
			continue;
		uint32_t *slot = idmap_put(&t->function_of_code, origins->items.items[i].id);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = (uint32_t)i + 1;
	}
	return 0;
}

static uint64_t place_key(const struct told_event *what)
{
	return hash_mix(what->start_avma, what->pid);
}

/* What came of the code that an event is about: itself, or what was there that goes. NULL: nobody
 * told of that, or told twice that it goes. Returns 0 or STATUS_NO_MEMORY.
 */
static int follow_place(struct telling *t, size_t index, const struct told_event **came)
{
	const struct told_event *items = t->load->events.items;
	uint32_t *slot = idmap_put(&t->code_at, place_key(&items[index]));
	if (!slot)
		return STATUS_NO_MEMORY;
	const bool goes = items[index].kind == PROFILE_EVENT_UNLOADED;
	const size_t from = goes ? *slot : index + 1;
	*came = from ? &items[from - 1] : NULL;
	*slot = goes ? 0 : (uint32_t)index + 1;
	return 0;
}

static enum profile_event_kind kind_of(const struct telling *t, const struct told_event *what,
				       const struct profile_function *f)
{
	const enum profile_level level = profile_level_of(profile_text(t->profile, f->runtime),
							  profile_text(t->profile, f->tier));
	const bool is_made = level != PROFILE_LEVEL_STUB && level != PROFILE_LEVEL_PRECOMPILED;
	return what->kind == PROFILE_EVENT_COMPILED && !is_made
		   ? PROFILE_EVENT_LOADED
		   : (enum profile_event_kind)what->kind;
}

static struct height *height_of(struct telling *t, const struct profile_event *event)
{
	const uint64_t owner = event->is_of_thread ? event->tid : 0;
	const uint64_t key =
	    hash_mix(hash_mix(((uint64_t)event->pid << 32) | event->name, event->object), owner);
	uint32_t *slot = idmap_put(&t->height_of, key);
	if (!slot || (!*slot && !vector_push(&t->heights)))
		return NULL;
	if (!*slot)
		*slot = (uint32_t)t->heights.count;
	return &t->heights.items[*slot - 1];
}

/* The tier to which a function fell that is compiled in `event`'s, after it was in a higher or the
 * same; INTERN_NONE: it did not, or nobody knows.
 */
static uint32_t fell_to(struct telling *t, const struct height *height, uint32_t rank,
			const struct profile_event *event)
{
	const char *runtime = profile_text(t->profile, event->runtime);
	const char *tier = profile_text(t->profile, event->tier);
	const char *again = rank == height->rank ? profile_tier_when_again(runtime, tier) : NULL;
	if (again)
		return intern_text(&t->profile->strings, again);
	return rank < height->rank && profile_tier_is_sign(runtime, tier) ? event->tier
									  : INTERN_NONE;
}

/* What is compiled may show that better code was given up. A function's thread must be known where
 * each has code of its own: maps do not tell.
 */
static int follow_tier(struct telling *t, const struct profile_event *event, bool is_osr)
{
	const uint32_t rank = profile_tier_rank(profile_text(t->profile, event->runtime),
						profile_text(t->profile, event->tier));
	if (!rank || is_osr || event->kind != PROFILE_EVENT_COMPILED ||
	    (event->is_of_thread && !event->tid))
		return 0;
	struct height *height = height_of(t, event);
	if (!height)
		return STATUS_NO_MEMORY;
	const uint32_t tier = fell_to(t, height, rank, event);
	if (rank < height->rank && tier == INTERN_NONE)
		return 0;
	if (tier != INTERN_NONE) {
		struct profile_event *fall = vector_push(&t->events->items);
		if (!fall)
			return STATUS_NO_MEMORY;
		*fall = *event;
		fall->kind = PROFILE_EVENT_FELL_BACK;
		fall->earliest_ns = height->time_ns;
		fall->size_bytes = 0;
		fall->tier = tier;
		fall->from_tier = height->tier;
		fall->is_inferred = true;
		fall->tid = event->is_of_thread ? event->tid : 0;
		if (tier != event->tier)
			fall->function = INTERN_NONE;
	}
	*height = (struct height){ .time_ns = event->time_ns, .rank = rank, .tier = event->tier };
	return 0;
}

static int tell(struct telling *t, size_t index)
{
	const struct told_event *what = &t->load->events.items[index];
	const struct told_event *came;
	struct profile_function f;
	const int got = follow_place(t, index, &came);
	if (got < 0 || !came)
		return got;
	/* What was there before is only known as what goes. */
	if (!what->time_ns) {
		t->events->earlier_count++;
		return 0;
	}
	if (naming_describe_code(t->load, t->profile, came->code, &f) < 0)
		return STATUS_NO_MEMORY;
	const struct profile_event event = {
		.time_ns = what->time_ns,
		.earliest_ns = what->earliest_ns,
		.size_bytes = came->size,
		.pid = what->pid,
		.tid = what->tid,
		.name = f.name,
		.object = f.object,
		.runtime = f.runtime,
		.tier = f.tier,
		.function = idmap_get(&t->function_of_code, came->code) - 1u,
		.kind = (uint8_t)kind_of(t, what, &f),
		.is_of_thread = profile_runtime_is_of_thread(profile_text(t->profile, f.runtime)),
	};
	/* It fell before it was compiled. */
	if (follow_tier(t, &event, f.is_osr) < 0)
		return STATUS_NO_MEMORY;
	struct profile_event *slot = vector_push(&t->events->items);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = event;
	return 0;
}

static int tell_all(struct telling *t)
{
	const size_t count = t->load->events.count;
	struct pair *pairs = calloc(count * 2 + 1, sizeof(*pairs));
	if (!pairs)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct pair){ t->load->events.items[i].time_ns, (uint32_t)i };
	sort_pairs(pairs, pairs + count, count);
	int got = 0;
	for (size_t i = 0; got == 0 && i < count; i++)
		got = tell(t, pairs[i].value);
	free(pairs);
	return got;
}

/* Of the times and the processes whose samples are kept. */
static bool is_wanted(const struct load_options *options, const struct profile_event *event)
{
	if (event->time_ns < options->from_ns ||
	    (options->to_ns && event->time_ns >= options->to_ns))
		return false;
	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == event->pid)
			return true;
	return options->pid_count == 0;
}

/* When all is told: what came before tells of what is kept. */
static void leave_out(struct profile_events *events, const struct load_options *options)
{
	size_t kept = 0;
	for (size_t i = 0; i < events->items.count; i++)
		if (is_wanted(options, &events->items.items[i]))
			events->items.items[kept++] = events->items.items[i];
	events->items.count = kept;
}

int load_code_events(struct load *load, struct profile *profile, struct profile_events *events)
{
	struct telling t = { .load = load, .profile = profile, .events = events };
	events->untimed_count = load->untimed_events;
	int got = index_functions(&t);
	if (got == 0)
		got = tell_all(&t);
	leave_out(events, &load->options);
	idmap_clear(&t.function_of_code);
	idmap_clear(&t.code_at);
	idmap_clear(&t.height_of);
	vector_clear(&t.heights);
	return got;
}
