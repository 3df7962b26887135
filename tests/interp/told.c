#include "interp/told.h"

#include "format/frames/lines.h"

#include <stdlib.h>

static struct told_code *find(struct told *told, const struct walk_key *key)
{
	for (size_t i = told->codes.count; i-- > 0;)
		if (memcmp(&told->codes.items[i].key, key, sizeof(*key)) == 0)
			return &told->codes.items[i];
	return NULL;
}

static void drop(struct told_code *code)
{
	free(code->name);
	free(code->file);
	sink_clear(&code->table);
}

static char *text(const struct frames_record *record, enum walk_text_index owner,
		  enum walk_text_index index)
{
	struct sink out = { .limit = 1 << 16 };
	if (owner != index) {
		frames_text(&out, record, owner);
		if (out.size)
			sink_text(&out, "::");
	}
	frames_text(&out, record, index);
	sink_u8(&out, 0);
	return (char *)out.data;
}

static void define(struct told *told, const struct frames_record *record)
{
	struct told_code *code = find(told, &record->definition.key);
	told->definitions++;
	if (code)
		drop(code);
	else
		code = vector_push(&told->codes);
	if (!code)
		abort();
	*code = (struct told_code){ .key = record->definition.key,
				    .name = text(record, WALK_TEXT_OWNER, WALK_TEXT_NAME),
				    .file = text(record, WALK_TEXT_FILE, WALK_TEXT_FILE),
				    .first_line = (int32_t)record->definition.first_line,
				    .table_kind = record->definition.table_kind };
	sink_put(&code->table, record->piece.data, record->piece.size);
}

static void print(struct told *told, const struct frames_record *record)
{
	const struct walk_stack *stack = &record->stack;
	struct sink *out = told->out;
	sink_printf(out, "%llu\t%u\t%u\t%llx\t%s\t%u", (unsigned long long)stack->time_ns,
		    stack->head.pid, stack->tid, (unsigned long long)stack->ip_avma,
		    frames_end_text(stack->end), stack->flags);
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		const struct walk_frame frame = frames_at(record, i);
		const struct walk_key key = { frame.code_avma, frame.check, record->head.pid,
					      stack->runtime };
		const struct told_code *code = find(told, &key);
		told->frames++;
		if (!code) {
			told->undefined++;
			sink_printf(out, "\t?|?|%d|%u", frame.position, frame.flags);
			continue;
		}
		const int line = frame.flags & WALK_FRAME_NO_POSITION ? 0
				 : frame.flags & WALK_FRAME_IS_LINE
				     ? frame.position
				     : frames_line(code->table_kind, sink_bytes(&code->table),
						   code->first_line, frame.position);
		sink_printf(out, "\t%s|%s|%d|%u", code->name, code->file, line, frame.flags);
	}
	sink_u8(out, '\n');
}

void told_record(struct told *told, struct bytes raw)
{
	struct frames_record record;
	if (frames_read(&record, raw) != 0) {
		told->bad++;
		return;
	}
	if (record.head.kind == WALK_DEFINITION) {
		define(told, &record);
	} else if (record.head.kind == WALK_TABLE) {
		struct told_code *code = find(told, &record.table.key);
		if (code && code->table.size == record.table.offset)
			sink_put(&code->table, record.piece.data, record.piece.size);
	} else {
		told->stacks++;
		print(told, &record);
	}
}

void told_clear(struct told *told)
{
	for (size_t i = 0; i < told->codes.count; i++)
		drop(&told->codes.items[i]);
	vector_clear(&told->codes);
}
