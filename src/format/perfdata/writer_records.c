#include "format/perfdata/writer.h"

enum { PATH_LIMIT = 4096, COMM_LIMIT = 256, BUILD_ID_ROOM = 20 };

/* Opens a record; its size is patched in by end_record(). */
static size_t begin_record(struct sink *out, uint32_t type, unsigned misc)
{
	const size_t at = out->size;
	sink_u32(out, type);
	sink_u16(out, (uint16_t)misc);
	sink_u16(out, 0);
	return at;
}

static void end_record(struct sink *out, size_t at)
{
	if (sink_failed(out))
		return;
	const uint16_t size = (uint16_t)(out->size - at);
	memcpy(out->data + at + 6, &size, sizeof(size));
}

static void put_string(struct sink *out, const char *text, size_t limit)
{
	const size_t size = strnlen(text, limit - 1);
	sink_put(out, text, size);
	sink_zeros(out, 8 - size % 8);
}

void perfdata_put_id(struct sink *out, const struct perfdata_new_id *id)
{
	if (!id)
		return;
	if (id->sample_type & PERFDATA_SAMPLE_TID) {
		sink_u32(out, id->pid);
		sink_u32(out, id->tid);
	}
	if (id->sample_type & PERFDATA_SAMPLE_TIME)
		sink_u64(out, id->time_ns);
	if (id->sample_type & PERFDATA_SAMPLE_ID)
		sink_u64(out, id->id);
	if (id->sample_type & PERFDATA_SAMPLE_STREAM_ID)
		sink_u64(out, id->id);
	if (id->sample_type & PERFDATA_SAMPLE_CPU) {
		sink_u32(out, id->cpu);
		sink_u32(out, 0);
	}
	if (id->sample_type & PERFDATA_SAMPLE_IDENTIFIER)
		sink_u64(out, id->id);
}

static void put_mapped_file(struct sink *out, const struct perfdata_new_mmap2 *map)
{
	if (!map->build_id.size) {
		sink_u32(out, map->maj);
		sink_u32(out, map->min);
		sink_u64(out, map->inode);
		sink_u64(out, map->inode_generation);
		return;
	}
	const size_t size = map->build_id.size < BUILD_ID_ROOM ? map->build_id.size : BUILD_ID_ROOM;
	sink_u8(out, (uint8_t)size);
	sink_zeros(out, 3);
	sink_put(out, map->build_id.data, size);
	sink_zeros(out, BUILD_ID_ROOM - size);
}

void perfdata_put_mmap2(struct sink *out, const struct perfdata_new_mmap2 *map,
			const struct perfdata_new_id *id)
{
	const unsigned by_build_id = map->build_id.size ? PERFDATA_MISC_MMAP_BUILD_ID : 0;
	const unsigned misc = map->misc & ~(unsigned)PERFDATA_MISC_MMAP_BUILD_ID;
	const size_t at = begin_record(out, PERFDATA_MMAP2, misc | by_build_id);
	sink_u32(out, map->pid);
	sink_u32(out, map->tid);
	sink_u64(out, map->start_avma);
	sink_u64(out, map->size);
	sink_u64(out, map->file_off);
	put_mapped_file(out, map);
	sink_u32(out, map->prot);
	sink_u32(out, map->flags);
	put_string(out, map->path, PATH_LIMIT);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_kernel_mmap(struct sink *out, uint64_t start_avma, uint64_t size,
			      uint64_t file_off, const char *path, const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, PERFDATA_MMAP, PERFDATA_CPUMODE_KERNEL);
	sink_u32(out, UINT32_MAX); /* pid -1: of every process */
	sink_u32(out, 0);
	sink_u64(out, start_avma);
	sink_u64(out, size);
	sink_u64(out, file_off);
	put_string(out, path, PATH_LIMIT);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_comm(struct sink *out, uint32_t pid, uint32_t tid, const char *comm,
		       const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, PERFDATA_COMM, 0);
	sink_u32(out, pid);
	sink_u32(out, tid);
	put_string(out, comm, COMM_LIMIT);
	perfdata_put_id(out, id);
	end_record(out, at);
}

static void put_task(struct sink *out, uint32_t type, const uint32_t ids[4],
		     const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, type, 0);
	for (size_t i = 0; i < 4; i++)
		sink_u32(out, ids[i]);
	sink_u64(out, id ? id->time_ns : 0);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_fork(struct sink *out, uint32_t pid, uint32_t parent_pid, uint32_t tid,
		       uint32_t parent_tid, const struct perfdata_new_id *id)
{
	put_task(out, PERFDATA_FORK, (uint32_t[4]){ pid, parent_pid, tid, parent_tid }, id);
}

void perfdata_put_exit(struct sink *out, uint32_t pid, uint32_t parent_pid, uint32_t tid,
		       uint32_t parent_tid, const struct perfdata_new_id *id)
{
	put_task(out, PERFDATA_EXIT, (uint32_t[4]){ pid, parent_pid, tid, parent_tid }, id);
}

void perfdata_put_namespaces(struct sink *out, uint32_t pid, uint32_t tid,
			     const uint64_t (*dev_inode)[2], size_t count,
			     const struct perfdata_new_id *id)
{
	enum { COUNT_LIMIT = 64 };
	const size_t kept = count < COUNT_LIMIT ? count : COUNT_LIMIT;
	const size_t at = begin_record(out, PERFDATA_NAMESPACES, 0);
	sink_u32(out, pid);
	sink_u32(out, tid);
	sink_u64(out, kept);
	for (size_t i = 0; i < kept; i++) {
		sink_u64(out, dev_inode[i][0]);
		sink_u64(out, dev_inode[i][1]);
	}
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_ksymbol(struct sink *out, uint64_t start_avma, uint32_t size, uint16_t kind,
			  const char *name, const struct perfdata_new_id *id)
{
	enum { NAME_LIMIT = 512 }; /* KSYM_NAME_LEN of current kernels */
	const size_t at = begin_record(out, PERFDATA_KSYMBOL, PERFDATA_CPUMODE_KERNEL);
	sink_u64(out, start_avma);
	sink_u32(out, size);
	sink_u16(out, kind);
	sink_u16(out, 0);
	put_string(out, name, NAME_LIMIT);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_bpf_event(struct sink *out, uint16_t kind, uint32_t program_id,
			    const uint8_t tag[8], const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, PERFDATA_BPF_EVENT, PERFDATA_CPUMODE_KERNEL);
	sink_u16(out, kind);
	sink_u16(out, 0);
	sink_u32(out, program_id);
	sink_put(out, tag, 8);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_cgroup(struct sink *out, uint64_t cgroup, const char *path,
			 const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, PERFDATA_CGROUP, 0);
	sink_u64(out, cgroup);
	put_string(out, path, PATH_LIMIT);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_lost_samples(struct sink *out, uint64_t count, const struct perfdata_new_id *id)
{
	const size_t at = begin_record(out, PERFDATA_LOST_SAMPLES, 0);
	sink_u64(out, count);
	perfdata_put_id(out, id);
	end_record(out, at);
}

void perfdata_put_time_conv(struct sink *out, uint64_t shift, uint64_t mult, uint64_t zero)
{
	const size_t at = begin_record(out, PERFDATA_TIME_CONV, 0);
	sink_u64(out, shift);
	sink_u64(out, mult);
	sink_u64(out, zero);
	sink_u64(out, 0); /* cycles and mask: for short counters only */
	sink_u64(out, 0);
	sink_u8(out, 1); /* zero is usable */
	sink_zeros(out, 7);
	end_record(out, at);
}

void perfdata_put_finished_round(struct sink *out)
{
	end_record(out, begin_record(out, PERFDATA_FINISHED_ROUND, 0));
}
