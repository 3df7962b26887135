/* preload.h - the files that runtimes are pointed at, compiled into the program.
 *
 * They lie in src/record/preload/ and are written into the private directory of
 * a recording under their own names.
 */
#ifndef RECORD_PRELOAD_H
#define RECORD_PRELOAD_H

#include "base/bytes.h"

struct preload {
	const char *name;
	struct bytes content;
};

extern const struct preload PRELOADS[];
extern const size_t PRELOAD_COUNT;

/* Returns 0 or STATUS_IO. Files that are there already are left alone and fail it. */
int preload_write_all(const char *directory);

#endif
