#include "report/script.h"

#include "base/escape.h"
#include "base/status.h"

#include <inttypes.h>

enum { STACK_TEXT_LIMIT = 64 << 20 };

static const struct {
	const char *word;
	unsigned field;
} words[] = {
	{ "comm", SCRIPT_COMM },     { "pid", SCRIPT_PID },         { "tid", SCRIPT_TID },
	{ "cpu", SCRIPT_CPU },       { "time", SCRIPT_TIME },       { "period", SCRIPT_PERIOD },
	{ "event", SCRIPT_EVENT },   { "ip", SCRIPT_IP },           { "sym", SCRIPT_SYM },
	{ "symoff", SCRIPT_SYMOFF }, { "dso", SCRIPT_DSO },         { "trust", SCRIPT_TRUST },
	{ "reason", SCRIPT_REASON }, { "srcline", SCRIPT_SRCLINE },
};

static unsigned field_of(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == size && memcmp(words[i].word, text, size) == 0)
			return words[i].field;
	return 0;
}

int script_fields_parse(const char *text, unsigned *fields)
{
	unsigned result = *text == '+' || *text == '-' ? SCRIPT_DEFAULT_FIELDS : 0;
	while (*text) {
		const char sign = *text;
		text += sign == '+' || sign == '-';
		const size_t size = strcspn(text, ",");
		const unsigned field = field_of(text, size);
		if (!field)
			return STATUS_NOT_FOUND;
		result = sign == '-' ? result & ~field : result | field;
		text += size + (text[size] == ',');
	}
	*fields = result;
	return result ? 0 : STATUS_NOT_FOUND;
}

void script_clear(struct script *script)
{
	arena_clear(&script->texts);
	sink_clear(&script->line);
	vector_clear(&script->frames);
	vector_clear(&script->stacks);
	vector_clear(&script->threads);
	vector_clear(&script->events);
}

/* printf is the slowest part of printing millions of lines: numbers go by hand. */
static void put_right(struct sink *out, const char *text, size_t size, size_t width, char fill)
{
	uint8_t *to = sink_reserve(out, size < width ? width : size);
	if (!to)
		return;
	for (; width > size; width--)
		*to++ = (uint8_t)fill;
	memcpy(to, text, size);
}

static void put_hex(struct sink *out, uint64_t value, size_t width)
{
	char text[16];
	size_t at = sizeof(text);
	do {
		text[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	put_right(out, text + at, sizeof(text) - at, width, ' ');
}

static void put_decimal(struct sink *out, uint64_t value, size_t width, char fill)
{
	char text[20];
	size_t at = sizeof(text);
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put_right(out, text + at, sizeof(text) - at, width, fill);
}

static void put_interned(struct sink *out, const struct profile *profile, uint32_t string)
{
	escape_terminal(out, intern_get_bytes(&profile->strings, string));
}

/* "    7f1234 name+0x12 (/usr/lib/libc.so.6)" */
static void put_frame(struct script *script, const struct profile *profile, uint32_t id)
{
	const struct profile_frame *frame = &profile->frames.items[id];
	struct sink *out = &script->line;
	const unsigned fields = script->fields;
	const struct profile_function *function = &profile->functions.items[frame->function];
	const char *separator = script->is_single ? " " : "\t";
	if (fields & SCRIPT_IP) {
		sink_text(out, separator);
		/* As perf does: in chains where it is in the file, alone where it was. */
		put_hex(out, script->is_single ? frame->avma : frame->object_avma, 16);
		separator = " ";
	}
	if (fields & SCRIPT_SYM) {
		sink_text(out, separator);
		put_interned(out, profile, function->name);
		if ((fields & SCRIPT_SYMOFF) && frame->has_offset) {
			sink_text(out, "+0x");
			put_hex(out, frame->offset, 0);
		}
		separator = " ";
	}
	if (frame->inlined_into && (fields & (SCRIPT_SYM | SCRIPT_DSO))) {
		sink_printf(out, "%s(inlined)", separator);
	} else if (fields & SCRIPT_DSO) {
		sink_printf(out, "%s(", separator);
		put_interned(out, profile, frame->object_path);
		sink_text(out, ")");
	}
	if (fields & SCRIPT_TRUST) {
		sink_text(out, " ");
		sink_text(out, profile_trust_name((enum profile_trust)frame->trust));
	}
	if ((fields & SCRIPT_REASON) && frame->reason) {
		sink_text(out, " # ");
		put_interned(out, profile, frame->reason);
	}
	sink_text(out, "\n");
	if ((fields & SCRIPT_SRCLINE) && frame->line) {
		sink_text(out, "  ");
		put_interned(out, profile, frame->file);
		sink_printf(out, ":%" PRIu32 "\n", frame->line);
	}
}

static void put_thread(struct script *script, const struct profile *profile, uint32_t id)
{
	const struct profile_thread *thread = &profile->threads.items[id];
	struct sink *out = &script->line;
	if (script->fields & SCRIPT_COMM) {
		struct sink comm = { 0 };
		put_interned(&comm, profile, thread->comm);
		sink_printf(out, script->is_single ? "%16.*s " : "%.*s ", (int)comm.size,
			    comm.size ? (const char *)comm.data : "");
		sink_clear(&comm);
	}
	if ((script->fields & SCRIPT_PID) && (script->fields & SCRIPT_TID))
		sink_printf(out, "%5" PRIu32 "/%-5" PRIu32 " ", thread->pid, thread->tid);
	else if (script->fields & (SCRIPT_PID | SCRIPT_TID))
		sink_printf(out, "%5" PRIu32 " ",
			    script->fields & SCRIPT_PID ? thread->pid : thread->tid);
}

/* All events' names take the width of the longest. */
static void put_event(struct script *script, const struct profile *profile, uint32_t id)
{
	size_t width = 0;
	for (size_t i = 0; i < profile->events.count; i++) {
		const size_t size = strlen(profile_text(profile, profile->events.items[i]));
		width = size > width ? size : width;
	}
	sink_printf(&script->line, "%*s: ", (int)width,
		    profile_text(profile, profile->events.items[id]));
}

typedef VECTOR(struct bytes) text_table;

/* A thing's text, made by `put` at its first use; empty data without memory. */
static struct bytes text_of(struct script *script, const struct profile *profile, void *table,
			    uint32_t id,
			    void (*put)(struct script *, const struct profile *, uint32_t))
{
	text_table *texts = table;
	while (texts->count <= id)
		if (!vector_push(texts))
			return (struct bytes){ 0 };
	struct bytes *text = &texts->items[id];
	if (text->data)
		return *text;
	sink_reset(&script->line);
	put(script, profile, id);
	const struct bytes made = sink_bytes(&script->line);
	uint8_t *copy = sink_failed(&script->line)
			    ? NULL
			    : arena_new(&script->texts, uint8_t, made.size ? made.size : 1);
	if (!copy)
		return (struct bytes){ 0 };
	if (made.size)
		memcpy(copy, made.data, made.size);
	*text = (struct bytes){ copy, made.size };
	return *text;
}

static void put_time(const struct script *script, struct sink *out, uint64_t time_ns)
{
	put_decimal(out, time_ns / 1000000000, 5, ' ');
	sink_put(out, ".", 1);
	if (script->in_ns)
		put_decimal(out, time_ns % 1000000000, 9, '0');
	else
		put_decimal(out, time_ns % 1000000000 / 1000, 6, '0');
	sink_put(out, ": ", 2);
}

static bool put_head(struct script *script, const struct profile *profile,
		     const struct script_sample *sample, struct sink *out)
{
	const unsigned fields = script->fields;
	const struct bytes thread =
	    text_of(script, profile, &script->threads, sample->thread, put_thread);
	sink_put(out, thread.data, thread.size);
	if ((fields & SCRIPT_CPU) && sample->has_cpu) {
		sink_put(out, "[", 1);
		put_decimal(out, sample->cpu, 3, '0');
		sink_put(out, "] ", 2);
	}
	if (fields & SCRIPT_TIME)
		put_time(script, out, sample->time_ns);
	if (fields & SCRIPT_PERIOD) {
		put_decimal(out, sample->period, 10, ' ');
		sink_put(out, " ", 1);
	}
	if (!(fields & SCRIPT_EVENT) || sample->event >= profile->events.count)
		return thread.data;
	const struct bytes event =
	    text_of(script, profile, &script->events, sample->event, put_event);
	sink_put(out, event.data, event.size);
	return thread.data && event.data;
}

/* Behind the outermost frame of a dumped stack that is not whole: why. */
static void put_end(const struct script *script, const struct profile_stack *stack,
		    struct sink *out)
{
	if (script->is_single || !(script->fields & SCRIPT_REASON) || !stack->depth ||
	    stack->end == PROFILE_END_NOT_DUMPED || stack->end == PROFILE_END_WHOLE)
		return;
	/* The line's end is there already. */
	out->size -= out->size != 0;
	sink_printf(out, " # stack ends: %s\n", profile_end_text((enum profile_end)stack->end));
}

static bool put_frames(struct script *script, const struct profile *profile, uint32_t stack_id,
		       struct sink *out)
{
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	const uint32_t *frames = profile->frame_ids.items + stack->first;
	const uint32_t depth = script->is_single ? 1 : stack->depth;
	sink_put(out, "\n", script->is_single ? 0 : 1);
	for (uint32_t i = 0; i < depth; i++) {
		const struct bytes text =
		    text_of(script, profile, &script->frames, frames[i], put_frame);
		if (!text.data)
			return false;
		sink_put(out, text.data, text.size);
	}
	put_end(script, stack, out);
	sink_put(out, "\n", script->is_single ? 0 : 1);
	return true;
}

/* Stacks come again and again: one copy of a whole one beats thirty of its frames. */
static bool put_stack(struct script *script, const struct profile *profile, uint32_t id,
		      struct sink *out)
{
	if (id < script->stacks.count && script->stacks.items[id].data) {
		sink_put(out, script->stacks.items[id].data, script->stacks.items[id].size);
		return true;
	}
	const size_t start = out->size;
	if (!put_frames(script, profile, id, out) || sink_failed(out))
		return false;
	const size_t size = out->size - start;
	if (size > STACK_TEXT_LIMIT - script->stack_bytes)
		return true;
	while (script->stacks.count <= id)
		if (!vector_push(&script->stacks))
			return false;
	uint8_t *copy = arena_new(&script->texts, uint8_t, size);
	if (!copy)
		return false;
	memcpy(copy, out->data + start, size);
	script->stacks.items[id] = (struct bytes){ copy, size };
	script->stack_bytes += size;
	return true;
}

bool script_put(struct script *script, const struct profile *profile,
		const struct script_sample *sample, struct sink *out)
{
	const unsigned frame_fields = SCRIPT_IP | SCRIPT_SYM | SCRIPT_DSO | SCRIPT_TRUST;
	if (!put_head(script, profile, sample, out))
		return false;
	if (!(script->fields & frame_fields) || !profile->stacks.items[sample->stack].depth)
		sink_put(out, "\n", 1);
	else if (!put_stack(script, profile, sample->stack, out))
		return false;
	return !sink_failed(out);
}
