/* place.h - a folder that a process sees, for what it shall load or write.
 *
 *   struct attach_place place;
 *   attach_place_make(&place, &target);
 *   attach_place_copy(&place, library, "libpolyperf-jvmti.so");
 *   ... place.path in the process's own view ...
 *   attach_place_remove(&place);
 *
 * Lies in its /tmp, /var/tmp or /dev/shm, has a name that nobody can foresee, is the process's own
 * and for it alone. It is held by descriptor, so that it can be removed after the process.
 */
#ifndef ATTACH_PLACE_H
#define ATTACH_PLACE_H

#include "attach/target.h"

struct attach_place {
	char path[64]; /* as the process sees it; "": there is none */
	int parent_fd;
	int fd;
};

#define ATTACH_NO_PLACE                   \
	{                                 \
		.parent_fd = -1, .fd = -1 \
	}

/* Returns 0, or STATUS_DENIED or _IO (errno) if no folder can be made there, or none from which
 * code can be mapped.
 */
int attach_place_make(struct attach_place *place, const struct attach_target *target);

/* Copies one of our files into it. Returns 0, STATUS_IO (errno) or _NO_MEMORY. */
int attach_place_copy(const struct attach_place *place, const struct attach_target *target,
		      const char *file, const char *name);

/* Removes the folder with the files in it; none of it being there is no error. */
void attach_place_remove(struct attach_place *place);

#endif
