/* browser.h - the browser of a report: a table of functions, trees of callers and callees,
 * annotated functions.
 *
 *   struct browser_inputs inputs = { .context = &mine, .profile = &profile, .event = event,
 *                                    .options = &options, .title = "app.data",
 *                                    .annotate = annotate, .write = write };
 *   int got = browser_run(screen, &inputs);
 *
 * docs/browser.md tells the keys. Borrows all that it is given. One thread.
 */
#ifndef TUI_BROWSER_H
#define TUI_BROWSER_H

#include "annotate/annotate.h"
#include "base/progress.h"
#include "report/groups.h"
#include "tui/screen.h"

/* A function to annotate, by names, as the document's profile may be another one. */
struct browser_asked {
	const char *name;
	const char *object; /* NULL: in any */
	bool is_of_thread;  /* only samples of this thread */
	uint32_t pid;
	uint32_t tid;
	const char *comm;          /* only samples of threads of this name; NULL: of all */
	uint32_t event;            /* of the browser's profile */
	struct progress *progress; /* to be told of long work */
};

struct browser_inputs {
	void *context;
	const struct profile *profile;
	uint32_t event; /* to begin with */
	const struct report_options *options;
	uint64_t early_max_ns; /* as in struct report_summary */
	const char *title;     /* of the recording */
	/* A document, which lives up to the next call. Returns 0, STATUS_NOT_FOUND where no
	 * sample is of such a function's code, or another negative status. May be NULL.
	 */
	int (*annotate)(void *context, const struct browser_asked *asked,
			const struct annotate **doc);
	/* Writes a file; false with errno. `replaces` false: only where there is none of that name
	 * (EEXIST).
	 */
	bool (*write)(void *context, const char *path, struct bytes text, bool replaces);
};

/* Until a person leaves it: 0; or a negative status. A signal that was kept counts as leaving. */
int browser_run(struct screen *screen, const struct browser_inputs *inputs);

#endif
