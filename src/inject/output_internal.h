/* output_internal.h - what the two forms of an output share. Not to be included elsewhere. */
#ifndef INJECT_OUTPUT_INTERNAL_H
#define INJECT_OUTPUT_INTERNAL_H

#include "format/perfdata/writer.h"
#include "inject/output.h"
#include "os/file.h"

struct inject_output {
	struct perfdata *input;
	struct inject_output_events events; /* left_out NULL: all are copied */
	bool leaves_out;                    /* some event */
	struct os_output file;              /* of a file */
	int pipe_fd;                        /* -1: it is a file */
	struct perfdata_layout layout;
	struct sink buffer;    /* written when it is full */
	struct sink build_ids; /* of a file: the new entries, which stand at its end */
	uint64_t data_bytes;
	uint64_t round_bytes; /* since the last FINISHED_ROUND */
	int status;           /* the first failure ... */
	int error;            /* ... and its errno */
};

/* output.c */
void output_put(struct inject_output *out, struct bytes bytes);
void output_flush(struct inject_output *out);
void output_fail(struct inject_output *out, int status);
/* The output's events for the writer, to be freed; NULL without memory or events. */
struct perfdata_new_event *output_events(const struct inject_output *out, size_t *count);
/* The entries of the input's BUILD_ID feature, as far as they can be read. */
void output_put_build_ids(const struct perfdata *input, struct sink *content);
/* True for features of the input that stand in the output as they are. */
bool output_keeps_feature(const struct inject_output *out, unsigned feature);

/* output_file.c */
void output_begin_file(struct inject_output *out);
void output_end_file(struct inject_output *out);

/* output_pipe.c: 0 or TOO_BIG; other failures are kept. */
int output_begin_pipe(struct inject_output *out);

#endif
