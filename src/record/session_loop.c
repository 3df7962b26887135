#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NEVER UINT64_MAX

static const uint64_t second_ns = 1000000000;
/* A program that maps memory all the time wakes us no more often than this. */
static const uint64_t sideband_pause_ns = 1000000;
/* Where the kernel cannot wake us when a process ends. */
static const uint64_t ask_again_ns = 100000000;
static const uint64_t agents_pause_ns = 40000000;

struct loop {
	struct session *session;
	VECTOR(struct pollfd) fds; /* signals, command, attached, samples, sideband */
	size_t samples_at;
	size_t sideband_at;
	uint64_t start_ns;    /* when to start sampling */
	uint64_t stop_ns;     /* when the duration is over */
	uint64_t grace_ns;    /* when patience with the command is over */
	uint64_t sideband_ns; /* before this, the sideband waits */
	uint64_t look_ns;     /* when interpreters are to be looked for */
	size_t agents_at;
	uint64_t agents_ns; /* when what agents told is to be read */
	size_t watched_at;  /* what options->intervals wants to be told of */
	uint64_t take_ns;   /* when the interval is over */
	bool is_ending;
	bool was_asked;  /* the command got SIGTERM */
	bool has_failed; /* to write */
	bool is_done;
};

enum { FD_SIGNALS, FD_COMMAND, FD_ATTACHED };

static int add_fd(struct loop *loop, int fd)
{
	struct pollfd *slot = vector_push(&loop->fds);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = (struct pollfd){ .fd = fd, .events = POLLIN };
	return 0;
}

static int add_fds(struct loop *loop)
{
	struct session *s = loop->session;
	int result = add_fd(loop, s->signal_fd);
	if (result == 0)
		result = add_fd(loop, s->child.pid ? s->child.pid_fd : -1);
	for (size_t i = 0; result == 0 && i < s->attached.count; i++)
		result = add_fd(loop, s->attached.items[i].pid_fd);
	loop->agents_at = loop->fds.count;
	if (result == 0)
		result = add_fd(loop, s->agents ? agents_fd(s->agents) : -1);
	loop->watched_at = loop->fds.count;
	const struct record_intervals *intervals = s->options->intervals;
	for (size_t i = 0; result == 0 && intervals && i < intervals->fd_count; i++)
		result = add_fd(loop, intervals->fds[i]);
	loop->samples_at = loop->fds.count;
	for (size_t i = 0; result == 0 && i < s->events.cpus.count; i++)
		result = add_fd(loop, s->events.cpus.items[i].sample_fd);
	loop->sideband_at = loop->fds.count;
	for (size_t i = 0; result == 0 && i < s->events.cpus.count; i++)
		result = add_fd(loop, s->events.cpus.items[i].sideband_fd);
	return result;
}

/* Waits for the command to end by itself, or by `number`; its last words count: runtimes
 * write their maps then.
 */
static void end_command(struct loop *loop, int number, uint64_t now_ns)
{
	loop->is_ending = true;
	if (number)
		kill(loop->session->child.pid, number);
	loop->was_asked |= number == SIGTERM;
	loop->grace_ns = now_ns + 5 * second_ns;
}

static void on_signal(struct loop *loop, const struct signalfd_siginfo *info, uint64_t now_ns)
{
	struct session *s = loop->session;
	s->result->was_interrupted = true;
	/* Those of a terminal reach the whole foreground group by themselves. */
	const bool is_for_us_alone = info->ssi_code <= 0;
	if (!s->child.pid || loop->is_ending) {
		loop->is_done = true;
	} else if (!session_follows_command(s)) {
		kill(s->child.pid, SIGTERM);
		loop->is_done = true;
	} else {
		end_command(loop, is_for_us_alone ? (int)info->ssi_signo : 0, now_ns);
	}
}

static void read_signals(struct loop *loop, uint64_t now_ns)
{
	struct signalfd_siginfo info;
	while (read(loop->session->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		on_signal(loop, &info, now_ns);
}

static void check_command(struct loop *loop)
{
	struct session *s = loop->session;
	if (!s->child.pid)
		return;
	int status;
	if (!child_reap(&s->child, &status))
		return;
	if (s->options->intervals)
		say_note(&s->say, "%s has ended", s->options->command[0]);
	s->result->has_command_status = true;
	s->result->command_status = status;
	loop->is_done = true;
}

static bool has_ended(const struct attached *attached, short revents)
{
	if (attached->pid_fd >= 0)
		return revents != 0;
	return kill(attached->pid, 0) != 0 && errno == ESRCH;
}

static void check_attached(struct loop *loop)
{
	struct session *s = loop->session;
	size_t alive = 0;
	for (size_t i = 0; i < s->attached.count; i++) {
		struct pollfd *fd = &loop->fds.items[FD_ATTACHED + i];
		struct attached *attached = &s->attached.items[i];
		if (attached->pid && has_ended(attached, fd->revents)) {
			if (s->options->intervals)
				say_note(&s->say, "process %d has ended", attached->pid);
			attached->pid = 0;
			fd->fd = -1;
		}
		alive += attached->pid != 0;
	}
	if (s->attached.count && !alive)
		loop->is_done = true;
}

static void stop_sampling(struct session *s)
{
	events_stop(&s->events);
	if (s->agents)
		agents_stop(s->agents);
}

/* What is due by the clock. */
static void check_clock(struct loop *loop, uint64_t now_ns)
{
	struct session *s = loop->session;
	if (now_ns >= loop->start_ns) {
		events_start(&s->events);
		if (s->agents)
			agents_start(s->agents);
		loop->start_ns = NEVER;
		if (s->options->duration_ns)
			loop->stop_ns = now_ns + s->options->duration_ns;
	}
	if (now_ns >= loop->stop_ns) {
		loop->stop_ns = NEVER;
		stop_sampling(s);
		s->result->is_cut = true;
		if (s->child.pid)
			end_command(loop, SIGTERM, now_ns);
		if (!session_follows_command(s))
			loop->is_done = true;
	}
	if (now_ns >= loop->grace_ns) {
		loop->grace_ns = NEVER;
		if (loop->was_asked)
			loop->is_done = true;
		else
			end_command(loop, SIGTERM, now_ns);
	}
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns false where poll() failed. */
static bool wait_for_events(struct loop *loop, bool with_sideband, uint64_t now_ns)
{
	struct session *s = loop->session;
	uint64_t until = earliest(earliest(loop->start_ns, loop->stop_ns), loop->grace_ns);
	if (!with_sideband && !loop->has_failed)
		until = earliest(until, loop->sideband_ns);
	until = earliest(earliest(until, loop->look_ns), loop->agents_ns);
	until = earliest(until, loop->take_ns);
	bool must_ask = s->child.pid && s->child.pid_fd < 0;
	for (size_t i = 0; i < s->attached.count; i++)
		must_ask |= s->attached.items[i].pid && s->attached.items[i].pid_fd < 0;
	if (must_ask)
		until = earliest(until, now_ns + ask_again_ns);
	const uint64_t left = until > now_ns ? until - now_ns : 0;
	const struct timespec timeout = { (time_t)(left / second_ns), (long)(left % second_ns) };
	/* Not asking at all is right: asking would take the wake-up away. */
	size_t count = with_sideband ? loop->fds.count : loop->sideband_at;
	if (loop->has_failed)
		count = loop->samples_at;
	for (size_t i = 0; i < loop->fds.count; i++)
		loop->fds.items[i].revents = 0;
	return ppoll(loop->fds.items, (nfds_t)count, until == NEVER ? NULL : &timeout, NULL) >= 0 ||
	       errno == EINTR;
}

static bool any_ready(const struct loop *loop, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (loop->fds.items[i].revents)
			return true;
	return false;
}

/* The command is not made to suffer for a full disk: it runs on, unrecorded. */
static void on_failure(struct loop *loop)
{
	struct session *s = loop->session;
	loop->has_failed = true;
	loop->look_ns = loop->agents_ns = NEVER;
	say_error(&s->say, "%s: %s",
		  s->options->intervals ? "keeping the samples" : "writing the recording",
		  s->file.status == STATUS_IO ? strerror(s->file.error)
					      : status_text(s->file.status));
	stop_sampling(s);
	if (session_follows_command(s) && s->child.pid)
		say_note(&s->say, "%s goes on without being recorded", s->options->command[0]);
	else
		loop->is_done = true;
}

/* Their rings are small: they are read soon, with the samples that their stacks are of. */
static void serve_agents(struct loop *loop, uint64_t now_ns)
{
	struct session *s = loop->session;
	if (loop->fds.items[loop->agents_at].revents)
		agents_serve(s->agents, now_ns);
	const bool is_needed = agents_are_there(s->agents) && !loop->has_failed;
	if (is_needed && loop->agents_ns == NEVER)
		loop->agents_ns = now_ns + agents_pause_ns;
}

static void serve_intervals(struct loop *loop, uint64_t now_ns)
{
	struct session *s = loop->session;
	struct record_intervals *intervals = s->options->intervals;
	if (!intervals || loop->has_failed)
		return;
	enum record_answer answer = RECORD_GO_ON;
	if (any_ready(loop, loop->watched_at, loop->samples_at))
		answer = intervals->ready(intervals->context);
	int got = 0;
	if (answer == RECORD_TAKE_NOW || (answer == RECORD_GO_ON && now_ns >= loop->take_ns)) {
		got = intervals_take(&s->intervals, s);
		loop->take_ns = os_clock_mono_ns() + intervals->interval_ns;
	}
	if (got < 0 && s->file.status == 0)
		s->file.status = got;
	if (got <= 0 && answer != RECORD_END)
		return;
	if (session_follows_command(s) && s->child.pid)
		kill(s->child.pid, SIGTERM);
	loop->is_done = true;
}

static int turn(struct loop *loop)
{
	struct session *s = loop->session;
	uint64_t now_ns = os_clock_mono_ns();
	check_clock(loop, now_ns);
	if (loop->is_done)
		return 0;
	if (!wait_for_events(loop, now_ns >= loop->sideband_ns, now_ns)) {
		say_error(&s->say, "poll: %s", strerror(errno));
		return STATUS_IO;
	}
	now_ns = os_clock_mono_ns();
	if (any_ready(loop, loop->sideband_at, loop->fds.count)) {
		drain_sideband(&s->drain);
		loop->sideband_ns = now_ns + sideband_pause_ns;
	}
	if (any_ready(loop, loop->samples_at, loop->sideband_at) || now_ns >= loop->agents_ns) {
		drain_round(&s->drain);
		loop->agents_ns = NEVER;
	}
	if (s->agents)
		serve_agents(loop, now_ns);
	if (s->interpreters && !loop->has_failed)
		loop->look_ns = interpreters_look(s->interpreters, now_ns);
	serve_intervals(loop, now_ns);
	check_command(loop);
	/* A Ctrl-C ends the command as well: it came before that end, whatever poll() saw. */
	read_signals(loop, now_ns);
	check_attached(loop);
	if (s->file.status < 0 && !loop->has_failed)
		on_failure(loop);
	return 0;
}

int session_loop(struct session *s)
{
	const struct record_options *o = s->options;
	struct loop loop = { .session = s,
			     .start_ns = NEVER,
			     .stop_ns = NEVER,
			     .grace_ns = NEVER,
			     .look_ns = s->interpreters ? 0 : NEVER,
			     .take_ns = NEVER,
			     .agents_ns = NEVER };
	const uint64_t now_ns = os_clock_mono_ns();
	const bool is_started = session_follows_command(s) && !o->delay_ns;
	if (is_started && s->agents)
		agents_start(s->agents);
	if (!is_started)
		loop.start_ns = now_ns + o->delay_ns;
	else if (o->duration_ns)
		loop.stop_ns = now_ns + o->duration_ns;
	if (o->intervals)
		loop.take_ns = now_ns + o->intervals->interval_ns;
	int result = add_fds(&loop);
	if (result < 0)
		say_error(&s->say, "%s", status_text(result));
	while (result == 0 && !loop.is_done)
		result = turn(&loop);
	if (result == 0)
		result = s->file.status;
	if (s->child.pid && loop.is_ending)
		say_note(&s->say, "%s (process %d) still runs and is left alone", o->command[0],
			 s->child.pid);
	vector_clear(&loop.fds);
	return result;
}
