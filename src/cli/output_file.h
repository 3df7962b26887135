/* output_file.h - what a command made, to the place that its -o names. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "base/sink.h"

/* `path` as in os/stream.h. 0, or a negative status that has been told. */
int output_file_put(const char *path, const struct sink *made);

/* What messages call it: the path, or "standard output". */
const char *output_file_name(const char *path);

#endif
