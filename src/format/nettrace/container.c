#include "format/nettrace/nettrace_internal.h"

#include "base/status.h"

enum {
	/* Versions 4 and 5: every object is between two of these. */
	TAG_NULL = 1,
	TAG_BEGIN = 5,
	TAG_END = 6,

	NAME_MAX_BYTES = 32,
	OBJECT_VERSION_MAX = 2,
	TRACE_VERSION_MIN = 4,
	TRACE_VERSION_MAX = 5,
	ALIGNMENT = 4,
	DATE_BYTES = 16,

	/* Version 6. */
	KIND_END = 0,
	KIND_TRACE = 1,
	KIND_EVENTS = 2,
	KIND_METADATA = 3,
	KIND_SEQUENCE_POINT = 4,
	KIND_THREADS = 6,
	SIZE_BITS = 24,
};

/* What stands before an object's content. */
struct object {
	uint32_t version;
	uint32_t least_version; /* of a reader */
	struct bytes name;
};

static bool is_name(struct bytes name)
{
	if (!name.size || name.size > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < name.size; i++) {
		const uint8_t letter = name.data[i] | 0x20;
		if (letter < 'a' || letter > 'z')
			return false;
	}
	return true;
}

static bool has_name(const struct object *object, const char *name)
{
	return object->name.size == strlen(name) &&
	       memcmp(object->name.data, name, object->name.size) == 0;
}

/* Fails the cursor where the file ends in it; false also where it is none. */
static bool read_object(struct cursor *c, struct object *object)
{
	static const uint8_t BEGIN[] = { TAG_BEGIN, TAG_BEGIN, TAG_NULL };
	const struct bytes tags = cursor_take(c, sizeof(BEGIN));
	if (tags.size < sizeof(BEGIN) || memcmp(tags.data, BEGIN, sizeof(BEGIN)) != 0)
		return false;
	object->version = cursor_u32(c);
	object->least_version = cursor_u32(c);
	const uint32_t length = cursor_u32(c);
	if (length > NAME_MAX_BYTES)
		return false;
	object->name = cursor_take(c, length);
	return cursor_u8(c) == TAG_END && is_name(object->name);
}

/* Where the next object begins, or the file's end. */
static size_t find_object(const struct nettrace_reader *reader, size_t from)
{
	static const uint8_t START[] = { TAG_BEGIN, TAG_BEGIN, TAG_NULL };
	const struct bytes file = reader->file;
	while (from < file.size) {
		const uint8_t *at =
		    memmem(file.data + from, file.size - from, START, sizeof(START));
		if (!at)
			break;
		from = nettrace_offset(reader, at);
		struct cursor c = nettrace_cursor((struct bytes){ at, file.size - from });
		struct object object;
		if (read_object(&c, &object))
			return from;
		from++;
	}
	return file.size;
}

static void read_trace_start(struct nettrace_reader *reader, struct cursor *c)
{
	cursor_take(c, DATE_BYTES);
	reader->start_ticks = cursor_u64(c);
	reader->frequency = cursor_u64(c);
	reader->pointer_size = cursor_u32(c);
}

int nettrace_open_v4(struct nettrace_reader *reader)
{
	struct cursor c = nettrace_cursor(
	    (struct bytes){ reader->file.data + reader->pos, reader->file.size - reader->pos });
	struct object object;
	const bool is_object = read_object(&c, &object);
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	if (!is_object || !has_name(&object, "Trace"))
		return STATUS_CORRUPT;
	if (object.version < TRACE_VERSION_MIN || object.least_version > TRACE_VERSION_MAX)
		return STATUS_UNSUPPORTED;
	reader->version = object.version < TRACE_VERSION_MAX ? object.version : TRACE_VERSION_MAX;
	read_trace_start(reader, &c);
	reader->pid = cursor_u32(&c);
	cursor_u32(&c); /* processors */
	cursor_u32(&c); /* nanoseconds between samples of its own */
	const uint8_t end = cursor_u8(&c);
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	if (end != TAG_END)
		return STATUS_CORRUPT;
	reader->pos = nettrace_offset(reader, c.pos);
	return 0;
}

/* The end of a file that has no end; said once. */
static bool end_early(struct nettrace_reader *reader)
{
	const struct bytes file = reader->file;
	const size_t left = file.size - reader->pos;
	if (left)
		nettrace_tell(reader, NETTRACE_PROBLEM_CUT, file.data + reader->pos, left,
			      "the stream ends in a block's header");
	else if (!reader->is_cut)
		nettrace_tell(reader, NETTRACE_PROBLEM_NO_END, file.data + file.size, 0,
			      "the stream has no end");
	reader->pos = file.size;
	reader->is_at_end = true;
	return false;
}

static bool end_well(struct nettrace_reader *reader, size_t end)
{
	const struct bytes file = reader->file;
	if (end < file.size)
		nettrace_tell(reader, NETTRACE_PROBLEM_GARBAGE, file.data + end, file.size - end,
			      "bytes behind the stream's end");
	reader->pos = file.size;
	reader->is_at_end = true;
	reader->is_whole = true;
	return false;
}

static void tell_cut_block(struct nettrace_reader *reader, size_t start)
{
	reader->is_cut = true;
	nettrace_tell(reader, NETTRACE_PROBLEM_CUT, reader->file.data + start, 0,
		      "the stream ends in a block");
}

static enum nettrace_block_kind kind_of_object(const struct object *object)
{
	if (has_name(object, "EventBlock"))
		return NETTRACE_BLOCK_EVENTS;
	if (has_name(object, "MetadataBlock"))
		return NETTRACE_BLOCK_METADATA;
	if (has_name(object, "SPBlock"))
		return NETTRACE_BLOCK_SEQUENCE_POINT;
	return NETTRACE_BLOCK_NONE;
}

/* Whether a block may end at `end`: with its tag, and then another one, or the stream's end. */
static bool is_block_end(struct bytes file, size_t end)
{
	static const uint8_t NEXT[] = { TAG_END, TAG_BEGIN, TAG_BEGIN, TAG_NULL };
	const size_t left = end < file.size ? file.size - end : 0;
	if (!left || file.data[end] != TAG_END)
		return false;
	if (left > 1 && file.data[end + 1] == TAG_NULL)
		return true;
	return memcmp(file.data + end, NEXT, left < sizeof(NEXT) ? left : sizeof(NEXT)) == 0;
}

/* The content behind the header that `c` has read. A size that is not confirmed by what lies behind
 * it counts for nothing: then the block ends where the next one begins.
 */
static struct bytes take_content(struct nettrace_reader *reader, struct cursor *c)
{
	const uint32_t size = cursor_u32(c);
	cursor_take(c, -nettrace_offset(reader, c->pos) % ALIGNMENT);
	if (cursor_failed(c)) {
		end_early(reader);
		return (struct bytes){ 0 };
	}
	const size_t start = nettrace_offset(reader, c->pos);
	const size_t left = cursor_left(c);
	const struct bytes file = reader->file;
	if (size < left && is_block_end(file, start + size)) {
		reader->pos = start + size + 1;
		return (struct bytes){ file.data + start, size };
	}
	const size_t next = find_object(reader, start);
	reader->pos = next;
	if (next == file.size && size >= left)
		tell_cut_block(reader, start);
	else
		nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, file.data + start, 0,
			      "a block's size is wrong");
	/* The tag that ends it is no event. */
	const size_t end =
	    next > start && next < file.size && file.data[next - 1] == TAG_END ? next - 1 : next;
	return (struct bytes){ file.data + start, end - start };
}

static bool next_v4(struct nettrace_reader *reader, struct nettrace_block *block)
{
	for (;;) {
		const struct bytes file = reader->file;
		if (reader->pos >= file.size)
			return end_early(reader);
		if (file.data[reader->pos] == TAG_NULL)
			return end_well(reader, reader->pos + 1);
		struct cursor c = nettrace_cursor(
		    (struct bytes){ file.data + reader->pos, file.size - reader->pos });
		struct object object = { 0 };
		if (read_object(&c, &object)) {
			const bool is_newer = object.least_version > OBJECT_VERSION_MAX;
			block->kind = is_newer ? NETTRACE_BLOCK_NONE : kind_of_object(&object);
			block->content = take_content(reader, &c);
			if (is_newer && !reader->is_at_end)
				nettrace_tell(reader, NETTRACE_PROBLEM_NEWER, block->content.data,
					      block->content.size, "a block of a newer version");
			return !reader->is_at_end;
		}
		if (cursor_failed(&c))
			return end_early(reader);
		const size_t next = find_object(reader, reader->pos + 1);
		nettrace_tell(reader, NETTRACE_PROBLEM_GARBAGE, file.data + reader->pos,
			      next - reader->pos, "bytes that are no block");
		reader->pos = next;
	}
}

/* The content of the block at `pos`, or what is there of it. */
static uint8_t read_block_v6(struct nettrace_reader *reader, struct bytes *content)
{
	struct cursor c = nettrace_cursor(
	    (struct bytes){ reader->file.data + reader->pos, reader->file.size - reader->pos });
	const uint32_t head = cursor_u32(&c);
	const uint32_t size = head & ((1U << SIZE_BITS) - 1);
	if (cursor_failed(&c)) {
		end_early(reader);
		return KIND_END;
	}
	if (size > cursor_left(&c))
		tell_cut_block(reader, nettrace_offset(reader, c.pos));
	*content = cursor_take(&c, size < cursor_left(&c) ? size : cursor_left(&c));
	reader->pos = nettrace_offset(reader, c.pos);
	return (uint8_t)(head >> SIZE_BITS);
}

static bool has_key(struct bytes key, const char *name)
{
	return key.size == strlen(name) && memcmp(key.data, name, key.size) == 0;
}

static uint32_t number(struct bytes text)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' || value > UINT32_MAX / 10)
			return 0;
		value = value * 10 + (uint64_t)(text.data[i] - '0');
	}
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

int nettrace_open_v6(struct nettrace_reader *reader)
{
	struct bytes content = { 0 };
	const uint8_t kind = read_block_v6(reader, &content);
	if (reader->is_at_end)
		return STATUS_TRUNCATED;
	if (kind != KIND_TRACE)
		return STATUS_CORRUPT;
	struct cursor c = nettrace_cursor(content);
	read_trace_start(reader, &c);
	for (uint32_t pairs = cursor_u32(&c); pairs && !cursor_failed(&c); pairs--) {
		const struct bytes key = cursor_take(&c, cursor_uleb(&c));
		const struct bytes value = cursor_take(&c, cursor_uleb(&c));
		if (!cursor_failed(&c) && has_key(key, "ProcessId"))
			reader->pid = number(value);
	}
	if (!cursor_failed(&c))
		return 0;
	return reader->pos == reader->file.size ? STATUS_TRUNCATED : STATUS_CORRUPT;
}

static bool next_v6(struct nettrace_reader *reader, struct nettrace_block *block)
{
	switch (read_block_v6(reader, &block->content)) {
	case KIND_END:
		return reader->is_at_end ? false : end_well(reader, reader->pos);
	case KIND_EVENTS:
		block->kind = NETTRACE_BLOCK_EVENTS;
		return true;
	case KIND_METADATA:
		block->kind = NETTRACE_BLOCK_METADATA;
		return true;
	case KIND_SEQUENCE_POINT:
		block->kind = NETTRACE_BLOCK_SEQUENCE_POINT;
		return true;
	case KIND_THREADS:
		block->kind = NETTRACE_BLOCK_THREADS;
		return true;
	default:
		block->kind = NETTRACE_BLOCK_NONE;
		return true;
	}
}

bool nettrace_next_block(struct nettrace_reader *reader, struct nettrace_block *block)
{
	*block = (struct nettrace_block){ 0 };
	if (reader->is_at_end)
		return false;
	return reader->version >= 6 ? next_v6(reader, block) : next_v4(reader, block);
}
