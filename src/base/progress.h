/* progress.h - how far long work has come, told to whoever wants to show it.
 *
 *   struct progress *progress = options->progress;        NULL: nobody wants to know
 *   while (read_record(&record))
 *           progress_at(progress, "samples", record.offset, size);
 *   progress_done(progress, "samples", size);
 *
 * Costs a comparison a call, and a call of `tell` every PROGRESS_STEP bytes. Work is done in parts,
 * each with its word, that begin at 0 and end with progress_done(), also after a failure. One
 * thread.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_STEP = 256 * 1024 };

struct progress {
	/* `what` is a static word; done == total: the part has ended. */
	void (*tell)(void *context, const char *what, uint64_t done, uint64_t total);
	void *context;
	uint64_t next; /* internal: the next `done` that is told */
};

static inline void progress_at(struct progress *progress, const char *what, uint64_t done,
			       uint64_t total)
{
	if (!progress || done >= total ||
	    (done < progress->next && done + PROGRESS_STEP >= progress->next))
		return;
	progress->next = done + PROGRESS_STEP;
	progress->tell(progress->context, what, done, total);
}

static inline void progress_done(struct progress *progress, const char *what, uint64_t total)
{
	if (!progress)
		return;
	progress->next = 0;
	progress->tell(progress->context, what, total, total);
}

#endif
