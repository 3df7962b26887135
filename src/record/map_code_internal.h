/* map_code_internal.h - what the files of map_code.h share. */
#ifndef RECORD_MAP_CODE_INTERNAL_H
#define RECORD_MAP_CODE_INTERNAL_H

#include "format/perfmap/reader.h"
#include "record/map_code.h"

#include <sys/uio.h>

enum {
	MAP_CODE_TEXT_SIZE = 8192, /* lines are shorter; the longest seen had 722 bytes */
	/* A step at most, so that other maps need not wait. */
	MAP_CODE_STEP_LINES = 64,
	MAP_CODE_STEP_BYTES = 64 << 10, /* unless a single line has more */
	MAP_CODE_SHORTEST_LINE = 4,     /* "0 1" and its newline */
};

/* A line to be read. */
struct map_code_want {
	const struct perfmap_entry *entry;
	size_t code_off; /* in room->code */
	size_t got;      /* bytes that could be read */
};

struct map_code_room {
	uint64_t used_bytes; /* of all maps */
	char text[MAP_CODE_TEXT_SIZE];
	struct perfmap_entry entries[MAP_CODE_TEXT_SIZE / MAP_CODE_SHORTEST_LINE];
	struct map_code_want wants[MAP_CODE_STEP_LINES];
	size_t want_count;
	struct iovec remote[MAP_CODE_STEP_LINES];
	uint8_t code[MAP_CODE_LINE_BYTES + MAP_CODE_STEP_BYTES];
};

/* map_code_read.c: fills in `got` of all wants. False, with errno, if no memory of the
 * process can be read.
 */
bool map_code_read(struct map_code_room *room, pid_t pid);

/* The machine that the process's program is for, as ELF numbers it. */
uint16_t map_code_machine(pid_t pid);

#endif
