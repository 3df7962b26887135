/* Source lines with their samples, of one version, of all, or with a column a version. */
#include "annotate/text_out.h"

#include <inttypes.h>

enum { VERSION_WIDTH = 10 };

struct line_view {
	struct text_out *t;
	const struct annotate_line *lines; /* of one file */
	size_t count;
	uint32_t file;
	uint32_t only_line;
	const struct annotate_count *whole;
	const struct annotate_function *by_version; /* NULL: no columns for versions */
};

static const struct annotate_line *find_line(const struct line_view *v, uint32_t line)
{
	size_t low = 0;
	size_t high = v->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (v->lines[middle].line == line)
			return &v->lines[middle];
		if (v->lines[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void put_splits(struct line_view *v, const struct annotate_line *line)
{
	const struct annotate_function *function = v->by_version;
	const size_t start = v->t->column;
	for (size_t i = 0; i < function->versions.count; i++) {
		const struct annotate_count *count =
		    line ? &function->splits.items[line->first_split + i] : NULL;
		if (count && count->samples) {
			const double percent = annotate_percent(count, v->whole);
			text_printf(v->t, text_heat(percent), "%*" PRIu64, VERSION_WIDTH - 1,
				    count->samples);
		}
		text_pad(v->t, start + (i + 1) * VERSION_WIDTH);
	}
	text_put(v->t, TEXT_PLAIN, " ");
}

static void put_line(struct line_view *v, uint32_t number, const struct annotate_line *line,
		     bool has_text, struct bytes text)
{
	static const struct annotate_count none;
	text_put_count(v->t, line ? &line->count : &none, v->whole);
	if (v->by_version)
		put_splits(v, line);
	if (number)
		text_printf(v->t, number == v->only_line ? TEXT_TITLE : TEXT_QUIET,
			    "%6" PRIu32 "  ", number);
	else
		text_put(v->t, TEXT_QUIET, "     -  line not known");
	if (has_text)
		text_put_source(v->t, text);
	text_end_line(v->t);
}

/* Lines that have neither text nor samples are left out. */
static void put_range(struct line_view *v, uint32_t from, uint32_t to)
{
	for (uint64_t number = from; number <= to; number++) {
		const struct annotate_line *line = find_line(v, (uint32_t)number);
		struct bytes text;
		const bool has_text =
		    annotate_line_text(v->t->doc, v->file, (uint32_t)number, &text);
		if (line || has_text)
			put_line(v, (uint32_t)number, line, has_text, text);
	}
}

/* The range around a line; where there is no source, the line alone. */
static void around(const struct line_view *v, uint32_t line, uint32_t *from, uint32_t *to)
{
	const struct annotate_source *source = &v->t->doc->sources.items[v->file];
	const uint32_t known = (uint32_t)source->starts.count;
	const uint32_t context = line <= known ? v->t->options->context : 0;
	*from = line > context ? line - context : 1;
	*to = line + context < line || line + context > known ? known : line + context;
	*to = *to < line ? line : *to;
}

static void put_gap(struct line_view *v)
{
	text_pad(v->t, TEXT_COUNT_WIDTH +
			   (v->by_version ? v->by_version->versions.count * VERSION_WIDTH + 1 : 0));
	text_put(v->t, TEXT_QUIET, "   ...");
	text_end_line(v->t);
}

static void put_anchors(struct line_view *v)
{
	const bool has_source = v->t->doc->sources.items[v->file].starts.count;
	uint64_t shown_to = 0;
	for (size_t i = 0; i < v->count; i++) {
		const struct annotate_line *line = &v->lines[i];
		uint32_t from;
		uint32_t to;
		if (annotate_percent(&line->count, v->whole) < v->t->options->percent_limit)
			continue;
		if (!line->line) {
			put_line(v, 0, line, false, (struct bytes){ 0 });
			continue;
		}
		around(v, line->line, &from, &to);
		if (from > shown_to + 1 && has_source && shown_to)
			put_gap(v);
		put_range(v, from > shown_to ? from : (uint32_t)shown_to + 1, to);
		shown_to = to > shown_to ? to : shown_to;
	}
}

static void put_file_name(struct line_view *v)
{
	struct text_out *t = v->t;
	const struct annotate_source *source = &t->doc->sources.items[v->file];
	const struct bytes name = annotate_file_name(t->doc, v->file);
	if (!v->file) {
		text_put(t, TEXT_TITLE, "No file known:");
	} else {
		text_put_bytes(t, TEXT_TITLE, name);
		if (!source->found && !source->told.count)
			text_put(t, TEXT_QUIET, "  (source not found)");
		else if (source->is_newer)
			text_put(t, TEXT_HOT, "  (changed after the recording)");
		if (source->found && strcmp(source->found, (const char *)name.data) != 0) {
			text_put(t, TEXT_QUIET, "  from ");
			text_put_bytes(t, TEXT_QUIET,
				       (struct bytes){ (const uint8_t *)source->found,
						       strlen(source->found) });
		}
	}
	text_end_line(t);
}

static void put_files(struct line_view *v, const annotate_lines *lines)
{
	for (size_t first = 0; first < lines->count; first += v->count) {
		v->lines = lines->items + first;
		v->file = v->lines[0].file;
		v->count = 1;
		while (first + v->count < lines->count && v->lines[v->count].file == v->file)
			v->count++;
		put_file_name(v);
		if (v->only_line) {
			uint32_t from;
			uint32_t to;
			around(v, v->only_line, &from, &to);
			put_range(v, from, to);
		} else {
			put_anchors(v);
		}
	}
}

void text_lines(struct text_out *t, const annotate_lines *lines, const struct annotate_count *whole,
		uint32_t only_line)
{
	struct line_view v = { .t = t, .whole = whole, .only_line = only_line };
	text_put(t, TEXT_TITLE, " Percent  Samples      Line");
	text_end_line(t);
	put_files(&v, lines);
}

void text_by_version(struct text_out *t, const struct annotate_function *function)
{
	struct line_view v = { .t = t, .whole = &function->count, .by_version = function };
	const struct profile *profile = t->doc->profile;
	text_put(t, TEXT_TITLE, " Percent  Samples  ");
	for (size_t i = 0; i < function->versions.count; i++)
		text_printf(t, TEXT_TITLE, "%*s%-4" PRIu32, VERSION_WIDTH - 4, "v",
			    profile->functions.items[function->versions.items[i].function].version);
	text_put(t, TEXT_TITLE, "   Line");
	text_end_line(t);
	put_files(&v, &function->lines);
}
