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
	bool is_stopped;
	bool is_gone; /* it has ended, or runs another program */
	void *own;    /* of the runtime's row */
};

/* The reason is kept, and the result handed back. */
__attribute__((format(printf, 3, 4))) int attach_fail(struct attach_report *report, int result,
						      const char *format, ...);
__attribute__((format(printf, 2, 3))) void attach_remedy(struct attach_report *report,
							 const char *format, ...);

/* Where the process shall write, as it sees it: options->directory, or a folder that is made for it
 * where it does not see ours. NULL: it is to choose itself.
 */
int attach_choose_directory(struct attachment *attachment, const struct attach_options *options,
			    const char **directory, struct attach_report *report);
int attach_explain_no_place(const struct attachment *attachment, struct attach_report *report);

/* Only its own user and root may ask a process. */
int attach_check_user(const struct attachment *attachment, struct attach_report *report);

struct attach_runtime {
	const char *name;
	bool (*is_there)(const struct attach_target *target);
	/* target, timeout_ns and cancel_fd are set. */
	int (*start)(struct attachment *attachment, const struct attach_options *options,
		     struct attach_report *report);
	int (*stop)(struct attachment *attachment, struct attach_report *report);
	void (*release)(struct attachment *attachment); /* frees `own`; may be NULL */
};

extern const struct attach_runtime ATTACH_JAVA;
extern const struct attach_runtime ATTACH_DOTNET;

#endif
