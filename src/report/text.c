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

static void put_cell(struct sink *cell, const struct report_view *view,
		     const struct report_column *column, const struct report_group *group)
{
	struct sink raw = { 0 };
	column->put(&raw, view->groups, view->profile, group);
	sink_reset(cell);
	escape_terminal(cell, sink_bytes(&raw));
	cell->failed |= sink_failed(&raw);
	sink_clear(&raw);
	if (column->kind == COLUMN_PERCENT)
		sink_u8(cell, '%');
}

static void put_header(struct sink *out, const struct report_column *const *columns, size_t count,
		       const size_t *widths)
{
	for (size_t i = 0; i < count; i++) {
		char title[32] = "";
		const size_t size = strlen(columns[i]->name);
		memcpy(title, columns[i]->name, size < sizeof(title) ? size : sizeof(title) - 1);
		title[0] = (char)toupper((unsigned char)title[0]);
		const struct bytes text = { (const uint8_t *)title, strlen(title) };
		sink_text(out, i ? "  " : "");
		put_padded(out, text, i + 1 == count ? 0 : widths[i],
			   columns[i]->kind != COLUMN_TEXT);
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
		report_put_count(out, summary->early_buckets[i]);
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

void report_write_text(struct sink *out, const struct report_view *view, unsigned width)
{
	const struct report_column *columns[REPORT_COLUMN_LIMIT];
	const size_t count = report_columns(view->options, columns);
	size_t widths[REPORT_COLUMN_LIMIT];
	struct sink cell = { 0 };
	for (size_t i = 0; i < count; i++)
		widths[i] = strlen(columns[i]->name);
	for (size_t r = 0; r < view->groups->order.count; r++)
		for (size_t i = 0; i < count; i++) {
			const uint32_t id = view->groups->order.items[r];
			put_cell(&cell, view, columns[i], &view->groups->items.items[id]);
			const size_t has = width_of(sink_bytes(&cell));
			if (has > widths[i])
				widths[i] = width || has < WIDTH_CEILING ? has : WIDTH_CEILING;
		}
	/* The symbol gives way, so that the object behind it stays in sight. */
	size_t sum = 2 * (count - 1);
	for (size_t i = 0; i < count; i++)
		sum += widths[i];
	for (size_t i = 0; width && sum > width && i < count; i++)
		if (strcmp(columns[i]->name, "symbol") == 0) {
			const size_t over = sum - width;
			widths[i] = widths[i] > over + NAME_FLOOR ? widths[i] - over : NAME_FLOOR;
		}

	report_trust_line(out, view->summary, view->profile, view->event);
	sink_text(out, "\n\n");
	put_header(out, columns, count, widths);
	for (size_t r = 0; r < view->groups->order.count; r++) {
		const uint32_t id = view->groups->order.items[r];
		const size_t start = out->size;
		for (size_t i = 0; i < count; i++) {
			put_cell(&cell, view, columns[i], &view->groups->items.items[id]);
			struct bytes text = sink_bytes(&cell);
			if (width && width_of(text) > widths[i]) {
				cut_to(&cell, 0, (unsigned)widths[i] - 1);
				sink_text(&cell, "~");
				text = sink_bytes(&cell);
			}
			sink_text(out, i ? "  " : "");
			put_padded(out, text, i + 1 == count ? 0 : widths[i],
				   columns[i]->kind != COLUMN_TEXT);
		}
		cut_to(out, start, width);
		sink_text(out, "\n");
		struct branch branch = { { false } };
		if (view->tree)
			put_tree(out, view, report_tree_first(view->tree, id), &branch, 0);
	}
	put_reasons(out, view);
	out->failed |= sink_failed(&cell);
	sink_clear(&cell);
}
