/* The table of a version's instructions, with the source lines above them. */
#include "annotate/html_out.h"

#include "annotate/place.h"
#include "annotate/text_out.h"

#include <inttypes.h>

struct code {
	const struct html *h;
	const struct annotate_function *function;
	const struct annotate_version *version;
	uint32_t scope;
	uint32_t file;
	uint32_t line;
	int32_t bytecode;
	bool has_place;
};

/* Four cells before the text, one more with bytes: percent, samples, offset, arrows. */
static void put_cells_above(const struct code *c, const struct annotate_row *below)
{
	const struct html *h = c->h;
	sink_text(h->out, "<tr class=src><td><td><td>");
	if (h->options->raw_bytes)
		sink_text(h->out, "<td>");
	sink_text(h->out, "<td class=a>");
	for (size_t i = ANNOTATE_LANES - c->version->lanes; i < ANNOTATE_LANES; i++)
		sink_text(h->out, text_cell(annotate_cell_comes_from_above(below->cells[i])
						? ANNOTATE_CELL_PASS
						: ANNOTATE_CELL_NONE,
					    false));
	sink_text(h->out, " <td class=s colspan=2>");
}

static void put_scopes(struct code *c, const struct annotate_row *row, uint32_t to)
{
	const struct html *h = c->h;
	const struct listing *listing = &c->version->listing;
	struct place_change change;
	place_change(listing, c->scope, to, &change);
	for (size_t i = 0; i < change.entered_count; i++) {
		const struct listing_scope *scope = &listing->scopes.items[change.entered[i] - 1];
		put_cells_above(c, row);
		sink_printf(h->out, "%*s<span class=in>&#9656; inlined ",
			    (int)(2 * (change.depth + i)), "");
		html_text(h, scope->name);
		sink_text(h->out, "</span>");
		if (scope->call_line) {
			sink_text(h->out, " <b>at ");
			html_text(h, scope->call_file);
			sink_printf(h->out, ":%" PRIu32 "</b>", scope->call_line);
		}
		sink_text(h->out, "\n");
	}
	if (!change.is_back)
		return;
	put_cells_above(c, row);
	sink_printf(h->out, "%*s<span class=in>&#9666; back in ", (int)(2 * change.depth), "");
	if (change.back_in)
		html_text(h, listing->scopes.items[change.back_in - 1].name);
	else
		html_string(h, c->function->name);
	sink_text(h->out, "</span>\n");
}

static void put_place(struct code *c, const struct annotate_row *row)
{
	const struct html *h = c->h;
	uint32_t file = 0;
	struct bytes text;
	const struct listing_line *entry = place_line(c->version, row, &file);
	const uint32_t line = entry ? entry->line : 0;
	const uint32_t scope = entry ? entry->scope : 0;
	const bool is_new = !c->has_place || (file && file != c->file) || line != c->line;
	/* Samples that are nowhere in the code are of no line. */
	if (!c->version->listing.lines.count || (!row->size && !row->line))
		return;
	if (scope != c->scope)
		put_scopes(c, row, scope);
	if ((is_new || scope != c->scope) && h->options->view != ANNOTATE_ASM) {
		put_cells_above(c, row);
		if (file && (!c->has_place || file != c->file)) {
			sink_text(h->out, "<b>");
			html_bytes(h, annotate_file_name(h->doc, file));
			sink_text(h->out, "</b>\n");
			put_cells_above(c, row);
		}
		if (line)
			sink_printf(h->out, "<b>%5" PRIu32 "</b> ", line);
		else
			sink_text(h->out, "<b>line not known</b>");
		if (entry && annotate_line_text(h->doc, file, line, &text))
			html_source(h, text, entry->column);
		sink_text(h->out, "\n");
	}
	c->scope = scope;
	/* A place without a file is no way to another file and back. */
	c->file = file ? file : c->file;
	c->line = line;
	c->has_place = true;
}

static void put_target(const struct code *c, const struct annotate_row *row)
{
	const struct html *h = c->h;
	const uint64_t offset = row->target - c->version->listing.start_avma;
	if (row->target_row)
		sink_printf(h->out, "<a href=\"#f%zuv%zu-%" PRIx64 "\">%" PRIx64 "</a>",
			    h->function, h->version, offset, offset);
	else if (offset < c->version->listing.code.size)
		sink_printf(h->out, "%" PRIx64, offset);
	else if (row->callee[0])
		html_text(h, row->callee);
	else
		sink_printf(h->out, "0x%" PRIx64, row->target);
}

static void put_note(const struct html *h, const struct listing_note *note)
{
	html_text(h, note->kind);
	if (note->text[0]) {
		sink_text(h->out, ": ");
		html_text(h, note->text);
	} else if (note->size) {
		sink_printf(h->out, ", %" PRIu32 " bytes", note->size);
	}
}

static void put_comments(struct code *c, const struct annotate_row *row)
{
	const struct html *h = c->h;
	const struct listing *listing = &c->version->listing;
	const struct place_notes notes = place_notes(listing, row);
	const char *separator = "";
	sink_text(h->out, "<td class=\"i q\">");
	if (row->has_target && !row->is_direct) {
		const uint64_t offset = row->target - listing->start_avma;
		sink_printf(h->out, offset < listing->code.size ? "%" PRIx64 : "0x%" PRIx64,
			    offset < listing->code.size ? offset : row->target);
		separator = ", ";
	}
	const int32_t bytecode = row->size ? place_bytecode(listing, row->offset) : c->bytecode;
	if (bytecode != c->bytecode && bytecode >= 0) {
		sink_printf(h->out, "%sbytecode %" PRId32, separator, bytecode);
		separator = ", ";
	}
	c->bytecode = bytecode;
	for (size_t i = notes.first; i < notes.end; i++) {
		sink_text(h->out, separator);
		put_note(h, &listing->notes.items[i]);
		separator = ", ";
	}
}

static void put_arrow(const struct code *c, const struct annotate_row *row)
{
	const struct html *h = c->h;
	bool touches = false;
	sink_text(h->out, "<td class=a>");
	for (size_t i = ANNOTATE_LANES - c->version->lanes; i < ANNOTATE_LANES; i++) {
		touches |= row->cells[i] == ANNOTATE_CELL_FIRST ||
			   row->cells[i] == ANNOTATE_CELL_MIDDLE ||
			   row->cells[i] == ANNOTATE_CELL_LAST;
		sink_text(h->out, text_cell(row->cells[i], false));
	}
	sink_text(h->out, row->is_target ? "&gt;" : touches ? "─" : " ");
}

static void put_row(struct code *c, const struct annotate_row *row)
{
	const struct html *h = c->h;
	if (row->is_target)
		sink_printf(h->out, "<tr id=f%zuv%zu-%" PRIx64 ">", h->function, h->version,
			    row->offset);
	else
		sink_text(h->out, "<tr>");
	html_counts(h, &row->count, &c->version->count);
	sink_text(h->out, "<td class=o>");
	if (row->kind != ANNOTATE_ROW_NOWHERE)
		sink_printf(h->out, "%" PRIx64, row->offset);
	if (h->options->raw_bytes) {
		sink_text(h->out, "<td class=\"b s\">");
		for (size_t i = 0; i < row->size; i++)
			sink_printf(h->out, "%s%02x", i ? " " : "",
				    c->version->listing.code.data[row->offset + i]);
	}
	put_arrow(c, row);
	sink_text(h->out, row->kind == ANNOTATE_ROW_CODE ? "<td class=i>" : "<td class=\"i q\">");
	if (!row->size)
		sink_text(h->out, text_stray((enum annotate_row_kind)row->kind));
	html_bytes(h, place_text(h->doc, row));
	if (row->is_direct)
		put_target(c, row);
	put_comments(c, row);
	sink_text(h->out, "\n");
}

/* Of one line, only what belongs to it. */
static bool is_shown(const struct code *c, const struct annotate_row *row)
{
	const struct annotate_choice *choice = c->h->doc->choice;
	uint32_t file = 0;
	if (!choice->line || row->count.samples)
		return true;
	const struct listing_line *entry = place_line(c->version, row, &file);
	return entry && entry->line == choice->line &&
	       annotate_is_file(choice, annotate_file_name(c->h->doc, file));
}

void html_code(const struct html *h, const struct annotate_function *function,
	       const struct annotate_version *version)
{
	struct code c = { .h = h, .function = function, .version = version, .bytecode = -1 };
	sink_printf(h->out,
		    "<div class=wide><table class=code><tr><th>Percent<th>Samples<th>Offset%s<th>"
		    "<th class=i>Instruction<th>\n",
		    h->options->raw_bytes ? "<th class=s>Bytes" : "");
	bool is_gap = false;
	for (size_t i = 0; i < version->rows.count; i++) {
		const struct annotate_row *row = &version->rows.items[i];
		if (!is_shown(&c, row)) {
			is_gap = true;
			continue;
		}
		if (is_gap)
			sink_printf(h->out, "<tr><td class=gap colspan=%d>&#8942;\n",
				    h->options->raw_bytes ? 7 : 6);
		is_gap = false;
		put_place(&c, row);
		put_row(&c, row);
	}
	const struct place_notes notes = place_last_notes(version);
	for (size_t i = notes.first; !h->doc->choice->line && i < notes.end; i++) {
		const struct listing_note *note = &version->listing.notes.items[i];
		sink_printf(h->out, "<tr><td><td><td class=o>%" PRIx32 "%s<td><td class=\"i q\">",
			    note->offset, h->options->raw_bytes ? "<td>" : "");
		put_note(h, note);
		sink_text(h->out, "\n");
	}
	sink_text(h->out, "</table></div>\n");
}
