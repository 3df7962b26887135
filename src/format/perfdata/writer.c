#include "format/perfdata/writer.h"

#include <stdlib.h>

enum { SECTION_SIZE = 16, ATTR_SIZE_AT = 4, ATTR_SIZE_USUAL = 112 };

static const char MAGIC_TEXT[8] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' };

static void put_magic(struct sink *out)
{
	/* A host word: on a big-endian machine the text comes out backwards. */
	uint64_t magic = 0;
	for (size_t i = 0; i < sizeof(MAGIC_TEXT); i++)
		magic |= (uint64_t)(uint8_t)MAGIC_TEXT[i] << (8 * i);
	sink_u64(out, magic);
}

void perfdata_put_pipe_header(struct sink *out)
{
	put_magic(out);
	sink_u64(out, PERFDATA_PIPE_HEADER_SIZE);
}

void perfdata_header(struct sink *out, const struct perfdata_layout *layout)
{
	put_magic(out);
	sink_u64(out, PERFDATA_HEADER_SIZE);
	sink_u64(out, layout->attr_entry_size);
	sink_u64(out, layout->attrs_offset);
	sink_u64(out, layout->attrs_size);
	sink_u64(out, layout->data_offset);
	sink_u64(out, layout->data_size);
	sink_zeros(out, SECTION_SIZE); /* event types, of version 1 */
	for (size_t i = 0; i < sizeof(layout->feature_bits) / sizeof(layout->feature_bits[0]); i++)
		sink_u64(out, layout->feature_bits[i]);
}

/* The attr without the zero words at its end that newer kernels' headers added. */
static uint32_t used_attr_size(const struct perfdata_new_event *event)
{
	const uint8_t *attr = event->attr;
	uint32_t size = event->attr_size & ~7u;
	while (size > ATTR_SIZE_USUAL) {
		uint64_t word;
		memcpy(&word, attr + size - sizeof(word), sizeof(word));
		if (word)
			break;
		size -= (uint32_t)sizeof(word);
	}
	return size;
}

static uint32_t whole_attr_size(const struct perfdata_new_event *event)
{
	return event->attr_size & ~7u;
}

/* Perf finds each next attr by attr.size, so all must be as large as the largest. */
static void put_attr(struct sink *out, const struct perfdata_new_event *event, uint32_t used,
		     uint32_t size)
{
	const size_t at = out->size;
	sink_put(out, event->attr, used);
	sink_zeros(out, size - used);
	sink_patch_u32(out, at + ATTR_SIZE_AT, size);
}

static struct perfdata_layout begin(struct sink *out, const struct perfdata_new_event *events,
				    size_t event_count,
				    uint32_t (*size_of_attr)(const struct perfdata_new_event *))
{
	uint32_t attr_size = PERFDATA_ATTR_SIZE_MIN;
	uint64_t id_bytes = 0;
	for (size_t i = 0; i < event_count; i++) {
		const uint32_t size = size_of_attr(&events[i]);
		attr_size = size > attr_size ? size : attr_size;
		id_bytes += events[i].id_count * sizeof(uint64_t);
	}
	struct perfdata_layout layout = { .attr_entry_size = attr_size + SECTION_SIZE };
	layout.attrs_offset = PERFDATA_HEADER_SIZE + id_bytes;
	layout.attrs_size = event_count * layout.attr_entry_size;
	layout.data_offset = layout.attrs_offset + layout.attrs_size;

	perfdata_header(out, &layout);
	for (size_t i = 0; i < event_count; i++)
		sink_put(out, events[i].ids, events[i].id_count * sizeof(uint64_t));
	uint64_t ids_offset = PERFDATA_HEADER_SIZE;
	for (size_t i = 0; i < event_count; i++) {
		put_attr(out, &events[i], size_of_attr(&events[i]), attr_size);
		sink_u64(out, ids_offset);
		sink_u64(out, events[i].id_count * sizeof(uint64_t));
		ids_offset += events[i].id_count * sizeof(uint64_t);
	}
	return layout;
}

struct perfdata_layout perfdata_begin(struct sink *out, const struct perfdata_new_event *events,
				      size_t event_count)
{
	return begin(out, events, event_count, used_attr_size);
}

struct perfdata_layout perfdata_begin_copy(struct sink *out,
					   const struct perfdata_new_event *events,
					   size_t event_count)
{
	return begin(out, events, event_count, whole_attr_size);
}

void perfdata_features(struct sink *out, struct perfdata_layout *layout, uint64_t offset,
		       const struct perfdata_new_feature *features, size_t count)
{
	const struct perfdata_new_feature *chosen[PERFDATA_FEATURE_LIMIT] = { NULL };
	size_t chosen_count = 0;
	for (size_t i = 0; i < count; i++) {
		const unsigned feature = features[i].feature;
		if (feature >= PERFDATA_FEATURE_LIMIT || chosen[feature])
			continue;
		if (sink_failed(&features[i].content)) {
			out->failed = true;
			return;
		}
		chosen[feature] = &features[i];
		chosen_count++;
		layout->feature_bits[feature / 64] |= 1ull << (feature % 64);
	}
	uint64_t at = offset + chosen_count * SECTION_SIZE;
	for (size_t i = 0; i < PERFDATA_FEATURE_LIMIT; i++) {
		if (!chosen[i])
			continue;
		sink_u64(out, at);
		sink_u64(out, chosen[i]->content.size);
		at += chosen[i]->content.size;
	}
	for (size_t i = 0; i < PERFDATA_FEATURE_LIMIT; i++)
		if (chosen[i])
			sink_put(out, chosen[i]->content.data, chosen[i]->content.size);
}
