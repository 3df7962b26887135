/* walker.h - the walk in the kernel: loaded, told of processes, attached to events.
 *
 *   struct walker_options options = { .max_processes = 1024 };
 *   struct walker *walker;
 *   if (walker_open(&walker, &options) == 0) {
 *           walker_set_ring(walker, cpu, output_fd);       for each CPU
 *           walker_attach(walker, event_fd);               for each sampling event
 *           walker_add(walker, pid, &process.walk);        as processes are seen
 *           ...
 *           walker_close(walker);
 *   }
 *
 * `output_fd` is a PERF_COUNT_SW_BPF_OUTPUT event of that CPU and all processes, whose
 * records were redirected to the ring of the sampling events there. Loading needs CAP_BPF
 * and CAP_PERFMON, and Linux 5.17. One thread.
 */
#ifndef INTERP_WALKER_H
#define INTERP_WALKER_H

#include "bpf/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct walker;

struct walker_options {
	uint32_t max_processes; /* 0: 1024 */
	uint32_t max_known;     /* code objects that are remembered as told; 0: 65536 */
	/* The kernel checks the walk for half a second before it takes it. With this events get a
	 * gate that is taken at once, and walker_load() puts the walk behind it, whenever it is
	 * needed: also for events that were inherited long before.
	 */
	bool later;
};

/* Returns 0, STATUS_UNSUPPORTED (built without, or an old kernel), _DENIED, _IO (errno) or
 * _NO_MEMORY.
 */
int walker_open(struct walker **walker, const struct walker_options *options);

/* Loads the walk of a walker that was opened for later. Returns as walker_open(). May run in a
 * thread of its own as long as no other function is called. Again: 0 at once.
 */
int walker_load(struct walker *walker);

void walker_close(struct walker *walker); /* NULL is harmless; events keep the program */

/* Why walker_open() or walker_load() failed: the loader's last words. Valid until the next call. */
const char *walker_error(void);

/* True where records have the time of their sample. */
bool walker_has_times(const struct walker *walker);

/* How many instructions the verifier looked at, and how many the program has. */
uint32_t walker_verified(const struct walker *walker);
uint32_t walker_instructions(const struct walker *walker);

/* What it costs: counted by the kernel, for all programs, while the descriptor that
 * walker_measure() returns is open (-1 with errno).
 */
struct walker_cost {
	uint64_t runs; /* samples, whosever they were */
	uint64_t time_ns;
};

int walker_measure(void);
struct walker_cost walker_cost(const struct walker *walker);

/* Each returns 0 or STATUS_IO (errno). */
/* `output_fd` is to stay open until the walk is loaded. */
int walker_set_ring(struct walker *walker, int cpu, int output_fd);
int walker_attach(struct walker *walker, int event_fd);

/* Gives the process's runtimes their ids (those that are 0) and adds it, or puts it in the
 * place of what was said of the pid before.
 */
int walker_add(struct walker *walker, pid_t pid, struct walk_process *process);
int walker_remove(struct walker *walker, pid_t pid);

#endif
