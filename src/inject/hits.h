/* hits.h - which pieces of code the samples of a recording hit. */
#ifndef INJECT_HITS_H
#define INJECT_HITS_H

#include "load/code.h"

/* Marks hits[i] for load_code() number i; all are 0 before. Returns 0 or STATUS_NO_MEMORY. */
int hits_find(struct load *load, uint8_t *hits);

#endif
