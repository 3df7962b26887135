#include "cli/annotate_inputs.h"

static int get_listing(void *context, uint32_t function, struct listing *listing)
{
	const struct annotate_from_load *from = context;
	return load_listing(from->load, from->profile, function, listing);
}

static const char *get_target(void *context, uint32_t function, uint64_t address)
{
	const struct annotate_from_load *from = context;
	return load_listing_target(from->load, from->profile, function, address);
}

static int get_source(void *context, const char *file, struct annotate_source_text *text)
{
	const struct annotate_from_load *from = context;
	struct load_source_text source;
	const int got = load_source(from->load, &from->places, file, &source);
	if (got == 0)
		*text = (struct annotate_source_text){ source.text, source.found, source.is_newer };
	return got;
}

struct annotate_inputs annotate_inputs_of(struct annotate_from_load *from)
{
	return (struct annotate_inputs){
		.context = from, .listing = get_listing, .target = get_target, .source = get_source
	};
}
