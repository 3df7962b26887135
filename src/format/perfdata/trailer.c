#include "format/perfdata/perfdata_internal.h"

/* Bytes of each kind's own fields; a string counts one. A record too short for
 * these and a trailer has none, whatever the attr says.
 */
static size_t own_size(uint32_t type)
{
	static const uint8_t SIZES[] = {
		[PERFDATA_MMAP] = 33,
		[PERFDATA_LOST] = 16,
		[PERFDATA_COMM] = 9,
		[PERFDATA_EXIT] = 24,
		[PERFDATA_THROTTLE] = 24,
		[PERFDATA_UNTHROTTLE] = 24,
		[PERFDATA_FORK] = 24,
		[PERFDATA_READ] = 16,
		[PERFDATA_MMAP2] = 65,
		[PERFDATA_AUX] = 24,
		[PERFDATA_ITRACE_START] = 8,
		[PERFDATA_LOST_SAMPLES] = 8,
		[PERFDATA_SWITCH_CPU_WIDE] = 8,
		[PERFDATA_NAMESPACES] = 16,
		[PERFDATA_KSYMBOL] = 17,
		[PERFDATA_BPF_EVENT] = 16,
		[PERFDATA_CGROUP] = 9,
		[PERFDATA_TEXT_POKE] = 12,
		[PERFDATA_AUX_OUTPUT_HW_ID] = 8,
		[PERFDATA_CALLCHAIN_DEFERRED] = 16,
	};
	return type < sizeof(SIZES) ? SIZES[type] : 0;
}

/* Where the trailer begins in the body, or body.size if there is none. */
static size_t find_trailer(const struct perfdata_source *source,
			   const struct perfdata_record *record)
{
	const size_t size = record->body.size;
	if (!source || record->type >= PERFDATA_HEADER_ATTR ||
	    size < source->shape.trailer_size + own_size(record->type))
		return size;
	return size - source->shape.trailer_size;
}

static void read_trailer(struct cursor c, uint64_t type, struct perfdata_sample_id *id)
{
	id->present =
	    type & (PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID |
		    PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_IDENTIFIER);
	if (type & PERFDATA_SAMPLE_TID) {
		id->pid = cursor_u32(&c);
		id->tid = cursor_u32(&c);
	}
	if (type & PERFDATA_SAMPLE_TIME)
		id->time_ns = cursor_u64(&c);
	if (type & PERFDATA_SAMPLE_ID)
		id->id = cursor_u64(&c);
	if (type & PERFDATA_SAMPLE_STREAM_ID)
		(void)cursor_u64(&c);
	if (type & PERFDATA_SAMPLE_CPU) {
		id->cpu = cursor_u32(&c);
		(void)cursor_u32(&c);
	}
	if (type & PERFDATA_SAMPLE_IDENTIFIER)
		id->id = cursor_u64(&c);
}

void perfdata_split_trailer(const struct perfdata *file, const struct perfdata_record *record,
			    struct cursor *body, struct perfdata_sample_id *id)
{
	const struct perfdata_source *source = perfdata_source_of_trailer(file, record->body);
	const size_t at = find_trailer(source, record);
	*id = (struct perfdata_sample_id){ 0 };
	*body = perfdata_cursor(file, (struct bytes){ record->body.data, at });
	if (at == record->body.size)
		return;
	const struct bytes trailer = { record->body.data + at, record->body.size - at };
	read_trailer(perfdata_cursor(file, trailer), source->event.attr.sample_type, id);
}

uint64_t perfdata_record_time_ns(struct perfdata *file, const struct perfdata_record *record)
{
	const struct bytes body = record->body;
	size_t at = SHAPE_NONE;
	if (record->type == PERFDATA_SAMPLE) {
		const struct perfdata_source *source = perfdata_source_of_sample(file, body);
		if (source)
			at = source->shape.sample_time_at;
	} else {
		const struct perfdata_source *source = perfdata_source_of_trailer(file, body);
		const size_t trailer_at = find_trailer(source, record);
		if (trailer_at < body.size && source->shape.trailer_time_at != SHAPE_NONE)
			at = trailer_at + source->shape.trailer_time_at;
		else if (record->type == PERFDATA_FORK || record->type == PERFDATA_EXIT)
			at = 16;
	}
	return at != SHAPE_NONE && at + 8 <= body.size ? perfdata_get64(file, body.data + at) : 0;
}
