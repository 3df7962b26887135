/* interpreted.h - functions of interpreters, as addresses that stock perf can name.
 *
 *   interpreted_open(&interpreted, load);             looks at all samples
 *   interpreted_store(&interpreted, images, options); writes the image
 *   ... of each sample record, in the order of merged_time_ns():
 *           interpreted_take(&interpreted, &record, &sample, &taken);
 *   interpreted_close(&interpreted);
 *
 * What the walk of an interpreter found has no address. So each function gets a place in an image
 * of its own, where no process of the recording has anything, with 16 bytes for each of its lines
 * that was seen; a sample's callers become those that our reports show, and an interpreter's frames
 * among them addresses in the middle of their lines': there a reader finds the line at the address
 * itself and a byte before.
 *
 * One image serves all processes, for they run the same functions. Memory grows with functions,
 * lines and different stacks. Each call returns 0 or a negative status. One thread.
 */
#ifndef INJECT_INTERPRETED_H
#define INJECT_INTERPRETED_H

#include "base/idmap.h"
#include "base/sink.h"
#include "base/vector.h"
#include "inject/images.h"
#include "load/merged.h"

/* A line of a function that was seen. */
struct interpreted_line {
	uint32_t function; /* of the profile */
	uint32_t line;     /* 0: not known */
	uint32_t path;     /* string of the profile: its file; "" */
};

struct interpreted {
	struct load *load;
	bool is_there; /* samples may have frames of interpreters */
	struct profile profile;
	VECTOR(struct interpreted_line) lines; /* sorted by function and line, once all are seen */
	struct idmap line_of;                  /* by (function, line): index + 1 */
	struct idmap seen;                     /* stacks, while all are looked at */
	uint64_t start_avma;                   /* of the image's functions, in every process */
	uint64_t size;
	uint64_t file_off; /* where the image has them */
	const char *path;
	uint8_t build_id[20];
	struct sink body;       /* of the record under way */
	VECTOR(uint64_t) words; /* its chain */
};

/* What became of a sample record. */
struct interpreted_taken {
	enum merged_kind kind;
	/* MERGED_STACK: the sample in its new form; until the next call. */
	struct perfdata_record record;
	struct perfdata_sample sample;
};

/* In any case to be closed. */
int interpreted_open(struct interpreted *interpreted, struct load *load);

/* Puts the image into images->items, where there is anything to be in it. */
int interpreted_store(struct interpreted *interpreted, struct images *images,
		      const struct images_options *options);

int interpreted_take(struct interpreted *interpreted, const struct perfdata_record *record,
		     const struct perfdata_sample *sample, struct interpreted_taken *taken);

/* How many functions are in the image. */
uint32_t interpreted_function_count(const struct interpreted *interpreted);

void interpreted_close(struct interpreted *interpreted);

#endif
