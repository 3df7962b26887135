#include "format/nettrace/nettrace_internal.h"

#include "base/status.h"

/* A runtime knows some hundreds of kinds of events, and a process some thousands of threads. */
enum {
	KINDS_MAX = 1 << 20,
	THREADS_MAX = 1 << 20,
};

/* What version 6 may tell of a kind of event or of a thread, by the number before it. */
enum {
	KIND_OPCODE = 1,
	KIND_KEYWORD = 3,
	KIND_TEMPLATE = 4,
	KIND_DESCRIPTION = 5,
	KIND_KEY_VALUE = 6,
	KIND_PROVIDER_GUID = 7,
	KIND_LEVEL = 8,
	KIND_VERSION = 9,

	THREAD_NAME = 1,
	THREAD_PROCESS_ID = 2,
	THREAD_ID = 3,
	THREAD_KEY_VALUE = 4,
};

static const struct {
	const char *name;
	enum nettrace_provider provider;
} PROVIDERS[] = {
	{ "Microsoft-Windows-DotNETRuntime", NETTRACE_RUNTIME },
	{ "Microsoft-Windows-DotNETRuntimeRundown", NETTRACE_RUNDOWN },
	{ "Microsoft-Windows-DotNETRuntimePrivate", NETTRACE_PRIVATE },
};

/* `unit` bytes a character: 1 for UTF-8, 2 for UTF-16. */
static enum nettrace_provider provider_of(struct bytes name, size_t unit)
{
	for (size_t i = 0; i < sizeof(PROVIDERS) / sizeof(PROVIDERS[0]); i++) {
		const char *known = PROVIDERS[i].name;
		const size_t length = strlen(known);
		size_t same = 0;
		if (!name.data || name.size != length * unit)
			continue;
		while (same < length && name.data[same * unit] == (uint8_t)known[same] &&
		       (unit == 1 || !name.data[same * unit + 1]))
			same++;
		if (same == length)
			return PROVIDERS[i].provider;
	}
	return NETTRACE_OTHER;
}

/* Up to a NUL of two bytes, which it passes over. */
static struct bytes take_utf16(struct cursor *c)
{
	const uint8_t *start = c->pos;
	while (cursor_u16(c) && !cursor_failed(c))
		;
	if (cursor_failed(c))
		return (struct bytes){ 0 };
	return (struct bytes){ start, (size_t)(c->pos - start) - 2 };
}

static struct bytes take_string(struct cursor *c)
{
	return cursor_take(c, cursor_uleb(c));
}

static int keep_kind(struct nettrace_reader *reader, uint64_t id, struct nettrace_kind kind)
{
	if (reader->kinds.count >= KINDS_MAX && !idmap_get(&reader->kind_ids, id))
		return 0;
	uint32_t *slot = idmap_put(&reader->kind_ids, id);
	if (!slot)
		return STATUS_NO_MEMORY;
	if (!*slot) {
		if (!vector_push(&reader->kinds))
			return STATUS_NO_MEMORY;
		*slot = (uint32_t)reader->kinds.count;
	}
	reader->kinds.items[*slot - 1] = kind;
	return 0;
}

/* Field names, types and tags behind these are not needed. */
static bool read_kind_v4(struct bytes payload, uint32_t *id, struct nettrace_kind *kind)
{
	struct cursor c = nettrace_cursor(payload);
	*id = cursor_u32(&c);
	kind->provider = provider_of(take_utf16(&c), 2);
	kind->id = cursor_u32(&c);
	take_utf16(&c); /* the event's name, mostly empty */
	cursor_u64(&c); /* keywords */
	kind->version = cursor_u32(&c);
	return !cursor_failed(&c);
}

static int read_metadata_v4(struct nettrace_reader *reader, struct bytes content)
{
	struct nettrace_events events;
	if (!nettrace_events_begin(&events, content)) {
		nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, content.data, content.size,
			      "a block of metadata is shorter than its header");
		return 0;
	}
	for (;;) {
		const uint8_t *start = events.c.pos;
		const size_t left = cursor_left(&events.c);
		struct nettrace_kind kind = { 0 };
		uint32_t id = 0;
		if (!nettrace_events_next(reader, &events)) {
			if (left)
				nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start, left,
					      "metadata end behind their block");
			return 0;
		}
		if (!read_kind_v4(events.header.payload, &id, &kind))
			nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start,
				      (size_t)(events.c.pos - start),
				      "metadata of an event contradict themselves");
		else if (keep_kind(reader, id, kind) < 0)
			return STATUS_NO_MEMORY;
	}
}

/* True where it was one that can be passed over. */
static bool read_option(struct cursor *c, struct nettrace_kind *kind)
{
	switch (cursor_u8(c)) {
	case KIND_OPCODE:
	case KIND_LEVEL:
		cursor_u8(c);
		return true;
	case KIND_KEYWORD:
		cursor_u64(c);
		return true;
	case KIND_KEY_VALUE:
		take_string(c);
		take_string(c);
		return true;
	case KIND_TEMPLATE:
	case KIND_DESCRIPTION:
		take_string(c);
		return true;
	case KIND_PROVIDER_GUID:
		cursor_take(c, 16);
		return true;
	case KIND_VERSION:
		kind->version = cursor_u8(c);
		return true;
	default:
		return false;
	}
}

static bool read_kind_v6(struct cursor row, uint64_t *id, struct nettrace_kind *kind)
{
	*id = cursor_uleb(&row);
	kind->provider = provider_of(take_string(&row), 1);
	kind->id = (uint32_t)cursor_uleb(&row);
	take_string(&row); /* the event's name */
	for (uint16_t fields = cursor_u16(&row); fields && !cursor_failed(&row); fields--)
		cursor_take(&row, cursor_u16(&row));
	struct cursor options = cursor_sub(&row, cursor_u16(&row));
	if (cursor_failed(&row))
		return false;
	while (cursor_left(&options) && read_option(&options, kind))
		;
	return !cursor_failed(&options);
}

static int read_metadata_v6(struct nettrace_reader *reader, struct bytes content)
{
	struct cursor c = nettrace_cursor(content);
	cursor_take(&c, cursor_u16(&c)); /* a header that says nothing yet */
	while (cursor_left(&c)) {
		const uint8_t *start = c.pos;
		const size_t left = cursor_left(&c);
		const struct cursor row = cursor_sub(&c, cursor_u16(&c));
		struct nettrace_kind kind = { 0 };
		uint64_t id = 0;
		if (cursor_failed(&c))
			nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start, left,
				      "metadata end behind their block");
		else if (!read_kind_v6(row, &id, &kind))
			nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start,
				      left - cursor_left(&c),
				      "metadata of an event contradict themselves");
		else if (keep_kind(reader, id, kind) < 0)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

int nettrace_read_metadata(struct nettrace_reader *reader, struct bytes content)
{
	return reader->version >= 6 ? read_metadata_v6(reader, content)
				    : read_metadata_v4(reader, content);
}

/* 0 where it is not told. */
static uint64_t thread_of(struct cursor row)
{
	uint64_t id = 0;
	while (cursor_left(&row)) {
		switch (cursor_u8(&row)) {
		case THREAD_NAME:
			take_string(&row);
			break;
		case THREAD_PROCESS_ID:
			cursor_uleb(&row);
			break;
		case THREAD_ID:
			id = cursor_uleb(&row);
			break;
		case THREAD_KEY_VALUE:
			take_string(&row);
			take_string(&row);
			break;
		default:
			return id;
		}
	}
	return id;
}

int nettrace_read_threads(struct nettrace_reader *reader, struct bytes content)
{
	struct cursor c = nettrace_cursor(content);
	while (cursor_left(&c)) {
		const uint8_t *start = c.pos;
		const size_t left = cursor_left(&c);
		struct cursor row = cursor_sub(&c, cursor_u16(&c));
		const uint64_t index = cursor_uleb(&row);
		if (cursor_failed(&c) || cursor_failed(&row)) {
			nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start, left,
				      "a list of threads ends too early");
			return 0;
		}
		if (reader->threads.count >= THREADS_MAX)
			return 0;
		uint32_t *slot = idmap_put(&reader->thread_ids, index);
		if (!slot || (!*slot && !vector_push(&reader->threads)))
			return STATUS_NO_MEMORY;
		if (!*slot)
			*slot = (uint32_t)reader->threads.count;
		reader->threads.items[*slot - 1] = thread_of(row);
	}
	return 0;
}
