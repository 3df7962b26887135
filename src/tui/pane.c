#include "tui/pane.h"

#include "base/status.h"
#include "tui/keys.h"

#include <string.h>

enum { SHIFT = 8, SHIFT_MOST = 65536 };

/* "ESC [ 31 m" as annotate/text_out.c writes it. */
static enum ink ink_of(unsigned number)
{
	switch (number) {
	case 1:
		return INK_TITLE;
	case 2:
		return INK_QUIET;
	case 31:
		return INK_HOT;
	case 32:
		return INK_WARM;
	case 36:
		return INK_SOURCE;
	default:
		return INK_PLAIN;
	}
}

/* The length of a colour at `at`, or 0. */
static size_t colour_at(struct bytes text, size_t at, enum ink *ink)
{
	unsigned number = 0;
	size_t i = at + 2;
	if (text.size - at < 4 || text.data[at] != 0x1b || text.data[at + 1] != '[')
		return 0;
	for (; i < text.size && i < at + 5 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		number = number * 10 + (unsigned)(text.data[i] - '0');
	if (i >= text.size || text.data[i] != 'm')
		return 0;
	*ink = ink_of(number);
	return i + 1 - at;
}

static bool add_span(struct pane *pane, size_t start, size_t end, enum ink ink)
{
	if (start == end)
		return true;
	struct pane_span *span = vector_push(&pane->spans);
	if (span)
		*span = (struct pane_span){ start, end, (uint8_t)ink };
	return span;
}

static bool end_line(struct pane *pane, size_t first_span)
{
	struct pane_line *line = vector_push(&pane->lines);
	if (line)
		*line = (struct pane_line){ first_span, pane->spans.count - first_span };
	return line;
}

static bool split(struct pane *pane)
{
	const struct bytes text = sink_bytes(&pane->text);
	enum ink ink = INK_PLAIN;
	size_t start = 0;
	size_t first_span = 0;
	for (size_t at = 0; at < text.size;) {
		enum ink next = ink;
		const bool is_end = text.data[at] == '\n';
		const size_t size = is_end ? 1 : colour_at(text, at, &next);
		if (!size) {
			at++;
			continue;
		}
		if (!add_span(pane, start, at, ink))
			return false;
		at += size;
		start = at;
		ink = next;
		if (!is_end)
			continue;
		if (!end_line(pane, first_span))
			return false;
		first_span = pane->spans.count;
	}
	if (start == text.size && pane->spans.count == first_span)
		return true;
	return add_span(pane, start, text.size, ink) && end_line(pane, first_span);
}

int pane_set(struct pane *pane, struct bytes text)
{
	sink_reset(&pane->text);
	sink_put(&pane->text, text.data, text.size);
	pane->spans.count = 0;
	pane->lines.count = 0;
	if (!sink_failed(&pane->text) && split(pane))
		return 0;
	pane->lines.count = 0;
	return STATUS_NO_MEMORY;
}

void pane_clear(struct pane *pane)
{
	vector_clear(&pane->spans);
	vector_clear(&pane->lines);
	sink_clear(&pane->text);
	sink_clear(&pane->scratch);
	find_clear(&pane->find);
	*pane = (struct pane){ 0 };
}

void pane_line_text(const struct pane *pane, size_t line, struct sink *out)
{
	if (line >= pane->lines.count)
		return;
	const struct pane_line *l = &pane->lines.items[line];
	for (size_t i = 0; i < l->span_count; i++) {
		const struct pane_span *span = &pane->spans.items[l->first_span + i];
		sink_put(out, pane->text.data + span->start, span->end - span->start);
	}
}

static struct bytes line_of(struct pane *pane, size_t line)
{
	sink_reset(&pane->scratch);
	pane_line_text(pane, line, &pane->scratch);
	return sink_bytes(&pane->scratch);
}

static void draw_match(struct pane *pane, struct canvas *canvas, const struct area *area,
		       size_t line)
{
	size_t start;
	size_t end;
	if (!pane->find.is_set)
		return;
	const struct bytes text = line_of(pane, line);
	for (size_t from = 0; find_next(&pane->find, text, from, &start, &end) && end > start;
	     from = end) {
		const unsigned before = canvas_width(canvas, (struct bytes){ text.data, start });
		const unsigned behind = canvas_width(canvas, (struct bytes){ text.data, end });
		if (before < pane->shift || before - pane->shift >= area->columns)
			continue;
		struct area match = { area->row, area->column + before - pane->shift, 1,
				      behind - before };
		if (match.columns > area->columns - (before - pane->shift))
			match.columns = area->columns - (before - pane->shift);
		canvas_paint(canvas, &match, INK_MATCH);
	}
}

static void draw_line(struct pane *pane, struct canvas *canvas, const struct area *area,
		      size_t line)
{
	const struct pane_line *l = &pane->lines.items[line];
	struct area at = *area;
	unsigned skip = pane->shift;
	for (size_t i = 0; i < l->span_count && at.columns; i++) {
		const struct pane_span *span = &pane->spans.items[l->first_span + i];
		const struct bytes text = { pane->text.data + span->start,
					    span->end - span->start };
		const unsigned width = skip ? canvas_width(canvas, text) : 0;
		if (skip && width <= skip) {
			skip -= width;
			continue;
		}
		const unsigned used = canvas_put_from(canvas, &at, (enum ink)span->ink, text, skip);
		skip = 0;
		at.column += used;
		at.columns -= used;
	}
	draw_match(pane, canvas, area, line);
}

void pane_draw(struct pane *pane, struct canvas *canvas, const struct area *area)
{
	const size_t count = pane->lines.count;
	scroll_fit(&pane->at, count, area->rows);
	for (size_t i = 0; i < pane->at.page && pane->at.first + i < count; i++) {
		const struct area line = { area->row + (unsigned)i, area->column, 1,
					   area->columns };
		draw_line(pane, canvas, &line, pane->at.first + i);
		if (pane->at.first + i == pane->at.chosen)
			canvas_choose(canvas, &line);
	}
}

bool pane_key(struct pane *pane, int32_t key)
{
	if (key == '<' || key == KEY_IS_LEFT) {
		pane->shift -= pane->shift ? SHIFT : 0;
		return true;
	}
	if (key == '>' || key == KEY_IS_RIGHT) {
		pane->shift += pane->shift < SHIFT_MOST ? SHIFT : 0;
		return true;
	}
	return scroll_key(&pane->at, pane->lines.count, key);
}

void pane_choose(struct pane *pane, size_t line)
{
	scroll_to(&pane->at, pane->lines.count, line);
}

const char *pane_search(struct pane *pane, const char *expression)
{
	return find_set(&pane->find, expression);
}

bool pane_next(struct pane *pane, bool backwards, bool stays)
{
	const size_t count = pane->lines.count;
	for (size_t i = stays ? 0 : 1; i < count + !stays; i++) {
		const size_t step = backwards ? count - i % count : i;
		const size_t line = (pane->at.chosen + step) % count;
		if (!find_matches(&pane->find, line_of(pane, line)))
			continue;
		pane_choose(pane, line);
		return true;
	}
	return false;
}
