/* stacks.h - the frames of interpreters that a recording has beside its samples.
 *
 *   stacks_define(load, &record);                        of each sample record, in the first pass
 *   if (stacks_is_record(load, &sample))                 then, of each sample:
 *           stacks_keep(load, &sample);                  it is no sample of the profile
 *   else if (stacks_take(load, &sample, &stacks))
 *           ... stacks.items[0] are its frames
 *
 * What the walk wrote (format/frames/reader.h) are samples of an event of their own. A stack lies
 * before its sample, in the same ring: mostly directly before it, and at most behind what other
 * rings gave in the meantime. So only the last few are kept, by thread, whatever the size of the
 * recording; one whose sample was lost or is not wanted makes room for others in time.
 */
#ifndef LOAD_STACKS_H
#define LOAD_STACKS_H

#include "load/load_internal.h"

#include "format/frames/store.h"

/* One stack of a sample, for the use of one interpreter. */
struct stacks_item {
	uint32_t pid;
	uint32_t runtime; /* as the recording numbers them */
	uint16_t frame_count;
	uint8_t language;                /* enum walk_language */
	uint8_t end;                     /* enum walk_end */
	bool is_bare;                    /* the innermost activation has no frame */
	const struct walk_frame *frames; /* innermost first; good until the next stacks_keep() */
};

struct stacks_found {
	struct stacks_item items[WALK_MAX_RUNTIMES];
	size_t count;
};

/* Takes definitions in, wherever they lie. Returns 0 or STATUS_NO_MEMORY. */
int stacks_define(struct load *load, const struct perfdata_record *record);

/* The same of a definition that was told elsewhere in the recording. */
int stacks_define_told(struct load *load, const struct frames_record *record);

/* True for samples that carry records of the walk rather than where the program was. */
bool stacks_is_record(const struct load *load, const struct perfdata_sample *sample);

/* Remembers a stack until its sample comes. Returns 0 or STATUS_NO_MEMORY. */
int stacks_keep(struct load *load, const struct perfdata_sample *sample);

/* The stacks of a sample, each given once; false where it has none. */
bool stacks_take(struct load *load, const struct perfdata_sample *sample,
		 struct stacks_found *found);

/* True where stacks_take() will find some; says in *has_frames whether any has a frame. */
bool stacks_wait_for(const struct load *load, const struct perfdata_sample *sample,
		     bool *has_frames);

/* True for an event whose samples are, or may be, records of the walk. */
bool stacks_is_event(const struct load *load, size_t event);

/* Are their frames to have lines? */
static inline bool stacks_have_lines(const struct load *load)
{
	return load->options.lines || load->options.walked_lines;
}

/* The time to put a sample record in order by: a stack goes where its sample does. */
uint64_t stacks_time_ns(struct load *load, const struct perfdata_record *record);

/* What is known of a frame's code; NULL where nobody told of it. */
const struct frames_code *stacks_code(const struct load *load, const struct stacks_item *item,
				      const struct walk_frame *frame);

/* Code that interprets, as the walk told of it. */
struct stacks_evaluator {
	uint64_t avma;
	uint32_t bytes; /* 0: a symbol says how much it is */
};

/* The evaluators of an item's interpreter: the next behind `index`, which begins as 0. False: no
 * more.
 */
bool stacks_evaluator(const struct load *load, const struct stacks_item *item, uint32_t *index,
		      struct stacks_evaluator *evaluator);

/* Forgets the stacks, between two walks over the samples. */
void stacks_forget(struct load *load);
void stacks_free(struct load *load);

#endif
