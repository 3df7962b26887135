/* capture.h - the code that the lines of a growing perf map speak of, read out of its process.
 *
 *   struct capture_room *room = capture_room_new();
 *   struct capture capture;
 *   capture_init(&capture);
 *   capture_begin(&capture, pid, 0);                whose memory it is
 *   follow_check(&follow);
 *   while (capture_step(&capture, &follow, room))   a slice at a time
 *           look_after_others();
 *   capture_finish(&capture);
 *   bytes = capture.out, or the file capture.spool_fd
 *   capture_clear(&capture, room);
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
 * One thread. Nothing here waits; a step takes some 30 us, a line of CAPTURE_LINE_BYTES more.
 */
#ifndef RECORD_CAPTURE_H
#define RECORD_CAPTURE_H

#include "base/sink.h"
#include "base/vector.h"
#include "record/covered.h"
#include "record/follow.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CAPTURE_LINE_BYTES = 1 << 20, /* of code; longer ones are a runtime's whole region */
	CAPTURE_MAP_BYTES = 64 << 20, /* of records */
	CAPTURE_ALL_BYTES = 256 << 20,
	CAPTURE_DEPTH = 8,
};

enum capture_state {
	CAPTURE_IDLE,    /* nobody knows whose map it is */
	CAPTURE_ON,      /* ... */
	CAPTURE_OFF,     /* not wanted (any more) */
	CAPTURE_GONE,    /* the process has ended */
	CAPTURE_REFUSED, /* `error` says why */
	CAPTURE_FULL,    /* a limit was met */
	CAPTURE_FAILED,  /* what was read cannot be kept: `error`, 0 for no memory */
};

/* Lines of the map, from its newest end downwards, that came at once. */
struct capture_level {
	uint64_t low_off;
	uint64_t high_off;   /* what lies behind was read */
	bool is_inside_line; /* of a line so long that it is passed over */
	/* What the lines behind high_off, as far as they belong to this level, spoke of. */
	struct covered covered;
};

struct capture_counts {
	uint64_t line_count; /* of which there are bytes */
	uint64_t code_bytes;
	uint64_t unreadable_count; /* nothing is mapped there */
	uint64_t replaced_count;   /* a later line has the place */
	uint64_t too_long_count;
};

struct capture {
	enum capture_state state;
	int error;
	pid_t pid;
	uint64_t seen_off; /* whole lines below this were put on the levels */
	uint64_t tried_size;
	unsigned cut_count;
	uint64_t used_bytes;
	VECTOR(struct capture_level) levels; /* the last one came last */
	struct sink out;                     /* a jitdump, behind what is in the file */
	int spool_fd;                        /* an unnamed file; -1: none yet */
	struct capture_counts counts;
};

/* What all captures of a thread share: buffers, and how much may still be kept. */
struct capture_room;

struct capture_room *capture_room_new(void); /* NULL without memory */
void capture_room_free(struct capture_room *room);

void capture_init(struct capture *capture);

/* From now on lines behind `from_off` are of this process; those of another that were not
 * read yet are given up.
 */
void capture_begin(struct capture *capture, pid_t pid, uint64_t from_off);

/* The process has ended: what was not read yet is given up. */
void capture_end(struct capture *capture);

/* Reads some lines. True if there are more. */
bool capture_step(struct capture *capture, const struct follow *follow, struct capture_room *room);

/* Ends the jitdump. False if there is none: nothing was captured, or it could not be kept. */
bool capture_finish(struct capture *capture);

/* Forgets what was captured, and captures no more. */
void capture_drop(struct capture *capture, struct capture_room *room);

/* The room may be NULL where it is not used any more. */
void capture_clear(struct capture *capture, struct capture_room *room);

#endif
