#include "format/frames/reader.h"

#include "base/status.h"

static bool is_padding_only(size_t left)
{
	return left < 8;
}

/* What no writer of this version writes. A name or a line that such a record gives may be wrong. */
static bool is_stack(const struct walk_stack *stack)
{
	return stack->frame_count <= WALK_MAX_FRAMES && stack->end < WALK_END_COUNT && !stack->zero;
}

static bool is_definition(const struct walk_definition *definition)
{
	bool are_texts = true;
	for (int i = 0; i < WALK_TEXT_COUNT; i++)
		are_texts = are_texts && definition->texts[i].encoding <= WALK_UCS4;
	return are_texts && definition->table_bytes <= WALK_MAX_TABLE &&
	       definition->table_here <= definition->table_bytes &&
	       definition->table_kind < WALK_TABLE_KIND_COUNT &&
	       definition->code_kind <= WALK_CODE_EVALUATOR && !definition->zero;
}

static int read_stack(struct frames_record *record, struct cursor *c)
{
	struct walk_stack *stack = &record->stack;
	stack->time_ns = cursor_u64(c);
	stack->ip_avma = cursor_u64(c);
	stack->tid = cursor_u32(c);
	stack->runtime = cursor_u32(c);
	stack->frame_count = cursor_u16(c);
	stack->end = cursor_u8(c);
	stack->flags = cursor_u8(c);
	stack->zero = cursor_u32(c);
	if (!is_stack(stack))
		return STATUS_CORRUPT;
	record->frames = cursor_take(c, stack->frame_count * sizeof(struct walk_frame));
	return 0;
}

static void read_key(struct walk_key *key, struct cursor *c)
{
	key->code_avma = cursor_u64(c);
	key->check = cursor_u64(c);
	key->pid = cursor_u32(c);
	key->runtime = cursor_u32(c);
}

static int read_definition(struct frames_record *record, struct cursor *c)
{
	struct walk_definition *definition = &record->definition;
	read_key(&definition->key, c);
	definition->first_line = cursor_u32(c);
	definition->table_bytes = cursor_u32(c);
	definition->zero = cursor_u32(c);
	definition->table_here = cursor_u16(c);
	definition->table_kind = cursor_u8(c);
	definition->table_flags = cursor_u8(c);
	definition->code_kind = cursor_u32(c);
	for (int i = 0; i < WALK_TEXT_COUNT; i++) {
		definition->texts[i].bytes = cursor_u16(c);
		definition->texts[i].encoding = cursor_u8(c);
		definition->texts[i].flags = cursor_u8(c);
	}
	for (int i = 0; i < WALK_TEXT_COUNT; i++) {
		record->texts[i] = cursor_take(c, definition->texts[i].bytes);
		cursor_take(c, -(size_t)definition->texts[i].bytes & 7);
	}
	record->piece = cursor_take(c, definition->table_here);
	return is_definition(definition) && definition->key.pid == record->head.pid
		   ? 0
		   : STATUS_CORRUPT;
}

static int read_table(struct frames_record *record, struct cursor *c)
{
	struct walk_table *table = &record->table;
	read_key(&table->key, c);
	table->offset = cursor_u32(c);
	table->bytes = cursor_u32(c);
	record->piece = cursor_take(c, table->bytes);
	if (table->key.pid != record->head.pid || table->offset > WALK_MAX_TABLE ||
	    table->bytes > WALK_MAX_TABLE - table->offset)
		return STATUS_CORRUPT;
	return 0;
}

static int read_told(struct frames_record *record, struct cursor *c)
{
	const size_t size = sizeof(record->told) - sizeof(record->head);
	const struct bytes told = cursor_take(c, size);
	if (told.size == size)
		memcpy((uint8_t *)&record->told + sizeof(record->head), told.data, size);
	return 0;
}

static void read_head(struct walk_head *head, struct cursor *c)
{
	head->magic = cursor_u32(c);
	head->version = cursor_u8(c);
	head->kind = cursor_u8(c);
	head->language = cursor_u8(c);
	head->zero = cursor_u8(c);
	head->size = cursor_u32(c);
	head->pid = cursor_u32(c);
}

int frames_read(struct frames_record *record, struct bytes raw)
{
	struct cursor c = cursor_over(raw);
	int result = STATUS_CORRUPT;
	*record = (struct frames_record){ .frames = { raw.data, 0 } };
	read_head(&record->head, &c);
	if (cursor_failed(&c) || record->head.magic != WALK_MAGIC)
		return STATUS_NOT_FORMAT;
	if (record->head.version != WALK_VERSION)
		return STATUS_UNSUPPORTED;
	if (record->head.size > raw.size)
		return STATUS_TRUNCATED;
	if (record->head.size < sizeof(struct walk_head) ||
	    !is_padding_only(raw.size - record->head.size) ||
	    record->head.language == WALK_NO_LANGUAGE ||
	    record->head.language >= WALK_LANGUAGE_COUNT || record->head.zero)
		return STATUS_CORRUPT;
	c = cursor_over((struct bytes){ raw.data, record->head.size });
	cursor_take(&c, sizeof(struct walk_head));
	switch (record->head.kind) {
	case WALK_STACK:
		result = read_stack(record, &c);
		break;
	case WALK_DEFINITION:
		result = read_definition(record, &c);
		break;
	case WALK_TABLE:
		result = read_table(record, &c);
		break;
	case WALK_RUNTIME:
		result = read_told(record, &c);
		break;
	default:
		break;
	}
	if (result == 0 && (cursor_failed(&c) || cursor_left(&c)))
		result = STATUS_CORRUPT;
	/* The parts of the union begin with a head of their own. */
	if (result == 0)
		record->stack.head = record->head;
	return result;
}

int frames_next(struct frames_record *record, struct bytes *records)
{
	struct walk_head head;
	if (!records->size)
		return STATUS_NOT_FOUND;
	if (records->size < sizeof(head))
		return STATUS_TRUNCATED;
	memcpy(&head, records->data, sizeof(head));
	const size_t size = ((size_t)head.size + 7) & ~(size_t)7;
	const size_t here = size < records->size ? size : records->size;
	const int result = frames_read(record, (struct bytes){ records->data, here });
	if (result == 0) {
		records->data += here;
		records->size -= here;
	}
	return result;
}

struct walk_frame frames_at(const struct frames_record *record, uint32_t index)
{
	struct walk_frame frame = { 0 };
	if (index < record->frames.size / sizeof(frame))
		memcpy(&frame, record->frames.data + index * sizeof(frame), sizeof(frame));
	return frame;
}

static void put_character(struct sink *out, uint32_t character)
{
	if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		character = 0xfffd;
	if (character < 0x80) {
		sink_u8(out, (uint8_t)character);
		return;
	}
	if (character >= 0x10000) {
		sink_u8(out, (uint8_t)(0xf0 | character >> 18));
		sink_u8(out, (uint8_t)(0x80 | (character >> 12 & 63)));
		sink_u8(out, (uint8_t)(0x80 | (character >> 6 & 63)));
	} else if (character >= 0x800) {
		sink_u8(out, (uint8_t)(0xe0 | character >> 12));
		sink_u8(out, (uint8_t)(0x80 | (character >> 6 & 63)));
	} else {
		sink_u8(out, (uint8_t)(0xc0 | character >> 6));
	}
	sink_u8(out, (uint8_t)(0x80 | (character & 63)));
}

void frames_text(struct sink *out, const struct frames_record *record, enum walk_text_index index)
{
	struct cursor c = cursor_over(record->texts[index]);
	switch (record->definition.texts[index].encoding) {
	case WALK_UCS1:
		while (cursor_left(&c))
			put_character(out, cursor_u8(&c));
		break;
	case WALK_UCS2:
		while (cursor_left(&c) >= 2)
			put_character(out, cursor_u16(&c));
		break;
	case WALK_UCS4:
		while (cursor_left(&c) >= 4)
			put_character(out, cursor_u32(&c));
		break;
	default:
		sink_put(out, record->texts[index].data, record->texts[index].size);
		break;
	}
}

const char *frames_end_text(unsigned end)
{
	static const char *const texts[WALK_END_COUNT] = {
		[WALK_END_ROOT] = "complete",
		[WALK_END_NO_THREAD] = "a thread that the interpreter does not know",
		[WALK_END_IDLE] = "nothing runs",
		[WALK_END_DEPTH] = "too deep",
		[WALK_END_TORN] = "a call was just being made",
		[WALK_END_NOT_CODE] = "a frame without code",
		[WALK_END_READ_THREAD] = "the thread's state could not be read",
		[WALK_END_READ_FRAME] = "a frame could not be read",
		[WALK_END_READ_CODE] = "a code object could not be read",
	};
	return end < WALK_END_COUNT ? texts[end] : "";
}
