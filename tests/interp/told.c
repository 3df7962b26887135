#include "interp/told.h"

#include <stdlib.h>

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
		const struct frames_code *code = frames_store_find(told->codes, &key);
		told->frames++;
		if (!code) {
			told->undefined++;
			sink_printf(out, "\t?|?|%d|%u", frame.position, frame.flags);
			continue;
		}
		sink_printf(out, "\t%s%s%s|%s|%d|%u", code->owner, code->owner[0] ? "::" : "",
			    code->name, code->file, frames_code_line(code, &frame), frame.flags);
	}
	sink_u8(out, '\n');
}

void told_record(struct told *told, struct bytes raw)
{
	struct frames_record record;
	if (!told->codes && frames_store_open(&told->codes, 0) != 0)
		abort();
	if (frames_read(&record, raw) != 0) {
		told->bad++;
		return;
	}
	if (frames_store_add(told->codes, &record) != 0)
		abort();
	told->definitions += record.head.kind == WALK_DEFINITION;
	if (record.head.kind == WALK_STACK) {
		told->stacks++;
		print(told, &record);
	}
}

void told_clear(struct told *told)
{
	frames_store_close(told->codes);
	told->codes = NULL;
}
