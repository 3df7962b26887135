#include "record/synthesize.h"

#include "format/perfdata/writer.h"
#include "os/proc_maps.h"

#include <stdio.h>
#include <sys/mman.h>

static struct perfdata_new_id id_of(uint64_t sample_type, pid_t pid, pid_t tid)
{
	return (struct perfdata_new_id){ .sample_type = sample_type,
					 .pid = (uint32_t)pid,
					 .tid = (uint32_t)tid };
}

void synthesize_kernel(struct sink *out, const struct kernel_layout *layout, uint64_t sample_type)
{
	enum { KSYMBOL_BPF = 1, KSYMBOL_OUT_OF_LINE = 2 };
	const struct perfdata_new_id id = id_of(sample_type, -1, 0);
	if (layout->text_avma) {
		/* The symbol in the name is the one whose address stands as the offset: readers
		 * tell by it how far the kernel was moved at boot.
		 */
		char path[64];
		(void)snprintf(path, sizeof(path), "[kernel.kallsyms]%s", layout->text_symbol);
		perfdata_put_kernel_mmap(out, layout->text_avma,
					 layout->text_end_avma - layout->text_avma,
					 layout->text_avma, path, &id);
	}
	for (size_t i = 0; i < layout->modules.count; i++) {
		const struct kernel_module *module = &layout->modules.items[i];
		char name[128];
		(void)snprintf(name, sizeof(name), "[%s]", module->name);
		perfdata_put_kernel_mmap(out, module->start_avma, module->size, 0,
					 module->path ? module->path : name, &id);
	}
	for (size_t i = 0; i < layout->jit.count; i++) {
		const struct kernel_jit_symbol *symbol = &layout->jit.items[i];
		perfdata_put_ksymbol(out, symbol->start_avma, symbol->size,
				     symbol->is_bpf ? KSYMBOL_BPF : KSYMBOL_OUT_OF_LINE,
				     symbol->name, &id);
	}
}

void synthesize_comm(struct sink *out, pid_t pid, uint64_t sample_type)
{
	char comm[PROC_COMM_SIZE];
	const struct perfdata_new_id id = id_of(sample_type, pid, pid);
	if (proc_comm(pid, pid, comm) == 0)
		perfdata_put_comm(out, (uint32_t)pid, (uint32_t)pid, comm, &id);
}

/* A fork that copies no mappings: those of this process follow by themselves. */
static void put_fork(struct sink *out, pid_t pid, pid_t tid, pid_t parent, uint64_t sample_type)
{
	const struct perfdata_new_id id = id_of(sample_type, pid, tid);
	const size_t at = out->size;
	perfdata_put_fork(out, (uint32_t)pid, (uint32_t)parent, (uint32_t)tid, (uint32_t)parent,
			  &id);
	if (!sink_failed(out)) {
		const uint16_t misc = PERFDATA_MISC_FORK_EXEC;
		memcpy(out->data + at + 4, &misc, sizeof(misc));
	}
}

static void put_thread(struct sink *out, pid_t pid, pid_t tid, pid_t parent, uint64_t sample_type)
{
	char comm[PROC_COMM_SIZE];
	uint64_t links[PROC_NAMESPACE_COUNT][2];
	if (proc_comm(pid, tid, comm) < 0)
		return;
	const struct perfdata_new_id id = id_of(sample_type, pid, tid);
	put_fork(out, pid, tid, parent, sample_type);
	if (proc_namespaces(pid, tid, links) == 0)
		perfdata_put_namespaces(out, (uint32_t)pid, (uint32_t)tid,
					(const uint64_t(*)[2])links, PROC_NAMESPACE_COUNT, &id);
	perfdata_put_comm(out, (uint32_t)pid, (uint32_t)tid, comm, &id);
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* As the kernel names it in its own records. */
static const char *mapping_path(const struct proc_mapping *map)
{
	if (!map->path[0] || starts_with(map->path, "[anon:"))
		return "//anon";
	return map->path;
}

static void put_mapping(struct sink *out, const struct build_id_file *file,
			const struct proc_mapping *map, struct bytes build_id, uint64_t sample_type)
{
	const uint16_t data_misc = PERFDATA_CPUMODE_USER | PERFDATA_MISC_MMAP_DATA;
	const struct perfdata_new_id id = id_of(sample_type, file->pid, file->pid);
	perfdata_put_mmap2(out,
			   &(struct perfdata_new_mmap2){
			       .pid = (uint32_t)file->pid,
			       .tid = (uint32_t)file->pid,
			       .start_avma = map->start_avma,
			       .size = map->end_avma - map->start_avma,
			       .file_off = map->file_off,
			       .maj = map->maj,
			       .min = map->min,
			       .inode = map->inode,
			       .build_id = build_id,
			       .prot = map->prot,
			       .flags = map->flags,
			       .misc = map->prot & PROT_EXEC ? PERFDATA_CPUMODE_USER : data_misc,
			       .path = file->path,
			   },
			   &id);
}

static void see_mapping(struct sink *out, pid_t pid, const struct proc_mapping *map,
			const struct synthesize_want *want, struct sideband *sideband)
{
	const struct sideband_mapping mapping = {
		.start_avma = map->start_avma,
		.size = map->end_avma - map->start_avma,
		.file = { pid, mapping_path(map), map->maj, map->min, map->inode },
	};
	struct bytes build_id;
	if (map->prot & PROT_EXEC)
		build_id = sideband_mapping(sideband, &mapping);
	else if (want->with_data && (map->prot & PROT_READ))
		build_id = build_ids_find(sideband->build_ids, &mapping.file);
	else
		return;
	put_mapping(out, &mapping.file, map, build_id, want->sample_type);
}

static void put_mappings(struct sink *out, pid_t pid, const struct synthesize_want *want,
			 struct sideband *sideband)
{
	enum { MAPS_LIMIT = 64 << 20 };
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	struct sink text = { .limit = MAPS_LIMIT };
	if (proc_read(&text, path) < 0) {
		sink_clear(&text);
		return;
	}
	struct proc_maps maps;
	struct proc_mapping map;
	proc_maps_open(&maps, sink_bytes(&text));
	while (proc_maps_next(&maps, &map))
		see_mapping(out, pid, &map, want, sideband);
	sink_clear(&text);
}

void synthesize_process(struct sink *out, pid_t pid, const struct synthesize_want *want,
			struct sideband *sideband)
{
	struct proc_ids tids = { 0 };
	struct proc_parents parents;
	if (proc_parents(pid, &parents) == 0 && proc_tasks(pid, &tids) == 0) {
		if (sideband->collector)
			collector_process(sideband->collector, pid, 0);
		/* Who started which thread is not known: the first is taken for all of them. */
		for (size_t i = 0; i < tids.count; i++)
			put_thread(out, pid, tids.items[i],
				   tids.items[i] == pid ? parents.parent_pid : pid,
				   want->sample_type);
		put_mappings(out, pid, want, sideband);
	}
	vector_clear(&tids);
}
