#include "record/sideband.h"

#include "format/perfdata/layout.h"

#include <sys/mman.h>

void sideband_mapping(struct sideband *sideband, const struct sideband_mapping *mapping)
{
	build_ids_add(sideband->build_ids,
		      &(struct build_id_file){ mapping->pid, mapping->path, mapping->inode,
					       mapping->build_id });
	if (sideband->collector)
		collector_mapping(sideband->collector, mapping->pid,
				  &(struct collector_mapping){ mapping->start_avma, mapping->size,
							       mapping->path });
}

/* MMAP, or MMAP2, which has more before the path. */
static void see_mapping(struct sideband *sideband, uint32_t type, uint16_t misc, struct cursor *c)
{
	if (misc & PERFDATA_MISC_MMAP_DATA)
		return;
	struct sideband_mapping map = { .pid = (pid_t)cursor_u32(c) };
	cursor_u32(c); /* tid */
	map.start_avma = cursor_u64(c);
	map.size = cursor_u64(c);
	cursor_u64(c); /* offset */
	uint32_t prot = PROT_EXEC;
	if (type == PERFDATA_MMAP2) {
		struct cursor file = cursor_sub(c, 24);
		if (misc & PERFDATA_MISC_MMAP_BUILD_ID) {
			const uint8_t size = cursor_u8(&file);
			cursor_take(&file, 3);
			map.build_id = cursor_take(&file, size);
		} else {
			cursor_u64(&file); /* device */
			map.inode = cursor_u64(&file);
		}
		prot = cursor_u32(c);
		cursor_u32(c); /* flags */
	}
	map.path = cursor_cstr(c);
	if (!cursor_failed(c) && (prot & PROT_EXEC) && map.pid > 0)
		sideband_mapping(sideband, &map);
}

static void see_comm(struct sideband *sideband, uint16_t misc, struct cursor *c, uint64_t time_ns)
{
	const pid_t pid = (pid_t)cursor_u32(c);
	if (sideband->collector && (misc & PERFDATA_MISC_COMM_EXEC) && !cursor_failed(c))
		collector_exec(sideband->collector, pid, time_ns);
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
	if (!sideband->collector)
		return;
	if (type == PERFDATA_FORK && pid != parent_pid)
		collector_process(sideband->collector, pid, time_ns);
	else if (type == PERFDATA_EXIT && pid == tid)
		collector_exit(sideband->collector, pid, time_ns);
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

static void see_record(struct sideband *sideband, uint32_t type, uint16_t misc, struct bytes body)
{
	struct cursor c = cursor_over(body);
	switch (type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		see_mapping(sideband, type, misc, &c);
		break;
	case PERFDATA_COMM:
		see_comm(sideband, misc, &c, trailer_time(body));
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		see_task(sideband, type, &c, trailer_time(body));
		break;
	case PERFDATA_LOST:
		cursor_u64(&c); /* event */
		sideband->lost_count += cursor_u64(&c);
		break;
	default:
		break;
	}
}

void sideband_scan(struct sideband *sideband, struct bytes records)
{
	struct cursor c = cursor_over(records);
	while (cursor_left(&c)) {
		const uint32_t type = cursor_u32(&c);
		const uint16_t misc = cursor_u16(&c);
		const uint16_t size = cursor_u16(&c);
		if (size < 8)
			return;
		const struct bytes body = cursor_take(&c, (size_t)size - 8);
		if (cursor_failed(&c))
			return;
		sideband->record_count++;
		see_record(sideband, type, misc, body);
	}
}
