/* child.h - the command that is recorded: started, held before exec, waited for.
 *
 *   struct child child;
 *   child_fork(&child, &(struct child_options){ .command = argv, .environment = envp });
 *   open events on child.pid
 *   child_release(&child, &exec_error);
 *   poll(child.pid_fd ...), then child_reap(&child, &status)
 *   child_clear(&child);
 */
#ifndef RECORD_CHILD_H
#define RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;    /* 0: none, or waited for */
	int pid_fd;   /* readable when the command has ended; -1 where the kernel has no pidfd */
	int go_fd;    /* closed or written: released */
	int error_fd; /* tells why exec failed */
};

struct child_options {
	const char *const *command;
	char *const *environment;
	const sigset_t *signal_mask; /* that the command shall have */
	bool stdout_to_stderr;       /* our own standard output is for the recording */
	int output_fd; /* 0: its outputs are ours; else both go there, and it reads nothing */
};

/* Returns 0 with a child that waits, or STATUS_IO. If we die, it does not start. */
int child_fork(struct child *child, const struct child_options *options);

/* Lets it exec, and waits until it did. Returns 0, or STATUS_IO with *exec_error set;
 * then the child is gone.
 */
int child_release(struct child *child, int *exec_error);

/* True if it has ended; *status is as wait(2) gives it. Does not wait. */
bool child_reap(struct child *child, int *status);

/* A child that was not released never starts; one that runs is left alone. */
void child_clear(struct child *child);

#endif
