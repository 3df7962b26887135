/* The table of functions, with trees under its rows. */
#include "tui/browser_internal.h"

#include "base/status.h"
#include "tui/bar.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { COLUMN_TEXT_MOST = 24, REST_LEAST = 24, HOT_PERCENT = 5 };
static const double warm_percent = 0.5;

static size_t count_rows(void *context)
{
	return ((const struct browser *)context)->model.shown.count;
}

static void put_cell(void *context, size_t row, size_t column, struct sink *out)
{
	model_cell(&((const struct browser *)context)->model, row, column, out);
}

static enum ink ink_of(void *context, size_t row, size_t column)
{
	const struct model *model = &((const struct browser *)context)->model;
	const struct model_node *node = model_node(model, row);
	if (model->columns[column]->kind != COLUMN_PERCENT)
		return INK_PLAIN;
	uint64_t weight = node->weight;
	if (strcmp(model->columns[column]->name, "self") == 0)
		weight = model->groups.items.items[node->group].self_weight;
	const double percent = report_percent(&model->groups, weight);
	return percent >= HOT_PERCENT ? INK_HOT : percent >= warm_percent ? INK_WARM : INK_PLAIN;
}

/* How columns are shown. Which give way on a narrow screen: the larger the sooner. */
static const struct look {
	const char *name;
	unsigned most;
	unsigned leaves;
} looks[] = {
	{ "overhead", 0, 0 }, { "children", 0, 0 }, { "self", 0, 1 },    { "object", 14, 3 },
	{ "runtime", 10, 4 }, { "tier", 12, 5 },    { "samples", 0, 6 }, { "trust", 11, 7 },
};

static struct look look_of(const struct report_column *column)
{
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (strcmp(looks[i].name, column->name) == 0)
			return looks[i];
	return (struct look){ column->name, column->kind == COLUMN_TEXT ? COLUMN_TEXT_MOST : 0, 2 };
}

/* The symbol takes what is left; without one the last text does. */
static size_t rest_column(const struct model *model)
{
	size_t rest = 0;
	for (size_t i = 0; i < model->column_count; i++) {
		if (strcmp(model->columns[i]->name, "symbol") == 0)
			return i;
		if (model->columns[i]->kind == COLUMN_TEXT)
			rest = i;
	}
	return rest;
}

static void make_columns(struct browser *b)
{
	const size_t rest = rest_column(&b->model);
	for (size_t i = 0; i < b->model.column_count; i++) {
		const struct report_column *from = b->model.columns[i];
		char *title = b->titles[i];
		const size_t size = strlen(from->name);
		memset(title, 0, sizeof(b->titles[i]));
		memcpy(title, from->name,
		       size < sizeof(b->titles[i]) ? size : sizeof(b->titles[i]) - 1);
		title[0] = (char)toupper((unsigned char)title[0]);
		const struct look look = look_of(from);
		b->columns[i] = (struct table_column){
			.title = title,
			.is_right = from->kind != COLUMN_TEXT,
			.takes_rest = i == rest,
			.is_searched = i == rest,
			.least = from->kind == COLUMN_PERCENT ? 8
				 : i == rest                  ? REST_LEAST
							      : 0,
			.most = i == rest ? 0 : look.most,
			.leaves = i == rest ? 0 : look.leaves,
		};
	}
	b->table.columns = b->columns;
	b->table.column_count = b->model.column_count;
	b->table.sorted_by = b->model.sorted_by;
	b->table.source = (struct table_source){ b, count_rows, put_cell, ink_of, NULL };
	b->table.nothing = b->model.zooms.count ? "Nothing here: Esc goes back." : "No samples.";
}

static void tell_trust(struct browser *b)
{
	struct report_summary summary = { .early_max_ns = b->in->early_max_ns };
	const int got = report_summary_build(&summary, &b->model.kept, b->model.event);
	sink_reset(&b->trust);
	if (got == 0)
		report_trust_line(&b->trust, &summary, &b->model.kept, b->model.event);
	report_summary_clear(&summary);
	browser_check(b, got);
}

const struct report_group *browser_table_group(const struct browser *b)
{
	const size_t row = table_chosen(&b->table);
	if (row >= b->model.shown.count)
		return NULL;
	return &b->model.groups.items.items[model_node(&b->model, row)->group];
}

/* The cursor stays on the function that it was on. */
void browser_table_build(struct browser *b)
{
	struct report_group_key key = { 0 };
	const struct report_group *group = NULL;
	if (b->table.source.count && b->model.shown.count) {
		size_t row = table_chosen(&b->table);
		while (row < b->model.shown.count && model_node(&b->model, row)->parent)
			row = model_parent(&b->model, row);
		if (row < b->model.shown.count)
			group = &b->model.groups.items.items[model_node(&b->model, row)->group];
	}
	const bool has_key = group != NULL;
	if (group)
		key = group->key;
	browser_check(b, model_build(&b->model));
	make_columns(b);
	tell_trust(b);
	table_changed(&b->table);
	const size_t row = has_key ? model_find(&b->model, &key) : 0;
	table_choose(&b->table, row == SIZE_MAX ? 0 : row);
}

void browser_table_draw(struct browser *b, struct canvas *canvas, const struct area *area)
{
	table_draw(&b->table, canvas, area);
}

/* Its whole name, as far as there is room, and what columns that left would have said. */
void browser_table_details(struct browser *b, struct canvas *canvas, unsigned row)
{
	const struct report_group *group = browser_table_group(b);
	if (!group)
		return;
	const struct profile *profile = b->model.profile;
	const struct model_node *node = model_node(&b->model, table_chosen(&b->table));
	sink_reset(&b->scratch);
	sink_text(&b->scratch, profile_text(profile, group->key.object));
	sink_text(&b->scratch, group->key.runtime ? "  " : "");
	sink_text(&b->scratch, profile_text(profile, group->key.runtime));
	sink_text(&b->scratch, "  ");
	sink_grouped(&b->scratch, node->count);
	sink_text(&b->scratch, node->count == 1 ? " sample" : " samples");
	bar_draw_ink(canvas, row, INK_SOURCE, profile_text(profile, group->key.symbol),
		     browser_text(&b->scratch));
}

static void put_zoom(const struct browser *b, const struct model_zoom *zoom, struct sink *out)
{
	const struct profile *profile = b->model.profile;
	sink_text(out, " > ");
	switch (zoom->kind) {
	case MODEL_THREAD:
		sink_text(out, profile_text(profile, profile->threads.items[zoom->value].comm));
		sink_printf(out, " %" PRIu32, profile->threads.items[zoom->value].tid);
		break;
	case MODEL_PART:
		sink_text(out, "*");
		sink_text(out, zoom->part);
		sink_text(out, "*");
		break;
	default:
		sink_text(out, profile_text(profile, zoom->value));
		break;
	}
}

void browser_table_path(const struct browser *b, struct sink *out)
{
	for (size_t i = 0; i < b->model.zooms.count; i++)
		put_zoom(b, &b->model.zooms.items[i], out);
}

void browser_table_zoom(struct browser *b, const struct model_zoom *zoom)
{
	struct model_zoom *slot = vector_push(&b->model.zooms);
	if (!slot) {
		browser_check(b, STATUS_NO_MEMORY);
		return;
	}
	*slot = *zoom;
	browser_table_build(b);
}

bool browser_table_zoom_back(struct browser *b)
{
	if (!b->model.zooms.count)
		return false;
	if (b->model.zooms.items[--b->model.zooms.count].kind == MODEL_PART)
		sink_reset(&b->part);
	browser_table_build(b);
	return true;
}

/* There is one filter by name, the last zoom or none. */
void browser_table_filter(struct browser *b, const char *part)
{
	size_t *count = &b->model.zooms.count;
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++)
		if (b->model.zooms.items[i].kind != MODEL_PART)
			b->model.zooms.items[kept++] = b->model.zooms.items[i];
	*count = kept;
	sink_reset(&b->part);
	sink_text(&b->part, part);
	const char *text = browser_text(&b->part);
	if (text[0])
		browser_table_zoom(b, &(struct model_zoom){ .kind = MODEL_PART, .part = text });
	else
		browser_table_build(b);
}

static void show_again(struct browser *b, size_t index)
{
	table_changed(&b->table);
	b->table.at.chosen = index;
}

static void open_or_close(struct browser *b, size_t row)
{
	if (model_node(&b->model, row)->is_open)
		model_close(&b->model, row);
	else
		browser_check(b, model_open(&b->model, row));
	show_again(b, row);
}

/* In: opens, then goes to what was opened. */
static void go_in(struct browser *b, size_t row)
{
	if (model_node(&b->model, row)->is_open)
		show_again(b, row + 1);
	else
		open_or_close(b, row);
}

static void go_out(struct browser *b, size_t row)
{
	if (model_node(&b->model, row)->is_open)
		open_or_close(b, row);
	else if (model_node(&b->model, row)->parent)
		table_choose(&b->table, model_parent(&b->model, row));
	else
		(void)browser_table_zoom_back(b);
}

static void open_all(struct browser *b, size_t row)
{
	bool is_whole = true;
	size_t above = row;
	while (model_node(&b->model, above)->parent)
		above = model_parent(&b->model, above);
	browser_check(b, model_open_all(&b->model, above, &is_whole));
	if (!is_whole)
		browser_say(b, "not all: there are more than %d branches", MODEL_OPEN_LIMIT);
	show_again(b, above);
}

static bool tree_key(struct browser *b, int32_t key)
{
	const size_t row = table_chosen(&b->table);
	const bool has_row = row < b->model.shown.count;
	if (key == KEY_IS_LEFT && !has_row)
		return browser_table_zoom_back(b);
	if (!has_row)
		return false;
	switch (key) {
	case KEY_IS_ENTER:
	case ' ':
		open_or_close(b, row);
		return true;
	case KEY_IS_RIGHT:
		go_in(b, row);
		return true;
	case KEY_IS_LEFT:
		go_out(b, row);
		return true;
	case 'e':
		open_all(b, row);
		return true;
	case 'c':
		show_again(b, model_close_all(&b->model, row));
		return true;
	case 'C':
		show_again(b, model_close_every(&b->model, row));
		return true;
	default:
		return false;
	}
}

static void switch_keys(struct browser *b, unsigned keys)
{
	unsigned *has = &b->model.options.keys;
	*has = (*has & keys) == keys ? *has & ~keys : *has | keys;
	b->model.sorted_by = -1;
	browser_table_build(b);
}

static bool switch_key(struct browser *b, int32_t key)
{
	struct report_options *options = &b->model.options;
	switch (key) {
	case 'd':
		options->tree = options->tree == REPORT_TREE_CALLERS ? REPORT_TREE_CALLEES
								     : REPORT_TREE_CALLERS;
		browser_table_build(b);
		return true;
	case 'i':
		options->children = !options->children;
		b->model.sorted_by = -1;
		browser_table_build(b);
		return true;
	case 't':
		switch_keys(b, REPORT_TIER);
		return true;
	case 'v':
		switch_keys(b, REPORT_VERSION | REPORT_TIER);
		return true;
	default:
		return false;
	}
}

void browser_table_key(struct browser *b, int32_t key)
{
	if (tree_key(b, key) || switch_key(b, key) || table_key(&b->table, key))
		return;
	switch (key) {
	case 'q':
		b->is_over = true;
		break;
	case KEY_IS_ESCAPE:
		if (b->table.find.is_set)
			(void)table_search(&b->table, "");
		else
			(void)browser_table_zoom_back(b);
		break;
	case 'f':
		browser_ask(b, BROWSER_ASKS_FILTER, "Only names with: ", browser_text(&b->part));
		break;
	case 's':
		browser_menu_open(b, BROWSER_MENU_SORT);
		break;
	case 'z':
		browser_menu_open(b, BROWSER_MENU_ZOOM);
		break;
	case 'E':
		browser_menu_open(b, BROWSER_MENU_EVENT);
		break;
	case 'a':
		browser_annotate_open(b);
		break;
	default:
		break;
	}
}
