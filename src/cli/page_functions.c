#include "cli/page_functions.h"

#include "annotate/write.h"
#include "base/escape.h"
#include "base/status.h"
#include "cli/parse.h"
#include "load/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES_AROUND = 4, LINES_MOST = 2000 };

/* Lines of one file that a document names; `last` includes those around. */
struct span {
	uint32_t file;
	uint32_t first;
	uint32_t last;
};

typedef VECTOR(struct span) span_list;

static int add_line(span_list *spans, uint32_t file, uint32_t line)
{
	if (!file || !line)
		return 0;
	struct span *span = vector_push(spans);
	if (!span)
		return STATUS_NO_MEMORY;
	span->file = file;
	span->first = line > LINES_AROUND ? line - LINES_AROUND : 1;
	span->last = line < UINT32_MAX - LINES_AROUND ? line + LINES_AROUND : line;
	return 0;
}

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left;
	const struct span *b = right;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Those that touch become one. */
static void join(span_list *spans)
{
	size_t kept = 0;
	if (spans->count)
		qsort(spans->items, spans->count, sizeof(spans->items[0]), compare_spans);
	for (size_t i = 0; i < spans->count; i++) {
		const struct span span = spans->items[i];
		struct span *last = kept ? &spans->items[kept - 1] : NULL;
		if (last && last->file == span.file && span.first <= last->last + 1) {
			if (span.last > last->last)
				last->last = span.last;
			continue;
		}
		spans->items[kept++] = span;
	}
	spans->count = kept;
}

/* The lines that have samples, and those that the code was made from. */
static int find_spans(const struct annotate_function *f, span_list *spans)
{
	int got = 0;
	for (size_t i = 0; got == 0 && i < f->lines.count; i++)
		got = add_line(spans, f->lines.items[i].file, f->lines.items[i].line);
	for (size_t v = 0; v < f->versions.count; v++) {
		const struct annotate_version *version = &f->versions.items[v];
		for (size_t i = 0; got == 0 && i < version->line_files.count; i++)
			got = add_line(spans, version->line_files.items[i],
				       version->listing.lines.items[i].line);
	}
	join(spans);
	return got;
}

static void put_span(struct sink *out, const struct annotate *doc, const struct span *span,
		     size_t *room)
{
	struct bytes text;
	for (uint32_t line = span->first; line <= span->last && *room; line++) {
		if (!annotate_line_text(doc, span->file, line, &text))
			continue;
		sink_printf(out, "%s{\"file\":%" PRIu32 ",\"line\":%" PRIu32 ",\"text\":\"",
			    out->size > 1 ? ",\n" : "", span->file, line);
		escape_json(out, text);
		sink_text(out, "\"}");
		--*room;
	}
}

static int put_source(struct sink *out, const struct annotate *doc,
		      const struct annotate_function *f)
{
	span_list spans = { 0 };
	size_t room = LINES_MOST;
	const int got = find_spans(f, &spans);
	sink_text(out, "[");
	for (size_t i = 0; got == 0 && i < spans.count; i++)
		put_span(out, doc, &spans.items[i], &room);
	sink_text(out, "]");
	vector_clear(&spans);
	return got < 0 ? got : sink_failed(out) ? STATUS_NO_MEMORY : 0;
}

/* Without memory and too large look alike: the sink has failed. */
static int write_document(struct page_document *document, const struct annotate *doc)
{
	document->json.limit = PAGE_FUNCTION_BYTES;
	annotate_write_json(&document->json, doc);
	if (sink_failed(&document->json) || !doc->functions.count) {
		sink_clear(&document->json);
		return 0;
	}
	return put_source(&document->source, doc, &doc->functions.items[0]);
}

static int put_document(void *context, struct page_block *block)
{
	const struct page_document *document = context;
	page_block_text(block, "json", sink_bytes(&document->json));
	page_block_text(block, "source", sink_bytes(&document->source));
	return 0;
}

/* Which functions have a block. */
static int put_index(void *context, struct page_block *block)
{
	const struct page_functions *functions = context;
	struct sink ids = { 0 };
	for (size_t i = 0; i < functions->documents.count; i++)
		sink_u32(&ids, functions->documents.items[i].function);
	page_block_put(block, "documents.function", PAGE_U32, sink_bytes(&ids));
	const int got = sink_failed(&ids) ? STATUS_NO_MEMORY : 0;
	sink_clear(&ids);
	return got;
}

/* One of the candidates, as a choice of its own that borrows all it has. */
static int make_document(struct page_functions *functions, uint32_t event,
			 const struct annotate_choice *all, size_t index)
{
	struct annotate_candidate one = all->candidates.items[index];
	struct annotate_choice choice = *all;
	choice.candidates.items = &one;
	choice.candidates.count = 1;
	struct load_listing_from from = { .load = functions->load, .profile = functions->profile };
	const struct annotate_inputs inputs = { .from = load_listing_inputs(&from) };
	struct annotate doc = { 0 };
	struct page_document document = { .function = all->functions.items[one.first] };
	(void)snprintf(document.block, sizeof(document.block), "function-%" PRIu32,
		       document.function);
	int got = annotate_build(&doc, functions->profile, event, &choice, &inputs);
	if (got == 0)
		got = write_document(&document, &doc);
	annotate_clear(&doc);
	struct page_document *slot = NULL;
	if (got == 0 && document.json.size && !(slot = vector_push(&functions->documents)))
		got = STATUS_NO_MEMORY;
	if (slot) {
		*slot = document;
	} else {
		sink_clear(&document.json);
		sink_clear(&document.source);
	}
	return got;
}

static int make_documents(struct page_functions *functions, uint32_t event)
{
	struct annotate_choice choice = { 0 };
	const struct annotate_query query = { .top = functions->most };
	size_t used = 0;
	int got = annotate_choose(&choice, functions->profile, event, &query);
	for (size_t i = 0; got == 0 && choice.kind == ANNOTATE_FUNCTIONS &&
			   i < choice.candidates.count && used < PAGE_FUNCTIONS_BYTES;
	     i++) {
		const size_t before = functions->documents.count;
		got = make_document(functions, event, &choice, i);
		for (size_t d = before; d < functions->documents.count; d++)
			used += functions->documents.items[d].json.size;
	}
	annotate_choice_clear(&choice);
	return got;
}

uint32_t page_functions_parse(const char *arg, struct argp_state *state)
{
	uint32_t count;
	if (parse_u32(arg, &count) && count <= PAGE_FUNCTIONS_MOST)
		return count;
	argp_error(state, "--functions takes a number up to %d: %s", PAGE_FUNCTIONS_MOST, arg);
	return 0;
}

int page_functions_make(struct page_functions *functions)
{
	/* The one that the page begins with. */
	const uint32_t event = profile_first_event(functions->profile);
	int got = functions->most && event != INTERN_NONE ? make_documents(functions, event) : 0;
	/* Documents move while they become more. */
	for (size_t i = 0; got == 0 && i < functions->documents.count; i++) {
		struct page_document *document = &functions->documents.items[i];
		struct page_part *part = vector_push(&functions->parts);
		if (part)
			*part = (struct page_part){ document->block, document, put_document };
		got = part ? 0 : STATUS_NO_MEMORY;
	}
	struct page_part *index = got == 0 ? vector_push(&functions->parts) : NULL;
	if (index)
		*index = (struct page_part){ "main", functions, put_index };
	return got == 0 && !index ? STATUS_NO_MEMORY : got;
}

void page_functions_clear(struct page_functions *functions)
{
	for (size_t i = 0; i < functions->documents.count; i++) {
		sink_clear(&functions->documents.items[i].json);
		sink_clear(&functions->documents.items[i].source);
	}
	vector_clear(&functions->documents);
	vector_clear(&functions->parts);
}
