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
	if (end == UINT64_MAX && (!next || next->module != from->module)) {
		const uint64_t page_end = (from->start_svma | 4095) + 4096 + 1;
		if (page_end > from->start_svma && page_end < end)
			end = page_end;
	}
	return next && next->start_svma < end ? next->start_svma : end;
}

/* Bounds become entries of no size, which lay_out passes over. */
static void fill(struct symbol_table *table, const struct key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol_candidate *from = &table->candidates.items[keys[i].index];
		struct symbol_entry *entry = &table->entries[i];
		*entry = (struct symbol_entry){ .start_svma = from->start_svma,
						.end_svma = from->end_svma,
						.name = from->name };
		table->named_count += !(from->flags & SYMBOL_BOUND);
		if (from->flags & SYMBOL_BOUND)
			entry->end_svma = entry->start_svma;
		else if (from->flags & SYMBOL_UNSIZED)
			entry->end_svma = end_of_unsized(table, keys, count, i);
		if (table->entry_modules)
			table->entry_modules[i] = from->module;
	}
}

static void put_bound(struct symbol_table *table, uint64_t svma, uint32_t owner)
{
	size_t *count = &table->bound_count;
	if (*count && table->bounds[*count - 1].svma == svma)
		(*count)--;
	if (*count && table->bounds[*count - 1].owner == owner)
		return;
	table->bounds[(*count)++] = (struct symbol_bound){ .svma = svma, .owner = owner };
}

/* Closes the entries that end at or before `svma`, innermost first: what is around
 * them goes on behind them.
 *
 *   outer  [--------------------)        bounds: outer, inner, outer, gap
 *   inner        [-----)
 */
static size_t close_until(struct symbol_table *table, uint32_t *open, size_t depth, uint64_t svma)
{
	while (depth && table->entries[open[depth - 1]].end_svma <= svma) {
		const uint64_t end = table->entries[open[--depth]].end_svma;
		while (depth && table->entries[open[depth - 1]].end_svma <= end)
			depth--;
		put_bound(table, end, depth ? open[depth - 1] : SYMBOL_GAP);
	}
	return depth;
}

static void lay_out(struct symbol_table *table, uint32_t *open)
{
	size_t depth = 0;
	for (uint32_t i = 0; i < table->entry_count; i++) {
		const struct symbol_entry *entry = &table->entries[i];
		depth = close_until(table, open, depth, entry->start_svma);
		if (entry->end_svma <= entry->start_svma)
			continue;
		put_bound(table, entry->start_svma, i);
		open[depth++] = i;
	}
	close_until(table, open, depth, UINT64_MAX);
}

/* About one bucket for two bounds. */
static bool fill_buckets(struct symbol_table *table)
{
	if (!table->bound_count)
		return true;
	const uint64_t lowest = table->bounds[0].svma;
	const uint64_t range = table->bounds[table->bound_count - 1].svma - lowest;
	while (range >> table->bucket_shift > table->bound_count / 2)
		table->bucket_shift++;
	table->bucket_count = (size_t)(range >> table->bucket_shift) + 1;
	table->buckets = calloc(table->bucket_count + 1, sizeof(*table->buckets));
	if (!table->buckets)
		return false;
	size_t bound = 0;
	for (size_t k = 0; k <= table->bucket_count; k++) {
		while (bound < table->bound_count &&
		       (table->bounds[bound].svma - lowest) >> table->bucket_shift < k)
			bound++;
		table->buckets[k] = (uint32_t)bound;
	}
	return true;
}

static int seal_sorted(struct symbol_table *table, const struct key *keys, size_t count)
{
	table->entries = calloc(count, sizeof(*table->entries));
	if (table->modules.texts.count)
		table->entry_modules = calloc(count, sizeof(*table->entry_modules));
	table->bounds = calloc(count * 2, sizeof(*table->bounds));
	uint32_t *open = calloc(count, sizeof(*open));
	bool has_memory = table->entries && table->bounds && open &&
			  (table->entry_modules || !table->modules.texts.count);
	if (has_memory) {
		table->entry_count = count;
		fill(table, keys, count);
		lay_out(table, open);
		has_memory = fill_buckets(table);
	}
	free(open);
	return has_memory ? STATUS_OK : STATUS_NO_MEMORY;
}

int symbol_seal(struct symbol_table *table)
{
	const size_t count = table->candidates.count;
	if (!count)
		return STATUS_OK;
	if (count >= SYMBOL_GAP / 2)
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
