#include "format/perfdata/features.h"
#include "format/perfdata/perfdata_internal.h"

static int learn_attr(struct perfdata *file, const struct perfdata_record *record)
{
	struct perfdata_attr attr;
	perfdata_read_attr(file, record->body, &attr);
	if (record->body.size < PERFDATA_ATTR_SIZE_MIN || attr.size < PERFDATA_ATTR_SIZE_MIN ||
	    attr.size > record->body.size)
		return perfdata_note_record(file, record, STATUS_CORRUPT,
					    "an attr is larger than its record");
	/* Fields behind attr.size are ids already. */
	const struct bytes raw = { record->body.data, attr.size & ~(size_t)7 };
	perfdata_read_attr(file, raw, &attr);
	const struct bytes ids = { record->body.data + attr.size, record->body.size - attr.size };
	return perfdata_add_event(file, &attr, raw, ids);
}

static int learn_update(struct perfdata *file, const struct perfdata_record *record)
{
	struct cursor c = perfdata_cursor(file, record->body);
	const uint64_t kind = cursor_u64(&c);
	const uint64_t id = cursor_u64(&c);
	if (cursor_failed(&c))
		return perfdata_note_record(file, record, STATUS_TRUNCATED,
					    "an event update without its fields");
	struct perfdata_source *source = perfdata_find_id(file, id);
	if (!source)
		return perfdata_note_record(file, record, STATUS_NOT_FOUND,
					    "an update for an unknown event");
	if (kind == PERFDATA_EVENT_UPDATE_NAME)
		perfdata_set_name(file, source, cursor_take(&c, cursor_left(&c)));
	return 0;
}

static int learn_feature(struct perfdata *file, const struct perfdata_record *record)
{
	struct cursor c = perfdata_cursor(file, record->body);
	const uint64_t feature = cursor_u64(&c);
	if (cursor_failed(&c))
		return perfdata_note_record(file, record, STATUS_TRUNCATED,
					    "a feature record without its number");
	/* The end of the list is marked by one that is empty. */
	if (feature >= PERFDATA_FEATURE_LIMIT || !cursor_left(&c))
		return 0;
	perfdata_set_feature(file, (unsigned)feature, cursor_take(&c, cursor_left(&c)));
	perfdata_learn_feature(file, (unsigned)feature, file->features[feature]);
	return 0;
}

/* The feature grows by whole records. Room doubles and what was there before stays, so that
 * whoever still reads it reads on.
 */
static int learn_build_id(struct perfdata *file, const struct perfdata_record *record)
{
	struct perfdata_build_id id;
	if (perfdata_decode_build_id(file, record, &id) < 0)
		return 0;
	const struct bytes whole = { record->body.data - PERFDATA_RECORD_HEADER_SIZE,
				     record->body.size + PERFDATA_RECORD_HEADER_SIZE };
	const struct bytes old = file->features[PERFDATA_FEATURE_BUILD_ID];
	const size_t size = old.size + whole.size;
	if (size > file->build_id_capacity) {
		uint8_t *grown = arena_new(&file->arena, uint8_t, 2 * size);
		if (!grown)
			return STATUS_NO_MEMORY;
		if (old.size)
			memcpy(grown, old.data, old.size);
		file->build_ids = grown;
		file->build_id_capacity = 2 * size;
	}
	memcpy(file->build_ids + old.size, whole.data, whole.size);
	perfdata_set_feature(file, PERFDATA_FEATURE_BUILD_ID,
			     (struct bytes){ file->build_ids, size });
	return 0;
}

void perfdata_learn_tracing_data(struct perfdata *file, struct bytes content)
{
	if (file->pipe && !perfdata_has_feature(file, PERFDATA_FEATURE_TRACING_DATA))
		perfdata_set_feature(file, PERFDATA_FEATURE_TRACING_DATA, content);
}

/* Attrs and features that come as records belong to pipe mode; in a file its
 * header has told them already. Records inside compressed ones do not live
 * long enough, and nobody puts these there.
 */
int perfdata_learn(struct perfdata *file, const struct perfdata_record *record)
{
	if (!record->stable || record->ordinal <= file->learned_ordinal)
		return 1;
	file->learned_ordinal = record->ordinal;
	int status = 0;
	if (record->type == PERFDATA_EVENT_UPDATE)
		status = learn_update(file, record);
	else if (file->pipe && record->type == PERFDATA_HEADER_ATTR)
		status = learn_attr(file, record);
	else if (file->pipe && record->type == PERFDATA_HEADER_FEATURE)
		status = learn_feature(file, record);
	else if (file->pipe && record->type == PERFDATA_HEADER_BUILD_ID)
		status = learn_build_id(file, record);
	return status == STATUS_NO_MEMORY ? status : 1;
}
