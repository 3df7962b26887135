#include "annotate/internal.h"

#include "base/status.h"

#include <stdlib.h>

enum { LINE_LIMIT = 4 << 20 };

uint32_t annotate_file_id(struct annotate *doc, struct bytes name)
{
	const uint32_t id = name.size ? intern_bytes(&doc->files, name) : 0;
	if (id == INTERN_NONE)
		return UINT32_MAX;
	while (doc->sources.count <= id)
		if (!vector_push(&doc->sources))
			return UINT32_MAX;
	return id;
}

int annotate_tell_line(struct annotate *doc, uint32_t file, uint32_t line, const char *text)
{
	struct annotate_told_line *told = vector_push(&doc->sources.items[file].told);
	if (!told)
		return STATUS_NO_MEMORY;
	*told = (struct annotate_told_line){ line, text };
	return 0;
}

static int by_line(const void *left, const void *right)
{
	const struct annotate_told_line *a = left;
	const struct annotate_told_line *b = right;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int find_starts(struct annotate_source *source)
{
	const struct bytes text = source->text;
	for (size_t at = 0; at < text.size && source->starts.count < LINE_LIMIT;) {
		size_t *start = vector_push(&source->starts);
		if (!start)
			return STATUS_NO_MEMORY;
		*start = at;
		const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
		at = end ? (size_t)(end - text.data) + 1 : text.size;
	}
	return 0;
}

static int load_source(struct annotate *doc, uint32_t id, const struct annotate_inputs *inputs)
{
	struct annotate_source *source = &doc->sources.items[id];
	struct listing_source_text found = { .found = NULL };
	if (source->told.count)
		qsort(source->told.items, source->told.count, sizeof(source->told.items[0]),
		      by_line);
	if (!id || !inputs->from.source)
		return 0;
	const int got =
	    inputs->from.source(inputs->from.context, intern_get(&doc->files, id), &found);
	if (got == STATUS_NO_MEMORY)
		return got;
	if (got < 0)
		return 0;
	source->text = found.text;
	source->found = found.found ? found.found : "";
	source->is_newer = found.is_newer;
	return find_starts(source);
}

int annotate_load_sources(struct annotate *doc, const struct annotate_inputs *inputs)
{
	for (uint32_t id = 0; id < doc->sources.count; id++) {
		const int got = load_source(doc, id, inputs);
		if (got < 0)
			return got;
	}
	return 0;
}

static bool told_text(const struct annotate_source *source, uint32_t line, struct bytes *text)
{
	const struct annotate_told_line key = { .line = line };
	const struct annotate_told_line *told =
	    source->told.count
		? bsearch(&key, source->told.items, source->told.count, sizeof(key), by_line)
		: NULL;
	if (!told)
		return false;
	*text = (struct bytes){ (const uint8_t *)told->text, strlen(told->text) };
	return true;
}

bool annotate_line_text(const struct annotate *doc, uint32_t file, uint32_t line,
			struct bytes *text)
{
	if (!line || file >= doc->sources.count)
		return false;
	const struct annotate_source *source = &doc->sources.items[file];
	if (line > source->starts.count)
		return told_text(source, line, text);
	const size_t start = source->starts.items[line - 1];
	size_t end = line < source->starts.count ? source->starts.items[line] : source->text.size;
	while (end > start &&
	       (source->text.data[end - 1] == '\n' || source->text.data[end - 1] == '\r'))
		end--;
	*text = (struct bytes){ source->text.data + start, end - start };
	return true;
}

struct bytes annotate_file_name(const struct annotate *doc, uint32_t file)
{
	return intern_get_bytes(&doc->files, file);
}
