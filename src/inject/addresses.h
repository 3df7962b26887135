/* addresses.h - the addresses of user space that a sample speaks of. */
#ifndef INJECT_ADDRESSES_H
#define INJECT_ADDRESSES_H

#include "format/perfdata/records.h"
#include "load/code.h"

/* Calls `each` for the sample's own address and for its callers', innermost first; where the
 * sample has a piece of stack instead, for those that unwinding finds; and for what its branches
 * and its data address lead to. A non-zero return ends the walk and is returned.
 */
int addresses_walk(struct load *load, const struct perfdata_record *record,
		   const struct perfdata_sample *sample,
		   int (*each)(void *context, const struct load_place *place), void *context);

#endif
