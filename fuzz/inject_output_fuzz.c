/* What can be read is copied as a pipe and as a file; a reader must find the same events and as
 * many records in the copies.
 */
#include "base/status.h"
#include "inject/output.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct perfdata *open_through(struct bytes bytes)
{
	struct perfdata *perf;
	struct perfdata_record record;
	if (perfdata_open(&perf, bytes, NULL) < 0)
		return NULL;
	while (perfdata_next(perf, &record) > 0)
		;
	perfdata_rewind(perf);
	return perf;
}

/* How many were copied. */
static size_t copy(struct perfdata *input, struct inject_output *out)
{
	struct perfdata_record record;
	size_t count = 0;
	while (perfdata_next(input, &record) > 0) {
		count += inject_output_omission(input, record.type) == INJECT_COPIED;
		inject_output_copy(out, &record);
	}
	perfdata_rewind(input);
	return count;
}

/* A pipe's build ids are records by the output's own choice. */
static size_t count_copies(struct perfdata *perf)
{
	struct perfdata_record record;
	size_t count = 0;
	while (perfdata_next(perf, &record) > 0)
		count += inject_output_omission(perf, record.type) == INJECT_COPIED;
	return count;
}

static void compare_events(const struct perfdata *a, const struct perfdata *b)
{
	if (perfdata_event_count(a) != perfdata_event_count(b))
		abort();
	for (size_t i = 0; i < perfdata_event_count(a); i++) {
		const struct perfdata_event *one = perfdata_event(a, i);
		const struct perfdata_event *other = perfdata_event(b, i);
		if (one->attr.type != other->attr.type || one->attr.config != other->attr.config ||
		    one->attr.sample_type != other->attr.sample_type ||
		    one->attr.flags != other->attr.flags || one->id_count != other->id_count ||
		    (one->id_count && memcmp(one->ids, other->ids, 8 * one->id_count) != 0))
			abort();
	}
}

/* Names of events that a file has in a feature are records in a pipe. */
static void check(struct perfdata *input, const char *path, size_t copied)
{
	struct os_file file;
	if (os_file_open(&file, path, OS_FILE_PLAIN) < 0)
		abort();
	struct perfdata *perf = open_through(file.bytes);
	if (!perf)
		abort();
	compare_events(input, perf);
	const size_t count = count_copies(perf);
	const size_t more = perfdata_is_pipe(perf) ? perfdata_event_count(perf) : 0;
	if (count < copied || count > copied + more)
		abort();
	perfdata_close(perf);
	os_file_close(&file);
}

static void copy_to(struct perfdata *input, const char *path)
{
	struct inject_output *out;
	const int got = inject_output_open(&out, path, input);
	if (got == STATUS_UNSUPPORTED || got == STATUS_TOO_BIG)
		return;
	if (got < 0)
		abort();
	const size_t copied = copy(input, out);
	if (inject_output_commit(out) < 0)
		abort();
	check(input, path, copied);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata *input = open_through((struct bytes){ data, size });
	if (!input)
		return 0;
	char path[64];
	const int fd = memfd_create("pipe", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	copy_to(input, path);
	close(fd);
	(void)snprintf(path, sizeof(path), "/dev/shm/inject_output_fuzz.%d", (int)getpid());
	copy_to(input, path);
	(void)unlink(path);
	perfdata_close(input);
	return 0;
}
