#include "annotate/walk.h"

#include "base/search.h"

/* The lines of one file. */
struct part {
	const struct walk *walk;
	const struct annotate_line *lines;
	size_t count;
	uint32_t file;
};

static const struct annotate_line *find_line(const struct part *part, uint32_t line)
{
	size_t count;
	SEARCH(count, part->count, i, part->lines[i].line <= line);
	return count && part->lines[count - 1].line == line ? &part->lines[count - 1] : NULL;
}

/* Lines that have neither text nor samples are left out. */
static void tell_range(const struct part *part, uint64_t from, uint64_t to)
{
	const struct walk *walk = part->walk;
	for (uint64_t number = from; number <= to; number++) {
		struct walk_line told = { .number = (uint32_t)number };
		told.line = find_line(part, told.number);
		told.has_text = annotate_line_text(walk->doc, part->file, told.number, &told.text);
		if (told.line || told.has_text)
			walk->line(walk->context, &told);
	}
}

static size_t known_lines(const struct part *part)
{
	return part->walk->doc->sources.items[part->file].starts.count;
}

/* The range around a line; behind the end of the source, or without it, the line alone. */
static void around(const struct part *part, uint32_t line, uint64_t *from, uint64_t *to)
{
	const size_t known = known_lines(part);
	const uint64_t context = line <= known ? part->walk->options->context : 0;
	*from = line > context ? line - context : 1;
	*to = line + context;
	if (context && *to > known)
		*to = known;
}

static bool is_anchor(const struct part *part, const struct annotate_line *line)
{
	const struct walk *walk = part->walk;
	return annotate_percent(&line->count, walk->whole) >= walk->options->percent_limit;
}

static bool has_anchors(const struct part *part)
{
	for (size_t i = 0; i < part->count; i++)
		if (is_anchor(part, &part->lines[i]))
			return true;
	return false;
}

static void tell_anchors(const struct part *part)
{
	const struct walk *walk = part->walk;
	uint64_t shown_to = 0;
	for (size_t i = 0; i < part->count; i++) {
		const struct annotate_line *line = &part->lines[i];
		uint64_t from;
		uint64_t to;
		if (!is_anchor(part, line))
			continue;
		if (!line->line) {
			walk->line(walk->context, &(struct walk_line){ .line = line });
			continue;
		}
		around(part, line->line, &from, &to);
		if (shown_to && from > shown_to + 1 && known_lines(part))
			walk->gap(walk->context);
		tell_range(part, from > shown_to ? from : shown_to + 1, to);
		shown_to = to > shown_to ? to : shown_to;
	}
}

void annotate_walk_lines(const struct walk *walk)
{
	const annotate_lines *lines = walk->lines;
	struct part part = { .walk = walk };
	for (size_t first = 0; first < lines->count; first += part.count) {
		part.lines = lines->items + first;
		part.file = part.lines[0].file;
		part.count = 1;
		while (first + part.count < lines->count &&
		       part.lines[part.count].file == part.file)
			part.count++;
		if (!walk->only_line && !has_anchors(&part))
			continue;
		walk->file(walk->context, part.file);
		if (walk->only_line) {
			uint64_t from;
			uint64_t to;
			around(&part, walk->only_line, &from, &to);
			tell_range(&part, from, to);
		} else {
			tell_anchors(&part);
		}
	}
}
