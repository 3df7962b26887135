#include "format/perfdata/perfdata_internal.h"

enum { PROT_EXEC_BIT = 4, PID_OF_KERNEL = -1, BUILD_ID_ROOM = 20 };

/* Each decoder reads a whole record, then comes here. */
static int finish(struct perfdata *file, const struct perfdata_record *record,
		  const struct cursor *c)
{
	if (!cursor_failed(c))
		return 0;
	return perfdata_note_record(file, record, STATUS_TRUNCATED,
				    "a record's fields do not fit into it");
}

static int wrong_kind(struct perfdata *file, const struct perfdata_record *record)
{
	return perfdata_note_record(file, record, STATUS_CORRUPT,
				    "a record was taken for one of another kind");
}

/* Where several profilers watch a process and one of them asks for build ids, kernels mark
 * the records of the others too, which hold device and inode. What was not asked for is
 * believed only if it has the size that linkers give a build id.
 */
static bool holds_build_id(const struct perfdata *file, struct cursor c, uint16_t misc)
{
	enum { SHA1 = 20, MD5_OR_UUID = 16 };
	if (!(misc & PERFDATA_MISC_MMAP_BUILD_ID))
		return false;
	const uint8_t size = cursor_u8(&c);
	const struct bytes reserved = cursor_take(&c, 3);
	if (reserved.size != 3 || reserved.data[0] | reserved.data[1] | reserved.data[2])
		return false;
	if (size == SHA1 || size == MD5_OR_UUID)
		return true;
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		if (perfdata_event(file, i)->attr.flags & PERFDATA_ATTR_BUILD_ID)
			return size <= BUILD_ID_ROOM;
	return false;
}

static void read_mapped_file(const struct perfdata *file, struct cursor *c, uint16_t misc,
			     struct perfdata_mmap *map)
{
	if (holds_build_id(file, *c, misc)) {
		const uint8_t size = cursor_u8(c);
		(void)cursor_take(c, 3);
		map->build_id = cursor_take(c, BUILD_ID_ROOM);
		if (size < map->build_id.size)
			map->build_id.size = size;
	} else {
		map->maj = cursor_u32(c);
		map->min = cursor_u32(c);
		map->inode = cursor_u64(c);
		map->inode_generation = cursor_u64(c);
	}
	map->prot = cursor_u32(c);
	map->flags = cursor_u32(c);
}

int perfdata_decode_mmap(struct perfdata *file, const struct perfdata_record *record,
			 struct perfdata_mmap *map)
{
	*map = (struct perfdata_mmap){ .path = "" };
	if (record->type != PERFDATA_MMAP && record->type != PERFDATA_MMAP2)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &map->id);
	map->pid = cursor_u32(&c);
	map->tid = cursor_u32(&c);
	map->start_avma = cursor_u64(&c);
	map->size = cursor_u64(&c);
	map->file_off = cursor_u64(&c);
	if (record->type == PERFDATA_MMAP2)
		read_mapped_file(file, &c, record->misc, map);
	map->path = cursor_cstr(&c);
	map->is_exec = record->type == PERFDATA_MMAP2 ? (map->prot & PROT_EXEC_BIT) != 0
						      : !(record->misc & PERFDATA_MISC_MMAP_DATA);
	const unsigned mode = record->misc & PERFDATA_CPUMODE_MASK;
	map->is_kernel = mode == PERFDATA_CPUMODE_KERNEL || mode == PERFDATA_CPUMODE_GUEST_KERNEL ||
			 map->pid == (uint32_t)PID_OF_KERNEL;
	return finish(file, record, &c);
}

int perfdata_decode_comm(struct perfdata *file, const struct perfdata_record *record,
			 struct perfdata_comm *comm)
{
	*comm = (struct perfdata_comm){ .comm = "" };
	if (record->type != PERFDATA_COMM)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &comm->id);
	comm->pid = cursor_u32(&c);
	comm->tid = cursor_u32(&c);
	comm->comm = cursor_cstr(&c);
	comm->is_exec = record->misc & PERFDATA_MISC_COMM_EXEC;
	return finish(file, record, &c);
}

int perfdata_decode_task(struct perfdata *file, const struct perfdata_record *record,
			 struct perfdata_task *task)
{
	*task = (struct perfdata_task){ 0 };
	if (record->type != PERFDATA_FORK && record->type != PERFDATA_EXIT)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &task->id);
	task->pid = cursor_u32(&c);
	task->parent_pid = cursor_u32(&c);
	task->tid = cursor_u32(&c);
	task->parent_tid = cursor_u32(&c);
	task->time_ns = cursor_u64(&c);
	return finish(file, record, &c);
}

int perfdata_decode_lost(struct perfdata *file, const struct perfdata_record *record,
			 struct perfdata_lost *lost)
{
	*lost = (struct perfdata_lost){ 0 };
	if (record->type != PERFDATA_LOST && record->type != PERFDATA_LOST_SAMPLES)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &lost->id);
	if (record->type == PERFDATA_LOST)
		lost->event_id = cursor_u64(&c);
	lost->count = cursor_u64(&c);
	return finish(file, record, &c);
}

int perfdata_decode_ksymbol(struct perfdata *file, const struct perfdata_record *record,
			    struct perfdata_ksymbol *symbol)
{
	*symbol = (struct perfdata_ksymbol){ .name = "" };
	if (record->type != PERFDATA_KSYMBOL)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &symbol->id);
	symbol->start_avma = cursor_u64(&c);
	symbol->size = cursor_u32(&c);
	symbol->kind = cursor_u16(&c);
	const uint16_t flags = cursor_u16(&c);
	symbol->is_unregister = flags & PERFDATA_MISC_KSYMBOL_UNREGISTER;
	symbol->name = cursor_cstr(&c);
	return finish(file, record, &c);
}

int perfdata_decode_bpf_event(struct perfdata *file, const struct perfdata_record *record,
			      struct perfdata_bpf_event *event)
{
	*event = (struct perfdata_bpf_event){ 0 };
	if (record->type != PERFDATA_BPF_EVENT)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &event->id);
	event->kind = cursor_u16(&c);
	(void)cursor_u16(&c);
	event->program_id = cursor_u32(&c);
	const struct bytes tag = cursor_take(&c, sizeof(event->tag));
	if (tag.size)
		memcpy(event->tag, tag.data, tag.size);
	return finish(file, record, &c);
}

int perfdata_decode_namespaces(struct perfdata *file, const struct perfdata_record *record,
			       struct perfdata_namespaces *namespaces)
{
	*namespaces = (struct perfdata_namespaces){ 0 };
	if (record->type != PERFDATA_NAMESPACES)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &namespaces->id);
	namespaces->pid = cursor_u32(&c);
	namespaces->tid = cursor_u32(&c);
	const uint64_t count = cursor_u64(&c);
	if (!cursor_can_hold(&c, count, 16))
		cursor_fail(&c);
	/* The order is fixed and grows at its end: what is more than we know is left out. */
	while (namespaces->count < count && namespaces->count < PERFDATA_NAMESPACE_LIMIT &&
	       !cursor_failed(&c)) {
		namespaces->links[namespaces->count].dev = cursor_u64(&c);
		namespaces->links[namespaces->count].inode = cursor_u64(&c);
		namespaces->count++;
	}
	return finish(file, record, &c);
}

int perfdata_decode_cgroup(struct perfdata *file, const struct perfdata_record *record,
			   struct perfdata_cgroup *cgroup)
{
	*cgroup = (struct perfdata_cgroup){ .path = "" };
	if (record->type != PERFDATA_CGROUP)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &cgroup->id);
	cgroup->cgroup = cursor_u64(&c);
	cgroup->path = cursor_cstr(&c);
	return finish(file, record, &c);
}

int perfdata_decode_text_poke(struct perfdata *file, const struct perfdata_record *record,
			      struct perfdata_text_poke *poke)
{
	*poke = (struct perfdata_text_poke){ 0 };
	if (record->type != PERFDATA_TEXT_POKE)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &poke->id);
	poke->avma = cursor_u64(&c);
	const uint16_t old_size = cursor_u16(&c);
	const uint16_t new_size = cursor_u16(&c);
	poke->old_code = cursor_take(&c, old_size);
	poke->new_code = cursor_take(&c, new_size);
	return finish(file, record, &c);
}

int perfdata_decode_time_conv(struct perfdata *file, const struct perfdata_record *record,
			      struct perfdata_time_conv *conv)
{
	*conv = (struct perfdata_time_conv){ 0 };
	if (record->type != PERFDATA_TIME_CONV)
		return wrong_kind(file, record);
	struct cursor c = perfdata_cursor(file, record->body);
	conv->shift = cursor_u64(&c);
	conv->mult = cursor_u64(&c);
	conv->zero = cursor_u64(&c);
	/* The rest came later; a record may end here. */
	struct cursor more = c;
	conv->cycles = cursor_u64(&more);
	conv->mask = cursor_u64(&more);
	conv->cap_zero = cursor_u8(&more);
	conv->cap_short = cursor_u8(&more);
	return finish(file, record, &c);
}

int perfdata_decode_aux(struct perfdata *file, const struct perfdata_record *record,
			struct perfdata_aux *aux)
{
	*aux = (struct perfdata_aux){ 0 };
	if (record->type != PERFDATA_AUX)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &aux->id);
	aux->offset = cursor_u64(&c);
	aux->size = cursor_u64(&c);
	aux->flags = cursor_u64(&c);
	return finish(file, record, &c);
}

int perfdata_decode_throttle(struct perfdata *file, const struct perfdata_record *record,
			     struct perfdata_throttle *throttle)
{
	*throttle = (struct perfdata_throttle){ 0 };
	if (record->type != PERFDATA_THROTTLE && record->type != PERFDATA_UNTHROTTLE)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &throttle->id);
	throttle->time_ns = cursor_u64(&c);
	throttle->event_id = cursor_u64(&c);
	(void)cursor_u64(&c); /* stream_id */
	return finish(file, record, &c);
}

int perfdata_decode_switch(struct perfdata *file, const struct perfdata_record *record,
			   struct perfdata_switch *change)
{
	*change = (struct perfdata_switch){ 0 };
	if (record->type != PERFDATA_SWITCH && record->type != PERFDATA_SWITCH_CPU_WIDE)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &change->id);
	if (record->type == PERFDATA_SWITCH_CPU_WIDE) {
		change->other_pid = cursor_u32(&c);
		change->other_tid = cursor_u32(&c);
	}
	change->is_out = record->misc & PERFDATA_MISC_SWITCH_OUT;
	change->is_preempt = record->misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT;
	return finish(file, record, &c);
}

int perfdata_decode_deferred_chain(struct perfdata *file, const struct perfdata_record *record,
				   struct perfdata_deferred_chain *deferred)
{
	*deferred = (struct perfdata_deferred_chain){ 0 };
	if (record->type != PERFDATA_CALLCHAIN_DEFERRED)
		return wrong_kind(file, record);
	struct cursor c;
	perfdata_split_trailer(file, record, &c, &deferred->id);
	deferred->cookie = cursor_u64(&c);
	const uint64_t count = cursor_u64(&c);
	if (!cursor_can_hold(&c, count, 8))
		cursor_fail(&c);
	if (cursor_failed(&c))
		return finish(file, record, &c);
	deferred->chain_count = count;
	deferred->chain = perfdata_chain(file, cursor_take(&c, 8 * count).data, count);
	return deferred->chain ? 0 : STATUS_NO_MEMORY;
}

int perfdata_decode_id_entry(struct perfdata *file, const struct perfdata_record *record,
			     size_t index, struct perfdata_id_entry *entry)
{
	enum { ENTRY_SIZE = 32 };
	*entry = (struct perfdata_id_entry){ 0 };
	if (record->type != PERFDATA_ID_INDEX)
		return wrong_kind(file, record);
	struct cursor c = perfdata_cursor(file, record->body);
	const uint64_t count = cursor_u64(&c);
	if (index >= count)
		return cursor_failed(&c) ? finish(file, record, &c) : STATUS_NOT_FOUND;
	if (index >= cursor_left(&c) / ENTRY_SIZE)
		cursor_fail(&c);
	(void)cursor_take(&c, index * ENTRY_SIZE);
	entry->id = cursor_u64(&c);
	entry->ring = cursor_u64(&c);
	entry->cpu = cursor_u64(&c);
	entry->tid = cursor_u64(&c);
	return finish(file, record, &c);
}
