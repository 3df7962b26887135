/* capture_internal.h - what the files of capture.h share. */
#ifndef RECORD_CAPTURE_INTERNAL_H
#define RECORD_CAPTURE_INTERNAL_H

#include "format/perfmap/reader.h"
#include "record/capture.h"

#include <sys/uio.h>

enum {
	CAPTURE_TEXT_SIZE = 8192, /* lines are shorter; the longest seen had 722 bytes */
	/* A step at most, so that other maps need not wait. */
	CAPTURE_STEP_LINES = 64,
	CAPTURE_STEP_BYTES = 64 << 10, /* unless a single line has more */
	CAPTURE_SHORTEST_LINE = 4,     /* "0 1" and its newline */
};

/* A line to be read. */
struct capture_want {
	const struct perfmap_entry *entry;
	size_t code_off; /* in room->code */
	size_t got;      /* bytes that could be read */
};

struct capture_room {
	uint64_t used_bytes; /* of all captures */
	char text[CAPTURE_TEXT_SIZE];
	struct perfmap_entry entries[CAPTURE_TEXT_SIZE / CAPTURE_SHORTEST_LINE];
	struct capture_want wants[CAPTURE_STEP_LINES];
	size_t want_count;
	struct iovec remote[CAPTURE_STEP_LINES];
	uint8_t code[CAPTURE_LINE_BYTES + CAPTURE_STEP_BYTES];
};

/* capture_read.c: fills in `got` of all wants. False, with errno, if no memory of the
 * process can be read.
 */
bool capture_read(struct capture_room *room, pid_t pid);

/* The machine that the process's program is for, as ELF numbers it. */
uint16_t capture_machine(pid_t pid);

#endif
