/* proc.h - what /proc says about processes, threads, and the kernel's knobs.
 *
 *   struct proc_ids tasks = { 0 };
 *   proc_tasks(pid, &tasks);
 *   for (size_t i = 0; i < tasks.count; i++)
 *           proc_comm(pid, tasks.items[i], comm);
 *   vector_clear(&tasks);
 *
 * Processes end while one looks: every call may return STATUS_NOT_FOUND. Names of
 * processes hold any byte but NUL. Any thread.
 */
#ifndef OS_PROC_H
#define OS_PROC_H

#include "base/sink.h"
#include "base/vector.h"

#include <stdint.h>
#include <sys/types.h>

/* Appends a whole small file, of /proc, /sys or /lib; `sink->limit` bounds it. Returns 0,
 * STATUS_NOT_FOUND, _DENIED, _IO (errno), _TOO_BIG or _NO_MEMORY.
 */
int proc_read(struct sink *out, const char *path);

/* The decimal number that a file begins with; `missing` where there is none. */
long proc_number(const char *path, long missing);

/* The first line of a file without its newline, cut to fit; "" where there is none. */
void proc_line(const char *path, char *line, size_t size);

struct proc_ids {
	VECTOR(pid_t);
};

/* All processes, or all threads of one, appended in ascending order. */
int proc_processes(struct proc_ids *pids);
int proc_tasks(pid_t pid, struct proc_ids *tids);

enum { PROC_COMM_SIZE = 16 };

int proc_comm(pid_t pid, pid_t tid, char comm[PROC_COMM_SIZE]);

/* The process that a thread belongs to, and that one's parent (0: none, or out of sight). */
struct proc_parents {
	pid_t pid;
	pid_t parent_pid;
};

int proc_parents(pid_t tid, struct proc_parents *parents);

/* Device and inode of the links net, uts, ipc, pid, user, mnt and cgroup; 0 where a link
 * cannot be read. Returns STATUS_NOT_FOUND if none can.
 */
enum { PROC_NAMESPACE_COUNT = 7 };

int proc_namespaces(pid_t pid, pid_t tid, uint64_t links[PROC_NAMESPACE_COUNT][2]);

#endif
