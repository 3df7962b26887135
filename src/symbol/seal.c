#include "base/status.h"
#include "symbol/table_internal.h"

#include <stdlib.h>

/* Sorting moves 16 bytes a symbol, not a candidate; the names stay where they are. */
struct key {
	uint64_t offset; /* from the lowest address */
	uint32_t index;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Least digit first, stable: equal addresses stay in the order they were added. */
static struct key *radix_sort(struct key *keys, struct key *spare, size_t count, uint64_t highest)
{
	for (unsigned shift = 0; shift < 64 && highest >> shift; shift += DIGIT_BITS) {
		size_t starts[DIGITS] = { 0 };
		for (size_t i = 0; i < count; i++)
			starts[(keys[i].offset >> shift) & (DIGITS - 1)]++;
		size_t at = 0;
		for (size_t d = 0; d < DIGITS; d++) {
			const size_t here = starts[d];
			starts[d] = at;
			at += here;
		}
		for (size_t i = 0; i < count; i++)
			spare[starts[(keys[i].offset >> shift) & (DIGITS - 1)]++] = keys[i];
		struct key *sorted = spare;
		spare = keys;
		keys = sorted;
	}
	return keys;
}

/* Names longer than this count as equally long: alone measuring them again and again
 * would let a hostile file cost the square of its size.
 */
enum { MEASURED_BYTES = 1024 };

static size_t underscores(const char *name)
{
	size_t count = 0;
	while (count < MEASURED_BYTES && name[count] == '_')
		count++;
	return count;
}

/* Above zero: `other` is the better name for the address that both are at. See
 * docs/formats/symbols.md; these are the preferences of perf, so that both tools name the
 * same function.
 */
static int compare(const struct symbol_candidate *other, const struct symbol_candidate *best)
{
	static const uint32_t WORSE[] = { SYMBOL_BOUND, SYMBOL_PLT, SYMBOL_UNSIZED, SYMBOL_WEAK };
	const uint32_t different = other->flags ^ best->flags;
	for (size_t i = 0; i < sizeof(WORSE) / sizeof(WORSE[0]); i++)
		if (different & WORSE[i])
			return other->flags & WORSE[i] ? -1 : 1;
	if (different & SYMBOL_GLOBAL)
		return other->flags & SYMBOL_GLOBAL ? 1 : -1;
	const size_t more = underscores(other->name);
	const size_t fewer = underscores(best->name);
	return more < fewer ? 1 : more > fewer ? -1 : 0;
}

bool symbol_is_better(const struct symbol_candidate *other, const struct symbol_candidate *best)
{
	const int order = compare(other, best);
	return order ? order > 0
		     : strnlen(other->name, MEASURED_BYTES) > strnlen(best->name, MEASURED_BYTES);
}

/* As above, of two in the order of the input. */
static bool is_later_better(const struct symbol_table *table, const struct symbol_candidate *later,
			    const struct symbol_candidate *best)
{
	return table->prefers_later ? compare(later, best) >= 0 : symbol_is_better(later, best);
}

/* Keeps the best of each address, in place and in order. Returns how many are left. */
static size_t choose(struct symbol_table *table, struct key *keys, size_t count)
{
	const struct symbol_candidate *all = table->candidates.items;
	size_t left = 0;
	for (size_t i = 0; i < count;) {
		size_t best = i;
		size_t next = i + 1;
		for (; next < count && keys[next].offset == keys[i].offset; next++)
			if (is_later_better(table, &all[keys[next].index], &all[keys[best].index]))
				best = next;
		keys[left++] = keys[best];
		i = next;
	}
	return left;
}

/* Up to the next symbol, but not out of its section. Where no section is known (kallsyms)
 * and the next symbol belongs to another module, or there is none, a hole of unknown
 * size lies between: then no further than the page behind.
 */
static uint64_t end_of_unsized(const struct symbol_table *table, const struct key *keys,
			       size_t count, size_t i)
{
	const struct symbol_candidate *from = &table->candidates.items[keys[i].index];
	const struct symbol_candidate *next =
	    i + 1 < count ? &table->candidates.items[keys[i + 1].index] : NULL;
	uint64_t end = from->end_svma;
	if (end <= from->start_svma)
		return from->start_svma; /* not in its section: of no use */
	if (end - from->start_svma > UINT32_MAX)
		end = from->start_svma + UINT32_MAX;
	if (from->end_svma == UINT64_MAX && (!next || next->module != from->module)) {
		const uint64_t page_end = (from->start_svma | 4095) + 4096 + 1;
		if (page_end > from->start_svma && page_end < end)
			end = page_end;
	}
	return next && next->start_svma < end ? next->start_svma : end;
}

/* What is left of the candidates: one an address, in order, with an end. */
struct symbol_entry {
	const struct symbol_candidate *from;
	uint64_t end_svma; /* the start, for those that only end others */
};

static void fill(struct symbol_table *table, struct symbol_entry *entries, const struct key *keys,
		 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol_candidate *from = &table->candidates.items[keys[i].index];
		entries[i] = (struct symbol_entry){ .from = from, .end_svma = from->end_svma };
		table->named_count += !(from->flags & SYMBOL_BOUND);
		if (from->flags & SYMBOL_BOUND)
			entries[i].end_svma = from->start_svma;
		else if (from->flags & SYMBOL_UNSIZED)
			entries[i].end_svma = end_of_unsized(table, keys, count, i);
	}
}

static void put_span(struct symbol_table *table, uint64_t svma, const struct symbol_entry *entry)
{
	struct symbol_span span = { .svma = svma };
	if (entry) {
		span.start_svma = entry->from->start_svma;
		span.name = entry->from->name;
		span.size = (uint32_t)(entry->end_svma - entry->from->start_svma);
		span.module = entry->from->module;
	}
	if (table->span_count && table->spans[table->span_count - 1].svma == svma)
		table->span_count--;
	table->spans[table->span_count++] = span;
}

/* Closes the entries that end at or before `svma`, innermost first: what is around
 * them goes on behind them.
 *
 *   outer  [--------------------)        spans: outer, inner, outer, gap
 *   inner        [-----)
 */
static size_t close_until(struct symbol_table *table, const struct symbol_entry **open,
			  size_t depth, uint64_t svma)
{
	while (depth && open[depth - 1]->end_svma <= svma) {
		const uint64_t end = open[--depth]->end_svma;
		while (depth && open[depth - 1]->end_svma <= end)
			depth--;
		put_span(table, end, depth ? open[depth - 1] : NULL);
	}
	return depth;
}

static void lay_out(struct symbol_table *table, const struct symbol_entry *entries, size_t count,
		    const struct symbol_entry **open)
{
	size_t depth = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t start = entries[i].from->start_svma;
		depth = close_until(table, open, depth, start);
		if (entries[i].end_svma <= start)
			continue;
		put_span(table, start, &entries[i]);
		open[depth++] = &entries[i];
	}
	close_until(table, open, depth, UINT64_MAX);
}

/* About one bucket a span. */
static bool fill_buckets(struct symbol_table *table)
{
	if (!table->span_count)
		return true;
	const uint64_t lowest = table->spans[0].svma;
	const uint64_t range = table->spans[table->span_count - 1].svma - lowest;
	while (range >> table->bucket_shift > table->span_count)
		table->bucket_shift++;
	table->bucket_count = (size_t)(range >> table->bucket_shift) + 1;
	table->buckets = calloc(table->bucket_count + 1, sizeof(*table->buckets));
	if (!table->buckets)
		return false;
	size_t span = 0;
	for (size_t k = 0; k <= table->bucket_count; k++) {
		while (span < table->span_count &&
		       (table->spans[span].svma - lowest) >> table->bucket_shift < k)
			span++;
		table->buckets[k] = (uint32_t)span;
	}
	return true;
}

static int seal_sorted(struct symbol_table *table, const struct key *keys, size_t count)
{
	struct symbol_entry *entries = calloc(count, sizeof(*entries));
	const struct symbol_entry **open = calloc(count, sizeof(struct symbol_entry *));
	table->spans = calloc(count * 2, sizeof(*table->spans));
	bool has_memory = entries && open && table->spans;
	if (has_memory) {
		fill(table, entries, keys, count);
		lay_out(table, entries, count, open);
		has_memory = fill_buckets(table);
	}
	free(open);
	free(entries);
	return has_memory ? STATUS_OK : STATUS_NO_MEMORY;
}

int symbol_seal(struct symbol_table *table)
{
	const size_t count = table->candidates.count;
	if (!count)
		return STATUS_OK;
	if (count >= UINT32_MAX / 2)
		return STATUS_TOO_BIG;
	struct key *keys = calloc(count * 2, sizeof(*keys));
	if (!keys)
		return STATUS_NO_MEMORY;

	uint64_t lowest = UINT64_MAX;
	uint64_t highest = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t start = table->candidates.items[i].start_svma;
		lowest = start < lowest ? start : lowest;
		highest = start > highest ? start : highest;
	}
	for (size_t i = 0; i < count; i++) {
		keys[i].offset = table->candidates.items[i].start_svma - lowest;
		keys[i].index = (uint32_t)i;
	}
	struct key *sorted = radix_sort(keys, keys + count, count, highest - lowest);
	const int status = seal_sorted(table, sorted, choose(table, sorted, count));
	free(keys);
	vector_clear(&table->candidates);
	return status;
}
