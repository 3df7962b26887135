#include "diff/match_internal.h"

#include "base/sink.h"
#include "base/sort.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

const char *diff_found_name(enum diff_found found)
{
	static const char *const NAMES[] = {
#define X(name, text) text,
		DIFF_FOUND_LIST(X)
#undef X
	};
	return (size_t)found < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[found] : "";
}

/* A function's texts, and room to put its keys together. */
struct named {
	struct bytes name;
	struct bytes object;
	const char *runtime_word;
	enum runtime runtime;
	struct sink key;
};

static void put_place(struct named *n, enum stable_for what)
{
	sink_u8(&n->key, '\t');
	names_stable_object(n->object, what, &n->key);
	sink_u8(&n->key, '\t');
	sink_text(&n->key, n->runtime_word);
}

static uint32_t intern_key(struct matching *m, const struct named *n, size_t from)
{
	if (sink_failed(&n->key))
		return INTERN_NONE;
	const struct bytes key = { n->key.data + from, n->key.size - from };
	return intern_bytes(&m->match->strings, key);
}

/* Fills what names tell of a new item. False without memory. */
static bool describe(struct matching *m, struct named *n, struct item *item)
{
	struct intern *strings = &m->match->strings;
	sink_reset(&n->key);
	names_stable(n->name, n->runtime, STABLE_BUILDS, &n->key, &item->numbers);
	const size_t name_size = n->key.size;
	put_place(n, STABLE_BUILDS);
	item->group = intern_key(m, n, 0);
	item->scope = item->numbers.scope ? intern_key(m, n, item->numbers.scope) : item->group;
	if (sink_failed(&n->key))
		return false;
	n->key.size = name_size;
	sink_u8(&n->key, '\t');
	sink_text(&n->key, n->runtime_word);
	item->symbol = intern_key(m, n, 0);
	sink_reset(&n->key);
	names_stable_object(n->object, STABLE_BUILDS, &n->key);
	item->object_group = intern_key(m, n, 0);
	item->runtime = intern_text(strings, n->runtime_word);
	return item->group != INTERN_NONE && item->scope != INTERN_NONE &&
	       item->symbol != INTERN_NONE && item->object_group != INTERN_NONE &&
	       item->runtime != INTERN_NONE;
}

/* The item of a function, made where there is none; INTERN_NONE without memory. */
static uint32_t item_of(struct matching *m, struct named *n, unsigned side)
{
	sink_reset(&n->key);
	names_stable(n->name, n->runtime, STABLE_RUNS, &n->key, NULL);
	put_place(n, STABLE_RUNS);
	const uint32_t key = intern_key(m, n, 0);
	uint32_t *slot = key == INTERN_NONE ? NULL : idmap_put(&m->by_key, key);
	if (!slot)
		return INTERN_NONE;
	if (!*slot) {
		struct item *made = vector_push(&m->items);
		if (!made || !describe(m, n, made))
			return INTERN_NONE;
		made->key = key;
		*slot = (uint32_t)m->items.count;
	}
	struct item *item = &m->items.items[*slot - 1];
	if (!item->is_on[side]) {
		item->is_on[side] = true;
		item->name[side] = intern_bytes(&m->match->strings, n->name);
		item->object[side] = intern_bytes(&m->match->strings, n->object);
		if (item->name[side] == INTERN_NONE || item->object[side] == INTERN_NONE)
			return INTERN_NONE;
	}
	return *slot - 1;
}

/* The items of all functions of one profile, into match->ids. */
static int read_profile(struct matching *m, const struct diff_side *side, struct named *n)
{
	const struct profile *p = side->profile;
	size_t *first = vector_push(&m->match->first);
	if (!first || !vector_reserve(&m->match->ids, p->functions.count))
		return STATUS_NO_MEMORY;
	*first = m->match->ids.count;
	uint32_t last_runtime = INTERN_NONE;
	for (size_t i = 0; i < p->functions.count; i++) {
		const struct profile_function *f = &p->functions.items[i];
		n->name = intern_get_bytes(&p->strings, f->name);
		n->object = intern_get_bytes(&p->strings, f->object);
		if (f->runtime != last_runtime) {
			n->runtime_word = profile_text(p, f->runtime);
			n->runtime = runtime_find(n->runtime_word);
			last_runtime = f->runtime;
		}
		const uint32_t item = item_of(m, n, side->side);
		if (item == INTERN_NONE)
			return STATUS_NO_MEMORY;
		m->match->ids.items[m->match->ids.count++] = item;
	}
	return 0;
}

/* Items by scope, and in it by group, so that both are runs of the order. */
static int put_in_order(struct matching *m)
{
	const size_t count = m->items.count;
	struct pair *pairs = calloc(count ? count * 2 : 1, sizeof(*pairs));
	if (!pairs || !vector_reserve(&m->order, count)) {
		free(pairs);
		return STATUS_NO_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct pair){ .key = (uint64_t)m->items.items[i].scope << 32 |
						 m->items.items[i].group,
					  .value = (uint32_t)i };
	sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++)
		m->order.items[m->order.count++] = pairs[i].value;
	free(pairs);
	return 0;
}

/* Pairs what is alone of its group on each side. Nameless ones are left: one of them on each side
 * may be two functions of which the other side has no sample.
 */
static void pair_single(struct matching *m, bool takes_numbered)
{
	for (size_t i = 0, end; i < m->order.count; i = end) {
		size_t counts[DIFF_SIDES] = { 0 };
		uint32_t last[DIFF_SIDES] = { 0 };
		const uint32_t group = m->items.items[m->order.items[i]].group;
		for (end = i; end < m->order.count; end++) {
			const struct item *item = &m->items.items[m->order.items[end]];
			if (item->group != group)
				break;
			for (unsigned side = 0; side < DIFF_SIDES; side++) {
				if (!item_is_open(item, side))
					continue;
				counts[side]++;
				last[side] = m->order.items[end];
			}
		}
		if (counts[DIFF_BEFORE] != 1 || counts[DIFF_AFTER] != 1)
			continue;
		const struct stable_numbers *numbers = &m->items.items[last[DIFF_BEFORE]].numbers;
		if (!numbers->is_nameless && (takes_numbered || !numbers->count))
			item_pair(m, last[DIFF_BEFORE], last[DIFF_AFTER], DIFF_FOUND_FOLDED);
	}
}

/* Equal names without a place are the same, whatever others of their group there are. */
static void pair_equal(struct matching *m)
{
	for (uint32_t i = 0; i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		if (!item->numbers.count && item_is_open(item, DIFF_BEFORE) &&
		    item_is_open(item, DIFF_AFTER))
			item_pair(m, i, i, DIFF_FOUND_SAME);
	}
}

/* Which sides an object is on: a bit each, + 1 so that a slot is not empty. */
static int note_objects(const struct matching *m, struct idmap *objects)
{
	for (size_t i = 0; i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		uint32_t *slot = idmap_put(objects, item->object_group);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot |= (item->is_on[DIFF_BEFORE] ? 1u : 0) | (item->is_on[DIFF_AFTER] ? 2u : 0);
	}
	return 0;
}

/* Functions of objects that only one side has, by their names. Where a side has several of a name
 * in such objects none is sure.
 */
static int pair_elsewhere(struct matching *m)
{
	enum { SEVERAL = 0xffffffff };
	struct idmap objects = { 0 };
	struct idmap symbols = { 0 };
	int got = note_objects(m, &objects);
	for (uint32_t i = 0; got == 0 && i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		if (!item_is_open(item, DIFF_AFTER) || idmap_get(&objects, item->object_group) != 2)
			continue;
		uint32_t *slot = idmap_put(&symbols, item->symbol);
		if (slot)
			*slot = *slot ? SEVERAL : i + 1;
		else
			got = STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; got == 0 && i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		if (!item_is_open(item, DIFF_BEFORE) ||
		    idmap_get(&objects, item->object_group) != 1)
			continue;
		const uint32_t other = idmap_get(&symbols, item->symbol);
		if (other && other != SEVERAL &&
		    item_is_open(&m->items.items[other - 1], DIFF_AFTER))
			item_pair(m, i, other - 1, DIFF_FOUND_ELSEWHERE);
	}
	idmap_clear(&objects);
	idmap_clear(&symbols);
	return got;
}

/* The key of an item that is on `before` alone; where it could be taken for another's, it says so.
 */
static uint32_t key_before(struct matching *m, const struct item *item)
{
	if (!item->is_on[DIFF_AFTER])
		return item->key;
	struct sink key = { 0 };
	sink_text(&key, intern_get(&m->match->strings, item->key));
	sink_text(&key, "\tbefore");
	const uint32_t id = sink_failed(&key) ? (uint32_t)INTERN_NONE
					      : intern_bytes(&m->match->strings, sink_bytes(&key));
	sink_clear(&key);
	return id;
}

/* One of the two may be missing. */
static bool put_function(struct matching *m, const struct item *before, const struct item *after)
{
	struct diff_function *f = before || after ? vector_push(&m->match->functions) : NULL;
	if (!f)
		return false;
	const struct item *b = before ? before : after;
	const struct item *a = after ? after : before;
	const unsigned from = before ? DIFF_BEFORE : DIFF_AFTER;
	const unsigned to = after ? DIFF_AFTER : DIFF_BEFORE;
	*f = (struct diff_function){
		.key = after ? after->key : key_before(m, before),
		.name = { b->name[from], a->name[to] },
		.object = { b->object[from], a->object[to] },
		.runtime = a->runtime,
		.is_on = { before != NULL, after != NULL },
		.found = (uint8_t)(before && after ? before->found : DIFF_FOUND_ONCE),
	};
	return f->key != INTERN_NONE;
}

/* Makes the functions, and turns ids from items to them. */
static int put_functions(struct matching *m, const struct diff_side *sides, size_t count)
{
	uint32_t *ids = calloc(m->items.count ? m->items.count * 2 : 1, sizeof(*ids));
	if (!ids)
		return STATUS_NO_MEMORY;
	bool is_done = true;
	for (size_t i = 0; is_done && i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		const uint32_t next = (uint32_t)m->match->functions.count;
		if (!item->is_on[DIFF_BEFORE])
			continue;
		const uint32_t partner = item->partner;
		ids[2 * i + DIFF_BEFORE] = next;
		if (partner)
			ids[2 * (size_t)(partner - 1) + DIFF_AFTER] = next;
		is_done = put_function(m, item, partner ? &m->items.items[partner - 1] : NULL);
	}
	for (size_t i = 0; is_done && i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		if (!item_is_open(item, DIFF_AFTER))
			continue;
		ids[2 * i + DIFF_AFTER] = (uint32_t)m->match->functions.count;
		is_done = put_function(m, NULL, item);
	}
	for (size_t p = 0; is_done && p < count; p++)
		for (size_t i = 0; i < sides[p].profile->functions.count; i++) {
			uint32_t *id = &m->match->ids.items[m->match->first.items[p] + i];
			*id = ids[2 * (size_t)*id + sides[p].side];
		}
	free(ids);
	return is_done ? 0 : STATUS_NO_MEMORY;
}

int diff_match_build(struct diff_match *match, const struct diff_side *sides, size_t count)
{
	struct matching m = { .match = match };
	struct named n = { .runtime_word = "" };
	int got = 0;
	for (size_t i = 0; got == 0 && i < count; i++)
		got = read_profile(&m, &sides[i], &n);
	if (got == 0)
		got = put_in_order(&m);
	if (got == 0) {
		pair_equal(&m);
		pair_single(&m, true);
		got = match_moved(&m);
	}
	if (got == 0) {
		/* What is left of clones, when the equal ones have gone. */
		pair_single(&m, false);
		got = pair_elsewhere(&m);
	}
	if (got == 0)
		got = put_functions(&m, sides, count);
	sink_clear(&n.key);
	vector_clear(&m.items);
	vector_clear(&m.order);
	idmap_clear(&m.by_key);
	return got;
}

void diff_match_clear(struct diff_match *match)
{
	intern_clear(&match->strings);
	vector_clear(&match->functions);
	vector_clear(&match->ids);
	vector_clear(&match->first);
}
