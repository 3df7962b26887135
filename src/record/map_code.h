/* map_code.h - the code that the lines of a growing perf map speak of, read out of its process.
 *
 *   struct map_code_room *room = map_code_room_new();
 *   struct map_code code;
 *   map_code_init(&code);
 *   map_code_begin(&code, pid, 0);                whose memory it is
 *   follow_check(&follow);
 *   while (map_code_step(&code, &follow, room))   a slice at a time
 *           look_after_others();
 *   map_code_finish(&code);
 *   bytes = code.out, or the file code.spool_fd
 *   map_code_clear(&code, room);
 *
 * A perf map has names, and no code. So, as soon as a whole line is seen, the bytes it speaks
 * of are read from the process (process_vm_readv), once, and kept as a jitdump: a LOAD for each
 * line, `code_index` being the offset behind the line in the map without `skip_off`. A range
 * that is mapped in part gives its first bytes; one that is not mapped gives nothing.
 *
 * The newest lines come first, for theirs is what lies in memory now: a line whose range a
 * later one speaks of, too, before it was read, is passed over. Its bytes are gone.
 *
 * What cannot be had: code of a process that ended, or ran another program, before its lines
 * were seen (a map that is written at exit is read while it grows; what is in its last buffer
 * may be lost), and code that was overwritten before its line was seen. Where the new code's
 * line has not come yet either, bytes of the new code are taken for the old one's: nothing
 * tells. The stamp of a LOAD is no earlier than the reading of its bytes.
 *
 * One thread. Nothing here waits; a step takes some 30 us, a line of MAP_CODE_LINE_BYTES more.
 */
#ifndef RECORD_MAP_CODE_H
#define RECORD_MAP_CODE_H

#include "base/sink.h"
#include "base/vector.h"
#include "record/covered.h"
#include "record/follow.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAP_CODE_LINE_BYTES = 1 << 20, /* of code; longer ones are a runtime's whole region */
	MAP_CODE_MAP_BYTES = 64 << 20, /* of records */
	MAP_CODE_ALL_BYTES = 256 << 20,
	MAP_CODE_DEPTH = 8,
};

enum map_code_state {
	MAP_CODE_IDLE,    /* nobody knows whose map it is */
	MAP_CODE_ON,      /* lines are read as they come */
	MAP_CODE_OFF,     /* not wanted (any more) */
	MAP_CODE_GONE,    /* the process has ended */
	MAP_CODE_REFUSED, /* `error` says why */
	MAP_CODE_FULL,    /* a limit was met */
	MAP_CODE_FAILED,  /* what was read cannot be kept: `error`, 0 for no memory */
};

/* Lines of the map, from its newest end downwards, that came at once. */
struct map_code_level {
	uint64_t low_off;
	uint64_t high_off;   /* what lies behind was read */
	bool is_inside_line; /* of a line so long that it is passed over */
	/* What the lines behind high_off, as far as they belong to this level, spoke of. */
	struct covered covered;
};

struct map_code_counts {
	uint64_t line_count; /* of which there are bytes */
	uint64_t code_bytes;
	uint64_t unreadable_count; /* nothing is mapped there */
	uint64_t replaced_count;   /* a later line has the place */
	uint64_t too_long_count;
};

struct map_code {
	enum map_code_state state;
	int error;
	pid_t pid;
	uint64_t seen_off; /* whole lines below this were put on the levels */
	uint64_t tried_size;
	unsigned cut_count;
	uint64_t used_bytes;
	VECTOR(struct map_code_level) levels; /* the last one came last */
	struct sink out;                      /* a jitdump, behind what is in the file */
	int spool_fd;                         /* an unnamed file; -1: none yet */
	struct map_code_counts counts;
};

/* What all of a thread share: buffers, and how much may still be kept. */
struct map_code_room;

struct map_code_room *map_code_room_new(void); /* NULL without memory */
void map_code_room_free(struct map_code_room *room);

void map_code_init(struct map_code *code);

/* From now on lines behind `from_off` are of this process; those of another that were not
 * read yet are given up.
 */
void map_code_begin(struct map_code *code, pid_t pid, uint64_t from_off);

/* The process has ended: what was not read yet is given up. */
void map_code_end(struct map_code *code);

/* Reads some lines. True if there are more. */
bool map_code_step(struct map_code *code, const struct follow *follow, struct map_code_room *room);

/* As map_code_finish(), but there may be more to come. */
bool map_code_flush(struct map_code *code);

/* Ends the jitdump. False if there is none: nothing was read, or it could not be kept. */
bool map_code_finish(struct map_code *code);

/* Forgets what was read, and reads no more. */
void map_code_drop(struct map_code *code, struct map_code_room *room);

/* The room may be NULL where it is not used any more. */
void map_code_clear(struct map_code *code, struct map_code_room *room);

#endif
