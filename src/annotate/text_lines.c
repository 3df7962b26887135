/* Source lines with their samples, of one version, of all, or with a column a version. */
#include "annotate/text_out.h"

#include "annotate/walk.h"

#include <inttypes.h>
#include <stdio.h>

enum { VERSION_WIDTH = 10 };

struct line_view {
	struct text_out *t;
	uint32_t only_line;
	const struct annotate_count *whole;
	const struct annotate_function *by_version; /* NULL: no columns for versions */
};

static void put_splits(const struct line_view *v, const struct annotate_line *line)
{
	const struct annotate_function *function = v->by_version;
	const size_t start = v->t->column;
	for (size_t i = 0; i < function->versions.count; i++) {
		const struct annotate_count *count =
		    line ? &function->splits.items[line->first_split + i] : NULL;
		if (count && count->samples)
			text_printf(v->t, text_heat(annotate_percent(count, v->whole)), "%*" PRIu64,
				    VERSION_WIDTH - 1, count->samples);
		text_pad(v->t, start + (i + 1) * VERSION_WIDTH);
	}
}

static void put_line(void *context, const struct walk_line *line)
{
	static const struct annotate_count none;
	const struct line_view *v = context;
	if (line->line)
		text_mark(v->t, &(struct annotate_mark){ .weight = line->line->count.weight,
							 .callee = "" });
	text_put_count(v->t, line->line ? &line->line->count : &none, v->whole);
	if (v->by_version)
		put_splits(v, line->line);
	if (line->number)
		text_printf(v->t, line->number == v->only_line ? TEXT_TITLE : TEXT_QUIET,
			    "%6" PRIu32 "  ", line->number);
	else
		text_put(v->t, TEXT_QUIET, "     -  line not known");
	if (line->has_text)
		text_put_source(v->t, line->text, 0);
	text_end_line(v->t);
}

static void put_gap(void *context)
{
	const struct line_view *v = context;
	text_pad(v->t, TEXT_COUNT_WIDTH +
			   (v->by_version ? v->by_version->versions.count * VERSION_WIDTH : 0));
	text_put(v->t, TEXT_QUIET, "   ...");
	text_end_line(v->t);
}

static void put_file(void *context, uint32_t file)
{
	const struct line_view *v = context;
	struct text_out *t = v->t;
	const struct annotate_source *source = &t->doc->sources.items[file];
	const struct bytes name = annotate_file_name(t->doc, file);
	if (!file)
		text_put(t, TEXT_TITLE, "No file known:");
	else
		text_put_bytes(t, TEXT_TITLE, name);
	if (file && !source->found && !source->told.count)
		text_put(t, TEXT_QUIET, "  (source not found)");
	if (source->found && strcmp(source->found, (const char *)name.data) != 0) {
		text_put(t, TEXT_QUIET, "  ");
		text_put_text(t, TEXT_QUIET, source->found);
	}
	if (source->is_newer)
		text_put(t, TEXT_HOT, "  (changed after the recording)");
	text_end_line(t);
}

static void put_lines(struct line_view *v, const annotate_lines *lines)
{
	annotate_walk_lines(&(const struct walk){ .doc = v->t->doc,
						  .options = v->t->options,
						  .lines = lines,
						  .whole = v->whole,
						  .only_line = v->only_line,
						  .context = v,
						  .file = put_file,
						  .gap = put_gap,
						  .line = put_line });
}

void text_lines(struct text_out *t, const annotate_lines *lines, const struct annotate_count *whole,
		uint32_t only_line)
{
	struct line_view v = { .t = t, .whole = whole, .only_line = only_line };
	text_put(t, TEXT_TITLE, " Percent  Samples    Line");
	text_end_line(t);
	put_lines(&v, lines);
}

void text_by_version(struct text_out *t, const struct annotate_function *function)
{
	struct line_view v = { .t = t, .whole = &function->count, .by_version = function };
	const struct profile *profile = t->doc->profile;
	text_put(t, TEXT_TITLE, " Percent  Samples  ");
	for (size_t i = 0; i < function->versions.count; i++) {
		char title[16];
		(void)snprintf(
		    title, sizeof(title), "v%" PRIu32,
		    profile->functions.items[function->versions.items[i].function].version);
		text_printf(t, TEXT_TITLE, "%*s ", VERSION_WIDTH - 1, title);
	}
	text_put(t, TEXT_TITLE, "  Line");
	text_end_line(t);
	put_lines(&v, &function->lines);
}
