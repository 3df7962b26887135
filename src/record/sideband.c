#include "record/sideband.h"

#include "format/perfdata/layout.h"

#include <sys/mman.h>

struct header {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

struct bytes sideband_mapping(struct sideband *sideband, const struct sideband_mapping *mapping)
{
	if (sideband->collector)
		collector_mapping(sideband->collector, mapping->file.pid,
				  &(struct collector_mapping){ mapping->start_avma, mapping->size,
							       mapping->file.path });
	if (sideband->interpreters)
		interpreters_mapping(sideband->interpreters, &mapping->file);
	return build_ids_find(sideband->build_ids, &mapping->file);
}

enum {
	MMAP2_FILE_AT = 8 + 4 + 4 + 8 + 8 + 8, /* header, pid, tid, start, length, offset */
	MMAP2_FILE_BYTES = 24,
	BUILD_ID_ROOM = 20,
};

static void put_misc(uint8_t *record, uint16_t misc)
{
	memcpy(record + 4, &misc, sizeof(misc));
}

/* As the kernel itself would have it: size, three bytes, and the id in a place for 20. */
static void put_build_id(uint8_t *record, uint16_t misc, struct bytes build_id)
{
	uint8_t file[MMAP2_FILE_BYTES] = { (uint8_t)build_id.size };
	memcpy(file + MMAP2_FILE_BYTES - BUILD_ID_ROOM, build_id.data, build_id.size);
	memcpy(record + MMAP2_FILE_AT, file, sizeof(file));
	put_misc(record, misc | PERFDATA_MISC_MMAP_BUILD_ID);
}

/* MMAP, or MMAP2, which has more before the path. */
static void see_mapping(struct sideband *sideband, uint8_t *record, struct header header,
			struct cursor *c)
{
	struct sideband_mapping map = { .file.pid = (pid_t)cursor_u32(c) };
	cursor_u32(c); /* tid */
	map.start_avma = cursor_u64(c);
	map.size = cursor_u64(c);
	cursor_u64(c); /* offset */
	uint32_t prot = PROT_EXEC;
	if (header.type == PERFDATA_MMAP2) {
		map.file.maj = cursor_u32(c);
		map.file.min = cursor_u32(c);
		map.file.inode = cursor_u64(c);
		cursor_u64(c); /* the inode's generation */
		prot = cursor_u32(c);
		cursor_u32(c); /* flags */
		/* We do not ask the kernel for build ids. Where another profiler does, kernels
		 * say so in our records too, but give device and inode.
		 */
		header.misc &= (uint16_t)~PERFDATA_MISC_MMAP_BUILD_ID;
		put_misc(record, header.misc);
	}
	map.file.path = cursor_cstr(c);
	if (cursor_failed(c) || map.file.pid <= 0)
		return;
	const bool is_data = (header.misc & PERFDATA_MISC_MMAP_DATA) || !(prot & PROT_EXEC);
	const struct bytes build_id = is_data ? build_ids_find(sideband->build_ids, &map.file)
					      : sideband_mapping(sideband, &map);
	if (build_id.size && header.type == PERFDATA_MMAP2)
		put_build_id(record, header.misc, build_id);
}

static void see_comm(struct sideband *sideband, uint16_t misc, struct cursor *c, uint64_t time_ns)
{
	const pid_t pid = (pid_t)cursor_u32(c);
	if (sideband->collector && (misc & PERFDATA_MISC_COMM_EXEC) && !cursor_failed(c))
		collector_exec(sideband->collector, pid, time_ns);
	if (sideband->interpreters && (misc & PERFDATA_MISC_COMM_EXEC) && !cursor_failed(c))
		interpreters_exec(sideband->interpreters, pid);
	if (sideband->agents && (misc & PERFDATA_MISC_COMM_EXEC) && !cursor_failed(c))
		agents_exec(sideband->agents, pid, time_ns);
}

static void tell_interpreters(struct interpreters *interpreters, uint32_t type, pid_t pid,
			      pid_t parent_pid)
{
	if (type == PERFDATA_FORK)
		interpreters_fork(interpreters, parent_pid, pid);
	else
		interpreters_exit(interpreters, pid);
}

static void tell_agents(struct agents *agents, uint32_t type, pid_t pid, uint64_t time_ns)
{
	if (type == PERFDATA_FORK)
		agents_fork(agents, pid, time_ns);
	else
		agents_exit(agents, pid);
}

static void see_task(struct sideband *sideband, uint32_t type, struct cursor *c, uint64_t time_ns)
{
	const pid_t pid = (pid_t)cursor_u32(c);
	const pid_t parent_pid = (pid_t)cursor_u32(c);
	const pid_t tid = (pid_t)cursor_u32(c);
	if (cursor_failed(c))
		return;
	if (type == PERFDATA_FORK && sideband->born) {
		pid_t *slot = vector_push(sideband->born);
		if (slot)
			*slot = tid;
	}
	const bool is_process = type == PERFDATA_FORK ? pid != parent_pid : pid == tid;
	if (sideband->interpreters && is_process)
		tell_interpreters(sideband->interpreters, type, pid, parent_pid);
	if (sideband->agents && is_process)
		tell_agents(sideband->agents, type, pid, time_ns);
	if (!sideband->collector)
		return;
	if (type == PERFDATA_FORK && pid != parent_pid)
		collector_process(sideband->collector, pid, time_ns);
	else if (type == PERFDATA_EXIT && pid == tid)
		collector_exit(sideband->collector, pid, time_ns);
}

/* The program can be asked for as long as it is loaded: not later. */
static void see_bpf_event(struct sideband *sideband, struct cursor *c)
{
	enum { LOADED = 1 };
	const uint16_t kind = cursor_u16(c);
	cursor_u16(c); /* flags */
	const uint32_t id = cursor_u32(c);
	if (sideband->bpf && kind == LOADED && !cursor_failed(c))
		bpf_programs_take(sideband->bpf, id);
}

static uint64_t trailer_time(struct bytes body)
{
	uint64_t time_ns = 0;
	if (body.size >= SIDEBAND_TRAILER_BYTES)
		memcpy(&time_ns,
		       body.data + body.size - SIDEBAND_TRAILER_BYTES + SIDEBAND_TRAILER_TIME,
		       sizeof(time_ns));
	return time_ns;
}

static void see_record(struct sideband *sideband, uint8_t *record, struct header header)
{
	const struct bytes body = { record + 8, (size_t)header.size - 8 };
	struct cursor c = cursor_over(body);
	switch (header.type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		see_mapping(sideband, record, header, &c);
		break;
	case PERFDATA_COMM:
		see_comm(sideband, header.misc, &c, trailer_time(body));
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		see_task(sideband, header.type, &c, trailer_time(body));
		break;
	case PERFDATA_BPF_EVENT:
		see_bpf_event(sideband, &c);
		break;
	case PERFDATA_LOST:
		cursor_u64(&c); /* event */
		sideband->lost_count += cursor_u64(&c);
		break;
	default:
		break;
	}
}

void sideband_scan(struct sideband *sideband, uint8_t *records, size_t size)
{
	for (size_t at = 0; size - at >= 8;) {
		struct header header;
		memcpy(&header.type, records + at, 4);
		memcpy(&header.misc, records + at + 4, 2);
		memcpy(&header.size, records + at + 6, 2);
		if (header.size < 8 || header.size > size - at)
			return;
		sideband->record_count++;
		see_record(sideband, records + at, header);
		at += header.size;
	}
}
