/* record_counts.c - prints how many records of each type a perf.data holds, one
 * "NAME count" a line: our side of the comparison with perf's own dump.
 * With -v also events, features and problems.
 */
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPE_LIMIT = 128 };

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rbe");
	if (!in)
		return NULL;
	fseek(in, 0, SEEK_END);
	const long length = ftell(in);
	rewind(in);
	uint8_t *data = malloc(length > 0 ? (size_t)length : 1);
	if (data && fread(data, 1, (size_t)length, in) != (size_t)length) {
		free(data);
		data = NULL;
	}
	*size = (size_t)length;
	fclose(in);
	return data;
}

static void print_details(const struct perfdata *file)
{
	for (size_t i = 0; i < perfdata_event_count(file); i++) {
		const struct perfdata_event *event = perfdata_event(file, i);
		printf("# event %s sample_type 0x%" PRIx64 " flags 0x%" PRIx64 " ids %zu\n",
		       event->name, event->attr.sample_type, event->attr.flags, event->id_count);
	}
	for (unsigned i = 0; i < PERFDATA_FEATURE_LIMIT; i++)
		if (perfdata_feature(file, i).size)
			printf("# feature %u: %zu bytes\n", i, perfdata_feature(file, i).size);
	for (size_t i = 0; i < perfdata_problem_count(file); i++) {
		const struct perfdata_problem *p = perfdata_problem(file, i);
		printf("# problem %s at %" PRIu64 ", %" PRIu64 " times: %s\n",
		       perfdata_record_name(p->record_type), p->first_offset, p->count, p->what);
	}
}

static int run(const char *path, int verbose)
{
	size_t size = 0;
	uint8_t *data = read_all(path, &size);
	struct perfdata *file = NULL;
	struct perfdata_record record;
	uint64_t counts[TYPE_LIMIT] = { 0 };
	uint64_t at = 0;
	int got = data ? perfdata_open(&file, (struct bytes){ data, size }, &at) : STATUS_IO;
	while (got >= 0 && (got = perfdata_next(file, &record)) > 0) {
		struct perfdata_sample sample;
		if (record.type == PERFDATA_SAMPLE)
			(void)perfdata_decode_sample(file, &record, &sample);
		counts[record.type < TYPE_LIMIT ? record.type : 0]++;
	}
	for (uint32_t type = 0; type < TYPE_LIMIT; type++)
		if (counts[type])
			printf("%s %" PRIu64 "\n", perfdata_record_name(type), counts[type]);
	if (got < 0)
		fprintf(stderr, "%s: byte %" PRIu64 ": %s\n", path, at, status_text(got));
	else if (verbose)
		print_details(file);
	perfdata_close(file);
	free(data);
	return got < 0;
}

int main(int argc, char **argv)
{
	const int verbose = argc == 3;
	if (argc < 2 || argc > 3)
		return 2;
	return run(argv[argc - 1], verbose);
}
