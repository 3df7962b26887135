#include "format/nettrace/nettrace_internal.h"

enum {
	BLOCK_HEADER_MIN = 20, /* its own size, flags, the earliest and the latest stamp */
	BLOCK_COMPRESSED = 1,
	GUID_SIZE = 16,
	ALIGNMENT = 4,
	METADATA_ID_MASK = 0x7fffffff, /* the top bit: every event behind is younger */
};

/* Of a compressed header: what follows, where it is not as in the event before. */
enum {
	HAS_METADATA = 1,
	HAS_CAPTURE = 2,
	HAS_THREAD = 4,
	HAS_STACK = 8,
	HAS_ACTIVITY = 16, /* version 6: the number of a list of labels */
	HAS_RELATED = 32,
	HAS_SIZE = 128,
};

bool nettrace_events_begin(struct nettrace_events *events, struct bytes content)
{
	struct cursor c = nettrace_cursor(content);
	const uint16_t size = cursor_u16(&c);
	const uint16_t flags = cursor_u16(&c);
	if (cursor_failed(&c) || size < BLOCK_HEADER_MIN || size > content.size)
		return false;
	cursor_take(&c, size - 2 * sizeof(uint16_t));
	*events = (struct nettrace_events){ .c = c, .is_compressed = flags & BLOCK_COMPRESSED };
	return true;
}

static void read_compressed(uint32_t version, struct cursor *c, struct nettrace_header *header)
{
	const uint8_t flags = cursor_u8(c);
	if (flags & HAS_METADATA)
		header->metadata_id = (uint32_t)cursor_uleb(c);
	if (flags & HAS_CAPTURE) {
		header->sequence += (uint32_t)cursor_uleb(c);
		header->capture_thread = cursor_uleb(c);
		cursor_uleb(c); /* the CPU */
	}
	header->sequence += header->metadata_id || version >= 6;
	if (flags & HAS_THREAD)
		header->thread = cursor_uleb(c);
	if (flags & HAS_STACK)
		cursor_uleb(c);
	header->ticks += cursor_uleb(c);
	if (version >= 6) {
		if (flags & HAS_ACTIVITY)
			cursor_uleb(c);
	} else {
		if (flags & HAS_ACTIVITY)
			cursor_take(c, GUID_SIZE);
		if (flags & HAS_RELATED)
			cursor_take(c, GUID_SIZE);
	}
	if (flags & HAS_SIZE)
		header->payload_size = (uint32_t)cursor_uleb(c);
	header->payload = cursor_take(c, header->payload_size);
}

static void read_plain(const struct nettrace_reader *reader, struct cursor *c,
		       struct nettrace_header *header)
{
	struct cursor event = cursor_sub(c, cursor_u32(c));
	header->metadata_id = cursor_u32(&event) & METADATA_ID_MASK;
	header->sequence = cursor_u32(&event);
	header->thread = cursor_u64(&event);
	header->capture_thread = cursor_u64(&event);
	cursor_u32(&event); /* the CPU */
	cursor_u32(&event); /* the stack */
	header->ticks = cursor_u64(&event);
	cursor_take(&event, reader->version >= 6 ? sizeof(uint32_t) : 2 * (size_t)GUID_SIZE);
	header->payload_size = cursor_u32(&event);
	header->payload = cursor_take(&event, header->payload_size);
	if (cursor_failed(&event)) {
		cursor_fail(c);
		return;
	}
	if (reader->version >= 6)
		return;
	/* The last one's padding may be left out. */
	const size_t padding = -nettrace_offset(reader, c->pos) % ALIGNMENT;
	cursor_take(c, padding < cursor_left(c) ? padding : cursor_left(c));
}

bool nettrace_events_next(const struct nettrace_reader *reader, struct nettrace_events *events)
{
	if (!cursor_left(&events->c))
		return false;
	if (events->is_compressed)
		read_compressed(reader->version, &events->c, &events->header);
	else
		read_plain(reader, &events->c, &events->header);
	return !cursor_failed(&events->c);
}
