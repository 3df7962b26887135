#include "format/perfdata/features.h"

#include "format/perfdata/perfdata_internal.h"

enum {
	BUILD_ID_HEADER_SIZE = 8,
	BUILD_ID_ROOM = 20, /* in a field of 24: then the size, then padding */
};

/* A length, then that many bytes with a NUL and padding in them. */
static const char *read_string(struct cursor *c)
{
	const uint32_t size = cursor_u32(c);
	struct cursor text = cursor_sub(c, size);
	return cursor_cstr(&text);
}

static struct cursor over_feature(const struct perfdata *file, unsigned feature)
{
	return perfdata_cursor(file, perfdata_feature(file, feature));
}

static void read_build_id(struct cursor *body, uint16_t misc, struct perfdata_build_id *id)
{
	*id = (struct perfdata_build_id){ .misc = misc };
	id->pid = (int32_t)cursor_u32(body);
	id->build_id = cursor_take(body, BUILD_ID_ROOM);
	const uint8_t size = cursor_u8(body);
	(void)cursor_take(body, 3);
	if (misc & PERFDATA_MISC_BUILD_ID_SIZE && size < id->build_id.size)
		id->build_id.size = size;
	id->path = cursor_cstr(body);
}

struct cursor perfdata_build_ids(const struct perfdata *file)
{
	return over_feature(file, PERFDATA_FEATURE_BUILD_ID);
}

int perfdata_build_id_next(struct cursor *c, struct perfdata_build_id *id)
{
	if (!cursor_left(c))
		return cursor_failed(c) ? STATUS_TRUNCATED : 0;
	(void)cursor_u32(c); /* the type, 0 in old files */
	const uint16_t misc = cursor_u16(c);
	const uint16_t size = cursor_u16(c);
	if (size < BUILD_ID_HEADER_SIZE)
		cursor_fail(c);
	struct cursor body = cursor_sub(c, size - (size_t)BUILD_ID_HEADER_SIZE);
	read_build_id(&body, misc, id);
	return cursor_failed(c) || cursor_failed(&body) ? STATUS_TRUNCATED : 1;
}

int perfdata_decode_build_id(struct perfdata *file, const struct perfdata_record *record,
			     struct perfdata_build_id *id)
{
	struct cursor body = perfdata_cursor(file, record->body);
	read_build_id(&body, record->misc, id);
	if (record->type == PERFDATA_HEADER_BUILD_ID && !cursor_failed(&body))
		return 0;
	return perfdata_note_record(file, record, STATUS_TRUNCATED,
				    "a build id record's fields do not fit into it");
}

const char *perfdata_feature_text(const struct perfdata *file, unsigned feature)
{
	struct cursor c = over_feature(file, feature);
	return read_string(&c);
}

const char *perfdata_cmdline(const struct perfdata *file, size_t index)
{
	return index < file->cmdline.count ? file->cmdline.items[index] : NULL;
}

static void learn_cmdline(struct perfdata *file, struct cursor c)
{
	file->cmdline.count = 0;
	const uint32_t count = cursor_u32(&c);
	for (uint32_t i = 0; i < count && !cursor_failed(&c); i++) {
		const char *argument = read_string(&c);
		const char **slot = cursor_failed(&c) ? NULL : vector_push(&file->cmdline);
		if (!slot)
			return;
		*slot = argument;
	}
}

/* The event at the same place if nothing speaks against it, else the owner of the ids. */
static struct perfdata_source *described_source(const struct perfdata *file, struct cursor ids,
						size_t index)
{
	struct perfdata_source *here =
	    index < file->sources.count ? file->sources.items[index].source : NULL;
	if (cursor_left(&ids) < 8)
		return here;
	uint64_t id = cursor_u64(&ids);
	if (here && here->event.id_count && here->event.ids[0] == id)
		return here;
	struct perfdata_source *source = perfdata_find_id(file, id);
	while (!source && cursor_left(&ids) >= 8) {
		id = cursor_u64(&ids);
		source = perfdata_find_id(file, id);
	}
	return source;
}

static void learn_event_names(struct perfdata *file, struct cursor c)
{
	const uint32_t count = cursor_u32(&c);
	const uint32_t attr_size = cursor_u32(&c);
	for (uint32_t i = 0; i < count && !cursor_failed(&c); i++) {
		(void)cursor_take(&c, attr_size);
		const uint32_t id_count = cursor_u32(&c);
		const uint32_t name_size = cursor_u32(&c);
		const struct bytes name = cursor_take(&c, name_size);
		const struct cursor ids = cursor_sub(&c, 8 * (size_t)id_count);
		struct perfdata_source *source = described_source(file, ids, i);
		if (!cursor_failed(&c) && source)
			perfdata_set_name(file, source, name);
	}
	if (cursor_failed(&c))
		perfdata_note(file, 0, 0, STATUS_TRUNCATED, "the event descriptions end early");
}

void perfdata_learn_feature(struct perfdata *file, unsigned feature, struct bytes content)
{
	const struct cursor c = perfdata_cursor(file, content);
	if (feature == PERFDATA_FEATURE_EVENT_DESC)
		learn_event_names(file, c);
	else if (feature == PERFDATA_FEATURE_CMDLINE)
		learn_cmdline(file, c);
	else if (feature == PERFDATA_FEATURE_COMPRESSED)
		file->compressed = true;
}

/* 0 if the section was there and held all that was read from it. */
static int finish(const struct perfdata *file, unsigned feature, const struct cursor *c)
{
	if (!perfdata_feature(file, feature).size)
		return STATUS_NOT_FOUND;
	return cursor_failed(c) ? STATUS_CORRUPT : 0;
}

int perfdata_clock_data(const struct perfdata *file, struct perfdata_clock_data *data)
{
	enum { KNOWN_VERSION = 1 };
	struct cursor c = over_feature(file, PERFDATA_FEATURE_CLOCK_DATA);
	const uint32_t version = cursor_u32(&c);
	data->clockid = cursor_u32(&c);
	data->wall_clock_ns = cursor_u64(&c);
	data->clockid_ns = cursor_u64(&c);
	if (version != KNOWN_VERSION)
		cursor_fail(&c);
	return finish(file, PERFDATA_FEATURE_CLOCK_DATA, &c);
}

int perfdata_clock_resolution(const struct perfdata *file, uint64_t *resolution_ns)
{
	struct cursor c = over_feature(file, PERFDATA_FEATURE_CLOCKID);
	*resolution_ns = cursor_u64(&c);
	return finish(file, PERFDATA_FEATURE_CLOCKID, &c);
}

int perfdata_sample_time(const struct perfdata *file, uint64_t *first_ns, uint64_t *last_ns)
{
	struct cursor c = over_feature(file, PERFDATA_FEATURE_SAMPLE_TIME);
	*first_ns = cursor_u64(&c);
	*last_ns = cursor_u64(&c);
	return finish(file, PERFDATA_FEATURE_SAMPLE_TIME, &c);
}

int perfdata_cpu_count(const struct perfdata *file, uint32_t *online, uint32_t *available)
{
	struct cursor c = over_feature(file, PERFDATA_FEATURE_NRCPUS);
	*available = cursor_u32(&c);
	*online = cursor_u32(&c);
	return finish(file, PERFDATA_FEATURE_NRCPUS, &c);
}

int perfdata_total_memory(const struct perfdata *file, uint64_t *kib)
{
	struct cursor c = over_feature(file, PERFDATA_FEATURE_TOTAL_MEM);
	*kib = cursor_u64(&c);
	return finish(file, PERFDATA_FEATURE_TOTAL_MEM, &c);
}

int perfdata_compression(const struct perfdata *file, struct perfdata_compression *compression)
{
	struct cursor c = over_feature(file, PERFDATA_FEATURE_COMPRESSED);
	compression->version = cursor_u32(&c);
	compression->kind = cursor_u32(&c);
	compression->level = cursor_u32(&c);
	compression->ratio = cursor_u32(&c);
	compression->block_bytes = cursor_u32(&c);
	return finish(file, PERFDATA_FEATURE_COMPRESSED, &c);
}
