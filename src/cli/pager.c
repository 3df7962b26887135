#include "cli/pager.h"

#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_disabled;
static pid_t pager_pid;
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

enum { ENDING_SIGNAL_COUNT = sizeof(ending_signals) / sizeof(ending_signals[0]) };

void pager_disable(void)
{
	is_disabled = true;
}

bool pager_is_disabled(void)
{
	return is_disabled;
}

bool pager_is_running(void)
{
	return pager_pid > 0;
}

static const char *pager_command(void)
{
	const char *command = getenv("POLYPERF_PAGER");
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return strcmp(command, "cat") == 0 ? "" : command;
}

static void wait_for_reader(void)
{
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Only async-signal-safe calls: buffered output is given up. */
static void on_ending_signal(int number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	waitpid(pager_pid, NULL, 0);
	signal(number, SIG_DFL);
	raise(number);
}

static _Noreturn void run_pager(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	close(input);
	/* -F: leave at once if all fits, -R: pass colours, -X: leave the text on the screen. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	progress_stop_for_output();
	const char *command = pager_command();
	if (is_disabled || pager_pid || !command[0] || !isatty(STDOUT_FILENO))
		return;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pager_pid = fork();
	if (pager_pid == 0)
		run_pager(command, ends[0]);
	close(ends[0]);
	if (pager_pid < 0) {
		close(ends[1]);
		pager_pid = 0;
		return;
	}
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		signal(ending_signals[i], on_ending_signal);
}

void pager_finish(void)
{
	if (!pager_is_running())
		return;
	fflush(stdout);
	/* The pager sees the end of its input only when the last writer closes it. */
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere >= 0) {
		dup2(nowhere, STDOUT_FILENO);
		close(nowhere);
	} else {
		close(STDOUT_FILENO);
	}
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		signal(ending_signals[i], SIG_IGN);
	wait_for_reader();
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		signal(ending_signals[i], SIG_DFL);
	pager_pid = 0;
}
