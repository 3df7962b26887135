#include "annotate/annotate.h"

#include "annotate/internal.h"
#include "base/status.h"

/* The code is only shown of functions, and of those that have samples of one line. */
static bool shows_code(const struct annotate *doc)
{
	return doc->choice->kind == ANNOTATE_FUNCTIONS || doc->choice->line;
}

static int build_version(struct annotate *doc, struct annotate_version *version,
			 const struct annotate_inputs *inputs)
{
	int got = 0;
	if (inputs->from.listing)
		got = inputs->from.listing(inputs->from.context, version->function,
					   &version->listing);
	return got < 0 ? got : annotate_rows_build(doc, version, inputs);
}

int annotate_build(struct annotate *doc, const struct profile *profile, uint32_t event,
		   const struct annotate_choice *choice, const struct annotate_inputs *inputs)
{
	doc->profile = profile;
	doc->event = event;
	doc->choice = choice;
	doc->texts.limit = UINT32_MAX;
	/* Id 0, for what has no file. */
	if (annotate_file_id(doc, (struct bytes){ 0 }) == UINT32_MAX)
		return STATUS_NO_MEMORY;
	int got = annotate_collect(doc);
	for (size_t f = 0; got == 0 && shows_code(doc) && f < doc->functions.count; f++) {
		struct annotate_function *function = &doc->functions.items[f];
		for (size_t v = 0; got == 0 && v < function->versions.count; v++)
			got = build_version(doc, &function->versions.items[v], inputs);
	}
	return got == 0 ? annotate_load_sources(doc, inputs) : got;
}

void annotate_function_clear(struct annotate_function *function)
{
	for (size_t i = 0; i < function->versions.count; i++) {
		struct annotate_version *version = &function->versions.items[i];
		vector_clear(&version->hits);
		vector_clear(&version->lines);
		vector_clear(&version->rows);
		vector_clear(&version->line_files);
		listing_clear(&version->listing);
	}
	vector_clear(&function->versions);
	vector_clear(&function->lines);
	vector_clear(&function->splits);
	vector_clear(&function->elsewhere_lines);
	vector_clear(&function->hosts);
}

void annotate_clear(struct annotate *doc)
{
	for (size_t i = 0; i < doc->functions.count; i++)
		annotate_function_clear(&doc->functions.items[i]);
	vector_clear(&doc->functions);
	vector_clear(&doc->file_lines);
	for (size_t i = 0; i < doc->sources.count; i++) {
		vector_clear(&doc->sources.items[i].starts);
		vector_clear(&doc->sources.items[i].told);
	}
	vector_clear(&doc->sources);
	intern_clear(&doc->files);
	sink_clear(&doc->texts);
	*doc = (struct annotate){ 0 };
}

size_t annotate_hottest(const struct annotate_function *function)
{
	size_t best = 0;
	for (size_t i = 1; i < function->versions.count; i++)
		if (function->versions.items[i].count.weight >
		    function->versions.items[best].count.weight)
			best = i;
	return best;
}

bool annotate_host_is_version(const struct annotate *doc, const struct annotate_function *function,
			      size_t host)
{
	const struct profile_function *functions = doc->profile->functions.items;
	const struct profile_function *one = &functions[function->hosts.items[host].function];
	for (size_t i = 0; i < function->hosts.count; i++) {
		const struct profile_function *other =
		    &functions[function->hosts.items[i].function];
		if (i != host && other->name == one->name && other->object == one->object)
			return true;
	}
	return false;
}

const char *annotate_samples(const struct annotate_count *count)
{
	return count->samples == 1 ? " sample" : " samples";
}

double annotate_percent(const struct annotate_count *part, const struct annotate_count *whole)
{
	return whole->weight ? 100.0 * (double)part->weight / (double)whole->weight : 0;
}
