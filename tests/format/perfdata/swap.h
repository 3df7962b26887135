/* swap.h - turns a perf.data into what a machine of the other byte order would
 * have written. Shares no code with the reader; stock perf is the judge of it.
 */
#ifndef TESTS_FORMAT_PERFDATA_SWAP_H
#define TESTS_FORMAT_PERFDATA_SWAP_H

#include "base/bytes.h"

/* In place, for a file of version 2 in host byte order, whole, uncompressed, of
 * events with one sample_type. Features other than those the reader decodes are
 * dropped. False if the file has something this does not know.
 */
bool perfdata_swap(uint8_t *data, size_t size);

#endif
