#include "base/escape.h"
#include "report/columns.h"
#include "report/write.h"

#include <ctype.h>

enum {
	REASONS_SHOWN = 8,
	TREE_DEPTH = 64,
	NAME_FLOOR = 24,
	/* Blanks go no further than this: one endless name must not push the columns behind it
	 * out of sight in all other rows. In a file it is written whole, beyond its column.
	 */
	WIDTH_CEILING = 72,
};

/* Characters as a terminal counts them, wide ones aside. */
static size_t width_of(struct bytes text)
{
	size_t width = 0;
	for (size_t i = 0; i < text.size; i++)
		width += (text.data[i] & 0xc0) != 0x80;
	return width;
}

static void put_padded(struct sink *out, struct bytes text, size_t width, bool right)
{
	const size_t has = width_of(text);
	const size_t pad = has < width ? width - has : 0;
	if (right)
		sink_printf(out, "%*s", (int)pad, "");
	sink_put(out, text.data, text.size);
	if (!right)
		sink_printf(out, "%*s", (int)pad, "");
}

/* All cells' texts, row by row, one after the other. */
struct table {
	const struct report_column *columns[REPORT_COLUMN_LIMIT];
	size_t column_count;
	size_t widths[REPORT_COLUMN_LIMIT];
	struct sink text;
	VECTOR(size_t) ends;
};

static struct bytes cell_of(const struct table *table, size_t row, size_t column)
{
	const size_t at = row * table->column_count + column;
	const size_t start = at ? table->ends.items[at - 1] : 0;
	return (struct bytes){ table->text.data + start, table->ends.items[at] - start };
}

static bool add_cell(struct table *table, const struct report_view *view, size_t column,
		     const struct report_group *group, struct sink *raw)
{
	sink_reset(raw);
	table->columns[column]->put(raw, view->groups, view->profile, group);
	escape_terminal(&table->text, sink_bytes(raw));
	if (table->columns[column]->kind == COLUMN_PERCENT)
		sink_u8(&table->text, '%');
	size_t *end = vector_push(&table->ends);
	if (end)
		*end = table->text.size;
	return end && !sink_failed(raw) && !sink_failed(&table->text);
}

/* False without memory. */
static bool fill_table(struct table *table, const struct report_view *view, unsigned width)
{
	struct sink raw = { 0 };
	bool is_whole = true;
	table->column_count = report_columns(view->options, table->columns);
	for (size_t i = 0; i < table->column_count; i++)
		table->widths[i] = strlen(table->columns[i]->name);
	for (size_t r = 0; is_whole && r < view->groups->order.count; r++) {
		const uint32_t id = view->groups->order.items[r];
		for (size_t i = 0; is_whole && i < table->column_count; i++) {
			is_whole = add_cell(table, view, i, &view->groups->items.items[id], &raw);
			const size_t has = is_whole ? width_of(cell_of(table, r, i)) : 0;
			if (has > table->widths[i])
				table->widths[i] =
				    width || has < WIDTH_CEILING ? has : WIDTH_CEILING;
		}
	}
	sink_clear(&raw);
	return is_whole;
}

/* The symbol gives way, so that the object behind it stays in sight. */
static void fit_table(struct table *table, unsigned width)
{
	size_t sum = 2 * (table->column_count - 1);
	for (size_t i = 0; i < table->column_count; i++)
		sum += table->widths[i];
	for (size_t i = 0; width && sum > width && i < table->column_count; i++)
		if (strcmp(table->columns[i]->name, "symbol") == 0) {
			const size_t over = sum - width;
			size_t *has = &table->widths[i];
			*has = *has > over + NAME_FLOOR ? *has - over : NAME_FLOOR;
		}
}

static void put_header(struct sink *out, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct report_column *column = table->columns[i];
		char title[32] = "";
		const size_t size = strlen(column->name);
		memcpy(title, column->name, size < sizeof(title) ? size : sizeof(title) - 1);
		title[0] = (char)toupper((unsigned char)title[0]);
		const struct bytes text = { (const uint8_t *)title, strlen(title) };
		sink_text(out, i ? "  " : "");
		put_padded(out, text, i + 1 == table->column_count ? 0 : table->widths[i],
			   column->kind != COLUMN_TEXT);
	}
	sink_text(out, "\n");
}

static void put_node_name(struct sink *out, const struct report_view *view, uint32_t group)
{
	const struct report_group_key *key = &view->groups->items.items[group].key;
	const struct intern *strings = &view->profile->strings;
	escape_terminal(out, intern_get_bytes(strings, key->symbol));
	if (key->object) {
		sink_text(out, "  ");
		escape_terminal(out, intern_get_bytes(strings, key->object));
	}
}

/* Which levels still have siblings to come, for the lines on the left. */
struct branch {
	bool more[TREE_DEPTH];
};

static double shown_limit(const struct report_view *view)
{
	return view->options->percent_limit > 0.5 ? view->options->percent_limit : 0.5;
}

static bool is_node_shown(const struct report_view *view, uint32_t id)
{
	return id && report_percent(view->groups, view->tree->nodes.items[id - 1].weight) >=
			 shown_limit(view);
}

static void put_indent(struct sink *out, const struct branch *branch, unsigned depth)
{
	sink_text(out, "            ");
	for (unsigned i = 0; i < depth; i++)
		sink_text(out, branch->more[i] ? "|  " : "   ");
}

/* Goes down while there is one way only, a line a function; returns the last node. */
static const struct report_node *put_straight(struct sink *out, const struct report_view *view,
					      const struct report_node *node,
					      const struct branch *branch, unsigned depth)
{
	const struct report_node *nodes = view->tree->nodes.items;
	while (node->first_child && nodes[node->first_child - 1].weight == node->weight) {
		node = &nodes[node->first_child - 1];
		put_indent(out, branch, depth + 1);
		sink_text(out, "        ");
		put_node_name(out, view, node->group);
		sink_text(out, "\n");
	}
	return node;
}

static void put_tree(struct sink *out, const struct report_view *view, uint32_t node_id,
		     struct branch *branch, unsigned depth)
{
	/* Siblings come largest first. */
	for (; is_node_shown(view, node_id) && depth < TREE_DEPTH;
	     node_id = view->tree->nodes.items[node_id - 1].next) {
		const struct report_node *node = &view->tree->nodes.items[node_id - 1];
		branch->more[depth] = is_node_shown(view, node->next);
		put_indent(out, branch, depth);
		sink_printf(out, "%s-%6.2f%%  ", branch->more[depth] ? "|" : "`",
			    report_percent(view->groups, node->weight));
		put_node_name(out, view, node->group);
		sink_text(out, "\n");
		node = put_straight(out, view, node, branch, depth);
		put_tree(out, view, node->first_child, branch, depth + 1);
	}
}

/* How late runtimes told of their code: what --skew must cover. */
static void put_early(struct sink *out, const struct report_summary *summary)
{
	static const char *const limits[REPORT_EARLY_BUCKETS] = { "< 10 us", "< 100 us", "< 1 ms",
								  "< 10 ms", "< 100 ms", "< 1 s",
								  "< 10 s",  ">= 10 s" };
	if (!summary->trust_counts[PROFILE_EARLY])
		return;
	sink_text(out, "Early samples came before the record of their code by:");
	const char *separator = " ";
	for (int i = 0; i < REPORT_EARLY_BUCKETS; i++) {
		if (!summary->early_buckets[i])
			continue;
		sink_printf(out, "%s%s: ", separator, limits[i]);
		sink_grouped(out, summary->early_buckets[i]);
		separator = ", ";
	}
	sink_text(out, "\n");
}

static void put_reasons(struct sink *out, const struct report_view *view)
{
	const struct report_summary *summary = view->summary;
	const size_t count =
	    summary->reasons.count < REASONS_SHOWN ? summary->reasons.count : REASONS_SHOWN;
	if (!count)
		return;
	sink_text(out, "\nWhy names are not exact:\n");
	for (size_t i = 0; i < count; i++) {
		const struct report_reason *r = &summary->reasons.items[i];
		const double share = 100.0 * (double)r->count / (double)summary->sample_count;
		sink_printf(out, "%7.2f%%  %-9s  ", share,
			    profile_trust_name((enum profile_trust)r->trust));
		escape_terminal(out, intern_get_bytes(&view->profile->strings, r->object));
		sink_text(out, r->reason ? ": " : "");
		escape_terminal(out, intern_get_bytes(&view->profile->strings, r->reason));
		sink_text(out, "\n");
	}
	if (summary->reasons.count > count)
		sink_printf(out, "          and %zu reasons more\n",
			    summary->reasons.count - count);
	put_early(out, summary);
}

static void cut_to(struct sink *out, size_t start, unsigned width)
{
	if (!width)
		return;
	size_t at = start;
	size_t columns = 0;
	while (at < out->size && columns < width) {
		at++;
		while (at < out->size && (out->data[at] & 0xc0) == 0x80)
			at++;
		columns++;
	}
	out->size = at;
}

static void put_row(struct sink *out, const struct table *table, size_t row, unsigned width)
{
	const size_t start = out->size;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct bytes text = cell_of(table, row, i);
		const bool is_last = i + 1 == table->column_count;
		sink_text(out, i ? "  " : "");
		if (width && width_of(text) > table->widths[i]) {
			const size_t cell = out->size;
			sink_put(out, text.data, text.size);
			cut_to(out, cell, (unsigned)table->widths[i] - 1);
			sink_text(out, "~");
		} else {
			put_padded(out, text, is_last ? 0 : table->widths[i],
				   table->columns[i]->kind != COLUMN_TEXT);
		}
	}
	cut_to(out, start, width);
	sink_text(out, "\n");
}

void report_write_text(struct sink *out, const struct report_view *view, unsigned width)
{
	struct table table = { .column_count = 0 };
	const bool is_whole = fill_table(&table, view, width);
	fit_table(&table, width);
	report_trust_line(out, view->summary, view->profile, view->event);
	sink_text(out, "\n");
	report_ends_line(out, &view->summary->ends, view->profile);
	sink_text(out, "\n");
	put_header(out, &table);
	for (size_t r = 0; is_whole && r < view->groups->order.count; r++) {
		put_row(out, &table, r, width);
		struct branch branch = { { false } };
		if (view->tree)
			put_tree(out, view,
				 report_tree_first(view->tree, view->groups->order.items[r]),
				 &branch, 0);
	}
	put_reasons(out, view);
	report_ends_places(out, &view->summary->ends, view->profile);
	out->failed |= !is_whole;
	sink_clear(&table.text);
	vector_clear(&table.ends);
}
