/* truth_log.h - which function ran when, kept in memory and appended to a file at the end.
 *
 * The file has one line a run, after comment lines that start with '#':
 *
 *   TID START_NS END_NS NAME ADDRESS SIZE      decimal, CLOCK_MONOTONIC; address in hex
 *
 * and another file, if wanted, a line for each function that was made:
 *
 *   PID NAME ADDRESS CODE                      in hex, but for the PID
 *
 * The stamps are taken immediately before the call and after the return. A log
 * belongs to one thread; several processes may append to one file.
 */
#ifndef CLIENTS_TRUTH_LOG_H
#define CLIENTS_TRUTH_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { TRUTH_NAME_SIZE = 32, TRUTH_CODE_SIZE = 1024 };

struct truth_run {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t address;
	size_t size;
	char name[TRUTH_NAME_SIZE];
};

struct truth_code {
	uint64_t address;
	size_t size;
	uint8_t bytes[TRUTH_CODE_SIZE];
	char name[TRUTH_NAME_SIZE];
};

struct truth_log {
	struct truth_run *runs;
	size_t count;
	size_t capacity;
	struct truth_code *codes;
	size_t code_count;
	size_t code_capacity;
};

uint64_t now_mono_ns(void);

/* A new entry to fill in; never NULL, since the program ends without memory. */
struct truth_run *truth_log_add(struct truth_log *log);

struct truth_code *truth_log_add_code(struct truth_log *log);

/* Appends the runs under the calling thread's id, and the code where code_path is not NULL;
 * frees both. Returns 0 or -1.
 */
int truth_log_write(struct truth_log *log, const char *path, const char *code_path);

#endif
