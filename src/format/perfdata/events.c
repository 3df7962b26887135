#include "format/perfdata/perfdata_internal.h"

#include "base/hash.h"

#include <stdlib.h>

/* The fields of fixed size in front of READ, each of 8 bytes. */
#define FIXED_FIELDS                                                             \
	(PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | \
	 PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_ID |      \
	 PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD)
#define TRAILER_FIELDS                                                     \
	(PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID | \
	 PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_IDENTIFIER)

static uint16_t words_size(uint64_t fields)
{
	return (uint16_t)(8 * __builtin_popcountll(fields));
}

static struct perfdata_shape make_shape(const struct perfdata_attr *attr)
{
	const uint64_t type = attr->sample_type;
	struct perfdata_shape shape = {
		.fixed_size = words_size(type & FIXED_FIELDS),
		.sample_id_at = SHAPE_NONE,
		.sample_time_at = SHAPE_NONE,
		.trailer_id_from_end = SHAPE_NONE,
		.trailer_time_at = SHAPE_NONE,
	};
	if (type & PERFDATA_SAMPLE_TIME)
		shape.sample_time_at = words_size(
		    type & (PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID));
	if (type & PERFDATA_SAMPLE_IDENTIFIER)
		shape.sample_id_at = 0;
	else if (type & PERFDATA_SAMPLE_ID)
		shape.sample_id_at =
		    words_size(type & (PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
				       PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR));
	if (!(attr->flags & PERFDATA_ATTR_SAMPLE_ID_ALL))
		return shape;
	shape.trailer_size = words_size(type & TRAILER_FIELDS);
	if (type & PERFDATA_SAMPLE_TIME)
		shape.trailer_time_at = words_size(type & PERFDATA_SAMPLE_TID);
	if (type & PERFDATA_SAMPLE_IDENTIFIER)
		shape.trailer_id_from_end = 8;
	else if (type & PERFDATA_SAMPLE_ID)
		shape.trailer_id_from_end = words_size(
		    type & (PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU));
	return shape;
}

static size_t slot_of(const struct perfdata *file, uint64_t id)
{
	return hash_mix(id, 1) & (file->id_slot_count - 1);
}

static void place_id(struct perfdata *file, uint64_t id, struct perfdata_source *source)
{
	size_t slot = slot_of(file, id);
	while (file->id_slots[slot].source) {
		if (file->id_slots[slot].id == id)
			return;
		slot = (slot + 1) & (file->id_slot_count - 1);
	}
	file->id_slots[slot] = (struct perfdata_id_slot){ .id = id, .source = source };
	file->id_count++;
}

static bool reserve_ids(struct perfdata *file, size_t more)
{
	const size_t wanted = 2 * (file->id_count + more);
	if (wanted <= file->id_slot_count)
		return true;
	size_t slot_count = 64;
	while (slot_count < wanted)
		slot_count *= 2;
	struct perfdata_id_slot *old = file->id_slots;
	const size_t old_count = file->id_slot_count;
	struct perfdata_id_slot *slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return false;
	file->id_slots = slots;
	file->id_slot_count = slot_count;
	file->id_count = 0;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].source)
			place_id(file, old[i].id, old[i].source);
	free(old);
	return true;
}

struct perfdata_source *perfdata_find_id(const struct perfdata *file, uint64_t id)
{
	if (!file->id_slot_count)
		return NULL;
	size_t slot = slot_of(file, id);
	while (file->id_slots[slot].source) {
		if (file->id_slots[slot].id == id)
			return file->id_slots[slot].source;
		slot = (slot + 1) & (file->id_slot_count - 1);
	}
	return NULL;
}

static void join_shape(struct perfdata *file, const struct perfdata_source *source)
{
	const struct perfdata_shape *shape = &source->shape;
	if (shape->sample_id_at != SHAPE_NONE)
		file->sample_id_words |= 1u << (shape->sample_id_at / 8);
	else if (!file->without_id)
		file->without_id = source;
	if (shape->trailer_id_from_end != SHAPE_NONE)
		file->trailer_id_words |= 1u << (shape->trailer_id_from_end / 8);
	if (source->index == 0)
		file->trailer_size = shape->trailer_size;
	else if (file->trailer_size != shape->trailer_size)
		file->trailer_size = SHAPE_NONE;
}

int perfdata_add_event(struct perfdata *file, const struct perfdata_attr *attr, struct bytes raw,
		       struct bytes ids)
{
	const size_t count = ids.size / 8;
	struct perfdata_source *source = arena_new(&file->arena, struct perfdata_source, 1);
	uint64_t *copied = count ? arena_new(&file->arena, uint64_t, count) : NULL;
	if (!source || (count && !copied) || !reserve_ids(file, count))
		return STATUS_NO_MEMORY;
	const size_t index = file->sources.count;
	struct perfdata_source_ref *ref = vector_push(&file->sources);
	if (!ref)
		return STATUS_NO_MEMORY;
	source->event =
	    (struct perfdata_event){ .attr = *attr, .ids = copied, .id_count = count, .raw = raw };
	source->event.name = perfdata_make_name(&file->arena, attr);
	source->shape = make_shape(attr);
	source->index = index;
	/* With a frequency wanted and no period told, every sample stands for itself. */
	source->default_period = attr->flags & PERFDATA_ATTR_FREQ ? 1 : attr->sample_period;
	for (size_t i = 0; i < count; i++) {
		copied[i] = perfdata_get64(file, ids.data + 8 * i);
		place_id(file, copied[i], source);
	}
	ref->source = source;
	file->only = index == 0 ? source : NULL;
	join_shape(file, source);
	return 0;
}

void perfdata_set_name(struct perfdata *file, struct perfdata_source *source, struct bytes name)
{
	const size_t size = strnlen((const char *)name.data, name.size);
	char *copy = size ? arena_new(&file->arena, char, size + 1) : NULL;
	if (!copy)
		return;
	memcpy(copy, name.data, size);
	source->event.name = copy;
}

/* Perf makes sure that ids lie at one place, so the loops run once. Records that
 * perf made up itself carry id 0 and mean the first event.
 */
const struct perfdata_source *perfdata_source_by_sample_id(const struct perfdata *file,
							   struct bytes body)
{
	if (!file->sources.count)
		return NULL;
	const struct perfdata_source *first = file->sources.items[0].source;
	bool zero = !file->sample_id_words;
	for (unsigned words = file->sample_id_words; words; words &= words - 1) {
		const size_t at = 8 * (size_t)__builtin_ctz(words);
		if (at + 8 > body.size)
			break;
		const uint64_t id = perfdata_get64(file, body.data + at);
		const struct perfdata_source *source = perfdata_find_id(file, id);
		if (source && source->shape.sample_id_at == at)
			return source;
		zero |= !id;
	}
	if (file->without_id)
		return file->without_id;
	return zero ? first : NULL;
}

const struct perfdata_source *perfdata_source_by_trailer_id(const struct perfdata *file,
							    struct bytes body)
{
	if (!file->sources.count)
		return NULL;
	const struct perfdata_source *first = file->sources.items[0].source;
	for (unsigned words = file->trailer_id_words; words; words &= words - 1) {
		const size_t from_end = 8 * (size_t)__builtin_ctz(words);
		if (from_end > body.size)
			break;
		const uint64_t id = perfdata_get64(file, body.data + body.size - from_end);
		const struct perfdata_source *source = perfdata_find_id(file, id);
		if (source && source->shape.trailer_id_from_end == from_end)
			return source;
	}
	return first;
}

size_t perfdata_event_count(const struct perfdata *file)
{
	return file->sources.count;
}

const struct perfdata_event *perfdata_event(const struct perfdata *file, size_t index)
{
	return index < file->sources.count ? &file->sources.items[index].source->event : NULL;
}
