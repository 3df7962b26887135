/* steer.h - mmap events that make stock perf take each address for what it was.
 *
 *   struct steer steer = { .load = load, .images = images, .output = output, .perf = perf };
 *   steer_init(&steer);
 *   steer_show_load(&steer, process, code, time_ns);    code at its load time
 *   steer_sample(&steer, record, &sample);              before the sample itself
 *   steer_clear(&steer);
 *
 * Follows what perf believes (belief.h) through its own events and through those of the
 * recording, which the caller tells. Events go to the output, in the order of the calls.
 * Each call returns 0 or STATUS_NO_MEMORY. One thread.
 */
#ifndef INJECT_STEER_H
#define INJECT_STEER_H

#include "base/idmap.h"
#include "base/intern.h"
#include "base/sink.h"
#include "format/perfdata/records.h"
#include "format/perfdata/writer.h"
#include "inject/belief.h"
#include "inject/images.h"
#include "inject/interpreted.h"
#include "inject/output.h"

struct steer_process {
	uint32_t pid;
	uint32_t first_untimed; /* the caller's */
	struct belief *belief;
	struct belief *ground;  /* the caller's: where this process has code at any time */
	VECTOR(uint32_t) shown; /* unwind maps that are there */
};

struct steer_checked;

struct steer {
	struct load *load;
	struct perfdata *perf;
	const struct images *images;
	struct inject_output *output;
	uint64_t loads;       /* events at load times */
	uint64_t corrections; /* events before samples */
	/* From here on its own. */
	VECTOR(struct steer_process) processes;
	struct idmap process_of_pid;
	struct steer_checked *checked;
	uint32_t *stamps; /* by page: how often something in it changed */
	uint32_t all_stamp;
	struct perfdata_new_id id; /* of the records that we make */
	bool has_id;
	bool is_narrow; /* corrections reach no further than the address */
	struct sink record;
	struct intern files; /* where each would begin in memory, and its path */
	struct sink file;
};

int steer_init(struct steer *steer);
void steer_clear(struct steer *steer);

/* Made at the first call; NULL without memory. Good until the next call. */
struct steer_process *steer_process(struct steer *steer, uint32_t pid);

/* Code number `index`, unless perf has it already or somebody else owns the place. */
int steer_show_load(struct steer *steer, struct steer_process *process, uint32_t index,
		    uint64_t time_ns);

/* The functions of interpreters, unless perf has them already. */
int steer_show_interpreted(struct steer *steer, struct steer_process *process,
			   const struct interpreted *interpreted, uint64_t time_ns);

/* Sets perf right where it would take an address of the sample for something else. */
int steer_sample(struct steer *steer, const struct perfdata_record *record,
		 const struct perfdata_sample *sample);

/* perf gives a child its parent's mappings, unless the fork was made up afterwards. */
int steer_fork(struct steer *steer, uint32_t parent_pid, uint32_t pid, bool copies);

/* An mmap event of the recording; `end_avma` is where it ends. */
int steer_mapping(struct steer *steer, struct steer_process *process,
		  const struct perfdata_mmap *map, uint64_t end_avma);

#endif
