/* listing.h - the code of the functions of a profile, and the sources they were made from.
 *
 *   options.keep_code = options.lines = options.inlines = true;
 *   load_open(&load, &options, &error);
 *   load_profile(load, &profile);
 *   struct listing listing = { 0 };
 *   load_listing(load, &profile, function, &listing);
 *   listing_clear(&listing);
 *
 * Good for the profile that was filled last. What a listing borrows lives as long as the load.
 */
#ifndef LOAD_LISTING_H
#define LOAD_LISTING_H

#include "load/load.h"
#include "profile/listing.h"

/* Fills an empty listing. Functions that have no code of their own (interpreted, inlined, unknown
 * ones) get a reason. Code that was moved lies where its last frame was, and its times are those of
 * the places where it had frames. Returns 0 or STATUS_NO_MEMORY.
 */
int load_listing(struct load *load, const struct profile *profile, uint32_t function,
		 struct listing *listing);

/* The name of what the function's code calls or jumps to at an address (as in listing.start_avma:
 * of the process, or as linked), with "+0x10" where it is not its start; "" where nobody knows.
 * Lives as long as the load.
 */
const char *load_listing_target(struct load *load, const struct profile *profile, uint32_t function,
				uint64_t address);

/* Where source files are looked for, in this order: in the recording, in the symbols of
 * .NET assemblies, below the folders of `paths`, at the path itself (not with
 * options.self_contained).
 */
struct load_source_places {
	/* Each "FOLDER", or "OLD=NEW" for files whose path begins with OLD. In a folder the longest
	 * end of the path counts that leads to a file: FOLDER/a/b.c, FOLDER/b.c, or the one file
	 * anywhere below that ends so (for a bare "Foo.java" the one of this name).
	 */
	const char *const *paths;
	size_t path_count;
};

/* `file` is as in frames and listings; one without a leading slash is looked for beside the
 * recording. Only plain files up to 16 MB are taken, in /tmp and the like only of root and
 * ourselves. Returns 0, STATUS_NOT_FOUND, _TOO_BIG, _DENIED, or another negative status.
 */
int load_source(struct load *load, const struct load_source_places *places, const char *file,
		struct listing_source_text *source);

struct load_listing_from {
	struct load *load;             /* opened with keep_code and lines */
	const struct profile *profile; /* the one that it filled last */
	struct load_source_places places;
};

/* All of these as what annotate asks. Borrows `from` for as long as they are used. */
struct listing_inputs load_listing_inputs(struct load_listing_from *from);

#endif
