/* target.h - the process that is asked: what must be known of it first. */
#ifndef ATTACH_TARGET_H
#define ATTACH_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_target {
	pid_t pid;
	pid_t own_pid; /* in its own PID namespace: files are named by it */
	int pid_fd;    /* so that no other process is signalled; -1: the kernel has none */
	uid_t uid;     /* effective */
	gid_t gid;
	uint64_t caught; /* bit n - 1: signal n has a handler */
	bool is_halted;  /* by a signal or a debugger: it answers nobody */
	bool has_jvm;    /* libjvm.so is mapped */
	bool has_openj9;
	bool has_coreclr; /* libcoreclr.so is; a program in one file has it inside */
	/* What of ours, or of our kind, is there already, as the process sees it, or "". */
	char agent[PATH_MAX];
	char dump[PATH_MAX]; /* of an executable mapping: a jitdump's marker */
};

/* Returns 0, STATUS_NOT_FOUND, _DENIED (its maps cannot be read), _IO or _NO_MEMORY. */
int attach_target_open(struct attach_target *target, pid_t pid);
void attach_target_close(struct attach_target *target);

/* Reads anew what changes: the signals' handlers and the mappings. */
int attach_target_refresh(struct attach_target *target);

bool attach_target_catches(const struct attach_target *target, int number);

/* The directory that the process finds under this path: links lead to nothing outside its own
 * root. O_PATH; -1 with errno.
 */
int attach_target_open_dir(const struct attach_target *target, const char *path);

/* True if the process finds the very same file or directory under this path of ours. */
bool attach_target_sees(const struct attach_target *target, const char *path);

/* A variable of its environment, as it was started; false where it has none, or one too long. */
bool attach_target_getenv(const struct attach_target *target, const char *name, char *value,
			  size_t size);

/* When it started, in the kernel's ticks since the machine did; 0 where that cannot be read. */
uint64_t attach_target_start_ticks(const struct attach_target *target);

/* From the text of /proc/PID/status, which is the kernel's own. For tests. */
bool attach_target_read_status(struct attach_target *target, const char *text);

#endif
