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

/* Room for one more; ends the program without memory. */
static void *grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity ? *capacity * 2 : 4096;
	items = reallocarray(items, *capacity, item_size);
	if (!items)
		err(1, "log");
	return items;
}

struct truth_run *truth_log_add(struct truth_log *log)
{
	log->runs = grow(log->runs, log->count, &log->capacity, sizeof(*log->runs));
	return &log->runs[log->count++];
}

struct truth_code *truth_log_add_code(struct truth_log *log)
{
	log->codes = grow(log->codes, log->code_count, &log->code_capacity, sizeof(*log->codes));
	return &log->codes[log->code_count++];
}

static FILE *open_locked(const char *path)
{
	FILE *file = fopen(path, "a");

	if (file)
		flock(fileno(file), LOCK_EX);
	return file;
}

static int close_checked(FILE *file)
{
	const int result = ferror(file) ? -1 : 0;

	return fclose(file) != 0 ? -1 : result;
}

static int write_runs(const struct truth_log *log, const char *path)
{
	FILE *file = open_locked(path);

	if (!file)
		return -1;
	fprintf(file, "# pid %d\n", (int)getpid());
	for (size_t i = 0; i < log->count; i++) {
		const struct truth_run *run = &log->runs[i];
		fprintf(file, "%d %" PRIu64 " %" PRIu64 " %s %" PRIx64 " %zu\n", (int)gettid(),
			run->start_ns, run->end_ns, run->name, run->address, run->size);
	}
	return close_checked(file);
}

static int write_codes(const struct truth_log *log, const char *path)
{
	FILE *file = open_locked(path);

	if (!file)
		return -1;
	for (size_t i = 0; i < log->code_count; i++) {
		const struct truth_code *code = &log->codes[i];
		fprintf(file, "%d %s %" PRIx64 " ", (int)getpid(), code->name, code->address);
		for (size_t at = 0; at < code->size; at++)
			fprintf(file, "%02x", code->bytes[at]);
		fputc('\n', file);
	}
	return close_checked(file);
}

int truth_log_write(struct truth_log *log, const char *path, const char *code_path)
{
	int result = write_runs(log, path);

	if (result == 0 && code_path)
		result = write_codes(log, code_path);
	free(log->runs);
	free(log->codes);
	*log = (struct truth_log){ 0 };
	return result;
}
