#include "attach/attach_internal.h"

#include "base/status.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To add one: a file with its start and stop, and a row. */
static const struct attach_runtime *const RUNTIMES[] = { &ATTACH_JAVA, &ATTACH_DOTNET };

static const uint64_t default_timeout_ns = 60000000000;

__attribute__((format(printf, 3, 0))) static void put(char *text, size_t size, const char *format,
						      va_list args)
{
	(void)vsnprintf(text, size, format, args);
}

int attach_fail(struct attach_report *report, int result, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put(report->reason, sizeof(report->reason), format, args);
	va_end(args);
	return result;
}

void attach_remedy(struct attach_report *report, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put(report->remedy, sizeof(report->remedy), format, args);
	va_end(args);
}

int attach_check_user(const struct attachment *a, struct attach_report *report)
{
	if (geteuid() == 0 || geteuid() == a->target.uid)
		return 0;
	const struct passwd *user = getpwuid(a->target.uid);
	attach_remedy(report, "sudo polyperf attach %d", a->target.pid);
	return attach_fail(report, STATUS_DENIED, "process %d belongs to %s", a->target.pid,
			   user ? user->pw_name : "another user");
}

int attach_explain_no_place(const struct attachment *a, struct attach_report *report)
{
	return attach_fail(report, STATUS_IO,
			   "process %d has no folder that it could load code from: none of /tmp, "
			   "/var/tmp and /dev/shm can be written to and mapped executable",
			   a->target.pid);
}

int attach_choose_directory(struct attachment *a, const struct attach_options *options,
			    const char **directory, struct attach_report *report)
{
	*directory = options->directory;
	if (!options->is_our_directory || attach_target_sees(&a->target, *directory))
		return 0;
	if (attach_place_make(&a->place, &a->target) < 0)
		return attach_explain_no_place(a, report);
	*directory = a->place.path;
	return 0;
}

static const struct attach_runtime *runtime_of(const struct attach_target *target)
{
	for (size_t i = 0; i < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); i++)
		if (RUNTIMES[i]->is_there(target))
			return RUNTIMES[i];
	return NULL;
}

const char *attach_runtime_of(pid_t pid)
{
	struct attach_target target;
	if (attach_target_open(&target, pid) < 0)
		return NULL;
	const struct attach_runtime *runtime = runtime_of(&target);
	attach_target_close(&target);
	return runtime ? runtime->name : NULL;
}

static int explain_open(pid_t pid, int result, struct attach_report *report)
{
	if (result == STATUS_NOT_FOUND)
		return attach_fail(report, result, "there is no process %d", pid);
	if (result != STATUS_DENIED)
		return attach_fail(report, result, "looking at process %d: %s", pid,
				   result == STATUS_IO ? strerror(errno) : status_text(result));
	attach_remedy(report, "sudo polyperf attach %d", pid);
	return attach_fail(report, result, "process %d is another user's, or guards its memory",
			   pid);
}

/* It would be waited for in vain. */
static int check_runs(const struct attachment *a, struct attach_report *report)
{
	if (!a->target.is_halted)
		return 0;
	attach_remedy(report, "kill -CONT %d", a->target.pid);
	return attach_fail(report, STATUS_IO,
			   "process %d is stopped, by a signal or a debugger: it cannot answer",
			   a->target.pid);
}

/* Opens the process and finds its runtime. */
static int open_attachment(struct attachment **made, const struct attach_options *options,
			   struct attach_report *report)
{
	*made = NULL;
	*report = (struct attach_report){ 0 };
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	if (!attachment)
		return attach_fail(report, STATUS_NO_MEMORY, "%s", status_text(STATUS_NO_MEMORY));
	attachment->place = (struct attach_place)ATTACH_NO_PLACE;
	attachment->cancel_fd = options->cancel_fd;
	attachment->timeout_ns = options->timeout_ns ? options->timeout_ns : default_timeout_ns;
	int result = attach_target_open(&attachment->target, options->pid);
	if (result < 0) {
		free(attachment);
		return explain_open(options->pid, result, report);
	}
	attachment->runtime = runtime_of(&attachment->target);
	if (!attachment->runtime) {
		attach_target_close(&attachment->target);
		free(attachment);
		return attach_fail(
		    report, STATUS_UNSUPPORTED,
		    "process %d is no JVM and no .NET: other runtimes tell of their code "
		    "only if they are started so",
		    options->pid);
	}
	report->runtime = attachment->runtime->name;
	*made = attachment;
	return 0;
}

static void release(struct attachment *attachment)
{
	if (attachment->runtime->release)
		attachment->runtime->release(attachment);
	attachment->own = NULL;
}

void attach_free(struct attachment *attachment)
{
	if (!attachment)
		return;
	release(attachment);
	attach_place_remove(&attachment->place);
	attach_target_close(&attachment->target);
	free(attachment);
}

int attach_start(struct attachment **made, const struct attach_options *options,
		 struct attach_report *report)
{
	*made = NULL;
	int result = open_attachment(made, options, report);
	if (result < 0 || !*made)
		return result;
	result = check_runs(*made, report);
	if (result == 0)
		result = (*made)->runtime->start(*made, options, report);
	if (result < 0) {
		attach_free(*made);
		*made = NULL;
		return result;
	}
	/* By its marker, which the process has mapped by now. */
	if (attach_target_refresh(&(*made)->target) == 0)
		memcpy(report->dump, (*made)->target.dump, sizeof(report->dump));
	report->was_running = (*made)->was_running;
	return 0;
}

static bool is_alive(struct attachment *attachment)
{
	return attach_target_refresh(&attachment->target) == 0 &&
	       attachment->runtime->is_there(&attachment->target);
}

int attach_stop(struct attachment *attachment, struct attach_report *report)
{
	*report = (struct attach_report){ 0 };
	if (!attachment)
		return 0;
	report->runtime = attachment->runtime->name;
	if (attachment->is_stopped)
		return 0;
	attachment->is_stopped = true;
	attachment->is_gone = !is_alive(attachment);
	const int result = attachment->is_gone ? 0 : check_runs(attachment, report);
	return result < 0 ? result : attachment->runtime->stop(attachment, report);
}

int attach_stop_process(const struct attach_options *options, struct attach_report *report)
{
	struct attachment *attachment = NULL;
	int result = open_attachment(&attachment, options, report);
	if (result < 0 || !attachment)
		return result;
	result = check_runs(attachment, report);
	if (result == 0)
		result = attachment->runtime->stop(attachment, report);
	memcpy(report->dump, attachment->target.dump, sizeof(report->dump));
	attach_free(attachment);
	return result;
}
