#include "base/escape.h"
#include "diff/unit.h"
#include "diff/write.h"

#include <inttypes.h>

enum {
	NUMBERS = 4, /* before, after, change, noise */
	NUMBER_SIZE = 32,
	NAME_FLOOR = 24,
	NAME_CEILING = 72, /* as in reports: what is longer does not push others aside */
	VERDICT_WIDTH = 8,
};

static const char *const TITLES[NUMBERS] = { "Before", "After", "Change", "Noise" };

struct line {
	char numbers[NUMBERS][NUMBER_SIZE];
	const char *verdict;
	size_t name_end; /* in the table's text: from the end of the line before */
	size_t object_end;
};

struct table {
	VECTOR(struct line) lines;
	struct sink text;
	size_t widths[NUMBERS];
	size_t name_width;
	size_t object_width;
};

/* Characters as a terminal counts them, wide ones aside. */
static size_t width_of(struct bytes text)
{
	size_t width = 0;
	for (size_t i = 0; i < text.size; i++)
		width += (text.data[i] & 0xc0) != 0x80;
	return width;
}

static bool add_line(struct table *table, const struct diff_view *view, uint32_t row_id)
{
	const struct diff *diff = view->diff;
	const struct diff_row *row = &diff->rows.items[row_id];
	const struct diff_figure *figure = diff_figure(diff, row);
	const struct diff_function *function = &diff->match.functions.items[row->function];
	struct line *line = vector_push(&table->lines);
	if (!line)
		return false;
	const double values[NUMBERS] = { figure->value[DIFF_BEFORE], figure->value[DIFF_AFTER],
					 diff_change(figure), figure->noise };
	for (int i = 0; i < NUMBERS; i++) {
		unit_format(view, values[i], i == 2, line->numbers[i], NUMBER_SIZE);
		const size_t size = strlen(line->numbers[i]);
		if (size > table->widths[i])
			table->widths[i] = size;
	}
	line->verdict = diff_verdict(figure);
	const size_t start = table->text.size;
	escape_terminal(&table->text,
			intern_get_bytes(&diff->match.strings, function->name[DIFF_AFTER]));
	line->name_end = table->text.size;
	escape_terminal(&table->text,
			intern_get_bytes(&diff->match.strings, function->object[DIFF_AFTER]));
	line->object_end = table->text.size;
	if (sink_failed(&table->text))
		return false;
	const struct bytes all = sink_bytes(&table->text);
	const size_t name = width_of((struct bytes){ all.data + start, line->name_end - start });
	const size_t object = width_of(
	    (struct bytes){ all.data + line->name_end, line->object_end - line->name_end });
	if (name > table->name_width)
		table->name_width = name;
	if (object > table->object_width)
		table->object_width = object;
	return true;
}

/* The text's first `width` characters, and blanks up to there; a name that was cut ends in ~. */
static void put_cell(struct sink *out, struct bytes text, size_t width, bool may_cut)
{
	const size_t has = width_of(text);
	if (has <= width || !may_cut) {
		sink_put(out, text.data, text.size);
		sink_printf(out, "%*s", (int)(has < width ? width - has : 0), "");
		return;
	}
	size_t at = 0;
	for (size_t columns = 0; columns + 1 < width; columns++) {
		at++;
		while (at < text.size && (text.data[at] & 0xc0) == 0x80)
			at++;
	}
	sink_put(out, text.data, at);
	sink_text(out, "~");
}

static void put_lines(struct sink *out, const struct table *table, bool may_cut)
{
	for (int i = 0; i < NUMBERS; i++)
		sink_printf(out, "%s%*s", i ? "  " : "", (int)table->widths[i], TITLES[i]);
	sink_printf(out, "  %-*s  %-*s  Object\n", VERDICT_WIDTH, "Verdict", (int)table->name_width,
		    "Symbol");
	size_t start = 0;
	for (size_t r = 0; r < table->lines.count; r++) {
		const struct line *line = &table->lines.items[r];
		for (int i = 0; i < NUMBERS; i++)
			sink_printf(out, "%s%*s", i ? "  " : "", (int)table->widths[i],
				    line->numbers[i]);
		sink_printf(out, "  %-*s  ", VERDICT_WIDTH, line->verdict);
		const uint8_t *text = table->text.data;
		put_cell(out, (struct bytes){ text + start, line->name_end - start },
			 table->name_width, may_cut);
		sink_text(out, "  ");
		sink_put(out, text + line->name_end, line->object_end - line->name_end);
		sink_text(out, "\n");
		start = line->object_end;
	}
}

/* The symbol gives way, so that the object behind it stays in sight. */
static void fit(struct table *table, unsigned width)
{
	size_t others = (NUMBERS + 2) * 2 + VERDICT_WIDTH + table->object_width;
	for (int i = 0; i < NUMBERS; i++)
		others += table->widths[i];
	size_t most = width ? NAME_FLOOR : NAME_CEILING;
	if (width > others + NAME_FLOOR)
		most = width - others;
	if (table->name_width > most)
		table->name_width = most;
}

static void put_side(struct sink *out, const struct diff_view *view, unsigned side)
{
	const struct diff_total *total = &view->diff->sides[side];
	sink_grouped(out, total->count);
	sink_text(out, " samples");
	if (total->recordings > 1)
		sink_printf(out, " of %u recordings", total->recordings);
	if (total->seconds > 0)
		sink_printf(out, " in %s%.1f s", total->recordings > 1 ? "about " : "",
			    total->seconds);
	sink_text(out, side == DIFF_BEFORE ? " before" : " after");
}

static void put_event(struct sink *out, const char *event)
{
	escape_terminal(out, (struct bytes){ (const uint8_t *)event, strlen(event) });
}

static void put_summary(struct sink *out, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	put_event(out, view->events[DIFF_BEFORE]);
	if (strcmp(view->events[DIFF_BEFORE], view->events[DIFF_AFTER]) != 0) {
		sink_text(out, " before, ");
		put_event(out, view->events[DIFF_AFTER]);
		sink_text(out, " after");
	}
	sink_printf(out, ", %s: ", unit_title(view));
	put_side(out, view, DIFF_BEFORE);
	sink_text(out, ", ");
	put_side(out, view, DIFF_AFTER);
	sink_text(out, "\n");
	sink_grouped(out, diff->beyond);
	sink_text(out, " of ");
	sink_grouped(out, diff->compared);
	sink_text(out, " functions with samples enough changed by more than noise");
	if (diff->sides[DIFF_BEFORE].recordings + diff->sides[DIFF_AFTER].recordings > DIFF_SIDES)
		sink_printf(out, "; runs of one side differ by %.1f %%", 100 * diff->spread);
	sink_text(out, "\n\n");
}

void diff_write_text(struct sink *out, const struct diff_view *view, unsigned width)
{
	struct table table = { .name_width = strlen("Symbol"), .object_width = strlen("Object") };
	for (int i = 0; i < NUMBERS; i++)
		table.widths[i] = strlen(TITLES[i]);
	bool is_whole = true;
	for (size_t i = 0; is_whole && i < view->diff->order.count; i++)
		is_whole = add_line(&table, view, view->diff->order.items[i]);
	put_summary(out, view);
	fit(&table, width);
	if (is_whole)
		put_lines(out, &table, width > 0);
	out->failed |= !is_whole;
	vector_clear(&table.lines);
	sink_clear(&table.text);
}
