#include "record/session_internal.h"

int session_open_interpreters(struct session *s)
{
	if (s->options->interpreters == RECORD_INTERPRETERS_OFF)
		return 0;
	return interpreters_new(&s->interpreters, s->options->interpreters, &s->say);
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
