#include "record/intervals.h"

#include "base/idmap.h"
#include "base/status.h"
#include "format/frames/reader.h"
#include "record/session_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records of the walk have no more before their raw data than attr_for_frames() asks for:
 * header, identifier, ip, thread, time, CPU, and the size of the data.
 */
enum { IDENTIFIER_AT = 8, RAW_AT = 8 + 8 + 8 + 8 + 8 + 8 + 4 };

struct header {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

/* The next whole record; false at the end. */
static bool next_record(struct bytes all, size_t *at, struct header *header)
{
	if (all.size - *at < sizeof(*header))
		return false;
	memcpy(&header->type, all.data + *at, 4);
	memcpy(&header->misc, all.data + *at + 4, 2);
	memcpy(&header->size, all.data + *at + 6, 2);
	return header->size >= sizeof(*header) && header->size <= all.size - *at;
}

static bool is_frames_id(const struct events *events, uint64_t id)
{
	for (size_t i = 0; i < events->frames.ids.count; i++)
		if (events->frames.ids.items[i] == id)
			return true;
	return false;
}

/* What code of an interpreter is: told once, good for all samples that come. */
static bool is_definition(const struct session *s, struct bytes record, uint32_t *pid)
{
	struct frames_record frames;
	uint64_t id;
	if (record.size < RAW_AT)
		return false;
	memcpy(&id, record.data + IDENTIFIER_AT, sizeof(id));
	if (!is_frames_id(&s->events, id) ||
	    frames_read(&frames, (struct bytes){ record.data + RAW_AT, record.size - RAW_AT }) < 0)
		return false;
	*pid = frames.head.pid;
	return frames.head.kind == WALK_DEFINITION || frames.head.kind == WALK_TABLE;
}

enum belongs { BELONGS_NOWHERE, BELONGS_BASE, BELONGS_CHUNK };

static enum belongs belongs_where(const struct session *s, struct header header,
				  struct bytes record)
{
	uint32_t pid;
	switch (header.type) {
	case PERFDATA_SAMPLE:
		return is_definition(s, record, &pid) ? BELONGS_BASE : BELONGS_CHUNK;
	case PERFDATA_FINISHED_ROUND:
	case PERFDATA_LOST: /* counted by the session */
	case PERFDATA_LOST_SAMPLES:
		return BELONGS_NOWHERE;
	default:
		return BELONGS_BASE;
	}
}

/* What was drained since, apart: *base gets what stays. */
static int split(const struct session *s, struct bytes drained, struct sink *base,
		 struct sink *chunk)
{
	struct header header;
	for (size_t at = 0; next_record(drained, &at, &header); at += header.size) {
		const struct bytes record = { drained.data + at, header.size };
		const enum belongs where = belongs_where(s, header, record);
		if (where != BELONGS_NOWHERE)
			sink_put(where == BELONGS_BASE ? base : chunk, record.data, record.size);
	}
	return sink_failed(base) || sink_failed(chunk) ? STATUS_NO_MEMORY : 0;
}

static int read_back(const struct data_file *file, uint64_t from_off, struct sink *out)
{
	const size_t size = (size_t)(file->output.size - from_off);
	uint8_t *room = sink_reserve(out, size);
	if (!room)
		return STATUS_NO_MEMORY;
	return os_file_read_at(file->output.fd, room, size, from_off);
}

static int cut(struct session *s, uint64_t end_off)
{
	if (ftruncate(s->file.output.fd, (off_t)end_off) != 0)
		return STATUS_IO;
	s->file.output.size = end_off;
	return s->file.status;
}

static void drop_chunk(struct intervals *v, size_t index)
{
	v->chunk_bytes -= v->chunks.items[index].records.size;
	sink_clear(&v->chunks.items[index].records);
	memmove(&v->chunks.items[index], &v->chunks.items[index + 1],
		(v->chunks.count - index - 1) * sizeof(v->chunks.items[0]));
	v->chunks.count--;
}

static void drop_old_chunks(struct intervals *v, uint64_t keep_ns, uint64_t now_ns)
{
	while (v->chunks.count > 1 &&
	       (v->chunks.items[0].to_ns + keep_ns < now_ns ||
		v->chunk_bytes > INTERVALS_KEPT_BYTES || v->chunks.count > INTERVALS_LIST_LIMIT))
		drop_chunk(v, 0);
}

/* Takes the file apart, so that it ends with the base. */
static int gather(struct intervals *v, struct session *s, uint64_t now_ns)
{
	struct sink drained = { 0 };
	struct sink base = { 0 };
	struct intervals_chunk chunk = { .from_ns = v->from_ns, .to_ns = now_ns };
	int got = read_back(&s->file, v->base_end_off, &drained);
	if (got == 0)
		got = split(s, sink_bytes(&drained), &base, &chunk.records);
	if (got == 0)
		got = cut(s, v->base_end_off);
	if (got == 0) {
		data_file_put(&s->file, sink_bytes(&base));
		v->base_end_off = data_file_size(&s->file);
		got = s->file.status;
	}
	struct intervals_chunk *slot = got == 0 ? vector_push(&v->chunks) : NULL;
	if (slot) {
		*slot = chunk;
		v->chunk_bytes += chunk.records.size;
	} else {
		sink_clear(&chunk.records);
		got = got == 0 ? STATUS_NO_MEMORY : got;
	}
	sink_clear(&drained);
	sink_clear(&base);
	return got;
}

/* The file as a recording of the chunks that began at `from_ns` or later, and of the last one. */
static int compose(struct intervals *v, struct session *s, uint64_t from_ns)
{
	int got = cut(s, v->base_end_off);
	if (got < 0)
		return got;
	for (size_t i = 0; i < v->chunks.count; i++)
		if (v->chunks.items[i].from_ns >= from_ns || i + 1 == v->chunks.count)
			data_file_put(&s->file, sink_bytes(&v->chunks.items[i].records));
	if (!v->has_machine)
		v->has_machine = machine_read(&v->machine) == 0;
	session_patch_time_conv(s);
	struct headers_facts facts = session_facts(s);
	facts.machine = v->has_machine ? &v->machine : NULL;
	got = headers_end(&s->file, &s->events, &s->layout, &facts);
	return got < 0 ? got : s->file.status;
}

struct wide {
	struct intervals *intervals;
	struct session *session;
};

static int widen(void *context, uint64_t from_ns)
{
	const struct wide *wide = context;
	return compose(wide->intervals, wide->session, from_ns);
}

static int hand_out(struct intervals *v, struct session *s, struct bundle *bundle, bool is_last)
{
	const uint64_t told = s->drain.lost_count + s->sideband.lost_count;
	const uint64_t all = events_lost(&s->events) + (s->agents ? agents_lost(s->agents) : 0);
	const uint64_t lost = all > told ? all : told;
	const struct intervals_chunk *chunk = &v->chunks.items[v->chunks.count - 1];
	struct wide wide = { v, s };
	const struct record_interval interval = {
		.path = v->path,
		.bundle = bundle,
		.from_ns = chunk->from_ns,
		.to_ns = chunk->to_ns,
		.sample_count = s->drain.sample_count - v->sample_count,
		.lost_count = lost - v->lost_count,
		.throttle_count = s->drain.throttle_count - v->throttle_count,
		.event = s->events.list.items[0].event.name,
		.frequency_hz = s->events.list.items[0].attr.freq
				    ? s->events.list.items[0].attr.sample_freq
				    : 0,
		.restart_count = v->restart_count,
		.is_last = is_last,
		.widen = widen,
		.widen_context = &wide,
	};
	v->sample_count = s->drain.sample_count;
	v->lost_count = lost;
	v->throttle_count = s->drain.throttle_count;
	return s->options->intervals->take(s->options->intervals->context, &interval) ? 1 : 0;
}

static struct collector_about about_of(const struct session *s)
{
	const struct record_intervals *wants = s->options->intervals;
	const uint64_t now_ns = os_clock_mono_ns();
	return (struct collector_about){
		.command = s->options->command,
		.runtimes = s->runtimes,
		.without_kernel = true, /* it is the running one's */
		.without_code = !wants->wants_code,
		.since_ns = now_ns > wants->keep_ns ? now_ns - wants->keep_ns : 0,
	};
}

static int look(struct session *s, struct bundle **bundle, bool is_last)
{
	struct bundle_writer *writer;
	int got = bundle_writer_open_list(&writer);
	if (got < 0)
		return got;
	const struct collector_about about = about_of(s);
	const struct bytes frames = slots_records(&s->slots);
	if (frames.size)
		got = bundle_writer_add(writer, "frames", frames);
	if (got == 0)
		got = is_last ? collector_finish(s->collector, writer, &about)
			      : collector_look(s->collector, writer, &about);
	const int closed = bundle_writer_close_list(writer, bundle);
	if (got < 0 && closed == 0) {
		bundle_close(*bundle);
		*bundle = NULL;
	}
	return got < 0 ? got : closed;
}

static int take(struct intervals *v, struct session *s, bool is_last)
{
	const uint64_t now_ns = os_clock_mono_ns();
	struct bundle *bundle = NULL;
	int got = gather(v, s, now_ns);
	if (got == 0)
		got = look(s, &bundle, is_last);
	if (got == 0)
		got = compose(v, s, UINT64_MAX);
	if (got == 0)
		got = hand_out(v, s, bundle, is_last);
	bundle_close(bundle);
	if (got < 0)
		return got;
	v->from_ns = now_ns;
	drop_old_chunks(v, s->options->intervals->keep_ns, now_ns);
	const int was_cut = cut(s, v->base_end_off);
	return was_cut < 0 ? was_cut : got;
}

/* The processes that the base speaks of, and what interpreters told of those that still run. */
static int look_back(struct session *s, struct bytes base, struct proc_ids *pids,
		     struct sink *definitions)
{
	struct idmap known = { 0 };
	struct header header;
	int got = 0;
	for (size_t at = 0; got == 0 && next_record(base, &at, &header); at += header.size) {
		const struct bytes record = { base.data + at, header.size };
		uint32_t pid = 0;
		if (header.type == PERFDATA_SAMPLE) {
			if (is_definition(s, record, &pid) && kill((pid_t)pid, 0) == 0)
				sink_put(definitions, record.data, record.size);
			continue;
		}
		const bool has_pid = header.type == PERFDATA_MMAP2 ||
				     header.type == PERFDATA_MMAP || header.type == PERFDATA_COMM ||
				     header.type == PERFDATA_FORK;
		if (!has_pid || record.size < sizeof(header) + sizeof(pid))
			continue;
		memcpy(&pid, record.data + sizeof(header), sizeof(pid));
		uint32_t *is_known = idmap_put(&known, pid);
		if (is_known && !*is_known && pid && pid != UINT32_MAX) {
			pid_t *slot = vector_push(pids);
			if (slot)
				*slot = (pid_t)pid;
			*is_known = 1;
		}
		got = is_known ? 0 : STATUS_NO_MEMORY;
	}
	idmap_clear(&known);
	return got;
}

static int make_base_anew(struct intervals *v, struct session *s)
{
	struct proc_ids pids = { 0 };
	struct sink base = { 0 };
	struct sink definitions = { 0 };
	int got = read_back(&s->file, s->layout.data_offset, &base);
	if (got == 0)
		got = look_back(s, sink_bytes(&base), &pids, &definitions);
	sink_clear(&base);
	if (got == 0)
		got = cut(s, s->layout.data_offset);
	if (got == 0)
		got = session_put_start(s, &pids);
	if (got == 0)
		data_file_put(&s->file, sink_bytes(&definitions));
	vector_clear(&pids);
	sink_clear(&definitions);
	v->base_end_off = data_file_size(&s->file);
	v->base_limit_bytes = 2 * (v->base_end_off - s->layout.data_offset);
	if (v->base_limit_bytes < INTERVALS_BASE_BYTES)
		v->base_limit_bytes = INTERVALS_BASE_BYTES;
	v->restart_count++;
	/* Kept samples are older than what is known of their processes now. */
	while (v->chunks.count)
		drop_chunk(v, v->chunks.count - 1);
	return got < 0 ? got : s->file.status;
}

int intervals_begin(struct intervals *v, struct session *s)
{
	(void)snprintf(v->path, sizeof(v->path), "/proc/self/fd/%d", s->file.output.fd);
	v->base_end_off = data_file_size(&s->file);
	v->base_limit_bytes = 2 * (v->base_end_off - s->layout.data_offset);
	if (v->base_limit_bytes < INTERVALS_BASE_BYTES)
		v->base_limit_bytes = INTERVALS_BASE_BYTES;
	v->from_ns = os_clock_mono_ns();
	return s->file.status;
}

int intervals_take(struct intervals *v, struct session *s)
{
	drain_round(&s->drain);
	const int got = take(v, s, false);
	if (got || v->base_end_off - s->layout.data_offset <= v->base_limit_bytes)
		return got;
	return make_base_anew(v, s);
}

int intervals_end(struct intervals *v, struct session *s)
{
	const int got = take(v, s, true);
	return got < 0 ? got : 0;
}

void intervals_clear(struct intervals *v)
{
	while (v->chunks.count)
		drop_chunk(v, v->chunks.count - 1);
	vector_clear(&v->chunks);
	if (v->has_machine)
		machine_clear(&v->machine);
}
