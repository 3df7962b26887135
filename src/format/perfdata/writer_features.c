#include "format/perfdata/writer.h"

enum {
	STRING_ALIGNMENT = 64,
	BUILD_ID_HEADER_SIZE = 8,
	BUILD_ID_FIELDS_SIZE = 28, /* pid; 20 bytes of id, its size, padding */
	BUILD_ID_ROOM = 20,
	PATH_LIMIT = 4096,
};

/* Length, text, NUL, padding: as perf writes all strings of features. */
void perfdata_put_text(struct sink *content, const char *text)
{
	const size_t size = strlen(text) + 1;
	const size_t padded = (size + STRING_ALIGNMENT - 1) / STRING_ALIGNMENT * STRING_ALIGNMENT;
	sink_u32(content, (uint32_t)padded);
	sink_put(content, text, size);
	sink_zeros(content, padded - size);
}

void perfdata_put_cmdline(struct sink *content, const char *const *args, size_t count)
{
	sink_u32(content, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		perfdata_put_text(content, args[i]);
}

void perfdata_put_event_desc(struct sink *content, const struct perfdata_new_event *events,
			     size_t event_count)
{
	/* All attrs of the section share one size. */
	uint32_t attr_size = 0;
	for (size_t i = 0; i < event_count; i++)
		if (events[i].attr_size > attr_size)
			attr_size = events[i].attr_size;
	sink_u32(content, (uint32_t)event_count);
	sink_u32(content, attr_size);
	for (size_t i = 0; i < event_count; i++) {
		sink_put(content, events[i].attr, events[i].attr_size);
		sink_zeros(content, attr_size - events[i].attr_size);
		sink_u32(content, (uint32_t)events[i].id_count);
		perfdata_put_text(content, events[i].name);
		sink_put(content, events[i].ids, events[i].id_count * sizeof(uint64_t));
	}
}

void perfdata_put_build_id(struct sink *content, uint16_t misc, int32_t pid, struct bytes build_id,
			   const char *path)
{
	const size_t id_size = build_id.size < BUILD_ID_ROOM ? build_id.size : BUILD_ID_ROOM;
	const size_t path_size = strnlen(path, PATH_LIMIT - 1);
	const size_t padded =
	    (path_size + 1 + STRING_ALIGNMENT - 1) / STRING_ALIGNMENT * STRING_ALIGNMENT;
	sink_u32(content, PERFDATA_HEADER_BUILD_ID);
	sink_u16(content, misc | PERFDATA_MISC_BUILD_ID_SIZE);
	sink_u16(content, (uint16_t)(BUILD_ID_HEADER_SIZE + BUILD_ID_FIELDS_SIZE + padded));
	sink_u32(content, (uint32_t)pid);
	sink_put(content, build_id.data, id_size);
	sink_zeros(content, BUILD_ID_ROOM - id_size);
	sink_u8(content, (uint8_t)id_size);
	sink_zeros(content, 3);
	sink_put(content, path, path_size);
	sink_zeros(content, padded - path_size);
}

void perfdata_put_clock_data(struct sink *content, uint32_t clockid, uint64_t wall_clock_ns,
			     uint64_t clockid_ns)
{
	sink_u32(content, 1); /* version */
	sink_u32(content, clockid);
	sink_u64(content, wall_clock_ns);
	sink_u64(content, clockid_ns);
}

void perfdata_put_clock_resolution(struct sink *content, uint64_t resolution_ns)
{
	sink_u64(content, resolution_ns);
}

void perfdata_put_nrcpus(struct sink *content, uint32_t online, uint32_t available)
{
	sink_u32(content, available);
	sink_u32(content, online);
}

void perfdata_put_total_memory(struct sink *content, uint64_t kib)
{
	sink_u64(content, kib);
}

void perfdata_put_sample_time(struct sink *content, uint64_t first_ns, uint64_t last_ns)
{
	sink_u64(content, first_ns);
	sink_u64(content, last_ns);
}

void perfdata_put_compressed_feature(struct sink *content, uint32_t level, uint32_t ratio,
				     uint32_t block_bytes)
{
	sink_u32(content, 1); /* version */
	sink_u32(content, PERFDATA_COMPRESSION_ZSTD);
	sink_u32(content, level);
	sink_u32(content, ratio);
	sink_u32(content, block_bytes);
}
