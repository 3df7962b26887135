#include "inject/world.h"

#include "image/build.h"

#include "format/perfdata/layout.h"

#include <stdio.h>

/* High enough that there is room for tables below it. */
#define START UINT64_C(0x7f0000010000)

enum { PAGES = 12, PAGE = 0x1000, MS = 1000000 };

static uint32_t any(struct world *w, uint32_t limit)
{
	return w->next(w->context) % limit;
}

static uint64_t any_place(struct world *w)
{
	const uint64_t at =
	    any(w, 3) ? START + any(w, PAGES * PAGE / 16) * 16 : START + any(w, PAGES) * PAGE;
	return any(w, 3) ? at : w->recent[any(w, WORLD_RECENT)];
}

static uint64_t any_size(struct world *w)
{
	return any(w, 4) ? 16 + any(w, 32) * 16 : 16 + any(w, 2 * PAGE);
}

/* Starts, ends, and whatever lies around them. */
static uint64_t any_address(struct world *w)
{
	const uint64_t place = any_place(w);
	return any(w, 3) ? place + any(w, 0x200) : place - any(w, 2);
}

static uint32_t any_pid(struct world *w)
{
	return WORLD_FIRST_PID + any(w, WORLD_PIDS);
}

static void tell_unwinding(struct sink *dump, uint64_t size)
{
	size_t hdr_size;
	struct sink tables = build_unwinding(size, &hdr_size);
	dump_unwinding(dump, sink_bytes(&tables), hdr_size);
	sink_clear(&tables);
}

static void add_code(struct world *w)
{
	char name[32];
	const uint32_t pid = any_pid(w);
	struct sink *dump = &w->dumps[pid - WORLD_FIRST_PID];
	const uint64_t start = any_place(w);
	const uint64_t size = any(w, 10) ? any_size(w) : 0;
	const uint64_t late_ns = any(w, 3) ? 0 : any(w, 30) * MS;
	(void)snprintf(name, sizeof(name), "code-%u", w->names++);
	const uint64_t edge = start + (any(w, 2) ? size : 0);
	w->recent[any(w, WORLD_RECENT)] = edge;
	if (w->has_unwinding && size)
		tell_unwinding(dump, size);
	dump_load(dump, pid, w->now_ns + late_ns, start, size, name);
}

static void change_code(struct world *w)
{
	const uint32_t pid = any_pid(w);
	struct sink *dump = &w->dumps[pid - WORLD_FIRST_PID];
	const uint64_t from = w->recent[any(w, WORLD_RECENT)];
	if (any(w, 2)) {
		dump_unload(dump, pid, w->now_ns, from);
		return;
	}
	const uint64_t to = any_place(w);
	dump_move(dump, pid, w->now_ns, from, to, any_size(w));
}

static void add_line(struct world *w)
{
	char line[64];
	struct sink *map = &w->maps[any(w, WORLD_PIDS)];
	const uint64_t start = any_place(w);
	const uint64_t size = any(w, 8) ? any_size(w) : 0;
	const uint32_t name = any(w, 6);
	(void)snprintf(line, sizeof(line), "%llx %llx line-%u\n", (unsigned long long)start,
		       (unsigned long long)size, name);
	w->recent[any(w, WORLD_RECENT)] = start;
	sink_text(map, line);
}

static void add_mapping(struct world *w)
{
	static const char *const paths[] = {
		"//anon",      "//anon",          "/memfd:doublemapper (deleted)",
		"[anon:code]", "/nowhere/one.so", "/nowhere/two.so",
		"[heap]",      "[vdso]"
	};
	const uint32_t kind = any(w, 9);
	/* One choice after the other: compilers differ in the order of what stands in one. */
	struct recording_map map = { .pid = any_pid(w), .time_ns = w->now_ns };
	map.start_avma = START + any(w, PAGES) * PAGE;
	map.size = (1 + any(w, 5)) * PAGE;
	map.file_off = kind < 4 ? 0 : any(w, 4) * PAGE;
	map.path = kind < 8 ? paths[kind] : w->program;
	recording_map(&w->r, &map);
}

static void change_process(struct world *w)
{
	const uint32_t pid = any_pid(w);
	const uint32_t other = any_pid(w);
	if (any(w, 3) == 0)
		recording_comm(&w->r, pid, w->now_ns, "again", true);
	else if (pid != other)
		recording_fork(&w->r, pid, other, w->now_ns);
}

static void add_sample(struct world *w)
{
	uint64_t chain[6];
	const size_t count = 1 + any(w, 6);
	const uint32_t pid = any_pid(w);
	for (size_t i = 0; i < count; i++)
		chain[i] = any_address(w);
	recording_sample(&w->r, pid, pid, w->now_ns, chain, count);
}

void world_step(struct world *w)
{
	const uint32_t kind = any(w, 20);
	w->now_ns += any(w, 3) ? any(w, 3) * MS : any(w, 12) * MS;
	if (kind < 4)
		add_code(w);
	else if (kind < 6)
		change_code(w);
	else if (kind < 7)
		add_line(w);
	else if (kind < 9)
		add_mapping(w);
	else if (kind < 10)
		change_process(w);
	else
		add_sample(w);
}

const uint64_t world_with_stacks = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
				   PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_REGS_USER |
				   PERFDATA_SAMPLE_STACK_USER;

void world_begin(struct world *w, const struct recording_shape *shape)
{
	recording_begin_as(&w->r, shape);
	w->has_unwinding = w->r.sample_type & PERFDATA_SAMPLE_STACK_USER;
	w->now_ns = 1000 * MS;
	for (uint32_t i = 0; i < WORLD_PIDS; i++) {
		dump_begin(&w->dumps[i], WORLD_FIRST_PID + i);
		recording_comm(&w->r, WORLD_FIRST_PID + i, 1, "app", false);
	}
}

void world_clear(struct world *w)
{
	for (uint32_t i = 0; i < WORLD_PIDS; i++) {
		sink_clear(&w->dumps[i]);
		sink_clear(&w->maps[i]);
	}
}
