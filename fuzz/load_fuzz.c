/* A whole recording from hostile bytes: records, zip, dumps, maps, the walk of the samples. */
#include "load/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *context, const struct profile *profile, const struct load_sample *sample)
{
	uint64_t *sum = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const uint32_t frame = profile->frame_ids.items[stack->first + i];
		const uint32_t function = profile->frames.items[frame].function;
		*sum += (unsigned char)profile_text(profile,
						    profile->functions.items[function].name)[0];
	}
	return 0;
}

/* Every byte of code, and what is said of it, can be read. */
static void list(struct load *load, const struct profile *profile, uint32_t function, uint64_t *sum)
{
	struct listing listing = { 0 };
	if (load_listing(load, profile, function, &listing) < 0)
		abort();
	for (size_t i = 0; i < listing.code.size; i++)
		*sum += listing.code.data[i];
	for (size_t i = 0; i < listing.lines.count; i++) {
		const struct listing_line *line = &listing.lines.items[i];
		if (line->scope > listing.scopes.count ||
		    (i && line->offset <= listing.lines.items[i - 1].offset))
			abort();
		*sum += (unsigned char)line->file[0];
	}
	for (size_t i = 0; i < listing.scopes.count; i++)
		if (listing.scopes.items[i].around > i)
			abort();
	for (size_t i = 1; i < listing.notes.count; i++)
		if (listing.notes.items[i].offset < listing.notes.items[i - 1].offset)
			abort();
	*sum +=
	    (unsigned char)*load_listing_target(load, profile, function, listing.start_avma + 1);
	listing_clear(&listing);
}

/* A file that the profile or the bytes themselves name. */
static void find_source(struct load *load, const struct profile *profile, uint64_t *sum)
{
	const struct load_source_places places = { 0 };
	struct listing_source_text source;
	for (size_t i = 0; i < profile->frames.count; i++)
		if (load_source(load, &places, profile_text(profile, profile->frames.items[i].file),
				&source) == 0 &&
		    source.text.size)
			*sum += source.text.data[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const int fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const struct load_options options = { .input = path,
					      .in_order = true,
					      .lines = true,
					      .inlines = true,
					      .keep_code = true,
					      .self_contained = true };
	struct load_error error;
	struct load *load;
	if (load_open(&load, &options, &error) == 0) {
		struct profile profile = { 0 };
		uint64_t sum = 0;
		load_samples(load, &profile, see, &sum);
		profile_clear(&profile);
		load_profile(load, &profile);
		for (uint32_t i = 0; i < profile.functions.count; i++)
			list(load, &profile, i, &sum);
		find_source(load, &profile, &sum);
		profile_clear(&profile);
	}
	load_close(load);
	close(fd);
	return 0;
}
