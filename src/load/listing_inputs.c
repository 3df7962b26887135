#include "load/listing.h"

static int get_listing(void *context, uint32_t function, struct listing *listing)
{
	const struct load_listing_from *from = context;
	return load_listing(from->load, from->profile, function, listing);
}

static const char *get_target(void *context, uint32_t function, uint64_t address)
{
	const struct load_listing_from *from = context;
	return load_listing_target(from->load, from->profile, function, address);
}

static int get_source(void *context, const char *file, struct listing_source_text *text)
{
	const struct load_listing_from *from = context;
	return load_source(from->load, &from->places, file, text);
}

struct listing_inputs load_listing_inputs(struct load_listing_from *from)
{
	return (struct listing_inputs){
		.context = from, .listing = get_listing, .target = get_target, .source = get_source
	};
}
