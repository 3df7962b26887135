/* Two things are asked of a .NET process: a jitdump (8 and newer), which it begins with the code
 * that it has, and the events of its methods, which come over the socket that they were asked for
 * on.
 *
 * Where the dump goes is a setting of the runtime, of which it takes a new value over the same
 * socket. It is given back as soon as the dump is there, so that programs which this one starts do
 * not inherit it. Whether stubs are told of in blocks is another, but read only as the process
 * starts: .NET 10 ends its dump at the first block that is not wholly there, and is asked for a
 * map, too.
 */
#include "attach/attach_internal.h"
#include "attach/dotnet_ipc.h"
#include "attach/dotnet_stream.h"
#include "base/status.h"
#include "os/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char PATH_VARIABLE[] = "DOTNET_PerfMapJitDumpPath";

enum { FIRST_WITH_MAPS = 8, FIRST_WITH_SHORT_DUMPS = 10 };

struct dotnet {
	int door_fd;
	unsigned major;
	char version[32];
	struct dotnet_stream *stream; /* NULL: no events */
	uint64_t session;
	struct attach_events events;
	bool has_begun; /* the dump is on our account */
};

static bool is_there(const struct attach_target *target)
{
	const int door = target->has_coreclr ? -1 : dotnet_ipc_find(target);
	if (door >= 0)
		close(door);
	return target->has_coreclr || door >= 0;
}

/* --- what went wrong --- */

static int explain(const struct attachment *a, const struct dotnet_failure *failure,
		   struct attach_report *report)
{
	const pid_t pid = a->target.pid;
	const char *why = failure->error ? strerror(failure->error) : "not known why";
	switch (failure->stage) {
	case DOTNET_CONNECT:
		return attach_fail(report, STATUS_DENIED,
				   "process %d: connecting to its socket: %s", pid, why);
	case DOTNET_PEER:
		return attach_fail(report, STATUS_DENIED,
				   "process %d: another process listens on its socket", pid);
	case DOTNET_GARBAGE:
		return attach_fail(report, STATUS_IO,
				   "process %d answers in a language that is not .NET's", pid);
	case DOTNET_CANCELLED:
		return attach_fail(report, STATUS_IO, "process %d: interrupted", pid);
	case DOTNET_REFUSED:
		if (failure->code == DOTNET_UNKNOWN_COMMAND ||
		    failure->code == DOTNET_NOT_SUPPORTED)
			return attach_fail(report, STATUS_UNSUPPORTED,
					   "the runtime of process %d (.NET %s) cannot tell of its "
					   "code",
					   pid, ((struct dotnet *)a->own)->version);
		return attach_fail(report, STATUS_IO, "process %d refuses: error 0x%08x", pid,
				   failure->code);
	default:
		if (failure->error == ETIMEDOUT)
			return attach_fail(report, STATUS_IO,
					   "process %d does not answer: is it stopped?", pid);
		return attach_fail(report, STATUS_IO, "talking to process %d: %s", pid, why);
	}
}

static bool is_switched_off(const struct attach_target *target, const char **variable)
{
	static const char *const NAMES[] = { "DOTNET_EnableDiagnostics",
					     "COMPlus_EnableDiagnostics",
					     "DOTNET_EnableDiagnostics_IPC" };
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		char value[16];
		*variable = NAMES[i];
		if (attach_target_getenv(target, NAMES[i], value, sizeof(value)) &&
		    strcmp(value, "0") == 0)
			return true;
	}
	return false;
}

static int explain_closed(const struct attachment *a, struct attach_report *report)
{
	char directory[PATH_MAX];
	const char *variable;
	const pid_t pid = a->target.pid;
	const int error = errno;
	attach_remedy(report, "DOTNET_PerfMapEnabled=1 dotnet ...");
	if (is_switched_off(&a->target, &variable))
		return attach_fail(report, STATUS_UNSUPPORTED,
				   "process %d was started with %s=0: it takes no questions", pid,
				   variable);
	dotnet_ipc_directory(&a->target, directory);
	if (error != ENOENT)
		return attach_fail(report, STATUS_IO,
				   "process %d: looking for its socket in %s: %s", pid, directory,
				   strerror(error));
	return attach_fail(
	    report, STATUS_UNSUPPORTED,
	    "process %d has no socket dotnet-diagnostic-%d-*-socket in its %s: it takes "
	    "no questions",
	    pid, a->target.own_pid, directory);
}

/* --- questions --- */

static struct dotnet_call new_call(const struct attachment *a, uint8_t set, uint8_t command,
				   const struct sink *payload)
{
	const struct dotnet *d = a->own;
	return (struct dotnet_call){
		.target = &a->target,
		.door_fd = d->door_fd,
		.set = set,
		.command = command,
		.payload = payload ? sink_bytes(payload) : (struct bytes){ 0 },
		.deadline_ns = os_clock_mono_ns() + a->timeout_ns,
		.cancel_fd = a->cancel_fd,
	};
}

/* For calls whose answer says nothing but yes or no. */
static int ask(const struct dotnet_call *call, struct dotnet_failure *failure)
{
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	const int result = dotnet_ipc_call(call, &answer, failure);
	sink_clear(&answer);
	return result;
}

static int set_variable(const struct attachment *a, const char *name, const char *value,
			struct dotnet_failure *failure)
{
	struct sink payload = { 0 };
	int result = dotnet_ipc_put_text(&payload, name) && dotnet_ipc_put_text(&payload, value)
			 ? 0
			 : STATUS_NOT_FORMAT;
	const struct dotnet_call call =
	    new_call(a, DOTNET_PROCESS, DOTNET_PROCESS_SET_VARIABLE, &payload);
	*failure = (struct dotnet_failure){ DOTNET_TALK, EILSEQ, 0 };
	if (result == 0)
		result = ask(&call, failure);
	sink_clear(&payload);
	return result;
}

/* To what it was when the process started. */
static void give_back(struct attachment *a, const char *name)
{
	char value[PATH_MAX];
	struct dotnet_failure failure;
	const int cancel_fd = a->cancel_fd;
	if (!attach_target_getenv(&a->target, name, value, sizeof(value)))
		value[0] = 0;
	a->cancel_fd = -1;
	(void)set_variable(a, name, value, &failure);
	a->cancel_fd = cancel_fd;
}

static int enable(const struct attachment *a, enum dotnet_map_type type,
		  struct dotnet_failure *failure)
{
	struct sink payload = { 0 };
	sink_u32(&payload, type);
	const struct dotnet_call call =
	    new_call(a, DOTNET_PROCESS, DOTNET_PROCESS_ENABLE_MAP, &payload);
	const int result = ask(&call, failure);
	sink_clear(&payload);
	return result;
}

static int read_version(struct attachment *a, struct attach_report *report)
{
	struct dotnet *d = a->own;
	struct dotnet_failure failure;
	struct dotnet_info info = { 0 };
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	const struct dotnet_call call = new_call(a, DOTNET_PROCESS, DOTNET_PROCESS_INFO_2, NULL);
	int result = dotnet_ipc_call(&call, &answer, &failure);
	const bool is_old =
	    failure.stage == DOTNET_REFUSED && failure.code == DOTNET_UNKNOWN_COMMAND;
	if (result < 0 && !is_old)
		result = explain(a, &failure, report);
	else if (!is_old && !dotnet_ipc_read_info(sink_bytes(&answer), &info))
		result = explain(a, &(struct dotnet_failure){ .stage = DOTNET_GARBAGE }, report);
	else
		result = 0;
	sink_clear(&answer);
	d->major = info.major;
	(void)snprintf(d->version, sizeof(d->version), "%s", is_old ? "5 or older" : info.version);
	return result;
}

/* --- events --- */

static int start_events(struct attachment *a, const struct attach_options *options,
			struct attach_report *report)
{
	struct dotnet *d = a->own;
	struct dotnet_failure failure = { 0 };
	struct sink payload = { 0 };
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	uint8_t command;
	int connection = -1;
	d->events = *options->events;
	int result =
	    dotnet_ipc_put_collect(&payload, d->events.config, d->major, &command) ? 0 : STATUS_IO;
	struct dotnet_call call = new_call(a, DOTNET_EVENTS, command, &payload);
	call.kept_fd = &connection;
	if (result == 0)
		result = dotnet_ipc_call(&call, &answer, &failure);
	struct cursor c = cursor_over(sink_bytes(&answer));
	d->session = cursor_u64(&c);
	if (result == 0 && cursor_failed(&c)) {
		close(connection);
		failure.stage = DOTNET_GARBAGE;
		result = STATUS_IO;
	}
	if (result < 0)
		result = explain(a, &failure, report);
	else
		result = dotnet_stream_start(&d->stream, connection, d->events.fd,
					     d->events.limit_bytes);
	if (result < 0 && !*report->reason)
		result = attach_fail(report, result, "taking the events of process %d: %s",
				     a->target.pid, strerror(errno));
	sink_clear(&payload);
	sink_clear(&answer);
	return result;
}

struct slow_end {
	const struct attachment *attachment;
};

static void tell_slow(void *context)
{
	const struct slow_end *slow = context;
	const struct dotnet *d = slow->attachment->own;
	if (d->events.on_slow_end)
		d->events.on_slow_end(d->events.context, slow->attachment->target.pid);
}

/* The process first lists the methods that it has, and with large programs takes its time. */
static int stop_events(struct attachment *a, struct attach_report *report)
{
	struct dotnet *d = a->own;
	struct dotnet_failure failure = { 0 };
	struct sink payload = { 0 };
	struct slow_end slow = { a };
	int error = 0;
	sink_u64(&payload, d->session);
	struct dotnet_call call = new_call(a, DOTNET_EVENTS, DOTNET_EVENTS_STOP, &payload);
	call.on_slow = tell_slow;
	call.context = &slow;
	const int asked = a->is_gone ? 0 : ask(&call, &failure);
	sink_clear(&payload);
	/* Where it was not asked, or gave no answer, it will not end them. */
	const uint64_t until_ns = asked == 0 ? call.deadline_ns : 0;
	const enum dotnet_stream_end end =
	    dotnet_stream_wait(d->stream, until_ns, a->cancel_fd, &error);
	const uint64_t mb = dotnet_stream_bytes(d->stream) >> 20;
	dotnet_stream_free(d->stream);
	d->stream = NULL;
	switch (end) {
	case DOTNET_STREAM_WHOLE:
		return 0;
	case DOTNET_STREAM_FULL:
		return attach_fail(report, STATUS_IO, "keeping the events of process %d: %s",
				   a->target.pid, strerror(error));
	case DOTNET_STREAM_CUT:
		return attach_fail(report, STATUS_IO,
				   "of the events of process %d, %llu MB, only the first %llu MB "
				   "were kept",
				   a->target.pid, (unsigned long long)mb,
				   (unsigned long long)(d->events.limit_bytes >> 20));
	case DOTNET_STREAM_LATE:
		break;
	}
	return attach_fail(report, STATUS_IO,
			   "process %d did not list all its methods in time: lines of code that it "
			   "had before the recording may be missing",
			   a->target.pid);
}

/* --- the dump --- */

/* A perf map is held open, and not mapped. Its path, or "". */
static void find_map(const struct attach_target *target, char map[PATH_MAX])
{
	char path[64];
	char name[32];
	(void)snprintf(name, sizeof(name), "/perf-%d.map", target->own_pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", target->pid);
	DIR *stream = opendir(path);
	const struct dirent *entry;
	map[0] = 0;
	while (stream && !*map && (entry = readdir(stream))) {
		const ssize_t size = readlinkat(dirfd(stream), entry->d_name, map, PATH_MAX - 1);
		map[size > 0 ? size : 0] = 0;
		const char *slash = strrchr(map, '/');
		if (!slash || strcmp(slash, name) != 0)
			map[0] = 0;
	}
	if (stream)
		closedir(stream);
}

static int begin_dump(struct attachment *a, const struct attach_options *options,
		      const char *directory, struct attach_report *report)
{
	struct dotnet *d = a->own;
	struct dotnet_failure failure = { 0 };
	const bool is_both = options->map || d->major >= FIRST_WITH_SHORT_DUMPS;
	int result = directory ? set_variable(a, PATH_VARIABLE, directory, &failure) : 0;
	if (result == 0)
		result = enable(a, is_both ? DOTNET_MAP_BOTH : DOTNET_MAP_JITDUMP, &failure);
	if (directory)
		give_back(a, PATH_VARIABLE);
	if (result < 0)
		return explain(a, &failure, report);
	d->has_begun = true;
	find_map(&a->target, report->map);
	if (*report->map && directory)
		(void)snprintf(report->map, sizeof(report->map), "%.*s/perf-%d.map", PATH_MAX - 32,
			       directory, a->target.own_pid);
	if (*report->map || (attach_target_refresh(&a->target) == 0 && *a->target.dump))
		return 0;
	return attach_fail(report, STATUS_IO, "process %d cannot make a dump in %s, as it sees it",
			   a->target.pid, directory ? directory : "its /tmp");
}

/* Also when the wait for the events was broken off: it takes a moment, and has its own time. */
static int end_dump(struct attachment *a, struct attach_report *report)
{
	static const uint64_t patience_ns = 10000000000;
	struct dotnet_failure failure;
	struct dotnet_call call = new_call(a, DOTNET_PROCESS, DOTNET_PROCESS_DISABLE_MAP, NULL);
	call.cancel_fd = -1;
	if (a->timeout_ns > patience_ns)
		call.deadline_ns = os_clock_mono_ns() + patience_ns;
	((struct dotnet *)a->own)->has_begun = false;
	return ask(&call, &failure) < 0 ? explain(a, &failure, report) : 0;
}

/* --- the row --- */

static void release(struct attachment *a)
{
	struct dotnet *d = a->own;
	if (!d)
		return;
	dotnet_stream_free(d->stream);
	if (d->door_fd >= 0)
		close(d->door_fd);
	free(d);
}

/* One that has just started may be about to listen. */
static int open_door(struct attachment *a, struct attach_report *report)
{
	enum { TRIES = 30 };
	const struct timespec pause = { 0, 100000000 };
	const char *variable;
	struct dotnet *d = calloc(1, sizeof(*d));
	a->own = d;
	if (!d)
		return attach_fail(report, STATUS_NO_MEMORY, "%s", status_text(STATUS_NO_MEMORY));
	d->door_fd = dotnet_ipc_find(&a->target);
	for (int i = 0; i < TRIES && d->door_fd < 0 && errno == ENOENT &&
			!is_switched_off(&a->target, &variable);
	     i++) {
		(void)nanosleep(&pause, NULL);
		if (attach_target_refresh(&a->target) < 0 || !a->target.has_coreclr)
			return attach_fail(report, STATUS_NOT_FOUND, "process %d has ended",
					   a->target.pid);
		d->door_fd = dotnet_ipc_find(&a->target);
	}
	return d->door_fd < 0 ? explain_closed(a, report) : read_version(a, report);
}

static int start_dump(struct attachment *a, const struct attach_options *options,
		      struct attach_report *report)
{
	struct dotnet *d = a->own;
	const char *directory;
	/* A map alone is another's, too: both could only be ended together. */
	find_map(&a->target, report->map);
	if (*a->target.dump || *report->map) {
		a->was_running = true;
		return 0;
	}
	if (d->major < FIRST_WITH_MAPS) {
		attach_remedy(report, "DOTNET_PerfMapEnabled=1 dotnet ...");
		return attach_fail(
		    report, STATUS_UNSUPPORTED,
		    "process %d runs .NET %s: only from 8 on can it be asked while it "
		    "runs",
		    a->target.pid, d->version);
	}
	int result = attach_choose_directory(a, options, &directory, report);
	if (result == 0)
		result = begin_dump(a, options, directory, report);
	return result;
}

static int start(struct attachment *a, const struct attach_options *options,
		 struct attach_report *report)
{
	struct dotnet *d;
	struct attach_report unused = { 0 };
	int result = attach_check_user(a, report);
	if (result == 0)
		result = open_door(a, report);
	if (result == 0)
		result = start_dump(a, options, report);
	/* Methods that are made between the two are in the dump. */
	if (result == 0 && options->events)
		result = start_events(a, options, report);
	d = a->own;
	if (result < 0 && d && d->has_begun)
		(void)end_dump(a, &unused);
	return result;
}

static int stop(struct attachment *a, struct attach_report *report)
{
	struct dotnet *d = a->own;
	const bool is_another = !d; /* what an earlier polyperf began */
	int result = 0;
	if (is_another) {
		result = attach_check_user(a, report);
		if (result == 0)
			result = open_door(a, report);
		if (result != 0)
			return result;
		find_map(&a->target, report->map);
		if (!*a->target.dump && !*report->map)
			return attach_fail(report, STATUS_NOT_FOUND,
					   "process %d does not tell of its code", a->target.pid);
		return end_dump(a, report);
	}
	if (d->stream)
		result = stop_events(a, report);
	if (d->has_begun && !a->is_gone) {
		const int ended = end_dump(a, report);
		result = ended < 0 ? ended : result;
	}
	return result;
}

const struct attach_runtime ATTACH_DOTNET = { "dotnet", is_there, start, stop, release };
