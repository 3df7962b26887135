/* Hostile recordings through all of inject: stock perf must name what our own reports name, and a
 * run that fails must leave nothing. An even first byte: the rest is a perf.data file, then what
 * its zip is to hold; an odd one: the rest chooses what processes do in a small world, with 2 in it
 * one of stacks to unwind.
 */
#include "base/bytes.h"
#include "bundle/bundle.h"
#include "inject/agree.h"
#include "inject/inject.h"
#include "inject/world.h"

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_LIMIT = 300, OPEN_FILES = 8 };

static char folder[64];
static char output[96];

static void remove_folder(void)
{
	(void)rmdir(folder);
}

static void make_folder(void)
{
	if (folder[0])
		return;
	/* Memory, where there is such a place: images are synced. */
	const bool has_shm = access("/dev/shm", W_OK) == 0;
	(void)snprintf(folder, sizeof(folder), "%s/inject_fuzz-XXXXXX",
		       has_shm ? "/dev/shm" : "/tmp");
	if (!mkdtemp(folder))
		abort();
	(void)snprintf(output, sizeof(output), "%s/out", folder);
	(void)atexit(remove_folder);
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *ftw)
{
	(void)what;
	(void)kind;
	return ftw->level ? remove(path) : 0;
}

static bool is_folder_empty(void)
{
	DIR *entries = opendir(folder);
	int count = 0;
	while (entries && readdir(entries))
		count++;
	if (entries)
		closedir(entries);
	return count <= 2;
}

static void run(struct load *load, bool all)
{
	struct inject_result result;
	struct agreement agreement = { 0 };
	const struct inject_options options = { .output = output, .all = all };
	if (inject_run(load, &options, &result) == 0) {
		agree(load, output, &agreement);
		(void)nftw(folder, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
	} else if (!is_folder_empty()) {
		(void)snprintf(agreement.complaint, sizeof(agreement.complaint),
			       "a failed run left files");
	}
	if (!agreement.complaint[0])
		return;
	(void)fprintf(stderr, "%s%s\n", all ? "all: " : "", agreement.complaint);
	abort();
}

static void load_and_run(int fd)
{
	char path[64];
	struct load *load;
	struct load_error error;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int all = 0; all < 2; all++) {
		const struct load_options options = { .input = path,
						      .keep_code = true,
						      .walked_lines = true,
						      .self_contained = true };
		if (load_open(&load, &options, &error) == 0)
			run(load, all);
		load_close(load);
	}
}

static int file_of(struct bytes bytes)
{
	const int fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes.data, bytes.size) != (ssize_t)bytes.size)
		abort();
	return fd;
}

static void add_members(struct bundle_writer *writer, struct cursor *c)
{
	static const char *const names[] = { "jit/a.dump",     "jit/b.dump",    "perf.map",
					     "perf.map.times", "perf.map.code", "perf-2.map" };
	while (cursor_left(c)) {
		char name[64];
		const uint8_t kind = cursor_u8(c) % 7;
		const uint32_t pid = cursor_u32(c);
		const size_t size = cursor_u16(c);
		const struct bytes content =
		    cursor_take(c, size < cursor_left(c) ? size : cursor_left(c));
		if (kind < 6)
			(void)snprintf(name, sizeof(name), "process/%" PRIu32 "/%s", pid,
				       names[kind]);
		(void)bundle_writer_add(writer, kind < 6 ? name : "processes.tsv", content);
	}
}

static void run_bytes(struct cursor *c)
{
	struct bundle_writer *writer;
	const size_t size = cursor_u16(c);
	const int fd = file_of(cursor_take(c, size < cursor_left(c) ? size : cursor_left(c)));
	if (bundle_writer_open(&writer, fd, false) == 0) {
		add_members(writer, c);
		(void)bundle_writer_close(writer);
	}
	load_and_run(fd);
	close(fd);
}

/* A byte where that is enough; it is for most choices. */
static uint32_t next_number(void *context)
{
	struct cursor *c = context;
	const uint32_t first = cursor_u8(c);
	return first < 0x80 ? first : ((first & 0x7f) << 8) | cursor_u8(c);
}

static void add_world(struct world *w, int fd)
{
	struct bundle_writer *writer;
	if (bundle_writer_open(&writer, fd, false) < 0)
		abort();
	for (uint32_t i = 0; i < WORLD_PIDS; i++) {
		char name[64];
		const uint32_t pid = WORLD_FIRST_PID + i;
		(void)snprintf(name, sizeof(name), "process/%" PRIu32 "/jit/a.dump", pid);
		(void)bundle_writer_add(writer, name, sink_bytes(&w->dumps[i]));
		(void)snprintf(name, sizeof(name), "process/%" PRIu32 "/perf.map", pid);
		(void)bundle_writer_add(writer, name, sink_bytes(&w->maps[i]));
	}
	if (bundle_writer_close(writer) < 0)
		abort();
}

static void run_world(struct cursor *c, bool has_stacks)
{
	struct world w = { .next = next_number, .context = c, .program = "/bin/true" };
	world_begin(&w,
		    &(struct recording_shape){ .sample_type = has_stacks ? world_with_stacks : 0,
					       .has_no_folder = true });
	for (int i = 0; i < STEPS_LIMIT && cursor_left(c); i++)
		world_step(&w);
	const int fd = file_of(recording_seal(&w.r));
	add_world(&w, fd);
	load_and_run(fd);
	close(fd);
	sink_clear(&w.r.out);
	world_clear(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_over((struct bytes){ data, size });
	make_folder();
	const uint8_t kind = cursor_u8(&c);
	if (kind & 1)
		run_world(&c, kind & 2);
	else
		run_bytes(&c);
	return 0;
}
