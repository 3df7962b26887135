/* Instructions, with or without the source lines above them. */
#include "annotate/text_out.h"

#include "annotate/place.h"

#include <inttypes.h>
#include <stdlib.h>

enum { COMMENT_COLUMN = 36, BYTES_MOST = 11 };

/* Where things are, and what was shown last. */
struct code_view {
	struct text_out *t;
	const struct annotate_function *function;
	const struct annotate_version *version;
	size_t offset_digits;
	size_t bytes_shown; /* of each instruction; 0: none */
	size_t lanes_column;
	size_t text_column;
	uint32_t scope;
	uint32_t file;
	uint32_t line;
	int32_t bytecode;
	bool has_place; /* file, line and scope were shown */
};

static void set_columns(struct code_view *v)
{
	const struct annotate_version *version = v->version;
	uint64_t last = version->listing.code.size;
	v->offset_digits = 4;
	for (size_t i = version->rows.count; i--;)
		if (version->rows.items[i].kind != ANNOTATE_ROW_NOWHERE) {
			last = version->rows.items[i].offset > last ? version->rows.items[i].offset
								    : last;
			break;
		}
	while (v->offset_digits < 16 && last >> (4 * v->offset_digits))
		v->offset_digits++;
	if (v->t->options->raw_bytes)
		for (size_t i = 0; i < version->rows.count; i++)
			if (version->rows.items[i].size > v->bytes_shown)
				v->bytes_shown = version->rows.items[i].size;
	if (v->bytes_shown > BYTES_MOST)
		v->bytes_shown = BYTES_MOST;
	v->lanes_column = TEXT_COUNT_WIDTH + v->offset_digits + 2;
	if (v->bytes_shown)
		v->lanes_column += 3 * v->bytes_shown + 1;
	v->text_column = v->lanes_column + version->lanes + 2;
}

/* Arrows pass by lines that are no instructions, on their way to the row below. */
static void put_lanes_above(struct code_view *v, const struct annotate_row *below)
{
	text_pad(v->t, v->lanes_column);
	for (size_t i = ANNOTATE_LANES - v->version->lanes; i < ANNOTATE_LANES; i++)
		text_put(v->t, TEXT_QUIET,
			 text_cell(annotate_cell_comes_from_above(below->cells[i])
				       ? ANNOTATE_CELL_PASS
				       : ANNOTATE_CELL_NONE,
				   v->t->style->ascii));
	text_pad(v->t, v->text_column);
}

static void put_scope_line(struct code_view *v, const struct annotate_row *below, uint32_t scope,
			   size_t depth)
{
	const struct listing_scope *s = &v->version->listing.scopes.items[scope - 1];
	put_lanes_above(v, below);
	text_printf(v->t, TEXT_TITLE, "%*s> inlined ", (int)(2 * depth), "");
	text_put_text(v->t, TEXT_TITLE, s->name);
	if (s->call_line) {
		text_put(v->t, TEXT_QUIET, " at ");
		text_put_text(v->t, TEXT_QUIET, s->call_file);
		text_printf(v->t, TEXT_QUIET, ":%" PRIu32, s->call_line);
	}
	text_end_line(v->t);
}

/* What was left is not told where something else is entered. */
static void put_scopes(struct code_view *v, const struct annotate_row *row, uint32_t scope)
{
	const struct listing *listing = &v->version->listing;
	struct place_change change;
	place_change(listing, v->scope, scope, &change);
	for (size_t i = 0; i < change.entered_count; i++)
		put_scope_line(v, row, change.entered[i], change.depth + i);
	if (!change.is_back)
		return;
	put_lanes_above(v, row);
	text_printf(v->t, TEXT_TITLE, "%*s< back in ", (int)(2 * change.depth), "");
	if (change.back_in)
		text_put_text(v->t, TEXT_TITLE, listing->scopes.items[change.back_in - 1].name);
	else
		text_put_string(v->t, TEXT_TITLE, v->function->name);
	text_end_line(v->t);
}

static void put_source_line(struct code_view *v, const struct annotate_row *row, uint32_t file,
			    const struct listing_line *entry)
{
	const uint32_t line = entry ? entry->line : 0;
	struct bytes text;
	if (file && (!v->has_place || file != v->file)) {
		put_lanes_above(v, row);
		text_put_bytes(v->t, TEXT_TITLE, annotate_file_name(v->t->doc, file));
		text_put(v->t, TEXT_TITLE, ":");
		text_end_line(v->t);
	}
	put_lanes_above(v, row);
	if (!line) {
		text_put(v->t, TEXT_QUIET, "    - line not known");
	} else {
		text_printf(v->t, TEXT_QUIET, "%5" PRIu32 " ", line);
		if (annotate_line_text(v->t->doc, file, line, &text))
			text_put_source(v->t, text, entry->column);
	}
	text_end_line(v->t);
}

static void put_place(struct code_view *v, const struct annotate_row *row)
{
	uint32_t file = 0;
	const struct listing_line *entry = place_line(v->version, row, &file);
	const uint32_t line = entry ? entry->line : 0;
	const uint32_t scope = entry ? entry->scope : 0;
	/* Samples that are nowhere in the code are of no line. */
	if (!v->version->listing.lines.count || (!row->size && !row->line))
		return;
	const bool is_new = !v->has_place || (file && file != v->file) || line != v->line;
	const bool moves = scope != v->scope;
	if (moves)
		put_scopes(v, row, scope);
	if ((is_new || moves) && v->t->options->view == ANNOTATE_MIXED)
		put_source_line(v, row, file, entry);
	/* A place without a file is no way to another file and back. */
	v->file = file ? file : v->file;
	v->line = line;
	v->scope = scope;
	v->has_place = true;
}

static void put_raw_bytes(struct code_view *v, const struct annotate_row *row)
{
	const size_t shown = row->size < v->bytes_shown ? row->size : v->bytes_shown;
	for (size_t i = 0; i < shown; i++)
		text_printf(v->t, TEXT_QUIET, "%02x ",
			    v->version->listing.code.data[row->offset + i]);
	if (v->bytes_shown && row->size > shown)
		text_put(v->t, TEXT_QUIET, "+");
}

static void put_lanes(struct code_view *v, const struct annotate_row *row)
{
	const bool ascii = v->t->style->ascii;
	bool touches = false;
	text_pad(v->t, v->lanes_column);
	for (size_t i = ANNOTATE_LANES - v->version->lanes; i < ANNOTATE_LANES; i++) {
		touches |= row->cells[i] == ANNOTATE_CELL_FIRST ||
			   row->cells[i] == ANNOTATE_CELL_MIDDLE ||
			   row->cells[i] == ANNOTATE_CELL_LAST;
		text_put(v->t, TEXT_QUIET, text_cell(row->cells[i], ascii));
	}
	if (row->is_target)
		text_put(v->t, TEXT_QUIET, ">");
	else if (touches)
		text_put(v->t, TEXT_QUIET, text_cell(ANNOTATE_CELL_ACROSS, ascii));
	text_pad(v->t, v->text_column);
}

/* Where it jumps to: a place in the function, a name, or an address. */
static void put_target(struct code_view *v, const struct annotate_row *row)
{
	const uint64_t offset = row->target - v->version->listing.start_avma;
	if (offset < v->version->listing.code.size) {
		const bool is_drawn =
		    row->target_row && v->version->rows.items[row->target_row - 1].is_arrow;
		text_printf(v->t, TEXT_PLAIN, "%" PRIx64, offset);
		if (!is_drawn && row->flow != ANNOTATE_FLOW_CALL && v->t->style->ascii)
			text_put(v->t, TEXT_QUIET, offset > row->offset ? " v" : " ^");
		else if (!is_drawn && row->flow != ANNOTATE_FLOW_CALL)
			text_put(v->t, TEXT_QUIET, offset > row->offset ? " ↓" : " ↑");
	} else if (row->callee[0]) {
		text_put_text(v->t, TEXT_PLAIN, row->callee);
	} else {
		text_printf(v->t, TEXT_PLAIN, "0x%" PRIx64, row->target);
	}
}

/* Before the first comment of a row comes a semicolon, before others a comma. */
static void begin_comment(struct code_view *v, bool *has_some)
{
	if (!*has_some)
		text_pad(v->t, v->text_column + COMMENT_COLUMN);
	text_put(v->t, TEXT_QUIET, *has_some ? ", " : " ; ");
	*has_some = true;
}

static void put_note(struct code_view *v, const struct listing_note *note)
{
	text_put_text(v->t, TEXT_QUIET, note->kind);
	if (note->text[0]) {
		text_put(v->t, TEXT_QUIET, ": ");
		text_put_text(v->t, TEXT_QUIET, note->text);
	} else if (note->size) {
		text_printf(v->t, TEXT_QUIET, ", %" PRIu32 " bytes", note->size);
	}
}

static void put_comments(struct code_view *v, const struct annotate_row *row)
{
	const struct listing *listing = &v->version->listing;
	const struct place_notes notes = place_notes(listing, row);
	bool has_some = false;
	if (row->has_target && !row->is_direct) {
		const uint64_t offset = row->target - listing->start_avma;
		begin_comment(v, &has_some);
		text_printf(v->t, TEXT_QUIET,
			    offset < listing->code.size ? "%" PRIx64 : "0x%" PRIx64,
			    offset < listing->code.size ? offset : row->target);
	}
	const int32_t bytecode = row->size ? place_bytecode(listing, row->offset) : v->bytecode;
	if (bytecode != v->bytecode && bytecode >= 0) {
		begin_comment(v, &has_some);
		text_printf(v->t, TEXT_QUIET, "bytecode %" PRId32, bytecode);
	}
	v->bytecode = bytecode;
	for (size_t i = notes.first; i < notes.end; i++) {
		begin_comment(v, &has_some);
		put_note(v, &listing->notes.items[i]);
	}
}

static void put_row(struct code_view *v, const struct annotate_row *row)
{
	struct text_out *t = v->t;
	const struct annotate_row *rows = v->version->rows.items;
	text_mark(t, &(struct annotate_mark){ .weight = row->count.weight,
					      .function = v->version->function,
					      .row = (uint32_t)(row - rows) + 1,
					      .target_row = row->target_row,
					      .callee = row->is_direct ? row->callee : "" });
	text_put_count(t, &row->count, &v->version->count);
	if (row->kind != ANNOTATE_ROW_NOWHERE)
		text_printf(t, TEXT_QUIET, "%*" PRIx64 "  ", (int)v->offset_digits, row->offset);
	if (row->size)
		put_raw_bytes(v, row);
	put_lanes(v, row);
	if (!row->size) {
		text_put(t, TEXT_QUIET, text_stray((enum annotate_row_kind)row->kind));
	} else {
		const double percent = annotate_percent(&row->count, &v->version->count);
		text_put_bytes(t, row->kind == ANNOTATE_ROW_CODE ? text_heat(percent) : TEXT_QUIET,
			       place_text(t->doc, row));
		if (row->is_direct)
			put_target(v, row);
		put_comments(v, row);
	}
	text_end_line(t);
}

static bool is_wanted(const struct code_view *v, const struct annotate_row *row)
{
	const struct annotate_options *options = v->t->options;
	const uint32_t only_line = v->t->doc->choice->line;
	uint32_t file = 0;
	if (options->percent_limit > 0)
		return row->count.samples &&
		       annotate_percent(&row->count, &v->version->count) >= options->percent_limit;
	if (!only_line || row->count.samples)
		return true;
	const struct listing_line *entry = place_line(v->version, row, &file);
	return entry && entry->line == only_line &&
	       annotate_is_file(v->t->doc->choice, annotate_file_name(v->t->doc, file));
}

static void put_gap(struct text_out *t, size_t column)
{
	text_pad(t, column);
	text_put(t, TEXT_QUIET, "...");
	text_end_line(t);
}

static void put_rows(struct code_view *v, bool *shown)
{
	const annotate_rows *rows = &v->version->rows;
	/* Of a single line the instructions alone: their neighbours are of others. */
	const size_t context = v->t->doc->choice->line ? 0 : v->t->options->context;
	for (size_t i = 0; i < rows->count; i++)
		shown[i] = is_wanted(v, &rows->items[i]);
	place_add_context(shown, rows->count, context);
	bool is_gap = false;
	for (size_t i = 0; i < rows->count; i++) {
		if (!shown[i]) {
			is_gap = true;
			continue;
		}
		if (is_gap)
			put_gap(v->t, v->text_column);
		is_gap = false;
		put_place(v, &rows->items[i]);
		put_row(v, &rows->items[i]);
	}
	if (is_gap)
		put_gap(v->t, v->text_column);
}

static void put_last_notes(struct code_view *v)
{
	const struct place_notes notes = place_last_notes(v->version);
	for (size_t i = notes.first; i < notes.end; i++) {
		const struct listing_note *note = &v->version->listing.notes.items[i];
		text_pad(v->t, TEXT_COUNT_WIDTH);
		text_printf(v->t, TEXT_QUIET, "%*" PRIx32 "  ", (int)v->offset_digits,
			    note->offset);
		text_pad(v->t, v->text_column);
		text_put(v->t, TEXT_QUIET, "; ");
		put_note(v, note);
		text_end_line(v->t);
	}
}

void text_code(struct text_out *t, const struct annotate_function *function,
	       const struct annotate_version *version)
{
	struct code_view v = { .t = t, .function = function, .version = version, .bytecode = -1 };
	bool *shown = calloc(version->rows.count + 1, sizeof(*shown));
	if (!shown) {
		t->out->failed = true;
		return;
	}
	set_columns(&v);
	text_printf(t, TEXT_TITLE, " Percent  Samples  %*s", (int)v.offset_digits, "Off");
	text_end_line(t);
	put_rows(&v, shown);
	if (!t->doc->choice->line)
		put_last_notes(&v);
	free(shown);
}
