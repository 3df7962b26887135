#include "format/perfdata/perfdata_internal.h"

#define MAGIC_VERSION_2 0x32454c4946524550u /* "PERFILE2", written as a host word */
static const char MAGIC_VERSION_1[8] = { 'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E' };

enum {
	HEADER_SIZE_OLDEST = 72, /* ends before the feature bits */
	HEADER_SIZE = 104,
	SECTION_SIZE = 16,
	EVENT_TYPE_SIZE = 72, /* version 1: config, and a name of 64 bytes */
};

struct section {
	uint64_t offset;
	uint64_t size;
};

struct header {
	uint64_t attr_entry_size;
	struct section attrs;
	struct section data;
	struct section event_types;
	uint64_t feature_words[4];
};

static struct section read_section(struct cursor *c)
{
	struct section section;
	section.offset = cursor_u64(c);
	section.size = cursor_u64(c);
	return section;
}

static bool section_inside(const struct perfdata *file, struct section section)
{
	return section.offset <= file->in.size && section.size <= file->in.size - section.offset;
}

static struct bytes section_bytes(const struct perfdata *file, struct section section)
{
	if (!section_inside(file, section))
		return (struct bytes){ 0 };
	return (struct bytes){ .data = file->in.data + section.offset, .size = section.size };
}

static bool host_is_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Version 1 spells its magic in one way only; there the size of an attr entry,
 * never above 16 bits, tells the byte order.
 */
static bool version_1_is_swapped(struct bytes in)
{
	uint64_t word = 0;
	const size_t at = in.size >= 24 ? 16 : 8;
	if (in.size >= 16)
		memcpy(&word, in.data + at, sizeof(word));
	return word > 0xffff;
}

static int read_magic(struct perfdata *file)
{
	uint64_t magic = 0;
	if (file->in.size < sizeof(magic))
		return STATUS_NOT_FORMAT;
	memcpy(&magic, file->in.data, sizeof(magic));
	if (magic == MAGIC_VERSION_2)
		file->swap = false;
	else if (magic == __builtin_bswap64(MAGIC_VERSION_2))
		file->swap = true;
	else if (memcmp(file->in.data, MAGIC_VERSION_1, sizeof(MAGIC_VERSION_1)) == 0)
		file->swap = version_1_is_swapped(file->in);
	else
		return STATUS_NOT_FORMAT;
	file->big_endian = host_is_big_endian() != file->swap;
	return 0;
}

static bool has_hostname(const uint64_t *words)
{
	return words[0] >> PERFDATA_FEATURE_HOSTNAME & 1;
}

/* The bits are an array of the writer's longs, so on a 32-bit machine of the
 * other byte order each half is swapped alone. Perf always writes HOSTNAME.
 */
static void read_feature_words(struct cursor *c, uint64_t *words)
{
	struct cursor halves = *c;
	for (size_t i = 0; i < 4; i++)
		words[i] = cursor_u64(c);
	if (!c->swap || has_hostname(words))
		return;
	uint64_t joined[4];
	for (size_t i = 0; i < 4; i++) {
		const uint64_t low = cursor_u32(&halves);
		const uint64_t high = cursor_u32(&halves);
		joined[i] = low | high << 32;
	}
	if (has_hostname(joined))
		memcpy(words, joined, sizeof(joined));
}

static int read_attr_entry(struct perfdata *file, struct bytes entry, uint64_t *ids_left)
{
	struct cursor whole = perfdata_cursor(file, entry);
	(void)cursor_u32(&whole);
	const uint32_t attr_size = cursor_u32(&whole);
	const size_t room = entry.size - SECTION_SIZE;
	const size_t used = attr_size && attr_size < room ? attr_size : room;
	struct perfdata_attr attr;
	const struct bytes raw = { entry.data, used & ~(size_t)7 };
	perfdata_read_attr(file, raw, &attr);

	/* The ids' place ends the entry. Some versions of perf inject left a smaller
	 * attr.size than they wrote; readers of perf itself look behind attr.size.
	 */
	struct cursor at_end =
	    perfdata_cursor(file, (struct bytes){ entry.data + room, SECTION_SIZE });
	struct section ids = read_section(&at_end);
	if (!section_inside(file, ids) && used != room) {
		struct cursor behind =
		    perfdata_cursor(file, (struct bytes){ entry.data + used, SECTION_SIZE });
		ids = read_section(&behind);
	}
	struct bytes id_bytes = section_bytes(file, ids);
	if (!section_inside(file, ids) || id_bytes.size > *ids_left) {
		perfdata_note(file, 0, (uint64_t)(entry.data - file->in.data), STATUS_CORRUPT,
			      "the ids of an event lie outside the file or overlap others");
		id_bytes = (struct bytes){ 0 };
	}
	*ids_left -= id_bytes.size;
	return perfdata_add_event(file, &attr, raw, id_bytes);
}

static int read_attrs(struct perfdata *file, const struct header *header, uint64_t *error_offset)
{
	*error_offset = header->attrs.offset;
	if (!section_inside(file, header->attrs))
		return STATUS_TRUNCATED;
	const uint64_t entry_size = header->attr_entry_size;
	if (entry_size < PERFDATA_ATTR_SIZE_MIN + SECTION_SIZE || entry_size > 0xffff) {
		*error_offset = 16;
		return STATUS_CORRUPT;
	}
	struct bytes left = section_bytes(file, header->attrs);
	uint64_t ids_left = file->in.size;
	for (; left.size >= entry_size; left.data += entry_size, left.size -= entry_size) {
		const int status =
		    read_attr_entry(file, (struct bytes){ left.data, entry_size }, &ids_left);
		if (status < 0)
			return status;
	}
	if (left.size)
		perfdata_note(file, 0, (uint64_t)(left.data - file->in.data), STATUS_CORRUPT,
			      "the attrs do not fill their section evenly");
	return 0;
}

static void read_event_types(struct perfdata *file, struct section section)
{
	struct cursor c = perfdata_cursor(file, section_bytes(file, section));
	while (cursor_left(&c) >= EVENT_TYPE_SIZE) {
		const uint64_t config = cursor_u64(&c);
		const struct bytes name = cursor_take(&c, 64);
		for (size_t i = 0; i < file->sources.count && i < 64; i++)
			if (file->sources.items[i].source->event.attr.config == config)
				perfdata_set_name(file, file->sources.items[i].source, name);
	}
}

/* The table behind the data has one entry for each bit that is set, lowest bit first. */
static void read_features(struct perfdata *file, const struct header *header)
{
	const uint64_t table_offset = header->data.offset + header->data.size;
	struct cursor table = perfdata_cursor(
	    file, (struct bytes){ file->in.data + table_offset, file->in.size - table_offset });
	file->end_offset = table_offset;
	for (unsigned feature = 0; feature < PERFDATA_FEATURE_LIMIT; feature++) {
		if (!(header->feature_words[feature / 64] >> (feature % 64) & 1))
			continue;
		const struct section section = read_section(&table);
		if (cursor_failed(&table) || !section_inside(file, section)) {
			perfdata_note(file, 0, table_offset, STATUS_TRUNCATED,
				      "a feature section lies outside the file");
			continue;
		}
		if (section.offset + section.size > file->end_offset)
			file->end_offset = section.offset + section.size;
		perfdata_set_feature(file, feature, section_bytes(file, section));
	}
	const uint64_t table_end = (uint64_t)(table.pos - file->in.data);
	if (table_end > file->end_offset)
		file->end_offset = table_end;
	for (unsigned feature = 0; feature < PERFDATA_FEATURE_LIMIT; feature++)
		if (file->features[feature].size)
			perfdata_learn_feature(file, feature, file->features[feature]);
}

/* A recording without any record also has no data. Then the features' table stands
 * where records would, and all its places lie behind it; records read as places
 * lie far outside any file.
 */
static bool has_features_but_no_data(const struct perfdata *file, const struct header *header)
{
	uint64_t count = 0;
	for (size_t i = 0; i < 4; i++)
		count += (uint64_t)__builtin_popcountll(header->feature_words[i]);
	const struct section table = { header->data.offset, SECTION_SIZE * count };
	if (!count || !section_inside(file, table))
		return false;
	struct cursor c = perfdata_cursor(file, section_bytes(file, table));
	while (cursor_left(&c)) {
		const struct section section = read_section(&c);
		if (!section_inside(file, section) || section.offset < table.offset + table.size)
			return false;
	}
	return true;
}

static int place_data(struct perfdata *file, const struct header *header, uint64_t *error_offset)
{
	const struct section data = header->data;
	*error_offset = data.offset;
	if (data.offset > file->in.size)
		return STATUS_TRUNCATED;
	file->data_begin = file->in.data + data.offset;
	file->end = file->in.data + file->in.size;
	file->end_offset = file->in.size;
	if (!data.size && !has_features_but_no_data(file, header)) {
		file->interrupted = true;
	} else if (!section_inside(file, data)) {
		perfdata_note(file, 0, file->in.size, STATUS_TRUNCATED,
			      "the file ends before its records do");
	} else {
		file->end = file->data_begin + data.size;
		read_features(file, header);
	}
	return 0;
}

static int read_file_header(struct perfdata *file, uint64_t header_size, uint64_t *error_offset)
{
	struct cursor c = perfdata_cursor(file, file->in);
	(void)cursor_take(&c, 16);
	struct header header = { .attr_entry_size = cursor_u64(&c) };
	header.attrs = read_section(&c);
	header.data = read_section(&c);
	header.event_types = read_section(&c);
	if (header_size >= HEADER_SIZE)
		read_feature_words(&c, header.feature_words);
	if (cursor_failed(&c)) {
		*error_offset = file->in.size;
		return STATUS_TRUNCATED;
	}
	int status = read_attrs(file, &header, error_offset);
	if (status == 0) {
		read_event_types(file, header.event_types);
		status = place_data(file, &header, error_offset);
	}
	return status;
}

int perfdata_read_header(struct perfdata *file, uint64_t *error_offset)
{
	*error_offset = 0;
	const int status = read_magic(file);
	if (status < 0)
		return status;
	if (file->in.size < PERFDATA_PIPE_HEADER_SIZE) {
		*error_offset = file->in.size;
		return STATUS_TRUNCATED;
	}
	const uint64_t header_size = perfdata_get64(file, file->in.data + 8);
	if (header_size == PERFDATA_PIPE_HEADER_SIZE) {
		file->pipe = true;
		file->data_begin = file->in.data + PERFDATA_PIPE_HEADER_SIZE;
		file->end = file->in.data + file->in.size;
		file->end_offset = file->in.size;
		return 0;
	}
	if (header_size < HEADER_SIZE_OLDEST) {
		*error_offset = 8;
		return STATUS_CORRUPT;
	}
	return read_file_header(file, header_size, error_offset);
}
