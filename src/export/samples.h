/* samples.h - the samples of a profile, each thread's in the order of time.
 *
 *   struct export_samples *samples;
 *   export_samples_open(&samples);
 *   export_samples_add(samples, &sample);               in the order of time
 *   export_samples_end(samples);
 *   for (uint32_t thread = 0; thread < profile.threads.count; thread++)
 *           export_samples_each(samples, thread, visit, context);
 *   export_samples_close(samples);
 *
 * They lie in a file without a name (os_file_unnamed), in pieces of one thread each: memory holds
 * one piece a thread, and where each piece lies. One thread.
 */
#ifndef EXPORT_SAMPLES_H
#define EXPORT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPORT_NO_CPU = 0xffffffff };

struct export_sample {
	uint64_t time_ns; /* in the recording's clock; 0: not known */
	uint64_t period;  /* its weight */
	uint32_t thread;  /* ids of the profile */
	uint32_t stack;
	uint32_t event;
	uint32_t cpu; /* EXPORT_NO_CPU: not known */
};

struct export_samples;

/* Each returns 0 or a negative status. */
int export_samples_open(struct export_samples **samples);
int export_samples_add(struct export_samples *samples, const struct export_sample *sample);

/* No more will be added. */
int export_samples_end(struct export_samples *samples);

uint64_t export_samples_count(const struct export_samples *samples, uint32_t thread);

/* Calls `visit` for each sample of a thread of the profile; what it returns other than 0 ends the
 * walk and is returned. Any number of times.
 */
int export_samples_each(const struct export_samples *samples, uint32_t thread,
			int (*visit)(void *context, const struct export_sample *sample),
			void *context);

/* The same of all threads together, in the order of time. Holds a piece of each thread in memory.
 */
int export_samples_in_time(const struct export_samples *samples,
			   int (*visit)(void *context, const struct export_sample *sample),
			   void *context);

/* Harmless for NULL. */
void export_samples_close(struct export_samples *samples);

#endif
