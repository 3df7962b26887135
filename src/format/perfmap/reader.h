/* reader.h - the lines of a perf map (/tmp/perf-PID.map): START SIZE NAME.
 *
 *   struct perfmap_reader reader;
 *   struct perfmap_entry entry;
 *   perfmap_reader_init(&reader, file_bytes);
 *   while (perfmap_reader_next(&reader, &entry) > 0)
 *           use(&entry);
 *
 * Numbers are hex, with or without 0x, any case and width. The name is the rest
 * of the line: any bytes, spaces included, CR at the end taken off. Does no I/O
 * and allocates nothing; names point into the bytes given. Lines that are no
 * entry are passed over, counted, and told through `on_problem`.
 */
#ifndef FORMAT_PERFMAP_READER_H
#define FORMAT_PERFMAP_READER_H

#include "base/bytes.h"

struct perfmap_entry {
	uint64_t start_avma;
	uint64_t size; /* 0: the runtime did not say */
	struct bytes name;
	uint64_t offset;     /* of the line in the file */
	uint64_t end_offset; /* behind its newline */
	bool is_last_torn;   /* the file ends in this line without a newline */
};

struct perfmap_problem {
	uint64_t offset;
	uint64_t line;    /* 1-based */
	const char *what; /* a static sentence */
};

struct perfmap_reader {
	struct bytes file;
	size_t next_offset;
	uint64_t line;
	uint64_t problem_count;
	void (*on_problem)(void *context, const struct perfmap_problem *problem);
	void *context;
};

void perfmap_reader_init(struct perfmap_reader *reader, struct bytes file);

/* Returns 1 with *entry filled, or 0 at the end. */
int perfmap_reader_next(struct perfmap_reader *reader, struct perfmap_entry *entry);

#endif
