#include "format/jitdump/extensions.h"

#include "base/status.h"

/* Empty where there is none; false where the place is outside, or no NUL follows. */
static bool string_at(struct bytes strings, uint32_t at, struct bytes *string)
{
	*string = (struct bytes){ .data = strings.data };
	if (at == JITDUMP_NO_STRING)
		return true;
	if (at >= strings.size)
		return false;
	const uint8_t *start = strings.data + at;
	const uint8_t *nul = memchr(start, 0, strings.size - at);
	if (!nul)
		return false;
	*string = (struct bytes){ .data = start, .size = (size_t)(nul - start) };
	return true;
}

/* 0 where the entries have ended. */
static int begin_entry(struct jitdump_about *about, size_t size)
{
	if (!about->entry_count)
		return 0;
	if (cursor_left(&about->entries) < size) {
		about->entry_count = 0;
		return STATUS_CORRUPT;
	}
	about->entry_count--;
	return 1;
}

int jitdump_inline_next(struct jitdump_about *about, struct jitdump_inline *scope)
{
	const int got = begin_entry(about, JITDUMP_INLINE_ENTRY_SIZE);
	if (got <= 0)
		return got;
	struct cursor *c = &about->entries;
	scope->offset = cursor_u32(c);
	scope->size = cursor_u32(c);
	scope->depth = cursor_u32(c);
	scope->call_line = cursor_u32(c);
	scope->call_column = cursor_u32(c);
	scope->call_bytecode = (int32_t)cursor_u32(c);
	const uint32_t name_at = cursor_u32(c);
	const uint32_t file_at = cursor_u32(c);
	const bool has_name = string_at(about->strings, name_at, &scope->name);
	const bool has_file = string_at(about->strings, file_at, &scope->call_file);
	return has_name && has_file ? 1 : STATUS_CORRUPT;
}

int jitdump_bytecode_next(struct jitdump_about *about, struct jitdump_bytecode *bytecode)
{
	const int got = begin_entry(about, JITDUMP_BYTECODE_ENTRY_SIZE);
	if (got <= 0)
		return got;
	bytecode->offset = cursor_u32(&about->entries);
	bytecode->bytecode = (int32_t)cursor_u32(&about->entries);
	return 1;
}

int jitdump_annotation_next(struct jitdump_about *about, struct jitdump_annotation *annotation)
{
	const int got = begin_entry(about, JITDUMP_ANNOTATION_ENTRY_SIZE);
	if (got <= 0)
		return got;
	annotation->offset = cursor_u32(&about->entries);
	annotation->size = cursor_u32(&about->entries);
	annotation->kind = cursor_u32(&about->entries);
	const uint32_t text_at = cursor_u32(&about->entries);
	return string_at(about->strings, text_at, &annotation->text) ? 1 : STATUS_CORRUPT;
}

int jitdump_method_line_next(struct jitdump_method *method, struct jitdump_method_line *line)
{
	if (!method->line_count)
		return 0;
	if (cursor_left(&method->lines) < JITDUMP_METHOD_LINE_SIZE) {
		method->line_count = 0;
		return STATUS_CORRUPT;
	}
	method->line_count--;
	line->bytecode = cursor_u32(&method->lines);
	line->line = cursor_u32(&method->lines);
	return 1;
}

const char *jitdump_record_name(uint32_t id)
{
	static const char *const names[] = { "LOAD", "MOVE", "DEBUG_INFO", "CLOSE",
					     "UNWINDING_INFO" };
	static const char *const own[] = { "PAD",       "UNLOAD",      "INLINES",
					   "BYTECODES", "ANNOTATIONS", "METHOD" };
	if (id < sizeof(names) / sizeof(names[0]))
		return names[id];
	const uint32_t index = id - JITDUMP_EXTENSION_FIRST;
	return index < sizeof(own) / sizeof(own[0]) ? own[index] : NULL;
}

static uint32_t entry_size(uint32_t id)
{
	if (id == JITDUMP_INLINES)
		return JITDUMP_INLINE_ENTRY_SIZE;
	return id == JITDUMP_BYTECODES ? JITDUMP_BYTECODE_ENTRY_SIZE
				       : JITDUMP_ANNOTATION_ENTRY_SIZE;
}

static void decode_unload(struct jitdump_unload *unload, struct cursor *c)
{
	unload->pid = cursor_u32(c);
	unload->tid = cursor_u32(c);
	unload->code_avma = cursor_u64(c);
	unload->code_size = cursor_u64(c);
	unload->code_index = cursor_u64(c);
}

static void decode_about(struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_about *about = &record->about;
	about->code_avma = cursor_u64(c);
	about->entry_count = cursor_u32(c);
	const uint32_t strings_size = cursor_u32(c);
	const uint64_t entries_size = (uint64_t)about->entry_count * entry_size(record->id);
	/* A cut record has fewer bytes than it says: entries as far as they go, no strings. */
	const size_t left = cursor_left(c);
	about->entries = cursor_sub(c, entries_size < left ? (size_t)entries_size : left);
	const size_t rest = cursor_left(c);
	about->strings = cursor_take(c, strings_size < rest ? strings_size : rest);
}

static void decode_method(struct jitdump_method *method, struct cursor *c)
{
	method->pid = cursor_u32(c);
	method->tid = cursor_u32(c);
	method->method_id = cursor_u64(c);
	method->bytecode_avma = cursor_u64(c);
	method->bytecode_size = cursor_u64(c);
	method->line_count = cursor_u32(c);
	const uint32_t strings_size = cursor_u32(c);
	method->first_line = cursor_u32(c);
	const uint32_t name_at = cursor_u32(c);
	const uint32_t file_at = cursor_u32(c);
	(void)cursor_u32(c);
	const uint64_t lines_size = (uint64_t)method->line_count * JITDUMP_METHOD_LINE_SIZE;
	const size_t left = cursor_left(c);
	method->lines = cursor_sub(c, lines_size < left ? (size_t)lines_size : left);
	const size_t rest = cursor_left(c);
	const struct bytes strings = cursor_take(c, strings_size < rest ? strings_size : rest);
	(void)string_at(strings, name_at, &method->name);
	(void)string_at(strings, file_at, &method->file);
}

void jitdump_decode_extension(struct jitdump_record *record, struct cursor *c)
{
	if (record->id == JITDUMP_UNLOAD)
		decode_unload(&record->unload, c);
	else if (record->id == JITDUMP_METHOD)
		decode_method(&record->method, c);
	else
		decode_about(record, c);
}
