#include "base/status.h"
#include "record/session_internal.h"

#include <unistd.h>

int session_open_interpreters(struct session *s)
{
	const struct record_options *o = s->options;
	if (o->interpreters == RECORD_INTERPRETERS_OFF)
		return 0;
	const int result = interpreters_new(&s->interpreters, o->interpreters, &s->say);
	if (result < 0) {
		if (result == STATUS_NO_MEMORY)
			say_error(&s->say, "%s", status_text(result));
		return result;
	}
	char *const *environment = o->environment ? o->environment : environ;
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

void session_tell_events(const struct session *s)
{
	if (!s->events.has_frames)
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
