/* output_input.h - recordings to be written anew, and what came out, for the tests of
 * inject/output.h.
 *
 *   struct bytes file = input_file(false);
 *   output_copy(file, false);                   to output_path
 *   struct output_result result = output_result_read();
 *   expect_event(result.perf, 0, 136, "first");
 *   output_result_close(&result);
 *   wire_free(file);
 */
#ifndef TESTS_INJECT_OUTPUT_INPUT_H
#define TESTS_INJECT_OUTPUT_INPUT_H

#include "format/perfdata/wire.h"
#include "inject/output.h"
#include "os/file.h"

/* Set-up and tear-down of a case: a folder in which nothing but the output may be at its end. */
extern char output_folder[64];
extern char output_path[96];
int output_set_up(void **state);
int output_tear_down(void **state);

extern const uint64_t INPUT_TYPE;
extern const struct wire_event INPUT_EVENTS[2];
extern const uint8_t INPUT_ID_B[20];

void input_comm(struct wire *w, const char *comm);
void input_attr(struct wire *w, const struct wire_event *event);
void input_feature(struct wire *w, const void *data, size_t size);

/* Two events, two COMM records, and features whose content is their number and a zero, besides
 * those that must make sense: in a file, and (fewer) in a pipe. Freed with wire_free().
 */
struct bytes input_file(bool swap);
struct bytes input_pipe(void);

/* Read to its end and rewound, as an output wants its input. */
struct perfdata *output_input(struct bytes bytes);
struct inject_output *output_open(const char *to, struct perfdata *input);
void output_copy_all(struct inject_output *out, struct perfdata *perf);
/* The whole way, to a file or in pipe mode. */
void output_copy(struct bytes bytes, bool as_pipe);

/* What was written, as a reader sees it. */
struct output_result {
	struct os_file file;
	struct perfdata *perf;
};

/* It may have no problems. */
struct output_result output_result_read(void);
void output_result_close(struct output_result *result);

void expect_types(struct perfdata *perf, const uint32_t *types, size_t count);
void expect_event(const struct perfdata *perf, size_t index, uint32_t attr_size, const char *name);
void expect_build_ids(const struct perfdata *perf, const char *const *names, size_t count);
void expect_number(const struct perfdata *perf, unsigned feature);

#endif
