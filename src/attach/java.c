#include "attach/attach_internal.h"

#include "agent/jvmti/answers.h"
#include "attach/hotspot.h"
#include "attach/library.h"
#include "base/status.h"
#include "os/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char LIBRARY_NAME[] = "libpolyperf-jvmti.so";

static bool is_there(const struct attach_target *target)
{
	return target->has_jvm;
}

static bool holds_word(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word)) != NULL;
}

/* One of the files of /proc/PID that hold words with NULs between them. */
static bool was_started_with(pid_t pid, const char *file, const char *word)
{
	char path[64];
	struct sink text = { .limit = 4 << 20 };
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	(void)proc_read(&text, path);
	const bool found = text.size && holds_word((const char *)text.data, text.size, word);
	sink_clear(&text);
	return found;
}

/* SIGQUIT makes a JVM without a handler end, and one that does not listen to tools print all its
 * stacks among its output.
 */
static int check_listens(struct attachment *a, struct attach_report *report)
{
	enum { TRIES = 30 };
	const struct timespec pause = { 0, 100000000 };
	const pid_t pid = a->target.pid;
	static const char OFF[] = "-XX:+DisableAttachMechanism";
	if (a->target.has_openj9)
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "process %d is an OpenJ9 JVM, which cannot be asked from "
				   "outside: start it with -agentpath",
				   pid);
	if (was_started_with(pid, "cmdline", OFF) || was_started_with(pid, "environ", OFF))
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "process %d was started with %s: start it with -agentpath", pid,
				   OFF);
	/* It may be about to start. */
	for (int i = 0; i < TRIES && !attach_target_catches(&a->target, SIGQUIT); i++) {
		(void)nanosleep(&pause, NULL);
		if (attach_target_refresh(&a->target) < 0 || !a->target.has_jvm)
			return attach_fail(report, STATUS_NOT_FOUND, "process %d has ended", pid);
	}
	if (!attach_target_catches(&a->target, SIGQUIT))
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "process %d does not handle SIGQUIT, which would end it "
				   "(started with -Xrs?): start it with -agentpath",
				   pid);
	return 0;
}

static int explain_call(const struct attachment *a, const struct hotspot_failure *failure,
			struct attach_report *report)
{
	const pid_t pid = a->target.pid;
	const char *why = failure->error ? strerror(failure->error) : "not known why";
	switch (failure->stage) {
	case HOTSPOT_BECOME:
		attach_remedy(report, "sudo polyperf attach %d", pid);
		return attach_fail(report, STATUS_DENIED, "becoming the user of process %d: %s",
				   pid, why);
	case HOTSPOT_KNOCK:
		return attach_fail(report, STATUS_IO,
				   "process %d: no file can be made in its /tmp or current "
				   "directory: %s",
				   pid, why);
	case HOTSPOT_WAIT:
		return attach_fail(report, STATUS_IO, "process %d does not answer: is it stopped?",
				   pid);
	case HOTSPOT_CONNECT:
		return attach_fail(report, STATUS_DENIED,
				   "process %d: its socket .java_pid%d is another process's, or "
				   "refuses: %s",
				   pid, a->target.own_pid, why);
	case HOTSPOT_CANCELLED:
		return attach_fail(report, STATUS_IO, "process %d: interrupted", pid);
	default:
		return attach_fail(report, STATUS_IO, "talking to process %d: %s", pid, why);
	}
}

static int explain_refusal(const struct attachment *a, const struct hotspot_answer *answer,
			   struct attach_report *report)
{
	const pid_t pid = a->target.pid;
	const int size = answer->text_size > 300 ? 300 : (int)answer->text_size;
	if (holds_word(answer->text, answer->text_size, "EnableDynamicAgentLoading")) {
		attach_remedy(report, "java -XX:+EnableDynamicAgentLoading ...");
		return attach_fail(report, STATUS_DENIED,
				   "process %d takes no agents while it runs", pid);
	}
	if (size == 0)
		return attach_fail(report, STATUS_IO,
				   "process %d cannot load %s: it may have another C library than "
				   "this program",
				   pid, a->agent);
	char text[301];
	memcpy(text, answer->text, (size_t)size);
	text[size] = 0;
	for (char *line = text; (line = strchr(line, '\n'));)
		*line = ' ';
	return attach_fail(report, STATUS_IO, "process %d cannot load the agent: %s", pid, text);
}

/* What the agent's function returned, in *returned. */
static int load(struct attachment *a, const char *options, long *returned,
		struct attach_report *report)
{
	const struct hotspot_call call = { .target = &a->target,
					   .words = { "load", a->agent, "true", options },
					   .timeout_ns = a->timeout_ns,
					   .cancel_fd = a->cancel_fd };
	struct sink bytes = { .limit = HOTSPOT_ANSWER_LIMIT };
	struct hotspot_failure failure;
	struct hotspot_answer answer;
	int result = hotspot_call(&call, &bytes, &failure);
	if (result == STATUS_TOO_BIG)
		result =
		    attach_fail(report, result, "a path of more than 1023 bytes: %s", a->agent);
	else if (result < 0)
		result = explain_call(a, &failure, report);
	else if (!hotspot_read_answer(sink_bytes(&bytes), &answer))
		result = attach_fail(report, STATUS_IO, "process %d does not answer as a JVM",
				     a->target.pid);
	else if (!answer.was_loaded)
		result = explain_refusal(a, &answer, report);
	else
		*returned = answer.returned;
	sink_clear(&bytes);
	return result;
}

/* Where there is one already, by the name under which it was loaded: a second copy would be
 * another agent. `copy` is for a process that does not see ours.
 */
static int choose_agent(struct attachment *a, struct attach_place *copy,
			struct attach_report *report)
{
	char library[PATH_MAX];
	if (*a->target.agent) {
		memcpy(a->agent, a->target.agent, sizeof(a->agent));
		return 0;
	}
	if (!attach_find_library(library))
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "%s is not installed: it was left out of this build",
				   LIBRARY_NAME);
	const bool is_readable = geteuid() == a->target.uid || attach_is_open_to_all(library);
	if (is_readable && attach_target_sees(&a->target, library)) {
		memcpy(a->agent, library, sizeof(a->agent));
		return 0;
	}
	if (attach_place_make(copy, &a->target) < 0)
		return attach_explain_no_place(a, report);
	const int result = attach_place_copy(copy, &a->target, library, LIBRARY_NAME);
	if (result < 0)
		return attach_fail(report, result, "copying %s to %s of process %d: %s", library,
				   copy->path, a->target.pid,
				   result == STATUS_IO ? strerror(errno) : status_text(result));
	(void)snprintf(a->agent, sizeof(a->agent), "%s/%s", copy->path, LIBRARY_NAME);
	return 0;
}

static int explain_answer(const struct attachment *a, long answer, const char *directory,
			  struct attach_report *report)
{
	const pid_t pid = a->target.pid;
	switch (answer) {
	case AGENT_NO_DUMP:
		return attach_fail(report, STATUS_IO,
				   "process %d cannot make a dump in %s, as it sees it", pid,
				   directory);
	case AGENT_REFUSED:
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "the JVM of process %d does not tell of its code", pid);
	case AGENT_NOT_RUNNING:
		return attach_fail(report, STATUS_NOT_FOUND, "process %d does not tell of its code",
				   pid);
	case AGENT_BAD_OPTIONS:
		return attach_fail(report, STATUS_IO,
				   "the agent in process %d is of another version, or '%s' holds a "
				   "comma",
				   pid, directory);
	default:
		return attach_fail(report, STATUS_IO, "the agent in process %d returned %ld", pid,
				   answer);
	}
}

static int ask_to_start(struct attachment *a, const char *directory,
			const struct attach_options *options, struct attach_report *report)
{
	char words[PATH_MAX + 64];
	long answer = 0;
	(void)snprintf(words, sizeof(words), "dir=%s%s%s", directory, options->map ? ",map=on" : "",
		       options->interpreted ? ",interpreted=on" : "");
	const int result = load(a, words, &answer, report);
	if (result < 0)
		return result;
	a->was_running = answer == AGENT_IS_RUNNING;
	if (answer == AGENT_STARTED || a->was_running)
		return 0;
	return explain_answer(a, answer, directory, report);
}

static int start(struct attachment *a, const struct attach_options *options,
		 struct attach_report *report)
{
	struct attach_place copy = ATTACH_NO_PLACE;
	const char *directory;
	/* It tells already, to our agent or perf's. */
	if (*a->target.dump) {
		a->was_running = true;
		return 0;
	}
	int result = attach_check_user(a, report);
	if (result == 0)
		result = check_listens(a, report);
	if (result == 0)
		result = attach_choose_directory(a, options, &directory, report);
	if (result == 0 && !directory)
		directory = "/tmp";
	if (result == 0)
		result = choose_agent(a, &copy, report);
	if (result == 0)
		result = ask_to_start(a, directory, options, report);
	/* Loaded, the library needs its file no more, not even to be called again. */
	attach_place_remove(&copy);
	return result;
}

static int stop(struct attachment *a, struct attach_report *report)
{
	long answer = 0;
	if (a->was_running || a->is_gone)
		return 0;
	if (!*a->target.agent)
		return attach_fail(report, STATUS_NOT_FOUND,
				   "process %d was not attached to: it has no agent of ours",
				   a->target.pid);
	memcpy(a->agent, a->target.agent, sizeof(a->agent));
	int result = attach_check_user(a, report);
	if (result == 0)
		result = check_listens(a, report);
	if (result == 0)
		result = load(a, "stop", &answer, report);
	if (result == 0 && answer != AGENT_STARTED)
		result = explain_answer(a, answer, "", report);
	return result;
}

const struct attach_runtime ATTACH_JAVA = { "java", is_there, start, stop, NULL };
