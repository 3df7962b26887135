/* interp.h - which interpreters a process runs, described for the walk (bpf/abi.h).
 *
 *   struct interp_cache cache = { 0 };                  one for all processes; or NULL
 *   struct interp_process process;
 *   if (interp_process_open(&process, &cache, pid) == 0) {
 *           for (size_t i = 0; i < process.found_count; i++)
 *                   tell(process.found[i].version, process.found[i].refusal);
 *           if (process.walk.runtime_count)
 *                   ... give process.walk to the walker
 *   }
 *
 * An interpreter is found by the symbols of the program and of libraries that are named after
 * one, or by the note of a slot (include/polyperf/interp.h) in any object; its version by
 * what they hold. Offsets come from tables of versions whose headers were read
 * (docs/interpreters.md); a build that is not in them is refused with a reason, never
 * guessed at. All objects are hostile. Any thread.
 */
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "base/bytes.h"
#include "base/idmap.h"
#include "bpf/abi.h"

#include <sys/types.h>

enum { INTERP_VERSION_SIZE = 32 };

/* What was found in one object. */
struct interp_found {
	struct walk_runtime runtime; /* all but its id; valid without a refusal */
	/* "3.11.2", "8.2": as exact as the object says; of a slot its interpreter's name */
	char version[INTERP_VERSION_SIZE];
	const char *refusal; /* why it cannot be walked; NULL: it can */
};

/* One ELF object as a process has it mapped. */
struct interp_object {
	struct bytes image;
	uint64_t bias_avma; /* what is added to its addresses as linked */
};

/* What a search must know of the process. `context` is the caller's. */
struct interp_view {
	void *context;
	/* Memory of the process; false where it cannot be read. */
	bool (*read)(void *context, uint64_t avma, void *to, size_t size);
	uint32_t pthread_values_off; /* in glibc's struct pthread; 0: this is not glibc */
};

/* Looks into one object for any interpreter. Returns 0 with *found (perhaps a refusal),
 * STATUS_NOT_FOUND where there is none, STATUS_NOT_FORMAT or _CORRUPT.
 */
int interp_find(const struct interp_object *object, const struct interp_view *view,
		struct interp_found *found);

/* The same for slots alone: looks at notes, not at symbols. */
int interp_find_slot(const struct interp_object *object, const struct interp_view *view,
		     struct interp_found *found);

/* Where glibc's struct pthread has the values of pthread keys; 0 in other objects. */
uint32_t interp_pthread_values(struct bytes image);

/* "Python", as it is written. */
const char *interp_language_name(enum walk_language language);

/* True with a minor version of Python 3 that can be walked, of the usual builds. */
bool interp_knows_python(unsigned minor);

struct interp_process {
	struct walk_process walk; /* ids are 0: they are the caller's to give */
	struct interp_found found[WALK_MAX_RUNTIMES];
	size_t found_count; /* those with refusals, too */
};

/* Files without an interpreter, which are not opened again. Zero-initialise. One thread. */
struct interp_cache {
	struct idmap files;
};

void interp_cache_clear(struct interp_cache *cache);

/* True with a file that was looked into and has none. The numbers are those of /proc/PID/maps and
 * of MMAP2 records.
 */
bool interp_cache_has(const struct interp_cache *cache, uint32_t maj, uint32_t min, uint64_t inode);

/* Looks at all that a running process has mapped. `cache` may be NULL. Returns 0 also where it
 * found nothing, else STATUS_NOT_FOUND (no such process), _DENIED, _IO or _NO_MEMORY.
 */
int interp_process_open(struct interp_process *process, struct interp_cache *cache, pid_t pid);

/* From the text of /proc/PID/stat. False where it does not say (of others' processes). */
bool interp_address_space(struct walk_process *walk, const char *stat);

#endif
