/* Records a command with both the kernel's walk and agents: record_both OUTPUT COMMAND... */
#include "record/session.h"

#include <stdio.h>
#include <string.h>

static void note(void *context, enum record_note_kind kind, const char *text)
{
	(void)context;
	if (kind != RECORD_NOTE_TRY && (kind != RECORD_NOTE_DETAIL || strstr(text, "agents")))
		(void)fprintf(stderr, "record_both: %s\n", text);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const struct record_options options = {
		.output = argv[1],
		.command = (const char *const *)argv + 2,
		.frequency_hz = 1999,
		.user_only = true,
		.interpreters = RECORD_INTERPRETERS_BOTH,
		.note = note,
	};
	struct record_result result;
	return record_run(&options, &result) == 0 ? 0 : 1;
}
