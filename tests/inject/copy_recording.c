/* copy_recording.c - IN to OUT ("-": stdin, stdout) through inject/output.h, all records in time
 * order and none changed: what an injection is without anything to inject.
 */
#include "base/status.h"
#include "inject/output.h"
#include "load/order.h"
#include "os/file.h"

#include <stdio.h>

static int copy(void *context, const struct perfdata_record *record)
{
	inject_output_copy(context, record);
	return 0;
}

static int read_through(struct perfdata *perf)
{
	struct perfdata_record record;
	int got;
	while ((got = perfdata_next(perf, &record)) > 0)
		;
	perfdata_rewind(perf);
	return got;
}

static int copy_records(struct perfdata *perf, struct inject_output *out)
{
	struct perfdata_record record;
	struct order *order = order_new(perf, copy, out);
	int got = order ? 0 : STATUS_NO_MEMORY;
	while (got == 0 && (got = perfdata_next(perf, &record)) > 0)
		got = record.type == PERFDATA_FINISHED_ROUND ? order_round(order)
							     : order_put(order, &record);
	if (got == 0)
		got = order_flush(order);
	order_free(order);
	return got;
}

static int copy_file(const char *from, const char *to)
{
	struct os_file file;
	struct perfdata *perf = NULL;
	struct inject_output *out = NULL;
	int got = os_file_open(&file, from, OS_FILE_PLAIN);
	if (got < 0)
		return got;
	got = perfdata_open(&perf, file.bytes, NULL);
	if (got == 0)
		got = read_through(perf);
	if (got == 0)
		got = inject_output_open(&out, to, perf);
	if (got == 0)
		got = copy_records(perf, out);
	if (out && got == 0)
		got = inject_output_commit(out);
	else
		inject_output_abandon(out);
	perfdata_close(perf);
	os_file_close(&file);
	return got;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: copy_recording IN OUT\n");
		return 2;
	}
	os_file_guard();
	const int got = copy_file(argv[1], argv[2]);
	if (got < 0)
		fprintf(stderr, "copy_recording: %s: %s\n", argv[1], status_text(got));
	return got < 0;
}
