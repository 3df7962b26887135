#include "format/perfdata/writer.h"

enum {
	ATTR_SIZE_AT = 4,
	PIPE_ATTR_SIZE = 128,
	ALIGNMENT = 8,
};

static void put_header(struct sink *out, uint32_t type, size_t size)
{
	sink_u32(out, type);
	sink_u16(out, 0);
	sink_u16(out, (uint16_t)size);
}

bool perfdata_put_header_attr(struct sink *out, const struct perfdata_new_event *event)
{
	const uint8_t *attr = event->attr;
	size_t used = event->attr_size & ~(size_t)7;
	while (used > PIPE_ATTR_SIZE && !attr[used - 1])
		used--;
	used = (used + 7) & ~(size_t)7;
	const size_t attr_size = used > PIPE_ATTR_SIZE ? used : PIPE_ATTR_SIZE;
	const size_t ids_size = event->id_count * sizeof(uint64_t);
	if (ids_size > PERFDATA_RECORD_LIMIT ||
	    PERFDATA_RECORD_HEADER_SIZE + attr_size + ids_size > PERFDATA_RECORD_LIMIT)
		return false;
	put_header(out, PERFDATA_HEADER_ATTR, PERFDATA_RECORD_HEADER_SIZE + attr_size + ids_size);
	const size_t at = out->size;
	sink_put(out, attr, used);
	sink_zeros(out, attr_size - used);
	sink_patch_u32(out, at + ATTR_SIZE_AT, (uint32_t)attr_size);
	sink_put(out, event->ids, ids_size);
	return true;
}

void perfdata_put_event_name(struct sink *out, uint64_t id, const char *name)
{
	enum { NAME_LIMIT = 4096 };
	const size_t size = strnlen(name, NAME_LIMIT);
	const size_t padding = ALIGNMENT - size % ALIGNMENT;
	put_header(out, PERFDATA_EVENT_UPDATE,
		   PERFDATA_RECORD_HEADER_SIZE + 2 * sizeof(uint64_t) + size + padding);
	sink_u64(out, PERFDATA_EVENT_UPDATE_NAME);
	sink_u64(out, id);
	sink_put(out, name, size);
	sink_zeros(out, padding);
}

bool perfdata_put_header_feature(struct sink *out, unsigned feature, struct bytes content)
{
	if (content.size > PERFDATA_FEATURE_RECORD_LIMIT)
		return false;
	put_header(out, PERFDATA_HEADER_FEATURE,
		   PERFDATA_RECORD_HEADER_SIZE + sizeof(uint64_t) + content.size);
	sink_u64(out, feature);
	sink_put(out, content.data, content.size);
	return true;
}

/* The content follows the record and is not counted in its size; perf wants it padded. */
bool perfdata_put_tracing_data(struct sink *out, struct bytes content)
{
	const size_t padding = (ALIGNMENT - content.size % ALIGNMENT) % ALIGNMENT;
	if (content.size > UINT32_MAX - ALIGNMENT)
		return false;
	put_header(out, PERFDATA_HEADER_TRACING_DATA,
		   PERFDATA_RECORD_HEADER_SIZE + sizeof(uint32_t));
	sink_u32(out, (uint32_t)(content.size + padding));
	sink_put(out, content.data, content.size);
	sink_zeros(out, padding);
	return true;
}
