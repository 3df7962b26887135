/* annotate_inputs.h - a load as what annotate asks: code, names of places, sources.
 *
 *   struct annotate_from_load from = { .load = load, .profile = &profile };
 *   const struct annotate_inputs inputs = annotate_inputs_of(&from);
 *
 * The load was opened with keep_code and lines; the profile is the one that it filled last.
 */
#ifndef CLI_ANNOTATE_INPUTS_H
#define CLI_ANNOTATE_INPUTS_H

#include "annotate/annotate.h"
#include "load/listing.h"

struct annotate_from_load {
	struct load *load;
	const struct profile *profile;
	struct load_source_places places;
};

/* Borrows `from` for as long as they are used. */
struct annotate_inputs annotate_inputs_of(struct annotate_from_load *from);

#endif
