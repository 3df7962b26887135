/* attach_internal.h - what the doors of the runtimes share. */
#ifndef ATTACH_ATTACH_INTERNAL_H
#define ATTACH_ATTACH_INTERNAL_H

#include "attach/attach.h"
#include "attach/place.h"
#include "attach/target.h"

struct attachment {
	struct attach_target target;
	const struct attach_runtime *runtime;
	struct attach_place place; /* where the process writes, if not in a folder of ours */
	char agent[PATH_MAX];      /* as the process sees it; of use to the runtime's own code */
	uint64_t timeout_ns;
	int cancel_fd;
	bool was_running;
};

/* The reason is kept, and the result handed back. */
__attribute__((format(printf, 3, 4))) int attach_fail(struct attach_report *report, int result,
						      const char *format, ...);
__attribute__((format(printf, 2, 3))) void attach_remedy(struct attach_report *report,
							 const char *format, ...);

struct attach_runtime {
	const char *name;
	bool (*is_there)(const struct attach_target *target);
	/* target, timeout_ns and cancel_fd are set. */
	int (*start)(struct attachment *attachment, const struct attach_options *options,
		     struct attach_report *report);
	int (*stop)(struct attachment *attachment, struct attach_report *report);
};

extern const struct attach_runtime ATTACH_JAVA;

#endif
