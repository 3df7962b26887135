/* Everything in the records but samples: processes, mappings, kernel symbols. */
#include "load/load_internal.h"

#include "base/status.h"
#include "load/bpf_code.h"
#include "load/stacks.h"
#include "profile/events.h"

typedef int take_record(struct load *load, const struct perfdata_record *record);

bool load_is_memory(const char *path)
{
	static const char *const names[] = { "//anon",      "/memfd:",        "/dev/zero", "/SYSV",
					     "anon_inode:", "/anon_hugepage", "//toolong" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return true;
	return !*path || (path[0] == '[' && strncmp(path, "[vdso", 5) != 0);
}

static int take_kernel_mmap(struct load *load, const struct perfdata_mmap *map)
{
	const bool is_text = strncmp(map->path, "[kernel.kallsyms]", 17) == 0 ||
			     strncmp(map->path, "[guest.kernel.kallsyms]", 23) == 0;
	if (is_text && map->path[0] == '[' && map->path[1] == 'k')
		load->kernel_text_avma = map->file_off;
	const uint32_t object = load_object(load, is_text ? "[kernel.kallsyms]" : map->path,
					    map->build_id, OBJECT_KERNEL);
	if (object == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const struct timeline_mapping mapping = {
		.start_avma = map->start_avma,
		.size = map->size,
		.file_off = map->file_off,
		.object = object,
	};
	return timeline_map(load->timeline, TIMELINE_KERNEL_PID, map->id.time_ns, &mapping);
}

static int note_marker(struct load *load, const struct perfdata_mmap *map)
{
	struct marker *marker = vector_push(&load->markers);
	if (!marker)
		return STATUS_NO_MEMORY;
	*marker = (struct marker){ .pid = map->pid,
				   .path = intern_text(&load->strings, map->path),
				   .time_ns = map->id.time_ns };
	return marker->path == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static void note_extent(struct object *object, const struct perfdata_mmap *map)
{
	uint64_t end_off;
	if (__builtin_add_overflow(map->file_off, map->size, &end_off))
		return;
	if (!object->end_off || map->file_off < object->start_off)
		object->start_off = map->file_off;
	if (end_off > object->end_off)
		object->end_off = end_off;
}

static int take_mmap(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_mmap map;
	const int got = perfdata_decode_mmap(load->perf, record, &map);
	if (got < 0)
		return 0; /* counted by the reader, which keeps going */
	if (map.is_kernel || map.pid == UINT32_MAX)
		return take_kernel_mmap(load, &map);
	if (!map.is_exec)
		return 0;

	struct process *process = load_process(load, map.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	enum object_kind kind = OBJECT_FILE;
	if (strncmp(map.path, "[vdso", 5) == 0)
		kind = OBJECT_VDSO;
	else if (load_is_memory(map.path))
		kind = OBJECT_ANONYMOUS;
	if (kind == OBJECT_ANONYMOUS)
		process->has_anonymous_code = true;
	if (kind == OBJECT_FILE && !process->exe)
		process->exe = intern_text(&load->strings, map.path);
	if (kind == OBJECT_FILE && note_marker(load, &map) < 0)
		return STATUS_NO_MEMORY;

	const uint32_t object = load_object(load, map.path, map.build_id, kind);
	if (object == INTERN_NONE)
		return STATUS_NO_MEMORY;
	note_extent(&load->objects.items[object], &map);
	const struct timeline_mapping mapping = {
		.start_avma = map.start_avma,
		.size = map.size,
		.file_off = map.file_off,
		.object = object,
	};
	return timeline_map(load->timeline, map.pid, map.id.time_ns, &mapping);
}

static int take_comm(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_comm comm;
	if (perfdata_decode_comm(load->perf, record, &comm) < 0)
		return 0;
	struct process *process = load_process(load, comm.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	int got = load_comm(load, comm.tid, comm.comm, comm.id.time_ns);
	if (got == 0 && comm.is_exec && comm.id.time_ns) {
		process->exe = 0;
		got = timeline_exec(load->timeline, comm.pid, comm.id.time_ns);
	}
	return got;
}

static int note_task(struct load *load, const struct perfdata_task *task, uint64_t time_ns,
		     bool is_end)
{
	struct task_event *event = vector_push(&load->tasks);
	if (!event)
		return STATUS_NO_MEMORY;
	*event = (struct task_event){ time_ns, task->pid, task->tid, is_end };
	return 0;
}

static int take_exit(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_task task;
	if (perfdata_decode_task(load->perf, record, &task) < 0)
		return 0;
	const uint64_t time_ns = task.id.time_ns ? task.id.time_ns : task.time_ns;
	return time_ns ? note_task(load, &task, time_ns, true) : 0;
}

/* A synthesized FORK has time 0: the child's mappings are synthesized as well, and
 * what its parent looks like now says nothing about what it once inherited.
 */
static int take_fork(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_task task;
	if (perfdata_decode_task(load->perf, record, &task) < 0)
		return 0;
	const uint64_t time_ns = task.id.time_ns ? task.id.time_ns : task.time_ns;
	if (!time_ns)
		return 0;
	struct comm_change *change = vector_push(&load->comms);
	if (!change || note_task(load, &task, time_ns, false) < 0)
		return STATUS_NO_MEMORY;
	/* comm INTERN_NONE: the parent's at that time, found when all are sorted. */
	*change = (struct comm_change){ .time_ns = time_ns,
					.tid = task.tid,
					.comm = INTERN_NONE,
					.parent_tid = task.parent_tid,
					.order = (uint32_t)load->comms.count };
	if (task.pid == task.parent_pid)
		return 0;
	struct process *child = load_process(load, task.pid);
	const struct process *parent = load_process_find(load, task.parent_pid);
	if (!child)
		return STATUS_NO_MEMORY;
	if (parent) {
		child->exe = parent->exe;
		child->has_anonymous_code |= parent->has_anonymous_code;
	}
	return timeline_fork(load->timeline, task.parent_pid, task.pid, time_ns);
}

static int take_lost(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_lost lost;
	if (perfdata_decode_lost(load->perf, record, &lost) == 0)
		load->lost_count += lost.count;
	return 0;
}

static int take_ksymbol(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_ksymbol symbol;
	if (perfdata_decode_ksymbol(load->perf, record, &symbol) < 0)
		return 0;
	struct told_event event = { .time_ns = symbol.id.time_ns,
				    .earliest_ns = symbol.id.time_ns,
				    .start_avma = symbol.start_avma,
				    .size = symbol.size,
				    .pid = TIMELINE_KERNEL_PID,
				    .kind = symbol.is_unregister ? PROFILE_EVENT_UNLOADED
								 : PROFILE_EVENT_COMPILED };
	if (symbol.is_unregister)
		return load_keep_event(load, &event) < 0
			   ? STATUS_NO_MEMORY
			   : timeline_unload(load->timeline, TIMELINE_KERNEL_PID, symbol.id.time_ns,
					     symbol.start_avma);
	if (load->ksymbol_source == INTERN_NONE) {
		struct source *source = vector_push(&load->sources);
		if (!source)
			return STATUS_NO_MEMORY;
		*source = (struct source){ .pid = TIMELINE_KERNEL_PID,
					   .path = intern_text(&load->strings, "[bpf]"),
					   .runtime = RUNTIME_BPF,
					   .is_timed = true };
		load->ksymbol_source = (uint32_t)load->sources.count - 1;
	}
	/* Records of compressed files do not stay: the name needs a copy. */
	const uint32_t name = intern_text(&load->strings, symbol.name);
	struct code *code = vector_push(&load->codes);
	if (!code || name == INTERN_NONE)
		return STATUS_NO_MEMORY;
	*code = (struct code){ .name = intern_get_bytes(&load->strings, name),
			       .source = load->ksymbol_source };
	event.code = (uint32_t)load->codes.count - 1;
	if (bpf_code_symbol(load, &symbol, event.code) < 0 || load_keep_event(load, &event) < 0)
		return STATUS_NO_MEMORY;
	const struct timeline_load what = {
		.start_avma = symbol.start_avma,
		.size = symbol.size,
		.earliest_ns = symbol.id.time_ns,
		.time_ns = symbol.id.time_ns,
		.latest_ns = symbol.id.time_ns,
		.object = (uint32_t)load->codes.count - 1,
	};
	return timeline_load(load->timeline, TIMELINE_KERNEL_PID, &what);
}

static int take_bpf_event(struct load *load, const struct perfdata_record *record)
{
	struct perfdata_bpf_event event;
	if (perfdata_decode_bpf_event(load->perf, record, &event) < 0)
		return 0;
	return bpf_code_event(load, &event);
}

static int take_namespaces(struct load *load, const struct perfdata_record *record)
{
	enum { PID_NAMESPACE = 3 };
	struct perfdata_namespaces spaces;
	if (perfdata_decode_namespaces(load->perf, record, &spaces) < 0)
		return 0;
	struct process *process = load_process(load, spaces.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	if (spaces.count > PID_NAMESPACE)
		process->pid_namespace = spaces.links[PID_NAMESPACE].inode;
	return 0;
}

static int take_time_conv(struct load *load, const struct perfdata_record *record)
{
	/* A recorder that was killed has left the place empty. */
	load->has_time_conv =
	    perfdata_decode_time_conv(load->perf, record, &load->time_conv) == 0 &&
	    load->time_conv.mult;
	return 0;
}

static take_record *const takers[] = {
	[PERFDATA_MMAP] = take_mmap,           [PERFDATA_MMAP2] = take_mmap,
	[PERFDATA_COMM] = take_comm,           [PERFDATA_EXIT] = take_exit,
	[PERFDATA_FORK] = take_fork,           [PERFDATA_LOST] = take_lost,
	[PERFDATA_LOST_SAMPLES] = take_lost,   [PERFDATA_NAMESPACES] = take_namespaces,
	[PERFDATA_KSYMBOL] = take_ksymbol,     [PERFDATA_BPF_EVENT] = take_bpf_event,
	[PERFDATA_TIME_CONV] = take_time_conv,
};

/* Only a walk in time order needs to know whether the file is in it already. */
static void note_order(struct load *load, const struct perfdata_record *record)
{
	if (!load->options.in_order || !load->samples_are_sorted)
		return;
	const uint64_t time_ns = stacks_time_ns(load, record);
	load->samples_are_sorted = time_ns >= load->last_sample_ns;
	load->last_sample_ns = time_ns;
}

static int take_sample(struct load *load, const struct perfdata_record *record)
{
	load->sample_count++;
	note_order(load, record);
	return stacks_define(load, record);
}

int load_sideband(struct load *load)
{
	struct perfdata_record record;
	int got;
	load->samples_are_sorted = true;
	while ((got = load_next(load, &record, "recording")) > 0) {
		if (record.type == PERFDATA_SAMPLE) {
			got = take_sample(load, &record);
			if (got < 0)
				return got;
			continue;
		}
		if (record.type >= sizeof(takers) / sizeof(takers[0]) || !takers[record.type])
			continue;
		got = takers[record.type](load, &record);
		if (got < 0)
			return got;
	}
	if (got < 0)
		load_add_note(load, true, "the recording ends early: %s", status_text(got));
	return got == STATUS_NO_MEMORY ? got : 0;
}
