#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_off(const struct session *s, const char *runtime)
{
	for (size_t i = 0; i < s->options->runtimes_off_count; i++)
		if (strcmp(s->options->runtimes_off[i], runtime) == 0)
			return true;
	return false;
}

/* The file that takes the events of a .NET process. By this name the collector finds it. */
static int open_events(const struct session *s, struct attached *attached)
{
	char *path = NULL;
	if (asprintf(&path, "%s/" COLLECTOR_EVENTS_NAME, s->private_dir.path, attached->pid) < 0)
		return STATUS_NO_MEMORY;
	attached->events_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (attached->events_fd < 0)
		say_warning(&s->say, "no events of process %d: making %s: %s", attached->pid, path,
			    strerror(errno));
	free(path);
	return attached->events_fd < 0 ? STATUS_IO : 0;
}

static void tell_slow_end(void *context, pid_t pid)
{
	const struct session *s = context;
	say_note(&s->say, "waiting for process %d to list its methods (Ctrl-C: do without)", pid);
}

static void attach_to(struct session *s, struct attached *attached, const char *runtime)
{
	struct attach_report report;
	const bool has_events = strcmp(runtime, "dotnet") == 0 && open_events(s, attached) == 0;
	const struct attach_events events = {
		.fd = attached->events_fd,
		.config = RUNTIMES_CLR_EVENTS,
		.limit_bytes = COLLECTOR_EVENTS_LIMIT,
		.on_slow_end = tell_slow_end,
		.context = s,
	};
	const struct attach_options options = {
		.pid = attached->pid,
		.directory = s->private_dir.path,
		.is_our_directory = true,
		.interpreted = s->options->stacks == RECORD_STACKS_DWARF,
		.cancel_fd = s->signal_fd,
		.events = has_events ? &events : NULL,
	};
	if (attach_start(&attached->attachment, &options, &report) < 0) {
		say_warning(&s->say, "%s", report.reason);
		if (*report.remedy)
			say_try(&s->say, "%s", report.remedy);
	} else if (report.was_running) {
		say_detail(&s->say, "%s: process %d tells of its code already", report.runtime,
			   attached->pid);
	} else {
		if (*report.map)
			collector_map_file(s->collector, attached->pid, report.map);
		free(attached->map);
		attached->map = *report.map ? strdup(report.map) : NULL;
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
	for (size_t i = 0; i < s->attached.count && s->private_dir.path; i++) {
		const char *runtime = runtime_to_ask(s, &s->attached.items[i]);
		if (runtime)
			attach_to(s, &s->attached.items[i], runtime);
	}
}

void session_detach(struct session *s)
{
	for (size_t i = 0; i < s->attached.count; i++) {
		struct attach_report report;
		if (attach_stop(s->attached.items[i].attachment, &report) < 0)
			say_warning(&s->say, "%s", report.reason);
	}
}
