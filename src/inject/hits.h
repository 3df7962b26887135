/* hits.h - which pieces of code the samples of a recording hit.
 *
 *   hit_marks hits = { 0 };
 *   hits_find(load, &hits);            hits.items[i] for load_code() number i
 *   vector_clear(&hits);
 */
#ifndef INJECT_HITS_H
#define INJECT_HITS_H

#include "base/vector.h"
#include "load/code.h"

typedef VECTOR(uint8_t) hit_marks;

/* Has load_owner_at() make pieces of the methods that samples hit in mapped assemblies. There are
 * as many items as pieces then; 1: it was hit. Returns 0 or STATUS_NO_MEMORY.
 */
int hits_find(struct load *load, hit_marks *hits);

#endif
