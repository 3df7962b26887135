#include "record/session.h"

#include "base/status.h"
#include "record/session_internal.h"

#include <errno.h>
#include <string.h>

/* The command cannot be started: what a shell says, and what it exits with. */
static int explain_exec(struct session *s, int error)
{
	const char *name = s->options->command[0];
	s->result->exec_failure = error == ENOENT ? 127 : 126;
	if (error == ENOENT)
		say_error(&s->say, "%s: command not found", name);
	else
		say_error(&s->say, "%s: %s", name, strerror(error));
	return STATUS_NOT_FOUND;
}

static int release_child(struct session *s)
{
	int exec_error;
	if (!s->options->command)
		return 0;
	if (child_release(&s->child, &exec_error) == 0)
		return 0;
	return explain_exec(s, exec_error);
}

int record_run(const struct record_options *options, struct record_result *result)
{
	*result = (struct record_result){ 0 };
	struct session session = {
		.options = options,
		.result = result,
		.say = { .note = options->note, .context = options->note_context },
		.signal_fd = -1,
		.child = { .pid_fd = -1, .go_fd = -1, .error_fd = -1 },
		.file = { .output = { .fd = -1 } },
	};
	session.say.kept = &session.kept;
	int got = session_open(&session);
	if (got == 0)
		got = session_begin(&session);
	if (got == 0 && options->intervals)
		got = intervals_begin(&session.intervals, &session);
	if (got == 0)
		got = release_child(&session);
	if (got == 0)
		got = session_loop(&session);
	if (got == 0)
		got = session_end(&session);
	session_close(&session);
	return got;
}
