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

/* Never empty. */
struct chunk {
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

void belief_free(struct belief *belief)
{
	if (!belief || --belief->owners)
		return;
	for (size_t i = 0; i < belief->chunks.count; i++)
		free(belief->chunks.items[i].chunk);
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
	for (size_t i = 0; to && i < from->chunks.count; i++) {
		struct chunk *chunk = malloc(sizeof(*chunk));
		if (chunk)
			*chunk = *from->chunks.items[i].chunk;
		if (!insert_chunk(to, i, chunk)) {
			belief_free(to);
			return NULL;
		}
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

static struct range *range_at(const struct belief *belief, struct place place)
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
static bool split(struct belief *belief, size_t at)
{
	struct chunk *chunk = belief->chunks.items[at].chunk;
	struct chunk *next = malloc(sizeof(*next));
	if (!next)
		return false;
	next->count = CHUNK / 2;
	memcpy(next->ranges, &chunk->ranges[CHUNK - CHUNK / 2], sizeof(*next->ranges) * CHUNK / 2);
	if (!insert_chunk(belief, at + 1, next))
		return false;
	chunk->count -= CHUNK / 2;
	return true;
}

/* The place may be one behind the last range of all. */
static bool insert(struct belief *belief, struct place place, const struct range *range)
{
	if (place.chunk == belief->chunks.count) {
		if (!place.chunk)
			return insert_chunk(belief, 0, calloc(1, sizeof(struct chunk))) &&
			       insert(belief, place, range);
		place.chunk--;
		place.range = belief->chunks.items[place.chunk].chunk->count;
	}
	struct chunk *chunk = belief->chunks.items[place.chunk].chunk;
	if (chunk->count == CHUNK) {
		if (!split(belief, place.chunk))
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

static void take_out(struct belief *belief, struct place place)
{
	struct chunk *chunk = belief->chunks.items[place.chunk].chunk;
	chunk->count--;
	memmove(&chunk->ranges[place.range], &chunk->ranges[place.range + 1],
		(chunk->count - place.range) * sizeof(*chunk->ranges));
	if (chunk->count)
		return;
	free(chunk);
	struct chunk_ref *refs = belief->chunks.items;
	belief->chunks.count--;
	memmove(&refs[place.chunk], &refs[place.chunk + 1],
		(belief->chunks.count - place.chunk) * sizeof(*refs));
}

static int cut(struct belief *belief, uint64_t start_avma, uint64_t end_avma)
{
	for (;;) {
		const struct place place = find(belief, start_avma);
		struct range *range = range_at(belief, place);
		if (!range || range->start_avma >= end_avma)
			return 0;
		const struct range old = *range;
		if (old.start_avma < start_avma && old.end_avma > end_avma) {
			const struct range rest = { end_avma, old.end_avma, old.code };
			range->end_avma = start_avma;
			const struct place behind = { place.chunk, place.range + 1 };
			return insert(belief, behind, &rest) ? 0 : STATUS_NO_MEMORY;
		}
		if (old.start_avma < start_avma)
			range->end_avma = start_avma;
		else if (old.end_avma > end_avma)
			range->start_avma = end_avma;
		else
			take_out(belief, place);
	}
}

int belief_cut(struct belief **belief, uint64_t start_avma, uint64_t end_avma)
{
	if (!belief_overlaps(*belief, start_avma, end_avma))
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

uint32_t belief_at(const struct belief *belief, uint64_t avma, uint64_t *start_avma,
		   uint64_t *end_avma)
{
	const struct range *range = range_at(belief, find(belief, avma));
	if (!range || range->start_avma > avma)
		return BELIEF_NONE;
	*start_avma = range->start_avma;
	*end_avma = range->end_avma;
	return range->code;
}

bool belief_overlaps(const struct belief *belief, uint64_t start_avma, uint64_t end_avma)
{
	const struct range *range = range_at(belief, find(belief, start_avma));
	return range && start_avma < end_avma && range->start_avma < end_avma;
}
