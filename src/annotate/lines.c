#include "annotate/internal.h"

#include "base/status.h"

#include <stdlib.h>

static int by_place(const void *left, const void *right, void *context)
{
	const struct annotate *doc = context;
	const struct annotate_line *a = left;
	const struct annotate_line *b = right;
	if (a->file != b->file) {
		const int name =
		    strcmp(intern_get(&doc->files, a->file), intern_get(&doc->files, b->file));
		return name ? name : a->file < b->file ? -1 : 1;
	}
	return a->line < b->line ? -1 : a->line > b->line;
}

static void sort_lines(const struct annotate *doc, annotate_lines *lines)
{
	if (lines->count)
		qsort_r(lines->items, lines->count, sizeof(struct annotate_line), by_place,
			(void *)doc);
}

void annotate_lines_join(const struct annotate *doc, annotate_lines *lines)
{
	size_t kept = 0;
	sort_lines(doc, lines);
	for (size_t i = 0; i < lines->count; i++) {
		const struct annotate_line line = lines->items[i];
		struct annotate_line *last = kept ? &lines->items[kept - 1] : NULL;
		if (last && last->file == line.file && last->line == line.line)
			annotate_count_add(&last->count, &line.count);
		else
			lines->items[kept++] = line;
	}
	lines->count = kept;
}

/* Each line's first_split tells its version until it gets its own splits. */
static int list_all(struct annotate_function *function)
{
	for (uint32_t v = 0; v < function->versions.count; v++) {
		const struct annotate_version *version = &function->versions.items[v];
		for (size_t i = 0; i < version->lines.count; i++) {
			struct annotate_line *line = vector_push(&function->lines);
			if (!line)
				return STATUS_NO_MEMORY;
			*line = version->lines.items[i];
			line->first_split = v;
		}
	}
	return 0;
}

int annotate_lines_of_function(const struct annotate *doc, struct annotate_function *function)
{
	const int got = list_all(function);
	if (got < 0)
		return got;
	sort_lines(doc, &function->lines);
	size_t kept = 0;
	for (size_t i = 0; i < function->lines.count; i++) {
		const struct annotate_line line = function->lines.items[i];
		struct annotate_line *last = kept ? &function->lines.items[kept - 1] : NULL;
		if (!last || last->file != line.file || last->line != line.line) {
			last = &function->lines.items[kept++];
			*last = (struct annotate_line){ .file = line.file, .line = line.line };
			last->first_split = (uint32_t)function->splits.count;
			if (!vector_reserve(&function->splits, function->versions.count))
				return STATUS_NO_MEMORY;
			for (size_t v = 0; v < function->versions.count; v++)
				(void)vector_push(&function->splits);
		}
		annotate_count_add(&last->count, &line.count);
		annotate_count_add(&function->splits.items[last->first_split + line.first_split],
				   &line.count);
	}
	function->lines.count = kept;
	return 0;
}
