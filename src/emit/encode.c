/* docs/formats/jitdump.md and jitdump-extensions.md say what each record holds. */
#include "emit/encode.h"

#include "emit/emit_internal.h"

static void put(struct ppjit_out *out, const void *data, uint64_t size)
{
	if (out->base && size && out->pos <= out->room && size <= out->room - out->pos)
		memcpy(out->base + out->pos, data, (size_t)size);
	out->pos += size;
}

static void put_zeros(struct ppjit_out *out, uint64_t size)
{
	if (out->base && out->pos <= out->room && size <= out->room - out->pos)
		memset(out->base + out->pos, 0, (size_t)size);
	out->pos += size;
}

static void put_u32(struct ppjit_out *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u64(struct ppjit_out *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

static void put_string(struct ppjit_out *out, const char *text, size_t size)
{
	put(out, text, size);
	put(out, "", 1);
}

/* Begins a record. Its size is known from the measuring round. */
static uint64_t begin(struct ppjit_out *out, uint32_t id)
{
	const uint64_t start = out->pos;
	const uint32_t size = (uint32_t)out->sizes[out->part];
	if (start == 0) {
		out->first_id = id;
		out->first_size = size;
		out->pos += 8;
	} else {
		put_u32(out, id);
		put_u32(out, size);
	}
	put_u64(out, out->time_ns);
	return start;
}

static void end(struct ppjit_out *out, uint64_t start)
{
	if (!out->base)
		out->sizes[out->part] = out->pos - start;
	out->part++;
}

/* Strings behind the entries of a record. One that is the same as the one before it in its
 * column is there once.
 */
struct strings {
	struct ppjit_out *out; /* NULL: they are only counted */
	const char *last[2];
	uint32_t last_at[2];
	uint32_t size;
};

static uint32_t add_string(struct strings *s, int column, const char *text)
{
	if (!text)
		return JITDUMP_NO_STRING;
	if (s->last[column] && (s->last[column] == text || strcmp(s->last[column], text) == 0))
		return s->last_at[column];
	const size_t size = strlen(text);
	s->last[column] = text;
	s->last_at[column] = s->size;
	s->size += (uint32_t)size + 1;
	if (s->out)
		put_string(s->out, text, size);
	return s->last_at[column];
}

static void encode_lines(struct ppjit_out *out, const struct polyperf_jit_load_info *load)
{
	const uint64_t start = begin(out, JITDUMP_DEBUG_INFO);
	put_u64(out, load->address);
	put_u64(out, load->line_count);
	const char *file = "";
	for (size_t i = 0; i < load->line_count; i++) {
		const struct polyperf_jit_line *line = &load->lines[i];
		if (line->file)
			file = line->file;
		put_u64(out, load->address + line->offset);
		put_u32(out, line->line);
		put_u32(out, line->column);
		put_string(out, file, strlen(file));
	}
	end(out, start);
}

static void encode_unwinding(struct ppjit_out *out, const struct polyperf_jit_unwinding *unwinding)
{
	const uint64_t start = begin(out, JITDUMP_UNWINDING_INFO);
	put_u64(out, unwinding->size);
	put_u64(out, unwinding->eh_frame_hdr_size);
	put_u64(out, unwinding->mapped_size);
	put(out, unwinding->data, unwinding->size);
	put_zeros(out, -(out->pos - start) & 7);
	end(out, start);
}

static void inline_strings(struct strings *s, const struct polyperf_jit_load_info *load)
{
	for (size_t i = 0; i < load->inline_count; i++) {
		(void)add_string(s, 0, load->inlines[i].name);
		(void)add_string(s, 1, load->inlines[i].call_file);
	}
}

static void encode_inlines(struct ppjit_out *out, const struct polyperf_jit_load_info *load)
{
	struct strings counted = { 0 };
	inline_strings(&counted, load);
	const uint64_t start = begin(out, JITDUMP_INLINES);
	put_u64(out, load->address);
	put_u32(out, (uint32_t)load->inline_count);
	put_u32(out, counted.size);
	struct strings at = { 0 };
	for (size_t i = 0; i < load->inline_count; i++) {
		const struct polyperf_jit_inline *scope = &load->inlines[i];
		put_u32(out, scope->offset);
		put_u32(out, scope->size);
		put_u32(out, scope->depth);
		put_u32(out, scope->call_line);
		put_u32(out, scope->call_column);
		put_u32(out, (uint32_t)scope->call_bytecode);
		put_u32(out, add_string(&at, 0, scope->name));
		put_u32(out, add_string(&at, 1, scope->call_file));
	}
	struct strings written = { .out = out };
	inline_strings(&written, load);
	end(out, start);
}

static void encode_bytecodes(struct ppjit_out *out, const struct polyperf_jit_load_info *load)
{
	const uint64_t start = begin(out, JITDUMP_BYTECODES);
	put_u64(out, load->address);
	put_u32(out, (uint32_t)load->bytecode_count);
	put_u32(out, 0);
	for (size_t i = 0; i < load->bytecode_count; i++) {
		put_u32(out, load->bytecodes[i].offset);
		put_u32(out, (uint32_t)load->bytecodes[i].bytecode);
	}
	end(out, start);
}

static void encode_notes(struct ppjit_out *out, const struct ppjit_code *what)
{
	const struct polyperf_jit_load_info *load = what->load;
	const uint64_t missing = what->code_bytes - what->readable_bytes;
	struct strings counted = { 0 };
	for (size_t i = 0; i < load->note_count; i++)
		(void)add_string(&counted, 0, load->notes[i].text);
	const uint64_t start = begin(out, JITDUMP_ANNOTATIONS);
	put_u64(out, load->address);
	put_u32(out, (uint32_t)load->note_count + (missing ? 1 : 0));
	put_u32(out, counted.size);
	struct strings at = { 0 };
	for (size_t i = 0; i < load->note_count; i++) {
		const struct polyperf_jit_note *note = &load->notes[i];
		put_u32(out, note->offset);
		put_u32(out, note->size);
		put_u32(out, note->kind);
		put_u32(out, add_string(&at, 0, note->text));
	}
	if (missing) {
		put_u32(out, (uint32_t)what->readable_bytes);
		put_u32(out, (uint32_t)missing);
		put_u32(out, POLYPERF_JIT_NOTE_UNREADABLE);
		put_u32(out, JITDUMP_NO_STRING);
	}
	struct strings written = { .out = out };
	for (size_t i = 0; i < load->note_count; i++)
		(void)add_string(&written, 0, load->notes[i].text);
	end(out, start);
}

static void put_code(struct ppjit_out *out, struct ppjit_code *what)
{
	uint64_t readable = what->readable_bytes;
	if (what->may_vanish && out->base && readable <= out->room - out->pos) {
		const uint64_t got =
		    ppjit_copy(out->base + out->pos, what->code, (size_t)readable, what->os_pid);
		what->has_vanished = got < readable;
		readable = got;
		out->pos += got;
	} else {
		put(out, what->code, readable);
	}
	put_zeros(out, what->code_bytes - readable);
}

void ppjit_encode_load(struct ppjit_out *out, struct ppjit_code *what)
{
	const struct polyperf_jit_load_info *load = what->load;
	if (load->line_count)
		encode_lines(out, load);
	if (load->unwinding)
		encode_unwinding(out, load->unwinding);
	if (load->inline_count)
		encode_inlines(out, load);
	if (load->bytecode_count)
		encode_bytecodes(out, load);
	if (load->note_count || what->readable_bytes < what->code_bytes)
		encode_notes(out, what);
	const uint64_t start = begin(out, JITDUMP_CODE_LOAD);
	put_u32(out, what->pid);
	put_u32(out, what->tid);
	put_u64(out, load->address);
	put_u64(out, load->address);
	put_u64(out, load->size);
	put_u64(out, what->index);
	put_string(out, what->name.data, what->name.size);
	put_code(out, what);
	end(out, start);
}

void ppjit_encode_method(struct ppjit_out *out, const struct ppjit_method *what)
{
	const struct polyperf_jit_method_info *method = what->method;
	const size_t file_size = method->file ? strlen(method->file) : 0;
	const uint32_t file_at = (uint32_t)what->name.size + 1;
	const uint64_t start = begin(out, JITDUMP_METHOD);
	put_u32(out, what->pid);
	put_u32(out, what->tid);
	put_u64(out, method->id);
	put_u64(out, method->bytecode_address);
	put_u64(out, method->bytecode_size);
	put_u32(out, (uint32_t)method->line_count);
	put_u32(out, file_at + (method->file ? (uint32_t)file_size + 1 : 0));
	put_u32(out, method->line);
	put_u32(out, 0);
	put_u32(out, method->file ? file_at : JITDUMP_NO_STRING);
	put_u32(out, 0);
	for (size_t i = 0; i < method->line_count; i++) {
		put_u32(out, method->lines[i].bytecode);
		put_u32(out, method->lines[i].line);
	}
	put_string(out, what->name.data, what->name.size);
	if (method->file)
		put_string(out, method->file, file_size);
	end(out, start);
}

void ppjit_encode_move(struct ppjit_out *out, const struct ppjit_move *what)
{
	const uint64_t start = begin(out, JITDUMP_CODE_MOVE);
	put_u32(out, what->pid);
	put_u32(out, what->tid);
	put_u64(out, what->new_address);
	put_u64(out, what->old_address);
	put_u64(out, what->new_address);
	put_u64(out, what->size);
	put_u64(out, what->index);
	end(out, start);
}

void ppjit_encode_unload(struct ppjit_out *out, const struct ppjit_move *what)
{
	const uint64_t start = begin(out, JITDUMP_UNLOAD);
	put_u32(out, what->pid);
	put_u32(out, what->tid);
	put_u64(out, what->old_address);
	put_u64(out, what->size);
	put_u64(out, what->index);
	end(out, start);
}

struct ppjit_text ppjit_name(const char *name, size_t size)
{
	if (!size)
		size = strnlen(name, PPJIT_NAME_MAX + 1);
	const char *nul = memchr(name, 0, size < PPJIT_NAME_MAX ? size : PPJIT_NAME_MAX);
	if (nul)
		size = (size_t)(nul - name);
	if (size > PPJIT_NAME_MAX) {
		/* Not in the middle of a UTF-8 character. */
		size = PPJIT_NAME_MAX;
		while (size && ((unsigned char)name[size] & 0xc0) == 0x80)
			size--;
	}
	return (struct ppjit_text){ name, size };
}
