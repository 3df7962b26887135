/* gen_map.c - a perf map of a given size, and a recording with samples in it.
 *
 *   gen_map FOLDER MEGABYTES
 *
 * Writes FOLDER/perf-4242.map, unsorted as V8 and .NET leave theirs, with every
 * fifth line about code that an earlier line named too, and FOLDER/perf.data, whose
 * samples lie in 5,000 functions all over the map, as a program's hot code does.
 */
#include "cli/parse.h"
#include "recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PID = 4242, CODE_BYTES = 0x60, SPACING = 0x80, SAMPLES = 100000, HOT = 5000 };

static const uint64_t region_avma = 0x7f0000000000;

/* A walk through all numbers below `count`, far from sorted: count is made prime to the step. */
static uint64_t place_of(uint64_t index, uint64_t count)
{
	return index * 7919 % count;
}

static void write_map(const char *path, uint64_t lines)
{
	FILE *file = fopen(path, "wbe");
	if (!file)
		give_up(path);
	for (uint64_t i = 0; i < lines; i++) {
		const uint64_t place = place_of(i % 5 ? i : i / 2, lines);
		fprintf(file,
			"%" PRIx64 " %x [Some.Assembly] Namespace.Type%05" PRIu64
			"::Method%07" PRIu64 "(int32)[Optimized]\n",
			region_avma + place * SPACING, CODE_BYTES, i % 100000, i);
	}
	if (fclose(file) != 0)
		give_up(path);
}

static void write_recording(const char *path, uint64_t lines)
{
	struct recording r;
	recording_begin(&r, path, "cpu-clock");
	const struct perfdata_new_id id = recording_id(&r, PID, PID, 1);
	const struct perfdata_new_mmap2 region = {
		.pid = PID,
		.tid = PID,
		.start_avma = region_avma,
		.size = (lines * SPACING + 4095) & ~4095ull,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
		.misc = PERFDATA_CPUMODE_USER,
		.path = "//anon",
	};
	perfdata_put_comm(&r.records, PID, PID, "generated", &id);
	perfdata_put_mmap2(&r.records, &region, &id);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		const uint64_t function = i * 104729 % HOT * (lines / HOT);
		const uint64_t chain[] = { region_avma + function * SPACING + 8 };
		const struct recording_sample sample = {
			.pid = PID,
			.tid = PID,
			.time_ns = 1000000000 + i * 100000,
			.chain = chain,
			.depth = 1,
		};
		recording_sample(&r, &sample);
		recording_flush(&r, false);
	}
	recording_end(&r);
}

int main(int argc, char **argv)
{
	uint64_t megabytes;
	if (argc != 3 || !parse_u64(argv[2], &megabytes) || !megabytes) {
		(void)fprintf(stderr, "usage: gen_map FOLDER MEGABYTES\n");
		return 2;
	}
	/* About 84 bytes a line; 7919 is a prime, so any other count will do. */
	uint64_t lines = megabytes * 1000000 / 84;
	lines += lines % 7919 == 0;
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/perf-%d.map", argv[1], PID);
	write_map(path, lines);
	(void)snprintf(path, sizeof(path), "%s/perf.data", argv[1]);
	write_recording(path, lines);
	return 0;
}
