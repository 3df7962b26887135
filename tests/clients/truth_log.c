#include "truth_log.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

uint64_t now_mono_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct truth_run *truth_log_add(struct truth_log *log)
{
	if (log->count == log->capacity) {
		const size_t capacity = log->capacity ? log->capacity * 2 : 4096;
		struct truth_run *runs = reallocarray(log->runs, capacity, sizeof(*runs));
		if (!runs)
			err(1, "log");
		log->runs = runs;
		log->capacity = capacity;
	}
	return &log->runs[log->count++];
}

int truth_log_write(struct truth_log *log, const char *path)
{
	FILE *file = fopen(path, "a");
	int result = -1;

	if (!file)
		return -1;
	flock(fileno(file), LOCK_EX);
	fprintf(file, "# pid %d\n", (int)getpid());
	for (size_t i = 0; i < log->count; i++) {
		const struct truth_run *run = &log->runs[i];
		fprintf(file, "%d %" PRIu64 " %" PRIu64 " %s %" PRIx64 " %zu\n", (int)gettid(),
			run->start_ns, run->end_ns, run->name, run->address, run->size);
	}
	if (!ferror(file))
		result = 0;
	if (fclose(file) != 0)
		result = -1;
	free(log->runs);
	*log = (struct truth_log){ 0 };
	return result;
}
