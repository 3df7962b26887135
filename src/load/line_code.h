/* line_code.h - the code that the recorder read for the lines of a perf map.
 *
 * It lies beside the map in the recording, as a jitdump whose code indices are the ends of the
 * lines (docs/formats/recording.md).
 */
#ifndef LOAD_LINE_CODE_H
#define LOAD_LINE_CODE_H

#include "load/load_internal.h"

struct line_code_entry {
	uint64_t end_off;    /* of the line, in the map */
	uint64_t record_off; /* of its LOAD */
};

/* Zero-initialise; vector_clear(&code.lines) at the end. */
struct line_code {
	VECTOR(struct line_code_entry) lines;
};

/* Keeps a reader over the dump for the source. Returns 0 or STATUS_NO_MEMORY. */
int line_code_read(struct line_code *code, struct load *load, uint32_t source, struct bytes dump);

/* The LOAD for the line that ends there; 0: there is none. */
uint64_t line_code_find(const struct line_code *code, uint64_t line_end_off);

#endif
