/* gen_jitdump.c - a jitdump of many functions, and a recording with samples in them.
 *
 *   gen_jitdump FOLDER FUNCTIONS
 *
 * Writes FOLDER/jit-4242.dump and FOLDER/perf.data, whose marker mapping names
 * the dump. Functions have 200 bytes of code and ten line entries, a hundredth of
 * them runs. They are loaded into a region that is used up and begun again, as
 * a moving code collector does.
 */
#include "cli/parse.h"
#include "format/jitdump/layout.h"
#include "recording.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	PID = 4242,
	CODE_BYTES = 200,
	SPACING = 256,
	LINES = 10,
	LOAD_GAP_NS = 20000,
	SAMPLES = 20000,
};

static const uint64_t region_avma = 0x7f0000000000;
static const uint64_t start_ns = 1000000000;

static uint64_t code_avma(uint64_t index, uint64_t count)
{
	return region_avma + index % (count / 2 + 1) * SPACING;
}

static void put_header(struct sink *out)
{
	sink_u32(out, JITDUMP_MAGIC);
	sink_u32(out, JITDUMP_VERSION);
	sink_u32(out, JITDUMP_HEADER_SIZE);
	sink_u32(out, EM_X86_64);
	sink_u32(out, 0);
	sink_u32(out, PID);
	sink_u64(out, start_ns);
	sink_u64(out, 0);
}

static void put_lines(struct sink *out, uint64_t index, uint64_t count)
{
	const size_t start = out->size;
	sink_u32(out, JITDUMP_DEBUG_INFO);
	sink_u32(out, 0);
	sink_u64(out, start_ns + index * LOAD_GAP_NS);
	sink_u64(out, code_avma(index, count));
	sink_u64(out, LINES);
	for (uint32_t line = 0; line < LINES; line++) {
		sink_u64(out, code_avma(index, count) + (uint64_t)line * (CODE_BYTES / LINES));
		sink_u32(out, (uint32_t)(index % 5000) + line + 1);
		sink_u32(out, line);
		sink_cstr(out, line ? "\xff" : "generated.js"); /* 0xff: the same file again */
	}
	sink_patch_u32(out, start + 4, (uint32_t)(out->size - start));
}

static void put_load(struct sink *out, uint64_t index, uint64_t count)
{
	const size_t start = out->size;
	sink_u32(out, JITDUMP_CODE_LOAD);
	sink_u32(out, 0);
	sink_u64(out, start_ns + index * LOAD_GAP_NS);
	sink_u32(out, PID);
	sink_u32(out, PID);
	sink_u64(out, code_avma(index, count));
	sink_u64(out, code_avma(index, count));
	sink_u64(out, CODE_BYTES);
	sink_u64(out, index);
	sink_printf(out, "JS:*generated%u generated.js:%u:1", (unsigned)index,
		    (unsigned)(index % 5000 + 1));
	sink_u8(out, '\0');
	uint8_t *code = sink_reserve(out, CODE_BYTES);
	if (code)
		memset(code, 0x90, CODE_BYTES);
	sink_patch_u32(out, start + 4, (uint32_t)(out->size - start));
}

static void write_dump(const char *path, uint64_t count)
{
	FILE *file = fopen(path, "wbe");
	if (!file)
		give_up(path);
	struct sink out = { 0 };
	put_header(&out);
	for (uint64_t i = 0; i < count; i++) {
		put_lines(&out, i, count);
		put_load(&out, i, count);
		if (out.size > 1 << 20 || i + 1 == count) {
			if (sink_failed(&out) || fwrite(out.data, 1, out.size, file) != out.size)
				give_up(path);
			sink_reset(&out);
		}
	}
	if (fclose(file) != 0)
		give_up(path);
	sink_clear(&out);
}

static void write_recording(const char *path, const char *dump, uint64_t count)
{
	struct recording r;
	recording_begin(&r, path, "cpu-clock");
	const struct perfdata_new_id id = recording_id(&r, PID, PID, start_ns - 1);
	const struct perfdata_new_mmap2 marker = {
		.pid = PID,
		.tid = PID,
		.start_avma = 0x600000000000,
		.size = 4096,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.misc = PERFDATA_CPUMODE_USER,
		.path = dump,
	};
	const struct perfdata_new_mmap2 region = {
		.pid = PID,
		.tid = PID,
		.start_avma = region_avma,
		.size = ((count / 2 + 1) * SPACING + 4095) & ~4095ull,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
		.misc = PERFDATA_CPUMODE_USER,
		.path = "//anon",
	};
	perfdata_put_comm(&r.records, PID, PID, "generated", &id);
	perfdata_put_mmap2(&r.records, &marker, &id);
	perfdata_put_mmap2(&r.records, &region, &id);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		/* Each in a function just loaded. */
		const uint64_t function = i * count / SAMPLES;
		const uint64_t chain[] = { code_avma(function, count) + 1 + i % (CODE_BYTES - 1) };
		const struct recording_sample sample = {
			.pid = PID,
			.tid = PID,
			.time_ns = start_ns + function * LOAD_GAP_NS + 1,
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
	uint64_t count;
	if (argc != 3 || !parse_u64(argv[2], &count) || !count) {
		(void)fprintf(stderr, "usage: gen_jitdump FOLDER FUNCTIONS\n");
		return 2;
	}
	char *folder = realpath(argv[1], NULL);
	char dump[4096];
	char recording[4096];
	if (!folder)
		give_up(argv[1]);
	(void)snprintf(dump, sizeof(dump), "%s/jit-%d.dump", folder, PID);
	(void)snprintf(recording, sizeof(recording), "%s/perf.data", folder);
	free(folder);
	write_dump(dump, count);
	write_recording(recording, dump, count);
	return 0;
}
