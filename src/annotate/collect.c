/* The one walk over the samples: whose they are, at which offset, of which line. */
#include "annotate/internal.h"

#include "annotate/leaf.h"
#include "base/status.h"

#include <stdlib.h>

/* Where the counts of a function of the profile go: indices + 1 into the document. */
struct slot {
	uint32_t function;
	uint32_t version;
};

struct collector {
	struct annotate *doc;
	struct slot *slots;
	uint8_t *is_file; /* by string of the profile: 0 not asked yet, 1 no, 2 yes */
};

static int make_functions(struct collector *c)
{
	struct annotate *doc = c->doc;
	const struct annotate_choice *choice = doc->choice;
	for (size_t i = 0; i < choice->candidates.count; i++) {
		const struct annotate_candidate *candidate = &choice->candidates.items[i];
		struct annotate_function *function = vector_push(&doc->functions);
		if (!function)
			return STATUS_NO_MEMORY;
		function->name = candidate->name;
		function->object = candidate->object;
		for (uint32_t f = 0; f < candidate->function_count; f++) {
			const uint32_t id = choice->functions.items[candidate->first + f];
			struct annotate_version *version = vector_push(&function->versions);
			if (!version)
				return STATUS_NO_MEMORY;
			version->function = id;
			c->slots[id] = (struct slot){ (uint32_t)doc->functions.count,
						      (uint32_t)function->versions.count };
		}
	}
	return 0;
}

static int add_line(struct annotate *doc, annotate_lines *lines, const struct annotate_leaf *leaf,
		    const struct annotate_count *count)
{
	const uint32_t file =
	    annotate_file_id(doc, intern_get_bytes(&doc->profile->strings, leaf->file));
	struct annotate_line *line = file == UINT32_MAX ? NULL : vector_push(lines);
	if (!line)
		return STATUS_NO_MEMORY;
	line->file = file;
	line->line = leaf->line;
	line->count = *count;
	return 0;
}

static int add_own(struct annotate *doc, struct annotate_version *version,
		   const struct annotate_leaf *leaf, const struct annotate_count *count)
{
	struct annotate_hit *hit = vector_push(&version->hits);
	if (!hit)
		return STATUS_NO_MEMORY;
	hit->has_offset = leaf->has_offset;
	hit->offset = leaf->has_offset ? leaf->offset : 0;
	hit->count = *count;
	annotate_count_add(&version->count, count);
	if (leaf->innermost != leaf->function)
		annotate_count_add(&version->inlined, count);
	return add_line(doc, &version->lines, leaf, count);
}

static int add_elsewhere(struct annotate *doc, struct annotate_function *function,
			 const struct annotate_leaf *leaf, const struct annotate_count *count)
{
	struct annotate_host *host = vector_push(&function->hosts);
	if (!host)
		return STATUS_NO_MEMORY;
	*host = (struct annotate_host){ leaf->function, *count };
	annotate_count_add(&function->elsewhere, count);
	return add_line(doc, &function->elsewhere_lines, leaf, count);
}

static bool is_in_file(struct collector *c, uint32_t file)
{
	const struct profile *profile = c->doc->profile;
	if (!c->is_file[file]) {
		const struct bytes name = intern_get_bytes(&profile->strings, file);
		c->is_file[file] = annotate_is_file(c->doc->choice, name) ? 2 : 1;
	}
	return c->is_file[file] == 2;
}

static int add_row(struct collector *c, const struct profile_row *row)
{
	struct annotate *doc = c->doc;
	const struct annotate_choice *choice = doc->choice;
	const struct annotate_count count = { row->count, row->weight };
	struct annotate_leaf leaf;
	annotate_count_add(&doc->total, &count);
	if (!annotate_leaf(doc->profile, row, &leaf))
		return 0;
	const struct slot own = c->slots[leaf.function];
	if (choice->kind == ANNOTATE_FILE) {
		if (!own.function || !is_in_file(c, leaf.file))
			return 0;
		if (add_line(doc, &doc->file_lines, &leaf, &count) < 0)
			return STATUS_NO_MEMORY;
		if (choice->line && leaf.line != choice->line)
			return 0;
	}
	if (own.function) {
		struct annotate_function *function = &doc->functions.items[own.function - 1];
		annotate_count_add(&function->count, &count);
		if (add_own(doc, &function->versions.items[own.version - 1], &leaf, &count) < 0)
			return STATUS_NO_MEMORY;
	}
	const struct slot inner = c->slots[leaf.innermost];
	if (choice->kind == ANNOTATE_FILE || leaf.innermost == leaf.function || !inner.function ||
	    inner.function == own.function)
		return 0;
	return add_elsewhere(doc, &doc->functions.items[inner.function - 1], &leaf, &count);
}

static int by_offset(const void *left, const void *right)
{
	const struct annotate_hit *a = left;
	const struct annotate_hit *b = right;
	if (a->has_offset != b->has_offset)
		return a->has_offset ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void join_hits(struct annotate_version *version)
{
	size_t kept = 0;
	if (version->hits.count)
		qsort(version->hits.items, version->hits.count, sizeof(struct annotate_hit),
		      by_offset);
	for (size_t i = 0; i < version->hits.count; i++) {
		const struct annotate_hit hit = version->hits.items[i];
		struct annotate_hit *last = kept ? &version->hits.items[kept - 1] : NULL;
		if (last && by_offset(last, &hit) == 0)
			annotate_count_add(&last->count, &hit.count);
		else
			version->hits.items[kept++] = hit;
	}
	version->hits.count = kept;
}

static int by_function(const void *left, const void *right)
{
	const struct annotate_host *a = left;
	const struct annotate_host *b = right;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int by_weight(const void *left, const void *right)
{
	const struct annotate_host *a = left;
	const struct annotate_host *b = right;
	if (a->count.weight != b->count.weight)
		return a->count.weight < b->count.weight ? 1 : -1;
	return by_function(left, right);
}

static void join_hosts(struct annotate_function *function)
{
	struct annotate_host *hosts = function->hosts.items;
	size_t kept = 0;
	if (!function->hosts.count)
		return;
	qsort(hosts, function->hosts.count, sizeof(*hosts), by_function);
	for (size_t i = 0; i < function->hosts.count; i++) {
		const struct annotate_host host = hosts[i];
		if (kept && hosts[kept - 1].function == host.function)
			annotate_count_add(&hosts[kept - 1].count, &host.count);
		else
			hosts[kept++] = host;
	}
	function->hosts.count = kept;
	qsort(hosts, kept, sizeof(*hosts), by_weight);
}

/* Versions without samples are not shown; a function that is only inlined has none. */
static int finish_function(const struct annotate *doc, struct annotate_function *function)
{
	size_t kept = 0;
	for (size_t i = 0; i < function->versions.count; i++) {
		struct annotate_version *version = &function->versions.items[i];
		if (!version->count.samples)
			continue;
		join_hits(version);
		annotate_lines_join(doc, &version->lines);
		function->versions.items[kept++] = *version;
	}
	function->versions.count = kept;
	annotate_lines_join(doc, &function->elsewhere_lines);
	join_hosts(function);
	return annotate_lines_of_function(doc, function);
}

static int by_count(const void *left, const void *right)
{
	const struct annotate_count *a = &((const struct annotate_function *)left)->count;
	const struct annotate_count *b = &((const struct annotate_function *)right)->count;
	return a->weight < b->weight ? 1 : a->weight > b->weight ? -1 : 0;
}

/* Of a file only those functions are shown that have samples there. */
static int finish(struct annotate *doc)
{
	size_t kept = 0;
	for (size_t i = 0; i < doc->functions.count; i++) {
		struct annotate_function *function = &doc->functions.items[i];
		if (!function->count.samples && !function->elsewhere.samples) {
			annotate_function_clear(function);
			continue;
		}
		const int got = finish_function(doc, function);
		if (got < 0)
			return got;
		/* Moved, not copied: each is cleared once, whatever fails later. */
		const struct annotate_function moved = *function;
		*function = (struct annotate_function){ .name = 0 };
		doc->functions.items[kept++] = moved;
	}
	doc->functions.count = kept;
	if (doc->choice->kind == ANNOTATE_FILE && kept)
		qsort(doc->functions.items, kept, sizeof(struct annotate_function), by_count);
	annotate_lines_join(doc, &doc->file_lines);
	return 0;
}

int annotate_collect(struct annotate *doc)
{
	const struct profile *profile = doc->profile;
	struct collector c = {
		.doc = doc,
		.slots = calloc(profile->functions.count + 1, sizeof(struct slot)),
		.is_file = calloc(profile->strings.texts.count + 1, 1),
	};
	int got = c.slots && c.is_file ? make_functions(&c) : STATUS_NO_MEMORY;
	for (size_t i = 0; got == 0 && i < profile->rows.count; i++)
		if (profile->rows.items[i].event == doc->event)
			got = add_row(&c, &profile->rows.items[i]);
	if (got == 0)
		got = finish(doc);
	free(c.slots);
	free(c.is_file);
	return got;
}
