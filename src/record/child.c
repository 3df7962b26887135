#include "record/child.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: only async-signal-safe calls, since other threads may hold locks. */
static _Noreturn void wait_and_exec(const struct child_options *options, int go_fd, int error_fd)
{
	/* Until exec it is neither us nor the command: the name that perf uses says so too. */
	prctl(PR_SET_NAME, "polyperf-exec");
	char go;
	ssize_t got;
	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(0);
	if (options->stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (options->output_fd) {
		const int nothing = open("/dev/null", O_RDONLY);
		dup2(options->output_fd, STDOUT_FILENO);
		dup2(options->output_fd, STDERR_FILENO);
		if (nothing >= 0)
			dup2(nothing, STDIN_FILENO);
		if (nothing > STDERR_FILENO)
			close(nothing);
	}
	sigprocmask(SIG_SETMASK, options->signal_mask, NULL);
	execvpe(options->command[0], (char *const *)options->command, options->environment);
	const int error = errno;
	if (write(error_fd, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(127);
}

int child_fork(struct child *child, const struct child_options *options)
{
	*child = (struct child){ .pid_fd = -1, .go_fd = -1, .error_fd = -1 };
	int go[2];
	int error[2];
	if (pipe2(go, O_CLOEXEC) != 0)
		return STATUS_IO;
	if (pipe2(error, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return STATUS_IO;
	}
	const pid_t pid = fork();
	if (pid == 0) {
		/* Its own copies of our ends would keep the pipes open. */
		close(go[1]);
		close(error[0]);
		wait_and_exec(options, go[0], error[1]);
	}
	const int saved = errno;
	close(go[0]);
	close(error[1]);
	if (pid < 0) {
		close(go[1]);
		close(error[0]);
		errno = saved;
		return STATUS_IO;
	}
	child->pid = pid;
	child->go_fd = go[1];
	child->error_fd = error[0];
	child->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

int child_release(struct child *child, int *exec_error)
{
	const char go = 1;
	/* Where it was killed meanwhile, the other pipe tells. */
	ssize_t got = write(child->go_fd, &go, 1);
	(void)got;
	close(child->go_fd);
	child->go_fd = -1;
	int error = 0;
	/* The pipe closes by itself when exec succeeds. */
	do
		got = read(child->error_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(child->error_fd);
	child->error_fd = -1;
	if (got != (ssize_t)sizeof(error))
		return 0;
	*exec_error = error;
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	return STATUS_IO;
}

bool child_reap(struct child *child, int *status)
{
	if (child->pid == 0)
		return true;
	pid_t got;
	do
		got = waitpid(child->pid, status, WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	if (got < 0)
		*status = 0;
	child->pid = 0;
	return true;
}

void child_clear(struct child *child)
{
	const bool is_held = child->go_fd >= 0;
	if (is_held) {
		close(child->go_fd);
		close(child->error_fd);
		if (child->pid)
			waitpid(child->pid, NULL, 0);
	}
	if (child->pid_fd >= 0)
		close(child->pid_fd);
	*child = (struct child){ .pid_fd = -1, .go_fd = -1, .error_fd = -1 };
}
