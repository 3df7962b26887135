#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <string.h>

static bool is_off(const struct session *s, const char *runtime)
{
	for (size_t i = 0; i < s->options->runtimes_off_count; i++)
		if (strcmp(s->options->runtimes_off[i], runtime) == 0)
			return true;
	return false;
}

static void attach_to(struct session *s, struct attached *attached)
{
	struct attach_report report;
	const struct attach_options options = {
		.pid = attached->pid,
		.directory = s->private_dir.path,
		.is_our_directory = true,
		.interpreted = s->options->stacks == RECORD_STACKS_DWARF,
		.cancel_fd = s->signal_fd,
	};
	if (attach_start(&attached->attachment, &options, &report) < 0) {
		say_warning(&s->say, "%s", report.reason);
		if (*report.remedy)
			say_try(&s->say, "%s", report.remedy);
	} else if (report.was_running) {
		say_detail(&s->say, "%s: process %d tells of its code already", report.runtime,
			   attached->pid);
	} else {
		say_note(&s->say, "%s: process %d tells of its code while it is recorded",
			 report.runtime, attached->pid);
	}
}

/* The runtime there that shall be asked, or NULL. */
static const char *runtime_to_ask(const struct session *s, const struct attached *attached)
{
	const char *runtime = s->options->no_auto ? NULL : attach_runtime_of(attached->pid);
	return runtime && !is_off(s, runtime) ? runtime : NULL;
}

void session_prepare_attach(struct session *s)
{
	bool is_needed = false;
	for (size_t i = 0; i < s->attached.count; i++)
		is_needed |= runtime_to_ask(s, &s->attached.items[i]) != NULL;
	if (is_needed && private_dir_make(&s->private_dir) < 0)
		say_warning(&s->say, "no private directory for the runtimes' files: %s",
			    strerror(errno));
}

void session_attach(struct session *s)
{
	for (size_t i = 0; i < s->attached.count && s->private_dir.path; i++)
		if (runtime_to_ask(s, &s->attached.items[i]))
			attach_to(s, &s->attached.items[i]);
}

void session_detach(struct session *s)
{
	for (size_t i = 0; i < s->attached.count; i++) {
		struct attach_report report;
		if (attach_stop(s->attached.items[i].attachment, &report) < 0)
			say_warning(&s->say, "%s", report.reason);
	}
}
