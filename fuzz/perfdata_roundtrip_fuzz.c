/* What can be read is written anew; reading that must find no fault, and writing
 * it once more must give the same bytes. The last byte of the input says whether
 * the records are packed.
 */
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"
#include "format/perfdata/writer.h"

#include <linux/perf_event.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ATTR_SIZE = 112, RECORDS_LIMIT = 32 << 20, OUT_LIMIT = 64 << 20, FEATURE_MAX = 8 };

struct events {
	uint8_t (*attrs)[ATTR_SIZE];
	struct perfdata_new_event *items;
	size_t count;
};

static void put_attr(uint8_t *to, const struct perfdata_attr *from)
{
	struct sink out = { 0 };
	sink_u32(&out, from->type);
	sink_u32(&out, ATTR_SIZE);
	sink_u64(&out, from->config);
	sink_u64(&out, from->sample_period);
	sink_u64(&out, from->sample_type);
	sink_u64(&out, from->read_format);
	sink_u64(&out, from->flags);
	sink_u64(&out, 0);
	sink_u64(&out, from->config1);
	sink_u64(&out, from->config2);
	sink_u64(&out, from->branch_sample_type);
	sink_u64(&out, from->sample_regs_user);
	sink_u32(&out, from->sample_stack_user);
	sink_u32(&out, (uint32_t)from->clockid);
	sink_u64(&out, from->sample_regs_intr);
	sink_u64(&out, 0);
	if (out.size == ATTR_SIZE)
		memcpy(to, out.data, ATTR_SIZE);
	sink_clear(&out);
}

static bool copy_events(const struct perfdata *file, struct events *events)
{
	events->count = perfdata_event_count(file);
	events->attrs = calloc(events->count + 1, ATTR_SIZE);
	events->items = calloc(events->count + 1, sizeof(*events->items));
	if (!events->attrs || !events->items)
		return false;
	for (size_t i = 0; i < events->count; i++) {
		const struct perfdata_event *event = perfdata_event(file, i);
		put_attr(events->attrs[i], &event->attr);
		events->items[i] =
		    (struct perfdata_new_event){ events->attrs[i], ATTR_SIZE, event->ids,
						 event->id_count, event->name };
	}
	return true;
}

/* The trailer to write, NULL for none; `*ok` is false where the file promises one that is missing.
 */
static const struct perfdata_new_id *new_id(const struct perfdata *file,
					    const struct perfdata_sample_id *id,
					    struct perfdata_new_id *made, bool *ok)
{
	*made =
	    (struct perfdata_new_id){ id->present, id->pid, id->tid, id->time_ns, id->id, id->cpu };
	*ok = id->present || !perfdata_event_count(file);
	for (size_t i = 0; !*ok && i < perfdata_event_count(file); i++) {
		*ok = true;
		if (perfdata_event(file, i)->attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL) {
			*ok = false;
			break;
		}
	}
	return id->present ? made : NULL;
}

static void put_mmap(struct perfdata *file, const struct perfdata_record *record, struct sink *out)
{
	struct perfdata_mmap map;
	struct perfdata_new_id made;
	bool ok;
	if (perfdata_decode_mmap(file, record, &map) < 0)
		return;
	const struct perfdata_new_id *id = new_id(file, &map.id, &made, &ok);
	if (!ok)
		return;
	if (record->type == PERFDATA_MMAP) {
		if (map.is_kernel)
			perfdata_put_kernel_mmap(out, map.start_avma, map.size, map.file_off,
						 map.path, id);
		return;
	}
	const struct perfdata_new_mmap2 wanted = { .pid = map.pid,
						   .tid = map.tid,
						   .start_avma = map.start_avma,
						   .size = map.size,
						   .file_off = map.file_off,
						   .maj = map.maj,
						   .min = map.min,
						   .inode = map.inode,
						   .inode_generation = map.inode_generation,
						   .build_id = map.build_id,
						   .prot = map.prot,
						   .flags = map.flags,
						   .misc = record->misc,
						   .path = map.path };
	perfdata_put_mmap2(out, &wanted, id);
}

static void put_task(struct perfdata *file, const struct perfdata_record *record, struct sink *out)
{
	struct perfdata_comm comm;
	struct perfdata_task task;
	struct perfdata_new_id made;
	const struct perfdata_new_id *id;
	bool ok = false;
	if (record->type == PERFDATA_COMM) {
		if (perfdata_decode_comm(file, record, &comm) == 0 &&
		    (id = new_id(file, &comm.id, &made, &ok), ok))
			perfdata_put_comm(out, comm.pid, comm.tid, comm.comm, id);
		return;
	}
	if (perfdata_decode_task(file, record, &task) < 0 ||
	    (id = new_id(file, &task.id, &made, &ok), !ok))
		return;
	if (record->type == PERFDATA_FORK)
		perfdata_put_fork(out, task.pid, task.parent_pid, task.tid, task.parent_tid, id);
	else
		perfdata_put_exit(out, task.pid, task.parent_pid, task.tid, task.parent_tid, id);
}

static void put_namespaces(struct perfdata *file, const struct perfdata_record *record,
			   struct sink *out)
{
	struct perfdata_namespaces namespaces;
	uint64_t links[PERFDATA_NAMESPACE_LIMIT][2];
	struct perfdata_new_id made;
	bool ok;
	if (perfdata_decode_namespaces(file, record, &namespaces) < 0)
		return;
	const struct perfdata_new_id *id = new_id(file, &namespaces.id, &made, &ok);
	for (size_t i = 0; i < namespaces.count; i++) {
		links[i][0] = namespaces.links[i].dev;
		links[i][1] = namespaces.links[i].inode;
	}
	if (ok)
		perfdata_put_namespaces(out, namespaces.pid, namespaces.tid, links,
					namespaces.count, id);
}

static void put_kernel_record(struct perfdata *file, const struct perfdata_record *record,
			      struct sink *out)
{
	struct perfdata_ksymbol symbol;
	struct perfdata_bpf_event event;
	struct perfdata_cgroup cgroup;
	struct perfdata_lost lost;
	struct perfdata_new_id made;
	const struct perfdata_new_id *id;
	bool ok;
	if (record->type == PERFDATA_KSYMBOL &&
	    perfdata_decode_ksymbol(file, record, &symbol) == 0) {
		id = new_id(file, &symbol.id, &made, &ok);
		if (ok)
			perfdata_put_ksymbol(out, symbol.start_avma, symbol.size, symbol.kind,
					     symbol.name, id);
	} else if (record->type == PERFDATA_BPF_EVENT &&
		   perfdata_decode_bpf_event(file, record, &event) == 0) {
		id = new_id(file, &event.id, &made, &ok);
		if (ok)
			perfdata_put_bpf_event(out, event.kind, event.program_id, event.tag, id);
	} else if (record->type == PERFDATA_CGROUP &&
		   perfdata_decode_cgroup(file, record, &cgroup) == 0) {
		id = new_id(file, &cgroup.id, &made, &ok);
		if (ok)
			perfdata_put_cgroup(out, cgroup.cgroup, cgroup.path, id);
	} else if (record->type == PERFDATA_LOST_SAMPLES &&
		   perfdata_decode_lost(file, record, &lost) == 0) {
		id = new_id(file, &lost.id, &made, &ok);
		if (ok)
			perfdata_put_lost_samples(out, lost.count, id);
	}
}

/* Samples are copied as they are, where they are in our byte order. */
static void put_sample(struct perfdata *file, const struct perfdata_record *record,
		       struct sink *out)
{
	struct perfdata_sample sample;
	if (perfdata_is_swapped(file) || perfdata_decode_sample(file, record, &sample) < 0)
		return;
	sink_u32(out, record->type);
	sink_u16(out, record->misc);
	sink_u16(out, (uint16_t)(PERFDATA_RECORD_HEADER_SIZE + record->body.size));
	sink_put(out, record->body.data, record->body.size);
}

static void put_record(struct perfdata *file, const struct perfdata_record *record,
		       struct sink *out)
{
	struct perfdata_time_conv conv;
	switch (record->type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		put_mmap(file, record, out);
		break;
	case PERFDATA_COMM:
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		put_task(file, record, out);
		break;
	case PERFDATA_NAMESPACES:
		put_namespaces(file, record, out);
		break;
	case PERFDATA_KSYMBOL:
	case PERFDATA_BPF_EVENT:
	case PERFDATA_CGROUP:
	case PERFDATA_LOST_SAMPLES:
		put_kernel_record(file, record, out);
		break;
	case PERFDATA_SAMPLE:
		put_sample(file, record, out);
		break;
	case PERFDATA_TIME_CONV:
		if (perfdata_decode_time_conv(file, record, &conv) == 0)
			perfdata_put_time_conv(out, conv.shift, conv.mult, conv.zero);
		break;
	case PERFDATA_FINISHED_ROUND:
		perfdata_put_finished_round(out);
		break;
	default:
		break;
	}
}

static size_t copy_features(const struct perfdata *file, const struct events *events,
			    struct perfdata_new_feature *f)
{
	size_t n = 0;
	uint64_t first;
	uint64_t last;
	uint32_t online;
	uint32_t available;
	struct perfdata_build_id id;
	if (perfdata_feature(file, PERFDATA_FEATURE_HOSTNAME).size) {
		f[n].feature = PERFDATA_FEATURE_HOSTNAME;
		perfdata_put_text(&f[n++].content,
				  perfdata_feature_text(file, PERFDATA_FEATURE_HOSTNAME));
	}
	if (perfdata_sample_time(file, &first, &last) == 0) {
		f[n].feature = PERFDATA_FEATURE_SAMPLE_TIME;
		perfdata_put_sample_time(&f[n++].content, first, last);
	}
	if (perfdata_cpu_count(file, &online, &available) == 0) {
		f[n].feature = PERFDATA_FEATURE_NRCPUS;
		perfdata_put_nrcpus(&f[n++].content, online, available);
	}
	f[n].feature = PERFDATA_FEATURE_EVENT_DESC;
	perfdata_put_event_desc(&f[n++].content, events->items, events->count);
	f[n].feature = PERFDATA_FEATURE_BUILD_ID;
	struct cursor c = perfdata_build_ids(file);
	while (perfdata_build_id_next(&c, &id) > 0)
		perfdata_put_build_id(&f[n].content, id.misc, id.pid, id.build_id, id.path);
	return n + 1;
}

/* Reads a file and writes what it holds; false if there is nothing to write. */
static bool rewrite(struct perfdata *file, bool packed, struct sink *out)
{
	struct perfdata_record record;
	struct events events = { 0 };
	struct perfdata_new_feature features[FEATURE_MAX] = { 0 };
	struct perfdata_compressor *compressor = NULL;
	struct sink records = { .limit = RECORDS_LIMIT };
	struct sink header = { 0 };
	/* Once for what a pipe teaches, then for the records. */
	while (perfdata_next(file, &record) > 0)
		;
	perfdata_rewind(file);
	bool ok = copy_events(file, &events);
	if (ok) {
		struct perfdata_layout layout = perfdata_begin(out, events.items, events.count);
		while (perfdata_next(file, &record) > 0)
			put_record(file, &record, &records);
		if (!packed)
			sink_put(out, records.data, records.size);
		else
			ok = perfdata_compressor_open(&compressor, 1) == 0 &&
			     perfdata_compress(compressor, sink_bytes(&records), out) == 0;
		layout.data_size = out->size - layout.data_offset;
		const size_t count = copy_features(file, &events, features);
		perfdata_features(out, &layout, out->size, features, count);
		perfdata_header(&header, &layout);
		for (size_t i = 0; i < count; i++)
			sink_clear(&features[i].content);
	}
	ok = ok && !sink_failed(&records) && !sink_failed(&header) && !sink_failed(out);
	if (ok)
		memcpy(out->data, header.data, header.size);
	perfdata_compressor_close(compressor);
	sink_clear(&records);
	sink_clear(&header);
	free(events.attrs);
	free(events.items);
	return ok;
}

/* Events of different shapes are told apart by ids at a record's end, where a text
 * may look like one: then a rewritten record need not read the same.
 */
static bool one_shape(const struct perfdata *file)
{
	const struct perfdata_event *first = perfdata_event(file, 0);
	for (size_t i = 1; i < perfdata_event_count(file); i++) {
		const struct perfdata_event *event = perfdata_event(file, i);
		if (event->attr.sample_type != first->attr.sample_type ||
		    (event->attr.flags ^ first->attr.flags) & PERFDATA_ATTR_SAMPLE_ID_ALL)
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata *file;
	struct sink first = { .limit = OUT_LIMIT };
	struct sink second = { .limit = OUT_LIMIT };
	const bool packed = size && data[size - 1] & 1;
	if (perfdata_open(&file, (struct bytes){ data, size }, NULL) < 0)
		return 0;
	const bool ok = rewrite(file, packed, &first);
	perfdata_close(file);
	if (ok) {
		if (perfdata_open(&file, sink_bytes(&first), NULL) < 0)
			abort();
		const bool strict = one_shape(file);
		if (!rewrite(file, packed, &second) || (strict && perfdata_problem_count(file)))
			abort();
		perfdata_close(file);
		if (strict &&
		    (first.size != second.size || memcmp(first.data, second.data, first.size) != 0))
			abort();
	}
	sink_clear(&first);
	sink_clear(&second);
	return 0;
}
