/* internal.h - the steps of annotate_build(). */
#ifndef ANNOTATE_INTERNAL_H
#define ANNOTATE_INTERNAL_H

#include "annotate/annotate.h"

void annotate_function_clear(struct annotate_function *function);

/* collect.c: the functions of the choice with their counts, hits and lines. */
int annotate_collect(struct annotate *doc);

/* lines.c: sorts by file and line, and joins equal ones. */
void annotate_lines_join(const struct annotate *doc, annotate_lines *lines);
/* Makes lines and splits of a function from those of its versions. */
int annotate_lines_of_function(const struct annotate *doc, struct annotate_function *function);

/* rows.c: code, jumps and samples of one version; its listing is filled. */
int annotate_rows_build(struct annotate *doc, struct annotate_version *version,
			const struct annotate_inputs *inputs);

/* source.c: the id of a file in doc->sources, made where it is new; UINT32_MAX without memory. */
uint32_t annotate_file_id(struct annotate *doc, struct bytes name);
/* A line that a listing gives itself. */
int annotate_tell_line(struct annotate *doc, uint32_t file, uint32_t line, const char *text);
int annotate_load_sources(struct annotate *doc, const struct annotate_inputs *inputs);

#endif
