/* inject_run.h - runs inject over a recording in all its ways and holds each against perf's model.
 *
 *   struct recording r;
 *   ... recording_begin(), records, recording_finish() ...
 *   struct agreement got = inject_and_agree(&r);       fails the test where the two differ
 *   recording_remove(&r);
 */
#ifndef TESTS_INJECT_INJECT_RUN_H
#define TESTS_INJECT_INJECT_RUN_H

#include "base/sink.h"
#include "inject/agree.h"
#include "inject/inject.h"
#include "load/recording.h"

/* With and without `all`, each twice: equal bytes must come out, with as many samples as went in,
 * in time order, and perf must agree with us. Returns what was seen without `all`.
 */
struct agreement inject_and_agree(const struct recording *r);

/* Opens r->path as inject does; the test fails where it cannot be read. */
struct load *inject_load(const struct recording *r);
/* DIR/out.data */
const char *inject_output_path(const struct recording *r);
/* All bytes of a file; the test fails without it. */
struct sink inject_read_file(const char *path);
size_t inject_count_records(const char *path, uint32_t type);

#endif
