/* digest.h - which records of a growing jitdump, or lines of a perf map, still matter.
 *
 *   struct digest digest = { 0 };
 *   jitdump_reader_init(&reader, bytes);
 *   digest_update(&digest, &reader, 16);            reads only what came since
 *   for (size_t i = 0; i < digest.entries.count; i++)
 *           jitdump_reader_at(&reader, digest.entries.items[i].load_off, &record);
 *   digest_clear(&digest);
 *
 * For those who read the same dump again and again while a program runs: a dump only grows, and
 * most of an old one is about code that is gone. An entry is a code object at a place. One that
 * ended, because it was unloaded, moved, or others were put in its place, is kept for `keep`
 * updates more, and goes with a later one: entries are at most about twice those that are still
 * needed. A record that the file ends in is left for the next time, and so is room that a writer
 * reserved. One thread.
 */
#ifndef LOAD_DIGEST_H
#define LOAD_DIGEST_H

#include "base/idmap.h"
#include "base/vector.h"
#include "format/jitdump/reader.h"
#include "format/perfmap/times.h"

struct digest_entry {
	uint64_t start_avma;
	uint64_t end_avma;  /* exclusive */
	uint64_t first_off; /* of the first record that tells of it in advance, or load_off */
	uint64_t load_off;
	uint64_t move_off;   /* that brought it here; 0: it was loaded here */
	uint64_t unload_off; /* 0: there is none */
	uint32_t pid;        /* as the records have it */
	uint32_t came;  /* the update that read it; 0: the first one, it is older than we are */
	uint32_t ended; /* that saw it unloaded or moved away; 0: neither */
	/* Of lines of maps: load_off is the line's, and no other offset is used. */
	bool is_told;                /* by a dump, too: nobody reads it again */
	struct perfmap_stretch when; /* it appeared */
};

/* A PAD: room that some thread of the program may still be filling. */
struct digest_pad {
	uint64_t start_off;
	uint64_t end_off;
	uint32_t came; /* the update that saw it */
};

struct digest {
	uint64_t next_off; /* 0: nothing was read yet */
	uint64_t anchor_time;
	uint64_t about_off; /* of the first record about the LOAD that is still to come; 0: none */
	uint64_t torn_off;  /* where bytes were passed over first; 0: nowhere */
	const char *torn_what;
	uint64_t torn_bytes;
	uint32_t update;                     /* counts from 1 */
	VECTOR(struct digest_entry) entries; /* as they came */
	VECTOR(uint64_t) methods;            /* offsets */
	VECTOR(struct digest_pad) pads;      /* that are looked at again */
	size_t swept_count; /* entries that the last sweep left, and may have taken */
	/* Of maps: */
	uint64_t judged_off; /* up to there stretches were counted, ... */
	uint64_t stretch_count;
	uint64_t torn_count; /* ... and those that end inside of a line */
	struct idmap latest; /* by place: index + 1 of the last one that began there */
};

/* `reader` was just made, over all bytes; it is left anywhere. Returns 0 or STATUS_NO_MEMORY. */
int digest_update(struct digest *digest, struct jitdump_reader *reader, uint32_t keep);

/* The same for lines; `times` NULL: nothing is known of when they appeared. */
int digest_update_map(struct digest *digest, struct bytes map, struct perfmap_times *times,
		      uint32_t keep);

/* True where the times of a map's lines say when they were written: else their writer buffers. */
bool digest_has_times(const struct digest *digest);

void digest_clear(struct digest *digest);

#endif
