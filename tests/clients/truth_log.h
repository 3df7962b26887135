/* truth_log.h - which function ran when, kept in memory and appended to a file at the end.
 *
 * The file has one line a run, after comment lines that start with '#':
 *
 *   TID START_NS END_NS NAME ADDRESS SIZE      decimal, CLOCK_MONOTONIC; address in hex
 *
 * The stamps are taken immediately before the call and after the return. A log
 * belongs to one thread; several processes may append to one file.
 */
#ifndef CLIENTS_TRUTH_LOG_H
#define CLIENTS_TRUTH_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { TRUTH_NAME_SIZE = 32 };

struct truth_run {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t address;
	size_t size;
	char name[TRUTH_NAME_SIZE];
};

struct truth_log {
	struct truth_run *runs;
	size_t count;
	size_t capacity;
};

uint64_t now_mono_ns(void);

/* A new entry to fill in; never NULL, since the program ends without memory. */
struct truth_run *truth_log_add(struct truth_log *log);

/* Appends the runs under the calling thread's id, and frees them. Returns 0 or -1. */
int truth_log_write(struct truth_log *log, const char *path);

#endif
