#include "lint/jitdump_internal.h"

#include "base/search.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_index(const void *left, const void *right)
{
	const struct lint_load *a = left;
	const struct lint_load *b = right;
	const int got = compare(a->index, b->index);
	return got ? got : compare(a->offset, b->offset);
}

static int by_address(const void *left, const void *right)
{
	const struct lint_load *a = left;
	const struct lint_load *b = right;
	const int got = compare(a->start_avma, b->start_avma);
	return got ? got : compare(a->offset, b->offset);
}

static struct lint_place at_load(const struct lint_load *load)
{
	return (struct lint_place){ .offset = load->offset, .record = "LOAD" };
}

void lint_loads_indices(struct lint *lint, struct lint_loads *loads)
{
	if (loads->count)
		qsort(loads->items, loads->count, sizeof(loads->items[0]), by_index);
	for (size_t i = 1; i < loads->count; i++) {
		const struct lint_load *first = &loads->items[i - 1];
		struct lint_load *second = &loads->items[i];
		if (first->index != second->index)
			continue;
		const bool is_same = first->time == second->time &&
				     first->start_avma == second->start_avma &&
				     first->size == second->size;
		if (is_same) {
			second->is_gone = true;
			lint_tell(lint, LINT_REPEATED, at_load(second),
				  "the load at byte %" PRIu64 " again", first->offset);
		} else {
			lint_tell(lint, LINT_INDEX, at_load(second),
				  "code_index %" PRIu64 " is also that of byte %" PRIu64,
				  second->index, first->offset);
		}
	}
}

static int by_new_avma(const void *left, const void *right)
{
	const struct lint_move *a = left;
	const struct lint_move *b = right;
	return compare(a->new_avma, b->new_avma);
}

/* The first load at or behind an address, in loads sorted by address. */
static size_t lower_bound(const struct lint_loads *loads, uint64_t avma)
{
	size_t count;
	SEARCH(count, loads->count, i, loads->items[i].start_avma < avma);
	return count;
}

void lint_loads_moves(struct lint *lint, struct lint_loads *loads, struct lint_moves *moves)
{
	if (!moves->count)
		return;
	if (loads->count)
		qsort(loads->items, loads->count, sizeof(loads->items[0]), by_address);
	qsort(moves->items, moves->count, sizeof(moves->items[0]), by_new_avma);
	for (size_t i = 0; i < moves->count; i++) {
		const struct lint_move *move = &moves->items[i];
		const struct lint_move from = { .new_avma = move->old_avma };
		const size_t at = lower_bound(loads, move->old_avma);
		if (at < loads->count && loads->items[at].start_avma == move->old_avma)
			loads->items[at].is_gone = true;
		else if (!bsearch(&from, moves->items, moves->count, sizeof(from), by_new_avma))
			lint_tell(lint, LINT_MOVE,
				  (struct lint_place){ .offset = move->offset, .record = "MOVE" },
				  "moves code from 0x%" PRIx64 ", where nothing put any",
				  move->old_avma);
	}
}

/* The last load at an address before a place in the file; NULL if there is none. */
static struct lint_load *load_before(const struct lint_loads *loads, uint64_t avma, uint64_t offset)
{
	struct lint_load *found = NULL;
	for (size_t at = lower_bound(loads, avma);
	     at < loads->count && loads->items[at].start_avma == avma &&
	     loads->items[at].offset < offset;
	     at++)
		found = &loads->items[at];
	return found;
}

static bool is_moved_to(const struct lint_moves *moves, uint64_t avma)
{
	const struct lint_move to = { .new_avma = avma };
	return moves->count && bsearch(&to, moves->items, moves->count, sizeof(to), by_new_avma);
}

void lint_loads_unloads(struct lint *lint, struct lint_loads *loads, const struct lint_moves *moves,
			const struct lint_unloads *unloads)
{
	if (!unloads->count)
		return;
	if (loads->count)
		qsort(loads->items, loads->count, sizeof(loads->items[0]), by_address);
	for (size_t i = 0; i < unloads->count; i++) {
		const struct lint_unload *unload = &unloads->items[i];
		struct lint_load *load = load_before(loads, unload->avma, unload->offset);
		if (load && !load->is_gone)
			load->is_gone = true;
		else if (!is_moved_to(moves, unload->avma))
			lint_tell(
			    lint, LINT_UNLOAD,
			    (struct lint_place){ .offset = unload->offset, .record = "UNLOAD" },
			    "unloads code from 0x%" PRIx64 ", where none was", unload->avma);
	}
}

static struct bytes name_at(struct jitdump_reader *reader, uint64_t offset)
{
	struct jitdump_record record;
	if (jitdump_reader_at(reader, offset, &record) != 1 || record.id != JITDUMP_CODE_LOAD)
		return (struct bytes){ .data = reader->file.data };
	return record.code_load.name;
}

static void tell_overlap(struct lint *lint, struct jitdump_reader *reader,
			 const struct lint_load *later, const struct lint_load *earlier)
{
	const uint64_t end = earlier->start_avma + earlier->size;
	const uint64_t later_end = later->start_avma + later->size;
	const uint64_t from =
	    later->start_avma > earlier->start_avma ? later->start_avma : earlier->start_avma;
	const uint64_t shared = (later_end < end ? later_end : end) - from;
	lint_tell(lint, LINT_OVERLAP, at_load(later),
		  "%.*s lies over %" PRIu64 " bytes of %.*s (byte %" PRIu64
		  "), which nobody unloaded",
		  LINT_NAME(name_at(reader, later->offset)), shared,
		  LINT_NAME(name_at(reader, earlier->offset)), earlier->offset);
}

/* In order of address, each load is held against the one that reaches furthest
 * so far: a load that shares a byte with any is held against one at least.
 */
void lint_loads_overlaps(struct lint *lint, struct lint_loads *loads, struct bytes file)
{
	struct jitdump_reader reader;
	if (!loads->count || jitdump_reader_init(&reader, file) < 0)
		return;
	qsort(loads->items, loads->count, sizeof(loads->items[0]), by_address);
	struct lint_load *reach = NULL;
	for (size_t i = 0; i < loads->count; i++) {
		struct lint_load *load = &loads->items[i];
		if (load->is_gone || !load->size)
			continue;
		if (reach && load->start_avma < reach->start_avma + reach->size) {
			const bool is_later = load->offset > reach->offset;
			tell_overlap(lint, &reader, is_later ? load : reach,
				     is_later ? reach : load);
		}
		if (!reach || load->start_avma + load->size >= reach->start_avma + reach->size)
			reach = load;
	}
}
