/* build.h - makes streams of events as runtimes of every version write them. */
#ifndef TESTS_NETTRACE_BUILD_H
#define TESTS_NETTRACE_BUILD_H

#include "base/sink.h"
#include "format/nettrace/nettrace.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define RUNTIME_NAME "Microsoft-Windows-DotNETRuntime"

struct made_event {
	uint32_t metadata_id;
	uint64_t thread; /* of version 6: its index */
	uint64_t ticks;
	const char *payload;
};

struct made_kind {
	uint32_t id;
	const char *provider;
	uint32_t event_id;
	uint32_t version;
};

struct build {
	struct sink out;
	uint32_t version; /* of the format: 4, 5 or 6 */
	bool is_plain;    /* headers are not compressed */
	uint64_t frequency;
};

static inline void put_leb(struct sink *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		sink_u8(out, (uint8_t)(value | 0x80));
	sink_u8(out, (uint8_t)value);
}

static inline void put_utf16(struct sink *out, const char *text)
{
	for (; *text; text++)
		sink_u16(out, (uint16_t)(unsigned char)*text);
	sink_u16(out, 0);
}

static inline void put_object(struct sink *out, uint32_t version, const char *name)
{
	sink_put(out, "\5\5\1", 3);
	sink_u32(out, version);
	sink_u32(out, version);
	sink_u32(out, (uint32_t)strlen(name));
	sink_text(out, name);
	sink_u8(out, 6);
}

/* Frees `content`. */
static inline void put_block(struct build *b, uint8_t kind, const char *name, struct sink *content)
{
	assert_false(sink_failed(content));
	if (b->version >= 6) {
		sink_u32(&b->out, (uint32_t)content->size | (uint32_t)kind << 24);
	} else {
		put_object(&b->out, 2, name);
		sink_u32(&b->out, (uint32_t)content->size);
		sink_zeros(&b->out, -b->out.size % 4);
	}
	sink_put(&b->out, content->data, content->size);
	if (b->version < 6)
		sink_u8(&b->out, 6);
	sink_clear(content);
}

static inline void put_pair(struct sink *out, const char *key, const char *value)
{
	put_leb(out, strlen(key));
	sink_text(out, key);
	put_leb(out, strlen(value));
	sink_text(out, value);
}

static inline void put_start(struct build *b, uint32_t pointer_size)
{
	struct sink trace = { 0 };
	sink_zeros(&trace, 16);
	sink_u64(&trace, 5000);
	sink_u64(&trace, b->frequency ? b->frequency : 1000000000);
	sink_u32(&trace, pointer_size);
	sink_text(&b->out, "Nettrace");
	if (b->version >= 6) {
		sink_u32(&b->out, 0);
		sink_u32(&b->out, b->version);
		sink_u32(&b->out, 1);
		sink_u32(&trace, 2);
		put_pair(&trace, "HardwareThreadCount", "2");
		put_pair(&trace, "ProcessId", "4711");
		put_block(b, 1, "", &trace);
		return;
	}
	sink_u32(&b->out, 20);
	sink_text(&b->out, "!FastSerialization.1");
	put_object(&b->out, b->version, "Trace");
	sink_u32(&trace, 4711);
	sink_u32(&trace, 2);
	sink_u32(&trace, 1000000);
	sink_u8(&trace, 6);
	sink_put(&b->out, trace.data, trace.size);
	sink_clear(&trace);
}

static inline void put_events_header(struct build *b, struct sink *content)
{
	sink_u16(content, 24);
	sink_u16(content, b->is_plain ? 0 : 1);
	sink_zeros(content, 16);
	sink_u32(content, 0xabcdef); /* what later versions may add */
}

static inline void put_plain(struct build *b, struct sink *content, const struct made_event *event,
			     size_t payload_size)
{
	const size_t start = content->size;
	sink_u32(content, 0);
	sink_u32(content, event->metadata_id | 0x80000000);
	sink_u32(content, 77);
	sink_u64(content, event->thread);
	sink_u64(content, event->thread + 1);
	sink_zeros(content, 8);
	sink_u64(content, event->ticks);
	sink_zeros(content, b->version >= 6 ? 4 : 32);
	sink_u32(content, (uint32_t)payload_size);
	sink_put(content, event->payload, payload_size);
	sink_patch_u32(content, start, (uint32_t)(content->size - start - 4));
	if (b->version < 6)
		sink_zeros(content, -content->size % 4);
}

/* Fields that are as in the event before are left out, as runtimes do. */
static inline void put_compressed(struct build *b, struct sink *content,
				  const struct made_event *event, const struct made_event *before,
				  size_t payload_size)
{
	static const struct made_event NOTHING = { 0 };
	const size_t was = before ? strlen(before->payload) : 0;
	before = before ? before : &NOTHING;
	const bool is_first = before == &NOTHING;
	uint8_t flags = 64;
	flags |= event->metadata_id != before->metadata_id ? 1 : 0;
	flags |= is_first ? 2 | 8 | 16 | 32 : 0;
	flags |= event->thread != before->thread ? 4 : 0;
	flags |= payload_size != was ? 128 : 0;
	sink_u8(content, flags);
	if (flags & 1)
		put_leb(content, event->metadata_id);
	if (flags & 2)
		sink_put(content, "\5\x81\1\0", 4);
	if (flags & 4)
		put_leb(content, event->thread);
	if (flags & 8)
		put_leb(content, 300);
	put_leb(content, event->ticks - before->ticks);
	if (flags & 16)
		sink_zeros(content, b->version >= 6 ? 1 : 16);
	if (flags & 32 && b->version < 6)
		sink_zeros(content, 16);
	if (flags & 128)
		put_leb(content, payload_size);
	sink_put(content, event->payload, payload_size);
}

static inline void put_events(struct build *b, const struct made_event *events, size_t count)
{
	struct sink content = { 0 };
	put_events_header(b, &content);
	for (size_t i = 0; i < count; i++) {
		const size_t size = strlen(events[i].payload);
		if (b->is_plain)
			put_plain(b, &content, &events[i], size);
		else
			put_compressed(b, &content, &events[i], i ? &events[i - 1] : NULL, size);
	}
	put_block(b, 2, "EventBlock", &content);
}

static inline void put_kind_v4(struct build *b, struct sink *content, const struct made_kind *kind)
{
	struct sink payload = { 0 };
	sink_u32(&payload, kind->id);
	put_utf16(&payload, kind->provider);
	sink_u32(&payload, kind->event_id);
	put_utf16(&payload, "Name");
	sink_u64(&payload, 0x10);
	sink_u32(&payload, kind->version);
	sink_u32(&payload, 5);
	sink_u32(&payload, 0);
	if (b->is_plain) {
		const struct made_event event = { .payload = (const char *)payload.data };
		put_plain(b, content, &event, payload.size);
	} else {
		sink_u8(content, 128);
		put_leb(content, 0);
		put_leb(content, payload.size);
		sink_put(content, payload.data, payload.size);
	}
	sink_clear(&payload);
}

static inline void put_kind_v6(struct sink *content, const struct made_kind *kind)
{
	const size_t start = content->size;
	sink_u16(content, 0);
	put_leb(content, kind->id);
	put_leb(content, strlen(kind->provider));
	sink_text(content, kind->provider);
	put_leb(content, kind->event_id);
	sink_put(content, "\4Name", 5);
	sink_put(content, "\1\0\3\0\1x\11", 7); /* one field, an int */
	const size_t options = content->size;
	sink_u16(content, 0);
	sink_put(content, "\1\2\3\0\0\0\0\0\0\0\0\4\1a\5\1b\6\1c\1d\10\5", 24);
	sink_u8(content, 7);
	sink_zeros(content, 16);
	sink_u8(content, 9);
	sink_u8(content, (uint8_t)kind->version);
	content->data[options] = (uint8_t)(content->size - options - 2);
	sink_u8(content, 0); /* what later versions may add */
	content->data[start] = (uint8_t)(content->size - start - 2);
	content->data[start + 1] = (uint8_t)((content->size - start - 2) >> 8);
}

static inline void put_kinds(struct build *b, const struct made_kind *kinds, size_t count)
{
	struct sink content = { 0 };
	if (b->version >= 6)
		sink_put(&content, "\1\0x", 3);
	else
		put_events_header(b, &content);
	for (size_t i = 0; i < count; i++) {
		if (b->version >= 6)
			put_kind_v6(&content, &kinds[i]);
		else
			put_kind_v4(b, &content, &kinds[i]);
	}
	put_block(b, 3, "MetadataBlock", &content);
}

/* Of version 6: the thread that an index means. */
static inline void put_thread(struct build *b, uint8_t index, uint64_t id)
{
	struct sink content = { 0 };
	sink_u16(&content, 0);
	sink_u8(&content, index);
	sink_put(&content, "\1\1n\2\7\4\1k\1v\3", 11);
	put_leb(&content, id);
	content.data[0] = (uint8_t)(content.size - 2);
	put_block(b, 6, "", &content);
}

/* `number`: to which event the thread has come; 0: of no thread. Flags are of version 6. */
static inline void put_sequence_point(struct build *b, uint32_t flags, uint8_t thread,
				      uint8_t number)
{
	struct sink content = { 0 };
	sink_u64(&content, 0);
	if (b->version >= 6)
		sink_u32(&content, flags);
	sink_u32(&content, number ? 1 : 0);
	if (b->version >= 6) {
		put_leb(&content, thread);
		put_leb(&content, number);
	} else {
		sink_u64(&content, thread);
		sink_u32(&content, number);
	}
	put_block(b, 4, "SPBlock", &content);
}

static inline void put_end(struct build *b)
{
	if (b->version >= 6)
		sink_u32(&b->out, 0);
	else
		sink_u8(&b->out, 1);
}

/* An exact-size copy, so that ASan sees reads past the end. */
static inline struct bytes copy_of(struct bytes in)
{
	uint8_t *data = malloc(in.size ? in.size : 1);
	assert_non_null(data);
	if (in.size)
		memcpy(data, in.data, in.size);
	return (struct bytes){ data, in.size };
}

#endif
