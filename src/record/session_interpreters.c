#include "agent/python/protocol.h"
#include "attach/library.h"
#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <string.h>

int session_open_interpreters(struct session *s)
{
	const struct record_options *o = s->options;
	if (o->interpreters == RECORD_INTERPRETERS_OFF ||
	    o->interpreters == RECORD_INTERPRETERS_AGENT)
		return 0;
	const int result = interpreters_new(&s->interpreters, o->interpreters, &s->say);
	if (result < 0) {
		if (result == STATUS_NO_MEMORY)
			say_error(&s->say, "%s", status_text(result));
		return result;
	}
	char *const *environment = session_environment(s);
	if (!session_follows_command(s) || (!runtimes_are_interpreted(o->command, environment) &&
					    !runtimes_have_slot(o->command, environment)))
		return 0;
	return interpreters_expect(s->interpreters, o->interpreters);
}

void session_open_slots(struct session *s)
{
	if (!s->interpreters || interpreters_walker(s->interpreters) ||
	    s->options->stacks != RECORD_STACKS_DWARF)
		return;
	slots_init(&s->slots, &(struct slots_view){ s->interpreters, interpreters_process });
	s->drain.slots = &s->slots;
	interpreters_have_stacks(s->interpreters);
}

static bool is_python_off(const struct record_options *o)
{
	for (size_t i = 0; i < o->runtimes_off_count; i++)
		if (strcmp(o->runtimes_off[i], "python") == 0)
			return true;
	return false;
}

static bool wants_agents(const struct session *s)
{
	switch (s->options->interpreters) {
	case RECORD_INTERPRETERS_AGENT:
	case RECORD_INTERPRETERS_BOTH:
		return true;
	case RECORD_INTERPRETERS_AUTO:
		return session_follows_command(s) && !interpreters_walker(s->interpreters);
	default:
		return false;
	}
}

/* Why there can be none; NULL: they can. */
static const char *agents_obstacle(const struct session *s)
{
	char library[PATH_MAX];
	const char *reason;
	if (!session_follows_command(s))
		return "they are for commands, not for programs that run already";
	if (is_python_off(s->options))
		return "Python is left alone";
	if (s->options->no_auto)
		return "--no-auto leaves the environment of the command as it is";
	if (!s->private_dir.path || !private_dir_needs_no_quoting(s->private_dir.path))
		return "there is no private directory for their socket";
	if (!attach_find_library_named(AGENT_LIBRARY, library))
		return "their library is not installed";
	return agents_try(&reason) < 0 ? reason : NULL;
}

static int open_agents(struct session *s)
{
	int result = agents_new(&s->agents,
				&(struct agents_options){
				    .directory = s->private_dir.path,
				    .events = &s->events,
				    .say = &s->say,
				    .walker = s->options->interpreters == RECORD_INTERPRETERS_BOTH
						  ? interpreters_walker(s->interpreters)
						  : NULL,
				});
	if (result == 0)
		result = held_new(&s->held, s->agents, &s->events);
	if (result == 0 && s->interpreters)
		interpreters_leave_python(s->interpreters, s->agents);
	return result;
}

int session_open_agents(struct session *s)
{
	if (!wants_agents(s))
		return 0;
	const bool must = s->options->interpreters != RECORD_INTERPRETERS_AUTO;
	const char *obstacle = agents_obstacle(s);
	int result = obstacle ? STATUS_UNSUPPORTED : open_agents(s);
	if (result == 0)
		return 0;
	if (!obstacle)
		obstacle = result == STATUS_IO ? strerror(errno) : status_text(result);
	if (result == STATUS_NO_MEMORY || must) {
		say_error(&s->say, "agents cannot be put into Pythons: %s", obstacle);
		return result;
	}
	say_detail(&s->say, "agents cannot be put into Pythons: %s", obstacle);
	if (s->interpreters)
		interpreters_leave_python(s->interpreters, NULL);
	agents_free(s->agents);
	s->agents = NULL;
	return 0;
}

void session_tell_agents(const struct session *s)
{
	if (!s->held)
		return;
	const struct held_totals totals = held_totals(s->held);
	if (totals.joined + totals.alone)
		say_detail(&s->say,
			   "agents: %llu samples with their stack, %llu without; %llu stacks "
			   "without their sample, left out; %llu samples of the same time left out",
			   (unsigned long long)totals.joined, (unsigned long long)totals.alone,
			   (unsigned long long)totals.unmatched,
			   (unsigned long long)totals.dropped);
}

void session_tell_events(const struct session *s)
{
	if (!s->events.has_frames || !s->interpreters || !interpreters_walker(s->interpreters))
		return;
	for (size_t i = 0; i < s->events.list.count; i++) {
		const struct open_event *event = &s->events.list.items[i];
		if (!event->is_sideband && !event->walker)
			say_warning(&s->say,
				    "samples of %s come without the frames of interpreters: the "
				    "kernel takes no program for this event",
				    event->event.name);
	}
}
