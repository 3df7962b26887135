/* exercise.h - every reading call of the library, on input that may be anything.
 * Shared by tests and fuzz targets.
 */
#ifndef TESTS_FORMAT_PERFDATA_EXERCISE_H
#define TESTS_FORMAT_PERFDATA_EXERCISE_H

#include "base/bytes.h"

struct perfdata_exercise {
	int status; /* what perfdata_open() or the last perfdata_next() returned */
	uint64_t record_count;
	uint64_t decoded_count; /* records that a decoder took */
	uint64_t problem_count; /* cases, not kinds */
	uint64_t digest;        /* of all decoded values: equal content, equal digest */
};

/* Opens the bytes, walks the records twice, through all decoders and readers of
 * features, touches every byte handed out, and closes. Opaque bytes (stacks, raw
 * data) are not in the digest, so it is the same for both byte orders.
 */
struct perfdata_exercise perfdata_exercise(struct bytes in);

#endif
