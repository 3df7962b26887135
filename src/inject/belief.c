/* Ranges in ascending order, in chunks: to put one among hundreds of thousands moves few bytes. */
#include "inject/belief.h"

#include "base/status.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 128 };

struct range {
	uint64_t start_avma;
	uint64_t end_avma;
	uint32_t code;
};

/* Never empty. Beliefs share chunks that are the same: a thousand children of one parent, each with
 * a little code of its own, have little each.
 */
struct chunk {
	uint32_t owners;
	uint32_t count;
	struct range ranges[CHUNK];
};

struct chunk_ref {
	struct chunk *chunk;
};

struct belief {
	uint32_t owners;
	VECTOR(struct chunk_ref) chunks;
};

/* Where a range is, or would be put. */
struct place {
	size_t chunk;
	uint32_t range;
};

struct belief *belief_new(void)
{
	struct belief *belief = calloc(1, sizeof(*belief));
	if (belief)
		belief->owners = 1;
	return belief;
}

static void drop_chunk(struct chunk *chunk)
{
	if (!--chunk->owners)
		free(chunk);
}

void belief_free(struct belief *belief)
{
	if (!belief || --belief->owners)
		return;
	for (size_t i = 0; i < belief->chunks.count; i++)
		drop_chunk(belief->chunks.items[i].chunk);
	vector_clear(&belief->chunks);
	free(belief);
}

struct belief *belief_share(struct belief *belief)
{
	belief->owners++;
	return belief;
}

static bool insert_chunk(struct belief *belief, size_t at, struct chunk *chunk)
{
	if (!chunk || !vector_push(&belief->chunks)) {
		free(chunk);
		return false;
	}
	struct chunk_ref *refs = belief->chunks.items;
	memmove(&refs[at + 1], &refs[at], (belief->chunks.count - 1 - at) * sizeof(*refs));
	refs[at].chunk = chunk;
	return true;
}

static struct belief *copy_of(const struct belief *from)
{
	struct belief *to = belief_new();
	if (!to || !vector_reserve(&to->chunks, from->chunks.count)) {
		belief_free(to);
		return NULL;
	}
	for (size_t i = 0; i < from->chunks.count; i++) {
		struct chunk *chunk = from->chunks.items[i].chunk;
		to->chunks.items[to->chunks.count++].chunk = chunk;
		chunk->owners++;
	}
	return to;
}

static int own(struct belief **belief)
{
	if ((*belief)->owners == 1)
		return 0;
	struct belief *copy = copy_of(*belief);
	if (!copy)
		return STATUS_NO_MEMORY;
	(*belief)->owners--;
	*belief = copy;
	return 0;
}

/* The chunk, to be changed; NULL without memory. */
static struct chunk *own_chunk(struct belief *belief, size_t at)
{
	struct chunk_ref *ref = &belief->chunks.items[at];
	if (ref->chunk->owners == 1)
		return ref->chunk;
	struct chunk *copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *ref->chunk;
	copy->owners = 1;
	ref->chunk->owners--;
	ref->chunk = copy;
	return copy;
}

static const struct range *range_at(const struct belief *belief, struct place place)
{
	return place.chunk < belief->chunks.count
		   ? &belief->chunks.items[place.chunk].chunk->ranges[place.range]
		   : NULL;
}

/* The first range that ends behind the address. */
static struct place find(const struct belief *belief, uint64_t avma)
{
	size_t low = 0;
	for (size_t count = belief->chunks.count; count > 0;) {
		const size_t half = count / 2;
		const struct chunk *chunk = belief->chunks.items[low + half].chunk;
		const bool is_before = chunk->ranges[chunk->count - 1].end_avma <= avma;
		low = is_before ? low + half + 1 : low;
		count = is_before ? count - half - 1 : half;
	}
	struct place place = { .chunk = low };
	if (low == belief->chunks.count)
		return place;
	const struct chunk *chunk = belief->chunks.items[low].chunk;
	for (uint32_t count = chunk->count; count > 0;) {
		const uint32_t half = count / 2;
		const bool is_before = chunk->ranges[place.range + half].end_avma <= avma;
		place.range = is_before ? place.range + half + 1 : place.range;
		count = is_before ? count - half - 1 : half;
	}
	return place;
}

/* Half of a full chunk becomes the next one. */
static bool split(struct belief *belief, size_t at, struct chunk *chunk)
{
	struct chunk *next = malloc(sizeof(*next));
	if (!next)
		return false;
	next->owners = 1;
	next->count = CHUNK / 2;
	memcpy(next->ranges, &chunk->ranges[CHUNK - CHUNK / 2], sizeof(*next->ranges) * CHUNK / 2);
	if (!insert_chunk(belief, at + 1, next))
		return false;
	chunk->count -= CHUNK / 2;
	return true;
}

static bool insert_first(struct belief *belief, const struct range *range)
{
	struct chunk *chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return false;
	chunk->owners = 1;
	chunk->count = 1;
	chunk->ranges[0] = *range;
	return insert_chunk(belief, 0, chunk);
}

/* The place may be one behind the last range of all. */
static bool insert(struct belief *belief, struct place place, const struct range *range)
{
	if (!belief->chunks.count)
		return insert_first(belief, range);
	if (place.chunk == belief->chunks.count) {
		place.chunk--;
		place.range = belief->chunks.items[place.chunk].chunk->count;
	}
	struct chunk *chunk = own_chunk(belief, place.chunk);
	if (!chunk)
		return false;
	if (chunk->count == CHUNK) {
		if (!split(belief, place.chunk, chunk))
			return false;
		if (place.range > chunk->count) {
			place.range -= chunk->count;
			chunk = belief->chunks.items[place.chunk + 1].chunk;
		}
	}
	memmove(&chunk->ranges[place.range + 1], &chunk->ranges[place.range],
		(chunk->count - place.range) * sizeof(*chunk->ranges));
	chunk->ranges[place.range] = *range;
	chunk->count++;
	return true;
}

static bool take_out(struct belief *belief, struct place place)
{
	struct chunk_ref *refs = belief->chunks.items;
	if (refs[place.chunk].chunk->count > 1) {
		struct chunk *chunk = own_chunk(belief, place.chunk);
		if (!chunk)
			return false;
		chunk->count--;
		memmove(&chunk->ranges[place.range], &chunk->ranges[place.range + 1],
			(chunk->count - place.range) * sizeof(*chunk->ranges));
		return true;
	}
	drop_chunk(refs[place.chunk].chunk);
	belief->chunks.count--;
	memmove(&refs[place.chunk], &refs[place.chunk + 1],
		(belief->chunks.count - place.chunk) * sizeof(*refs));
	return true;
}

/* Leaves of the range what lies outside of the cut; another one behind it is yet to be put. */
static bool shorten(struct belief *belief, struct place place, uint64_t start_avma,
		    uint64_t end_avma)
{
	struct chunk *chunk = own_chunk(belief, place.chunk);
	if (!chunk)
		return false;
	struct range *range = &chunk->ranges[place.range];
	if (range->start_avma < start_avma)
		range->end_avma = start_avma;
	else
		range->start_avma = end_avma;
	return true;
}

static int cut(struct belief *belief, uint64_t start_avma, uint64_t end_avma)
{
	for (;;) {
		const struct place place = find(belief, start_avma);
		const struct range *range = range_at(belief, place);
		if (!range || range->start_avma >= end_avma)
			return 0;
		const struct range old = *range;
		const bool has_rest = old.start_avma < start_avma || old.end_avma > end_avma;
		if (!(has_rest ? shorten(belief, place, start_avma, end_avma)
			       : take_out(belief, place)))
			return STATUS_NO_MEMORY;
		if (old.start_avma < start_avma && old.end_avma > end_avma) {
			const struct range rest = { end_avma, old.end_avma, old.code };
			const struct place behind = { place.chunk, place.range + 1 };
			return insert(belief, behind, &rest) ? 0 : STATUS_NO_MEMORY;
		}
	}
}

/* Does the range meet any that is believed? */
static bool meets(const struct belief *belief, uint64_t start_avma, uint64_t end_avma)
{
	const struct range *range = range_at(belief, find(belief, start_avma));
	return range && start_avma < end_avma && range->start_avma < end_avma;
}

int belief_cut(struct belief **belief, uint64_t start_avma, uint64_t end_avma)
{
	if (!meets(*belief, start_avma, end_avma))
		return 0;
	const int got = own(belief);
	return got < 0 ? got : cut(*belief, start_avma, end_avma);
}

int belief_put(struct belief **belief, uint64_t start_avma, uint64_t end_avma, uint32_t code)
{
	const struct range range = { start_avma, end_avma, code };
	if (start_avma >= end_avma)
		return 0;
	int got = own(belief);
	if (got == 0)
		got = cut(*belief, start_avma, end_avma);
	if (got < 0)
		return got;
	return insert(*belief, find(*belief, start_avma), &range) ? 0 : STATUS_NO_MEMORY;
}

/* Where the last range before the place ends; 0 where it is the first. */
static uint64_t end_before(const struct belief *belief, struct place place)
{
	if (place.range)
		place.range--;
	else if (place.chunk)
		place.range = belief->chunks.items[--place.chunk].chunk->count - 1;
	else
		return 0;
	const struct range *range = range_at(belief, place);
	return range ? range->end_avma : 0;
}

uint32_t belief_at(const struct belief *belief, uint64_t avma, uint64_t *start_avma,
		   uint64_t *end_avma)
{
	const struct place place = find(belief, avma);
	const struct range *range = range_at(belief, place);
	if (!range || range->start_avma > avma) {
		*start_avma = end_before(belief, place);
		*end_avma = range ? range->start_avma : UINT64_MAX;
		return BELIEF_NONE;
	}
	*start_avma = range->start_avma;
	*end_avma = range->end_avma;
	return range->code;
}

bool belief_has_code(const struct belief *belief, uint64_t start_avma, uint64_t end_avma)
{
	struct place place = find(belief, start_avma);
	for (; place.chunk < belief->chunks.count; place.chunk++, place.range = 0) {
		const struct chunk *chunk = belief->chunks.items[place.chunk].chunk;
		for (; place.range < chunk->count; place.range++) {
			const struct range *range = &chunk->ranges[place.range];
			if (range->start_avma >= end_avma)
				return false;
			if (range->code < BELIEF_OTHER)
				return start_avma < end_avma;
		}
	}
	return false;
}
