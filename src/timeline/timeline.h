/* timeline.h - whose code was at this address, in this process, at this time.
 *
 *   struct timeline *tl = timeline_new(&(struct timeline_options){ .skew_ns = 20000000 });
 *   timeline_map(tl, pid, time_ns, &mapping);        in any order ...
 *   timeline_load(tl, pid, &load);
 *   timeline_seal(tl);                               ... then once
 *   struct timeline_hit hit;
 *   timeline_find(tl, pid, avma, time_ns, &hit);
 *
 * Three layers a process: timed code objects (jitdump records, map lines with
 * times, kernel symbols), untimed code objects (map lines without), and file
 * mappings. A later load ends what it overlaps: the code that was there is dead
 * (`stale` from then on where only part was overwritten); a later mapping only
 * ends the part it covers. FORK gives the child what its parent had at that
 * time; exec starts from nothing; a PID used again is another process.
 *
 * Operations may be added in any order; timeline_seal() sorts them by time
 * (equal times keep their order). After it only finds are allowed, from any
 * number of threads. Answers carry the interval in which they hold, so that
 * callers can cache them. Memory: one record an operation and O(n log n) index;
 * a fork costs one small record, however much the parent has. docs/timeline.md
 * draws the rules.
 *
 * Objects are the caller's: `object` is an id that comes back in the hit.
 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

/* The process id under which the kernel's own code is kept. */
#define TIMELINE_KERNEL_PID 0xffffffffu

enum timeline_trust {
	TRUST_EXACT,     /* loaded at or before the sample, not replaced or unloaded by then */
	TRUST_EARLY,     /* a load follows within the skew window, or nothing was there before it */
	TRUST_UNTIMED,   /* the only owner that an untimed map names */
	TRUST_AMBIGUOUS, /* several owners and no times; or the moment of change is not known
			    closely */
	TRUST_STALE,     /* only an object that had ended covers the address */
	TRUST_UNKNOWN,
};

enum timeline_layer {
	LAYER_NONE,
	LAYER_CODE,    /* timed code */
	LAYER_MAP,     /* untimed code */
	LAYER_MAPPING, /* a file, the vdso, anonymous memory */
};

struct timeline_options {
	uint64_t skew_ns; /* how late a load may be told; 0: the default of 20 ms */
};

struct timeline_mapping {
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	uint32_t object;
};

struct timeline_load {
	uint64_t start_avma;
	uint64_t size; /* 0: up to the next object, at most a page */
	/* When it came: between earliest and latest, best estimate time_ns. A record
	 * with its own time has all three equal. 0: before the recording.
	 */
	uint64_t earliest_ns;
	uint64_t time_ns;
	uint64_t latest_ns;
	uint32_t object;
};

struct timeline_hit {
	enum timeline_trust trust;
	enum timeline_layer layer;
	uint32_t object;     /* of the load or mapping; undefined where LAYER_NONE */
	uint64_t start_avma; /* of the whole load or mapping as it was given */
	uint64_t size;
	uint64_t file_off;    /* of start_avma, mappings only */
	uint64_t early_ns;    /* TRUST_EARLY: how long before the load the sample was */
	bool was_unloaded;    /* TRUST_STALE: somebody said that it went */
	uint32_t other_count; /* TRUST_AMBIGUOUS: how many further objects may own it */
	/* The same answer (early_ns aside) holds for this address from valid_from_ns
	 * up to but not including valid_to_ns.
	 */
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
};

struct timeline;

/* NULL without memory. */
struct timeline *timeline_new(const struct timeline_options *options);
void timeline_free(struct timeline *tl);

/* Each returns 0 or STATUS_NO_MEMORY; after the sealing they do nothing. A process
 * need not be announced: it then lives from time 0. Threads are no processes: their
 * forks and exits are for the caller to leave out.
 *
 * What follows an exit: a fork or exec of that pid is another process, and so is a
 * mapping (its fork was lost). Code told after the exit belongs to what exited.
 */
int timeline_fork(struct timeline *tl, uint32_t parent_pid, uint32_t pid, uint64_t time_ns);
int timeline_exec(struct timeline *tl, uint32_t pid, uint64_t time_ns);
int timeline_exit(struct timeline *tl, uint32_t pid, uint64_t time_ns);
int timeline_map(struct timeline *tl, uint32_t pid, uint64_t time_ns,
		 const struct timeline_mapping *mapping);
/* Code at time 0 was there when its program began: it goes to the space in which the
 * first code of this pid that has a time was loaded, or without any to the pid's last.
 */
int timeline_load(struct timeline *tl, uint32_t pid, const struct timeline_load *load);
/* An unload of what starts at old_avma (nothing, if nothing does), then a load of *to;
 * if to->time_ns is 0, it comes at time_ns.
 */
int timeline_move(struct timeline *tl, uint32_t pid, uint64_t time_ns, uint64_t old_avma,
		  const struct timeline_load *to);
/* Ends the object that starts at start_avma. */
int timeline_unload(struct timeline *tl, uint32_t pid, uint64_t time_ns, uint64_t start_avma);
/* An untimed owner; several of one range are listed in the order they were added.
 * load->time_ns only says which space it belongs to: the one the pid has then; with 0
 * the one that code at time 0 goes to.
 */
int timeline_untimed(struct timeline *tl, uint32_t pid, const struct timeline_load *load);

/* Sorts and indexes; returns 0, or STATUS_NO_MEMORY: then only timeline_free() is left. */
int timeline_seal(struct timeline *tl);

/* Always fills *hit; TRUST_UNKNOWN with LAYER_NONE where nothing was ever there.
 * Code comes first: a mapping is the answer only where no code layer speaks, so
 * JIT code inside a file mapping (memfd:doublemapper) is found as code. For a
 * mapping the trust is TRUST_EXACT.
 */
void timeline_find(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
		   struct timeline_hit *hit);

/* The mapping alone, whatever code lies there. False where none is known. */
bool timeline_find_mapping(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
			   struct timeline_hit *hit);

/* Further owners of an ambiguous hit: index 0 .. other_count - 1. False past the end,
 * and past the first 64: no more are listed. Slower than a find where many ranges overlap.
 */
bool timeline_other(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
		    uint32_t index, uint32_t *object);

/* A number that differs for each address space (process, exec, PID used again);
 * equal numbers answer equally. 0: a pid of which nothing is known. For cache keys.
 * *valid_from_ns and *valid_to_ns (may be NULL) tell how long this pid keeps it.
 */
uint32_t timeline_space(const struct timeline *tl, uint32_t pid, uint64_t time_ns,
			uint64_t *valid_from_ns, uint64_t *valid_to_ns);

#endif
