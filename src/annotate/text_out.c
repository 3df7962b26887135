#include "annotate/text_out.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdio.h>

enum { TAB = 8 };

static const char *colour_of(enum text_ink ink)
{
	static const char *const colours[] = {
		[TEXT_HOT] = "\x1b[31m",    [TEXT_WARM] = "\x1b[32m", [TEXT_TITLE] = "\x1b[1m",
		[TEXT_SOURCE] = "\x1b[36m", [TEXT_QUIET] = "\x1b[2m", [TEXT_PLAIN] = "",
	};
	return colours[ink];
}

/* How much of a text fits: bytes, and columns that it takes. Wide characters count as one. */
static size_t fitting(const struct text_out *t, struct bytes text, size_t *columns)
{
	size_t at = 0;
	*columns = 0;
	while (at < text.size) {
		if (t->style->width && t->column + *columns >= t->style->width)
			break;
		at++;
		while (at < text.size && (text.data[at] & 0xc0) == 0x80)
			at++;
		++*columns;
	}
	return at;
}

/* A text that is safe to print. */
static void put_safe(struct text_out *t, enum text_ink ink, struct bytes text)
{
	size_t columns;
	const size_t size = fitting(t, text, &columns);
	if (!size)
		return;
	const bool is_coloured = t->style->colour && ink != TEXT_PLAIN;
	if (is_coloured)
		sink_text(t->out, colour_of(ink));
	sink_put(t->out, text.data, size);
	if (is_coloured)
		sink_text(t->out, "\x1b[0m");
	t->column += columns;
}

void text_put(struct text_out *t, enum text_ink ink, const char *text)
{
	put_safe(t, ink, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

void text_put_bytes(struct text_out *t, enum text_ink ink, struct bytes text)
{
	sink_reset(&t->scratch);
	escape_terminal(&t->scratch, text);
	put_safe(t, ink, sink_bytes(&t->scratch));
	t->out->failed |= sink_failed(&t->scratch);
}

void text_put_text(struct text_out *t, enum text_ink ink, const char *text)
{
	text_put_bytes(t, ink, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

void text_printf(struct text_out *t, enum text_ink ink, const char *format, ...)
{
	char text[160];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_put(t, ink, text);
}

void text_put_string(struct text_out *t, enum text_ink ink, uint32_t string)
{
	text_put_bytes(t, ink, intern_get_bytes(&t->doc->profile->strings, string));
}

static void spread_tabs(struct sink *out, struct bytes text)
{
	size_t column = 0;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] != '\t') {
			sink_u8(out, text.data[i]);
			column += (text.data[i] & 0xc0) != 0x80;
			continue;
		}
		do
			sink_u8(out, ' ');
		while (++column % TAB);
	}
}

static bool is_inside_character(struct bytes text, size_t at)
{
	return at && at < text.size && (text.data[at] & 0xc0) == 0x80;
}

void text_put_excerpt(struct sink *out, struct bytes text, uint32_t column)
{
	enum { WHOLE = 1000, SHOWN = 240, BEFORE = 40 };
	if (text.size <= WHOLE) {
		spread_tabs(out, text);
		return;
	}
	size_t from = column > BEFORE && column <= text.size ? column - 1 - BEFORE : 0;
	size_t end = text.size - from > SHOWN ? from + SHOWN : text.size;
	while (is_inside_character(text, from))
		from--;
	while (is_inside_character(text, end))
		end--;
	sink_text(out, from ? "..." : "");
	spread_tabs(out, (struct bytes){ text.data + from, end - from });
	sink_text(out, end < text.size ? "..." : "");
}

void text_put_source(struct text_out *t, struct bytes text, uint32_t column)
{
	struct sink spread = { 0 };
	text_put_excerpt(&spread, text, column);
	text_put_bytes(t, TEXT_SOURCE, sink_bytes(&spread));
	t->out->failed |= sink_failed(&spread);
	sink_clear(&spread);
}

void text_pad(struct text_out *t, size_t column)
{
	static const char blanks[] = "                                ";
	while (t->column < column && (!t->style->width || t->column < t->style->width)) {
		const size_t left = column - t->column;
		const size_t size = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;
		put_safe(t, TEXT_PLAIN, (struct bytes){ (const uint8_t *)blanks, size });
	}
}

/* Lines end with what is to be seen: blanks that padding left behind go. */
void text_end_line(struct text_out *t)
{
	while (t->column && t->out->size && t->out->data[t->out->size - 1] == ' ') {
		t->out->size--;
		t->column--;
	}
	sink_u8(t->out, '\n');
	t->column = 0;
	t->line++;
}

void text_mark(struct text_out *t, const struct annotate_mark *mark)
{
	if (!t->style->marks)
		return;
	struct annotate_mark *slot = vector_push(t->style->marks);
	if (!slot) {
		t->out->failed = true;
		return;
	}
	*slot = *mark;
	slot->line = t->line;
}

enum text_ink text_heat(double percent)
{
	return percent >= 5 ? TEXT_HOT : percent >= 0.5 ? TEXT_WARM : TEXT_PLAIN;
}

void text_put_count(struct text_out *t, const struct annotate_count *count,
		    const struct annotate_count *whole)
{
	if (!count->samples) {
		text_pad(t, t->column + TEXT_COUNT_WIDTH);
		return;
	}
	const double percent = annotate_percent(count, whole);
	text_printf(t, text_heat(percent), "%7.2f%%", percent);
	text_printf(t, TEXT_PLAIN, " %8" PRIu64 "  ", count->samples);
}

const char *text_cell(uint8_t cell, bool ascii)
{
	static const char *const drawn[][2] = {
		[ANNOTATE_CELL_NONE] = { " ", " " },  [ANNOTATE_CELL_PASS] = { "│", "|" },
		[ANNOTATE_CELL_FIRST] = { "╭", "." }, [ANNOTATE_CELL_MIDDLE] = { "├", "+" },
		[ANNOTATE_CELL_LAST] = { "╰", "'" },  [ANNOTATE_CELL_ACROSS] = { "─", "-" },
		[ANNOTATE_CELL_CROSS] = { "┼", "+" },
	};
	return drawn[cell][ascii];
}

const char *text_stray(enum annotate_row_kind kind)
{
	switch (kind) {
	case ANNOTATE_ROW_INSIDE:
		return "(inside the instruction above)";
	case ANNOTATE_ROW_BEYOND:
		return "(behind the code that is known)";
	case ANNOTATE_ROW_NOWHERE:
		return "(at an unknown place)";
	default:
		return "";
	}
}
