/* Makes FOLDER/perf.data with samples of dumped stacks in code of an image, for perf to unwind,
 * and the image: image.so, with a link to it for every further map of its tables.
 *
 *   perf_make FOLDER
 *
 * Prints one line a sample: the names and offsets from the leaf up that perf should find.
 */
#include "base/vector.h"
#include "build.h"
#include "format/perfdata/writer.h"
#include "test.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	COUNT = 120,
	PID = 4711,
	STACK_SIZE = 256,
	DEPTH = 4,
	/* x86's registers as perf numbers them: all but the segments. */
	REGISTER_COUNT = 20,
	RSP = 7,
	RIP = 8,
};
static const uint64_t REGISTERS = 0xff0fff;
static const uint64_t STACK_AVMA = 0x7ffffff00000;
static const uint64_t SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				    PERF_SAMPLE_STACK_USER;

struct making {
	const char *folder;
	struct image *image;
	struct sink records;
	uint64_t time_ns;
};

/* As build_everything() places them. */
static uint64_t start_of(uint32_t function)
{
	const uint32_t slot = function % 50 == 7 ? function - 5 : function;
	return 0x7f0000001000u + (uint64_t)slot * BUILD_STRIDE;
}

static const char *path_of(const struct making *m, size_t map)
{
	static char path[4096];
	if (map == 0 || map == SIZE_MAX)
		(void)snprintf(path, sizeof(path), "%s/image.so", m->folder);
	else
		(void)snprintf(path, sizeof(path), "%s/image.so.%zu", m->folder, map);
	return path;
}

static struct perfdata_new_id id_now(struct making *m)
{
	return (struct perfdata_new_id){
		.sample_type = SAMPLE_TYPE, .pid = PID, .tid = PID, .time_ns = m->time_ns
	};
}

static void put_map(struct making *m, uint64_t start_avma, uint64_t size, uint64_t file_off,
		    size_t map)
{
	m->time_ns += 10;
	const struct perfdata_new_id id = id_now(m);
	const struct perfdata_new_mmap2 mmap2 = { .pid = PID,
						  .tid = PID,
						  .start_avma = start_avma,
						  .size = size,
						  .file_off = file_off,
						  .build_id = image_build_id(m->image),
						  .prot = PROT_READ | PROT_EXEC,
						  .flags = MAP_PRIVATE,
						  .misc = PERF_RECORD_MISC_USER,
						  .path = path_of(m, map) };
	perfdata_put_mmap2(&m->records, &mmap2, &id);
}

static void put_function(struct making *m, uint32_t function)
{
	put_map(m, start_of(function), BUILD_SIZE, image_file_off(m->image, function),
		image_unwind_map_of(m->image, function));
}

/* A stack of functions, each of which has pushed one register: 16 bytes a frame. The leaf is
 * before its push where wanted.
 */
static void put_sample(struct making *m, const uint32_t chain[DEPTH], bool before_push)
{
	m->time_ns += 10;
	uint64_t stack[STACK_SIZE / 8] = { 0 };
	uint64_t registers[REGISTER_COUNT] = { 0 };
	const uint32_t offset = before_push ? 2 : 20;
	registers[RIP] = start_of(chain[0]) + offset;
	registers[RSP] = STACK_AVMA + (before_push ? 8 : 0);
	printf("function%u+%#x", chain[0], offset);
	for (uint32_t i = 1; i < DEPTH; i++) {
		stack[2 * i - 1] = start_of(chain[i]) + 30 + i;
		printf(" function%u+%#x", chain[i], 30 + i);
	}
	printf("\n");
	struct sink *out = &m->records;
	const size_t start = out->size;
	sink_u32(out, PERF_RECORD_SAMPLE);
	sink_u16(out, PERF_RECORD_MISC_USER);
	sink_u16(out, 0);
	sink_u64(out, registers[RIP]);
	sink_u32(out, PID);
	sink_u32(out, PID);
	sink_u64(out, m->time_ns);
	sink_u64(out, 1);
	sink_u64(out, (uint64_t)PERF_CONTEXT_USER);
	sink_u64(out, PERF_SAMPLE_REGS_ABI_64);
	sink_put(out, registers, sizeof(registers));
	sink_u64(out, STACK_SIZE);
	sink_put(out, (const uint8_t *)stack + (before_push ? 8 : 0),
		 STACK_SIZE - (before_push ? 8 : 0));
	sink_zeros(out, before_push ? 8 : 0);
	sink_u64(out, STACK_SIZE);
	const uint32_t head = (uint32_t)(out->size - start) << 16 | PERF_RECORD_MISC_USER;
	sink_patch_u32(out, start + 4, head);
}

static void put_records(struct making *m)
{
	const struct perfdata_new_id id = id_now(m);
	perfdata_put_comm(&m->records, PID, PID, "jit", &id);
	for (size_t i = 0; i < image_unwind_map_count(m->image); i++) {
		const struct image_unwind_map map = image_unwind_map(m->image, i);
		put_map(m, map.start_avma, map.size, map.file_off, i);
	}
	/* function7 takes the place of function2, 57 that of 52. */
	for (uint32_t i = 0; i < COUNT; i++)
		if (i % 50 != 7)
			put_function(m, i);
	put_sample(m, (const uint32_t[DEPTH]){ 10, 2, 30, 52 }, false);
	put_sample(m, (const uint32_t[DEPTH]){ 2, 119, 0, 1 }, true);
	put_function(m, 7);
	put_sample(m, (const uint32_t[DEPTH]){ 7, 10, 30, 52 }, false);
	put_sample(m, (const uint32_t[DEPTH]){ 11, 7, 1, 52 }, true);
	put_function(m, 57);
	put_sample(m, (const uint32_t[DEPTH]){ 3, 57, 7, 119 }, false);
}

static int write_file(const char *path, struct bytes head, struct bytes records,
		      struct bytes features)
{
	FILE *file = fopen(path, "we");
	if (!file)
		return 1;
	const struct bytes parts[] = { head, records, features };
	for (unsigned i = 0; i < 3; i++)
		(void)fwrite(parts[i].data, 1, parts[i].size, file);
	return fclose(file) ? 1 : 0;
}

static int write_recording(struct making *m)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = PERF_ATTR_SIZE_VER5,
					      .config = PERF_COUNT_SW_CPU_CLOCK,
					      .sample_period = 1,
					      .sample_type = SAMPLE_TYPE,
					      .sample_regs_user = REGISTERS,
					      .sample_stack_user = STACK_SIZE,
					      .exclude_callchain_user = 1,
					      .mmap = 1,
					      .mmap2 = 1,
					      .build_id = 1,
					      .sample_id_all = 1 };
	const struct perfdata_new_event event = { .attr = &attr,
						  .attr_size = attr.size,
						  .name = "cpu-clock" };
	struct sink head = { 0 };
	struct sink features = { 0 };
	struct perfdata_layout layout = perfdata_begin(&head, &event, 1);
	put_records(m);
	layout.data_size = m->records.size;
	struct perfdata_new_feature arch = { .feature = 6 }; /* HEADER_ARCH */
	perfdata_put_text(&arch.content, "x86_64");
	perfdata_features(&features, &layout, layout.data_offset + layout.data_size, &arch, 1);
	struct sink patched = { 0 };
	perfdata_header(&patched, &layout);
	memcpy(head.data, patched.data, patched.size);
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/perf.data", m->folder);
	const int got =
	    write_file(path, sink_bytes(&head), sink_bytes(&m->records), sink_bytes(&features));
	sink_clear(&head);
	sink_clear(&features);
	sink_clear(&patched);
	sink_clear(&arch.content);
	return got;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	struct making m = { .folder = argv[1], .image = build_everything(COUNT, true) };
	if (image_avoid(m.image, STACK_AVMA, STACK_SIZE) < 0 || image_finish(m.image) < 0)
		return 1;
	char first[4096];
	(void)snprintf(first, sizeof(first), "%s", path_of(&m, 0));
	const int fd = open(first, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || image_write(m.image, fd) < 0)
		return 1;
	close(fd);
	for (size_t i = 1; i < image_unwind_map_count(m.image); i++)
		if (link(first, path_of(&m, i)) < 0)
			return 1;
	const int got = write_recording(&m);
	sink_clear(&m.records);
	image_free(m.image);
	return got;
}
