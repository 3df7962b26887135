#include "unwind/cfi.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/status.h"
#include "unwind/cfi_table.h"

#include <stdlib.h>

enum {
	RECENT = 1024,          /* a power of two */
	RECENT_FROM = 64,       /* functions; fewer are searched as fast */
	RULES_LIMIT = 64 << 20, /* bytes: what hostile sections can make of few bytes */
};

/* The functions of one section, in order; a function ends where the next one starts. */
static int read_functions(struct cfi_table *table, unsigned section)
{
	struct cfi_entries *e = &table->entries[section];
	struct cfi_fde fde;
	cfi_entries_init(e, &table->sections[section]);
	while (cfi_entries_next(e, &fde)) {
		if (fde.off > UINT32_MAX)
			break;
		struct cfi_function *f = vector_push(&table->functions);
		if (!f)
			return STATUS_NO_MEMORY;
		*f = (struct cfi_function){
			.start_svma = fde.start_svma,
			.size = fde.size < UINT32_MAX ? (uint32_t)fde.size : UINT32_MAX,
			.entry_off = (uint32_t)fde.off,
			.first_row = CFI_NOT_MADE,
			.source = section & 3,
		};
	}
	return 0;
}

/* They count where .eh_frame tells nothing of them. */
static bool read_stubs(struct cfi_table *table)
{
	for (unsigned i = 0; i < CFI_STUBS; i++) {
		const struct cfi_stubs *stubs = &table->stubs[i];
		if (!stubs->bytes.size || stubs->bytes.size > UINT32_MAX)
			continue;
		struct cfi_function *f = vector_push(&table->functions);
		if (!f)
			return false;
		*f = (struct cfi_function){ .start_svma = stubs->svma,
					    .size = (uint32_t)stubs->bytes.size,
					    .entry_off = i,
					    .first_row = CFI_NOT_MADE,
					    .source = CFI_OF_STUBS };
	}
	return true;
}

static bool is_sorted(const struct cfi_table *table)
{
	for (size_t i = 1; i < table->functions.count; i++)
		if (table->functions.items[i - 1].start_svma > table->functions.items[i].start_svma)
			return false;
	return true;
}

static int sort_functions(struct cfi_table *table)
{
	const size_t count = table->functions.count;
	if (is_sorted(table))
		return 0;
	struct pair *pairs = calloc(count * 2, sizeof(*pairs));
	struct cfi_function *sorted = calloc(count, sizeof(*sorted));
	if (!pairs || !sorted) {
		free(pairs);
		free(sorted);
		return STATUS_NO_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct pair){ table->functions.items[i].start_svma, (uint32_t)i };
	sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = table->functions.items[pairs[i].value];
	memcpy(table->functions.items, sorted, count * sizeof(*sorted));
	free(pairs);
	free(sorted);
	return 0;
}

/* Of functions that overlap, .eh_frame's win: what the linker dropped has other addresses in
 * .debug_frame, 0 for one. Of the same section the one that starts last covers the rest; of equal
 * starts the first.
 */
static void resolve_overlaps(struct cfi_table *table)
{
	struct cfi_function *f = table->functions.items;
	const size_t count = table->functions.count;
	size_t kept = 0;
	uint64_t eh_end = 0;
	uint64_t next_eh = 0;
	size_t next = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cfi_function now = f[i];
		const uint64_t end = now.start_svma + now.size;
		if (now.source == CFI_EH_FRAME) {
			eh_end = end > eh_end ? end : eh_end;
		} else {
			for (next = next > i ? next : i;
			     next < count && f[next].source != CFI_EH_FRAME; next++)
				;
			next_eh = next < count ? f[next].start_svma : UINT64_MAX;
			if (now.start_svma < eh_end || end > next_eh)
				continue;
		}
		if (kept && f[kept - 1].start_svma == now.start_svma)
			continue;
		if (kept && now.start_svma - f[kept - 1].start_svma < f[kept - 1].size)
			f[kept - 1].size = (uint32_t)(now.start_svma - f[kept - 1].start_svma);
		f[kept++] = now;
	}
	table->functions.count = kept;
}

static int fill(struct cfi_table *table)
{
	for (unsigned i = 0; i < CFI_SECTIONS; i++) {
		const int got = read_functions(table, i);
		if (got < 0)
			return got;
	}
	if (!read_stubs(table))
		return STATUS_NO_MEMORY;
	if (!table->functions.count)
		return STATUS_NOT_FOUND;
	const int got = sort_functions(table);
	if (got < 0)
		return got;
	resolve_overlaps(table);
	if (table->functions.count < RECENT_FROM)
		return 0;
	table->recent = calloc(RECENT, sizeof(*table->recent));
	return table->recent ? 0 : STATUS_NO_MEMORY;
}

int cfi_table_make(struct cfi_table **result, const struct cfi_sections *sections, void *owned)
{
	struct cfi_table *table = calloc(1, sizeof(*table));
	if (!table) {
		free(owned);
		return STATUS_NO_MEMORY;
	}
	table->machine = sections->machine;
	table->owned = owned;
	table->sections[CFI_EH_FRAME] = (struct cfi_section){ .bytes = sections->eh_frame,
							      .svma = sections->eh_frame_svma,
							      .data_svma = sections->data_svma };
	table->sections[CFI_DEBUG_FRAME] =
	    (struct cfi_section){ .bytes = sections->debug_frame, .is_debug_frame = true };
	memcpy(table->stubs, sections->stubs, sizeof(table->stubs));
	arena_init(&table->rules, RULES_LIMIT);
	const int got = fill(table);
	if (got < 0)
		cfi_table_free(table);
	else
		*result = table;
	return got;
}

int cfi_table_sections(struct cfi_table **table, const struct cfi_sections *sections)
{
	return cfi_table_make(table, sections, NULL);
}

void cfi_table_free(struct cfi_table *table)
{
	if (!table)
		return;
	vector_clear(&table->functions);
	vector_clear(&table->rows);
	vector_clear(&table->distinct);
	idmap_clear(&table->by_hash);
	arena_clear(&table->rules);
	free(table->recent);
	free(table->owned);
	free(table);
}

static struct cfi_function *find_function(const struct cfi_table *table, uint64_t svma)
{
	struct cfi_function *f = table->functions.items;
	size_t left = table->functions.count;
	while (left > 1) {
		const size_t half = left / 2;
		f += f[half].start_svma <= svma ? half : 0;
		left -= half;
	}
	return svma - f->start_svma < f->size && svma >= f->start_svma ? f : NULL;
}

static uint32_t search(struct cfi_table *table, uint64_t svma)
{
	struct cfi_function *f = find_function(table, svma);
	if (!f)
		return CFI_NO_ROW;
	if (f->first_row == CFI_NOT_MADE)
		cfi_make_rows(table, f);
	if (!f->row_count)
		return CFI_NO_ROW;
	const struct cfi_place *rows = table->rows.items + f->first_row;
	size_t count;
	SEARCH(count, f->row_count, i, rows[i].off <= svma - f->start_svma);
	return count ? rows[count - 1].row : CFI_NO_ROW;
}

const struct cfi_row *cfi_find(struct cfi_table *table, uint64_t svma)
{
	uint32_t row;
	if (table->recent) {
		struct cfi_recent *r =
		    &table->recent[(svma * 0x9e3779b97f4a7c15u) >> 54 & (RECENT - 1)];
		if (r->svma != svma)
			*r = (struct cfi_recent){ svma, search(table, svma) };
		row = r->row;
	} else {
		row = search(table, svma);
	}
	return row == CFI_NO_ROW ? NULL : &table->distinct.items[row - 1];
}

enum unwind_machine cfi_table_machine(const struct cfi_table *table)
{
	return table->machine;
}

size_t cfi_table_count(const struct cfi_table *table)
{
	return table->functions.count;
}

uint64_t cfi_table_start(const struct cfi_table *table, size_t index)
{
	return index < table->functions.count ? table->functions.items[index].start_svma : 0;
}

size_t cfi_table_bytes(const struct cfi_table *table)
{
	return sizeof(*table) + table->functions.capacity * sizeof(table->functions.items[0]) +
	       table->rows.capacity * sizeof(table->rows.items[0]) +
	       table->distinct.capacity * sizeof(table->distinct.items[0]) +
	       table->by_hash.slot_count * sizeof(table->by_hash.slots[0]) + table->rules.used +
	       (table->recent ? RECENT * sizeof(*table->recent) : 0);
}
