#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static int out_of_memory(struct session *s)
{
	say_error(&s->say, "out of memory");
	return STATUS_NO_MEMORY;
}

static int parse_events(struct session *s)
{
	const struct record_options *o = s->options;
	struct event_error error;
	/* As precise as the CPU can, as perf has it: a sample that skids over the end of a
	 * short JIT function is counted for the wrong one.
	 */
	if (o->event_count == 0)
		return event_parse(&s->event_list, "cycles:P", &error) < 0 ? out_of_memory(s) : 0;
	for (size_t i = 0; i < o->event_count; i++) {
		const int result = event_parse(&s->event_list, o->events[i], &error);
		if (result == STATUS_NO_MEMORY)
			return out_of_memory(s);
		if (result < 0) {
			say_error(&s->say, "event '%s': %s", error.name, error.reason);
			return result;
		}
	}
	return 0;
}

/* What ends the recording ... */
static sigset_t ending_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

/* ... and besides what shall be an error like any other: the pipe to a command that died
 * before it was started, and a limit on the size of files.
 */
static sigset_t taken_signals(void)
{
	sigset_t set = ending_signals();
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	return set;
}

static int take_signals(struct session *s)
{
	const sigset_t ends = ending_signals();
	const sigset_t taken = taken_signals();
	s->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0) {
		say_error(&s->say, "signalfd: %s", strerror(errno));
		return STATUS_IO;
	}
	pthread_sigmask(SIG_BLOCK, &taken, &s->old_mask);
	return 0;
}

static void give_signals_back(struct session *s)
{
	if (s->signal_fd < 0)
		return;
	close(s->signal_fd);
	/* Those that came too late to matter must not end us now. */
	const sigset_t taken = taken_signals();
	const struct timespec at_once = { 0 };
	while (sigtimedwait(&taken, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
}

static bool is_told(const struct session *s, size_t index)
{
	const char *runtime = runtimes_setting(s->runtimes, index).runtime;
	for (size_t i = 0; i < index; i++)
		if (strcmp(runtimes_setting(s->runtimes, i).runtime, runtime) == 0)
			return true;
	return false;
}

static void tell_setting(const struct session *s, const struct runtimes_setting *setting)
{
	const char *equals = *setting->variable ? "=" : "";
	if (setting->is_expected)
		say_note(&s->say, "%s: %s%s%s (%s)", setting->runtime, setting->variable, equals,
			 setting->added, setting->why);
	else
		say_detail(&s->say, "%s: %s%s%s (%s)", setting->runtime, setting->variable, equals,
			   setting->value, setting->why);
}

/* Those the command names have a line each; one for all others, which are set in case they
 * are started too; their variables for those who ask.
 */
static void tell_runtimes(const struct session *s)
{
	struct sink names = { .limit = 1 << 12 };
	for (size_t i = 0; i < runtimes_count(s->runtimes); i++) {
		const struct runtimes_setting setting = runtimes_setting(s->runtimes, i);
		tell_setting(s, &setting);
		if (!setting.is_expected && *setting.variable && !is_told(s, i))
			sink_printf(&names, "%s%s", names.size ? ", " : "", setting.runtime);
	}
	sink_u8(&names, 0);
	if (names.size > 1 && !sink_failed(&names))
		say_note(&s->say, "JIT symbols are switched on, should they be started, for %s",
			 (const char *)names.data);
	for (size_t i = 0; i < runtimes_note_count(s->runtimes); i++) {
		const struct runtimes_note note = runtimes_note(s->runtimes, i);
		if (note.is_expected)
			say_warning(&s->say, "%s", note.text);
		else
			say_detail(&s->say, "%s", note.text);
	}
	sink_clear(&names);
}

static int start_runtimes(struct session *s)
{
	const struct record_options *o = s->options;
	if (!o->no_auto && private_dir_make(&s->private_dir) < 0)
		say_warning(&s->say, "no private directory for the runtimes' files: %s",
			    strerror(errno));
	const int opened = session_open_agents(s);
	if (opened < 0)
		return opened;
	const int result = runtimes_new(
	    &s->runtimes, &(struct runtimes_options){
			      .private_dir = s->private_dir.path,
			      .command = o->command,
			      .environment = session_environment(s),
			      .off = o->runtimes_off,
			      .off_count = o->runtimes_off_count,
			      .no_auto = o->no_auto,
			      .dwarf_stacks = o->stacks == RECORD_STACKS_DWARF,
			      .is_walked = s->interpreters && interpreters_walker(s->interpreters),
			      .has_agents = s->agents != NULL,
			  });
	if (result == STATUS_NOT_FOUND)
		say_error(&s->say, "there is no runtime of this name to switch off");
	else if (result < 0)
		say_error(&s->say, "preparing the runtimes: %s",
			  result == STATUS_IO ? strerror(errno) : status_text(result));
	else
		tell_runtimes(s);
	return result;
}

static int start_child(struct session *s)
{
	const struct record_options *o = s->options;
	char *const *environment = session_environment(s);
	const char *const *command = o->command;
	if (!session_follows_command(s)) {
		const int result = session_open_agents(s);
		if (result < 0)
			return result;
	} else {
		const int result = start_runtimes(s);
		if (result < 0)
			return result;
		environment = runtimes_environment(s->runtimes);
		command = (const char *const *)runtimes_command(s->runtimes);
	}
	const struct child_options child = {
		.command = command,
		.environment = environment,
		.signal_mask = &s->old_mask,
		.stdout_to_stderr = o->intervals || (o->output && strcmp(o->output, "-") == 0),
		.output_fd = o->command_output_fd,
	};
	if (child_fork(&s->child, &child) < 0) {
		say_error(&s->say, "fork: %s", strerror(errno));
		return STATUS_IO;
	}
	return 0;
}

/* Also finds out whether they are there. */
static int find_attached(struct session *s, struct proc_ids *tids)
{
	for (size_t i = 0; i < s->options->pid_count; i++) {
		const pid_t pid = s->options->pids[i];
		const int result = proc_tasks(pid, tids);
		if (result == STATUS_NO_MEMORY)
			return out_of_memory(s);
		if (result < 0) {
			say_error(&s->say, "there is no process %d", pid);
			return STATUS_NOT_FOUND;
		}
		struct attached *at = vector_push(&s->attached);
		if (!at)
			return out_of_memory(s);
		*at = (struct attached){ .pid = pid,
					 .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
					 .events_fd = -1 };
	}
	return 0;
}

static void choose_rate(struct session *s, struct attr_wants *wants)
{
	const struct record_options *o = s->options;
	if (o->period) {
		wants->period = o->period;
		return;
	}
	const uint64_t limit = os_perf_limits().max_sample_rate;
	wants->frequency_hz = o->frequency_hz ? o->frequency_hz : RECORD_DEFAULT_FREQUENCY_HZ;
	if (limit && wants->frequency_hz > limit) {
		if (o->frequency_hz && o->frequency_hz != RECORD_FREQUENCY_MAX)
			say_warning(&s->say,
				    "%llu samples a second are not allowed: "
				    "kernel.perf_event_max_sample_rate is %llu, which is taken",
				    (unsigned long long)wants->frequency_hz,
				    (unsigned long long)limit);
		wants->frequency_hz = limit;
	}
}

static bool contains(const struct proc_ids *ids, pid_t id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->items[i] == id)
			return true;
	return false;
}

/* Threads that were born while the events of the others were opened. Those whose birth
 * the sideband told of have inherited all events; the rest have none.
 */
static int open_newborn(struct session *s, const struct proc_ids *known)
{
	struct proc_ids born = { 0 };
	struct proc_ids now = { 0 };
	struct proc_ids missed = { 0 };
	int result = 0;
	for (size_t i = 0; i < s->attached.count; i++)
		(void)proc_tasks(s->attached.items[i].pid, &now);
	s->sideband.born = &born;
	drain_sideband(&s->drain);
	s->sideband.born = NULL;
	for (size_t i = 0; i < now.count && result == 0; i++) {
		if (contains(known, now.items[i]) || contains(&born, now.items[i]))
			continue;
		pid_t *slot = vector_push(&missed);
		if (slot)
			*slot = now.items[i];
		else
			result = STATUS_NO_MEMORY;
	}
	if (result == 0)
		result = events_add_threads(&s->events, &missed);
	vector_clear(&born);
	vector_clear(&now);
	vector_clear(&missed);
	if (result)
		say_error(&s->say, "opening events for new threads: %s",
			  result == STATUS_IO ? strerror(errno) : status_text(result));
	return result;
}

static int open_events(struct session *s)
{
	const struct record_options *o = s->options;
	struct proc_ids tids = { 0 };
	struct events_plan plan = {
		.events = &s->event_list,
		.wants = { .stacks = o->stacks,
			   .stack_bytes =
			       o->stack_bytes ? o->stack_bytes : RECORD_DEFAULT_STACK_BYTES,
			   .user_only = o->user_only,
			   .inherit = !o->system_wide },
		.delay_ns = o->delay_ns,
		.ring_bytes = o->ring_bytes,
		.walker = s->interpreters ? interpreters_walker(s->interpreters) : NULL,
		.has_agents = s->agents != NULL,
	};
	choose_rate(s, &plan.wants);
	struct events_target target = { .tids = &tids,
					.system_wide = o->system_wide,
					.on_exec = session_follows_command(s) };
	s->drain.held = s->held;
	s->sideband.agents = s->agents;
	int result = find_attached(s, &tids);
	if (result == 0 && target.on_exec) {
		pid_t *slot = vector_push(&tids);
		if (slot)
			*slot = s->child.pid;
		else
			result = out_of_memory(s);
	}
	if (result == 0)
		result = events_open(&s->events, &target, &plan, &s->say);
	if (result == 0 && s->attached.count)
		result = open_newborn(s, &tids);
	vector_clear(&tids);
	return result;
}

static int open_file(struct session *s)
{
	const bool is_kept = !s->options->intervals;
	const char *path = !is_kept             ? "memory"
			   : s->options->output ? s->options->output
						: "perf.data";
	const int result = is_kept ? data_file_open(&s->file, path, s->options->compress)
				   : data_file_open_memory(&s->file);
	if (result < 0)
		say_error(&s->say, "%s: %s", path,
			  result == STATUS_IO ? strerror(errno) : status_text(result));
	return result;
}

int session_open(struct session *s)
{
	s->sideband.build_ids = &s->build_ids;
	s->drain =
	    (struct drain){ .events = &s->events, .file = &s->file, .sideband = &s->sideband };
	s->events.cpus.count = 0;
	int result = parse_events(s);
	if (result == 0)
		result = take_signals(s);
	if (result == 0)
		result = open_file(s);
	if (result == 0)
		result = session_open_interpreters(s);
	if (result == 0)
		result = s->options->command ? start_child(s) : session_open_agents(s);
	if (result == 0)
		result = open_events(s);
	if (result == 0) {
		session_open_slots(s);
		session_tell_events(s);
	}
	return result;
}

void session_close(struct session *s)
{
	session_detach(s);
	child_clear(&s->child);
	drain_clear(&s->drain);
	slots_clear(&s->slots);
	held_free(s->held);
	agents_free(s->agents);
	events_close(&s->events);
	interpreters_free(s->interpreters);
	vector_clear(&s->event_list);
	data_file_abandon(&s->file);
	intervals_clear(&s->intervals);
	const bool is_used = s->collector && collector_totals(s->collector).survivor_count;
	collector_free(s->collector);
	runtimes_free(s->runtimes);
	if (s->private_dir.path && (s->options->keep || is_used))
		private_dir_keep(&s->private_dir);
	else if (s->private_dir.path)
		private_dir_remove(&s->private_dir);
	build_ids_clear(&s->build_ids);
	bpf_programs_clear(&s->bpf);
	kernel_layout_clear(&s->kernel);
	for (size_t i = 0; i < s->attached.count; i++) {
		attach_free(s->attached.items[i].attachment);
		free(s->attached.items[i].map);
		if (s->attached.items[i].events_fd >= 0)
			close(s->attached.items[i].events_fd);
		if (s->attached.items[i].pid_fd >= 0)
			close(s->attached.items[i].pid_fd);
	}
	vector_clear(&s->attached);
	say_kept_clear(&s->kept);
	give_signals_back(s);
}
