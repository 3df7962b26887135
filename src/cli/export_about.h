/* export_about.h - what exports tell of a recording, out of its load. */
#ifndef CLI_EXPORT_ABOUT_H
#define CLI_EXPORT_ABOUT_H

#include "export/about.h"
#include "load/load.h"

/* Of a load whose samples are in the profile; texts stay the load's. `about` is zeroed before and
 * cleared after. Adds strings to the profile. 0 or STATUS_NO_MEMORY.
 */
int export_about_fill(struct export_about *about, struct load *load, struct profile *profile);

#endif
