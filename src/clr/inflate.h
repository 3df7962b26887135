/* inflate.h - deflated bytes whose size is told, as embedded PDBs and sources are. */
#ifndef CLR_INFLATE_H
#define CLR_INFLATE_H

#include "base/bytes.h"

/* False if no deflated bytes can become so many: ask before allocating. */
bool clr_inflate_can_fill(struct bytes deflated, size_t size);

/* Fills exactly `size` bytes. Returns 0, STATUS_CORRUPT or _NO_MEMORY. */
int clr_inflate(struct bytes deflated, uint8_t *out, size_t size);

#endif
