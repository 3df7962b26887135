#include "top/rows.h"

#include "base/path.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sort_names[] = {
#define X(name, text) text,
	LIVE_SORT_LIST(X)
#undef X
};

const char *live_sort_name(enum live_sort sort)
{
	return sort_names[sort];
}

bool live_sort_parse(const char *text, enum live_sort *sort)
{
	for (int i = 0; i < LIVE_SORT_COUNT; i++) {
		if (strcmp(text, sort_names[i]) == 0) {
			*sort = (enum live_sort)i;
			return true;
		}
	}
	return false;
}

double live_percent(const struct live_cells *cells, double weight)
{
	return cells->weight > 0 ? 100 * weight / cells->weight : 0;
}

/* The texts that words are looked for in, and what a word calls each. */
enum { FIELD_PROCESS, FIELD_PID, FIELD_RUNTIME, FIELD_OBJECT, FIELD_SYMBOL, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = { "process:", "pid:", "runtime:", "object:",
						      "symbol:" };

struct word {
	char text[128];
	int field; /* -1: any */
	bool is_not;
};

enum { WORDS = 16 };

struct filter {
	struct word words[WORDS];
	size_t count;
};

static void parse_word(struct filter *filter, const char *text, size_t size)
{
	if (filter->count == WORDS)
		return;
	struct word *word = &filter->words[filter->count++];
	*word = (struct word){ .field = -1, .is_not = size > 1 && *text == '!' };
	text += word->is_not;
	size -= word->is_not;
	for (int i = 0; i < FIELD_COUNT && word->field < 0; i++) {
		const size_t name_size = strlen(field_names[i]);
		if (size > name_size && strncmp(text, field_names[i], name_size) == 0) {
			word->field = i;
			text += name_size;
			size -= name_size;
		}
	}
	if (size >= sizeof(word->text))
		size = sizeof(word->text) - 1;
	memcpy(word->text, text, size);
}

static void parse_filter(struct filter *filter, const char *text)
{
	filter->count = 0;
	while (text && *text) {
		text += strspn(text, " ");
		const size_t size = strcspn(text, " ");
		if (size)
			parse_word(filter, text, size);
		text += size;
	}
}

static bool has_word(const struct word *word, const char *const fields[FIELD_COUNT])
{
	for (int i = 0; i < FIELD_COUNT; i++)
		if ((word->field < 0 || word->field == i) && strcasestr(fields[i], word->text))
			return true;
	return false;
}

static bool is_wanted(const struct filter *filter, const struct live_cell *cell,
		      const struct intern *strings)
{
	char pid[16] = "";
	if (cell->pid)
		(void)snprintf(pid, sizeof(pid), "%u", cell->pid);
	const char *const fields[FIELD_COUNT] = {
		intern_get(strings, cell->key.process), pid,
		intern_get(strings, cell->key.runtime), intern_get(strings, cell->key.object),
		intern_get(strings, cell->key.symbol),
	};
	for (size_t i = 0; i < filter->count; i++)
		if (has_word(&filter->words[i], fields) == filter->words[i].is_not)
			return false;
	return true;
}

struct order {
	const struct live_cells *cells;
	const struct intern *strings;
	enum live_sort sort;
};

static int by_number(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_text(const struct order *order, uint32_t a, uint32_t b)
{
	return strcmp(intern_get(order->strings, a), intern_get(order->strings, b));
}

static int compare(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct live_cell *a = &order->cells->items.items[*(const uint32_t *)left];
	const struct live_cell *b = &order->cells->items.items[*(const uint32_t *)right];
	int got = 0;
	switch (order->sort) {
	case LIVE_SORT_TOTAL:
		got = by_number(a->total, b->total);
		break;
	case LIVE_SORT_SAMPLES:
		got = by_number(a->samples, b->samples);
		break;
	case LIVE_SORT_SYMBOL:
		got = by_text(order, a->key.symbol, b->key.symbol);
		break;
	case LIVE_SORT_RUNTIME:
		got = by_text(order, a->key.runtime, b->key.runtime);
		break;
	case LIVE_SORT_OBJECT:
		got = by_text(order, a->key.object, b->key.object);
		break;
	case LIVE_SORT_PROCESS:
		got = by_text(order, a->key.process, b->key.process);
		break;
	default:
		break;
	}
	if (!got)
		got = by_number(a->self, b->self);
	if (!got)
		got = by_text(order, a->key.symbol, b->key.symbol);
	if (!got)
		got = by_text(order, a->key.object, b->key.object);
	return got ? got : by_text(order, a->key.process, b->key.process);
}

int live_rows_make(struct live_rows *rows, const struct live_cells *cells,
		   const struct intern *strings, const struct live_rows_options *options)
{
	struct filter filter;
	parse_filter(&filter, options->filter);
	rows->count = 0;
	for (uint32_t i = 0; i < cells->items.count; i++) {
		const struct live_cell *cell = &cells->items.items[i];
		const double weight = options->with_callers ? cell->total : cell->self;
		if (weight <= 0 || live_percent(cells, weight) < options->least_percent ||
		    !is_wanted(&filter, cell, strings))
			continue;
		uint32_t *slot = vector_push(rows);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = i;
	}
	struct order order = { cells, strings, options->sort };
	if (rows->count)
		qsort_r(rows->items, rows->count, sizeof(rows->items[0]), compare, &order);
	return 0;
}

void live_rows_clear(struct live_rows *rows)
{
	vector_clear(rows);
}

void live_put_tier(struct sink *out, const struct live_cell *cell, const struct intern *strings)
{
	bool has_others = false;
	for (int i = 0; i < LIVE_TIERS && cell->tiers[i].name; i++)
		has_others |= cell->tiers[i].name != cell->last_tier && cell->tiers[i].weight > 0;
	sink_text(out, intern_get(strings, cell->last_tier));
	if (has_others)
		sink_text(out, "+");
}

void live_put_tiers(struct sink *out, const struct live_cell *cell, const struct intern *strings)
{
	bool is_put[LIVE_TIERS] = { false };
	for (int n = 0; n < LIVE_TIERS; n++) {
		int most = -1;
		for (int i = 0; i < LIVE_TIERS && cell->tiers[i].name; i++)
			if (!is_put[i] && cell->tiers[i].weight > 0 &&
			    (most < 0 || cell->tiers[i].weight > cell->tiers[most].weight))
				most = i;
		if (most < 0)
			return;
		is_put[most] = true;
		if (n)
			sink_u8(out, '+');
		sink_text(out, intern_get(strings, cell->tiers[most].name));
	}
}

void live_put_line(struct sink *out, const struct live_cell *cell, const struct intern *strings)
{
	if (!cell->line)
		return;
	sink_printf(out, "%s:%u", path_name(intern_get(strings, cell->file)), cell->line);
}

void live_put_process(struct sink *out, const struct live_cell *cell, const struct intern *strings)
{
	sink_text(out, intern_get(strings, cell->key.process));
	if (cell->pid)
		sink_printf(out, " %u", cell->pid);
}
