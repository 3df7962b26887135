#include "cli/top_run.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "cli/top_screen.h"
#include "tui/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct plain {
	const struct top_args *args;
	uint64_t count;
	size_t notes_told;
	int status;
};

static void tell_notes(struct plain *plain, const struct live *live)
{
	for (; plain->notes_told < live_state(live)->note_count; plain->notes_told++)
		message_warning("%s", live_note(live, plain->notes_told));
}

static int print_interval(void *context, struct live *live)
{
	struct plain *plain = context;
	const struct top_args *a = plain->args;
	struct live_print_options options = a->print;
	struct sink out = { 0 };
	options.width = terminal_is_there() ? (unsigned)terminal_width() : 0;
	options.rows.with_callers = a->live.with_callers;
	const int got = a->is_json ? live_print_json(&out, live, &options)
				   : live_print_text(&out, live, &options);
	tell_notes(plain, live);
	if (got < 0) {
		message_error("%s", status_text(got));
		plain->status = EXIT_INPUT;
	} else {
		(void)fwrite(out.data, 1, out.size, stdout);
	}
	sink_clear(&out);
	if (got == 0 && !terminal_flush())
		plain->status = EXIT_INPUT;
	plain->count++;
	return plain->status != EXIT_OK || plain->count == a->iterations;
}

static int open_output(struct top_args *a)
{
	if (!a->command_output)
		return 0;
	const int fd = open(a->command_output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		message_file(a->command_output, STATUS_IO);
		return STATUS_IO;
	}
	a->live.record.command_output_fd = fd;
	return 0;
}

int top_exit_status(const struct top_args *a, const struct record_result *result)
{
	const int status = result->command_status;
	if (!result->has_command_status || a->iterations)
		return EXIT_OK;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_plain(struct top_args *a)
{
	struct plain plain = { .args = a };
	struct record_result result;
	struct live *live;
	a->live.on_interval = print_interval;
	a->live.context = &plain;
	if (live_new(&live, &a->live) < 0) {
		message_error("%s", status_text(STATUS_NO_MEMORY));
		return EXIT_INPUT;
	}
	const int got = live_run(live, &result);
	live_free(live);
	if (got < 0)
		return result.exec_failure ? result.exec_failure : EXIT_INPUT;
	return plain.status != EXIT_OK ? plain.status : top_exit_status(a, &result);
}

static bool wants_screen(const struct top_args *a)
{
	return !a->is_plain && screen_is_possible();
}

int top_run(struct top_args *a)
{
	const bool has_screen = wants_screen(a);
	if (has_screen && a->live.record.command && !a->command_output)
		a->command_output = "/dev/null";
	if (open_output(a) < 0)
		return EXIT_INPUT;
	const int status = has_screen ? top_screen(a) : run_plain(a);
	if (a->live.record.command_output_fd)
		close(a->live.record.command_output_fd);
	return status;
}
