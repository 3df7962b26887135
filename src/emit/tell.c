/* The calls that tell of code. */
#include "emit/emit_internal.h"
#include "emit/encode.h"

enum { COUNT_MAX = 1 << 24 }; /* entries of one load: what a record's 32-bit size holds */

/* Takes a caller's struct of any version: what it lacks is zero, and what it has more must be. */
static int take_struct(void *to, size_t size, const void *from, size_t least)
{
	if (!from)
		return POLYPERF_JIT_INVALID;
	size_t given;
	memcpy(&given, from, sizeof(given));
	if (given < least)
		return POLYPERF_JIT_INVALID;
	memset(to, 0, size);
	memcpy(to, from, given < size ? given : size);
	for (size_t i = size; i < given; i++)
		if (((const uint8_t *)from)[i])
			return POLYPERF_JIT_UNSUPPORTED;
	return 0;
}

/* One of these is set. */
struct told {
	struct ppjit_code *code;
	const struct ppjit_method *method;
	const struct ppjit_move *move;
	const struct ppjit_move *unload;
	bool is_existing;
};

static void encode(struct ppjit_out *out, const struct told *told)
{
	if (told->code)
		ppjit_encode_load(out, told->code);
	else if (told->method)
		ppjit_encode_method(out, told->method);
	else if (told->move)
		ppjit_encode_move(out, told->move);
	else
		ppjit_encode_unload(out, told->unload);
}

static int write_dump(struct polyperf_jit *jit, const struct told *told)
{
	struct ppjit_out measured = { 0 };
	struct ppjit_span span;
	encode(&measured, told);
	if (measured.pos > UINT32_MAX)
		return POLYPERF_JIT_TOO_BIG;
	const int got = ppjit_reserve(jit, (size_t)measured.pos, told->code != NULL, &span);
	if (got != 0)
		return got;
	if (told->code)
		told->code->index = span.index;
	struct ppjit_out out = measured;
	out.base = span.at;
	out.room = measured.pos;
	out.pos = 0;
	out.part = 0;
	out.time_ns = told->is_existing ? 0 : span.time_ns;
	ppjit_put_u64(span.at + 8, out.time_ns);
	encode(&out, told);
	/* Strings that grew since they were measured: what is there is no record. */
	if (out.pos != measured.pos) {
		ppjit_publish(jit, &span, JITDUMP_PAD, (uint32_t)measured.pos);
		return POLYPERF_JIT_INVALID;
	}
	ppjit_publish(jit, &span, out.first_id, out.first_size);
	return 0;
}

static int write_map(struct polyperf_jit *jit, struct ppjit_text name, uint64_t address,
		     uint64_t size)
{
	ppjit_lock(&jit->lock);
	const int got = ppjit_map_write(jit, name.data, name.size, address, size);
	ppjit_unlock(&jit->lock);
	return got;
}

/* The dump's result counts, where there is one. */
static int join(const struct polyperf_jit *jit, int dump, int map)
{
	return jit->flags & POLYPERF_JIT_DUMP ? dump : map;
}

static int check_load(const struct polyperf_jit_load_info *load)
{
	if (!load->name || !load->address || !load->size ||
	    load->address + load->size < load->address)
		return POLYPERF_JIT_INVALID;
	if ((load->line_count && !load->lines) || (load->inline_count && !load->inlines) ||
	    (load->bytecode_count && !load->bytecodes) || (load->note_count && !load->notes))
		return POLYPERF_JIT_INVALID;
	const bool has_too_many = load->line_count > COUNT_MAX || load->inline_count > COUNT_MAX ||
				  load->bytecode_count > COUNT_MAX || load->note_count > COUNT_MAX;
	const struct polyperf_jit_unwinding *unwinding = load->unwinding;
	if (has_too_many || load->size > UINT32_MAX || (unwinding && unwinding->size > UINT32_MAX))
		return POLYPERF_JIT_TOO_BIG;
	if (unwinding && (!unwinding->data || unwinding->eh_frame_hdr_size > unwinding->size))
		return POLYPERF_JIT_INVALID;
	return 0;
}

static void find_code(const struct polyperf_jit_load_info *load, struct ppjit_code *what)
{
	if (load->flags & POLYPERF_JIT_WITHOUT_CODE)
		return;
	what->code = load->code ? load->code : (const uint8_t *)(uintptr_t)load->address;
	what->code_bytes = load->size;
	what->readable_bytes = load->size;
	if (!(load->flags & POLYPERF_JIT_CODE_TRUSTED))
		what->readable_bytes = ppjit_readable(what->code, (size_t)load->size);
	what->may_vanish = load->flags & POLYPERF_JIT_CODE_MAY_VANISH;
}

static int tell_load(struct polyperf_jit *jit, const struct polyperf_jit_load_info *load)
{
	int dump = check_load(load);
	int map = dump;
	if (dump < 0)
		return dump;
	struct ppjit_code what = {
		.load = load,
		.name = ppjit_name(load->name, load->name_size),
		.pid = jit->pid,
		.tid = load->tid ? load->tid : ppjit_tid(),
		.os_pid = jit->own_pid,
	};
	if (jit->flags & POLYPERF_JIT_DUMP) {
		find_code(load, &what);
		dump = write_dump(jit, &(struct told){
					   .code = &what,
					   .is_existing = load->flags & POLYPERF_JIT_EXISTING,
				       });
		if (dump == 0 && load->code_index)
			*load->code_index = what.index;
		if (what.has_vanished || what.readable_bytes < what.code_bytes)
			atomic_fetch_add(&jit->unreadable_count, 1);
	}
	if (jit->flags & POLYPERF_JIT_MAP)
		map = write_map(jit, what.name, load->address, load->size);
	return join(jit, dump, map);
}

int polyperf_jit_load(struct polyperf_jit *jit, const struct polyperf_jit_load_info *load)
{
	if (ppjit_is_off(jit))
		return POLYPERF_JIT_OFF;
	int errno_value;
	int got = ppjit_enter(jit, &errno_value);
	struct polyperf_jit_load_info taken;
	if (got == 0)
		got = take_struct(&taken, sizeof(taken), load,
				  offsetof(struct polyperf_jit_load_info, flags));
	if (got == 0)
		got = tell_load(jit, &taken);
	return ppjit_leave(jit, errno_value, got);
}

int polyperf_jit_code(struct polyperf_jit *jit, const char *name, const void *address,
		      uint64_t size)
{
	if (ppjit_is_off(jit))
		return POLYPERF_JIT_OFF;
	int errno_value;
	int got = ppjit_enter(jit, &errno_value);
	const struct polyperf_jit_load_info load = {
		.struct_size = sizeof(load),
		.name = name,
		.address = (uintptr_t)address,
		.size = size,
	};
	if (got == 0)
		got = tell_load(jit, &load);
	return ppjit_leave(jit, errno_value, got);
}

int polyperf_jit_move(struct polyperf_jit *jit, uint64_t old_address, uint64_t new_address,
		      uint64_t size, uint64_t code_index)
{
	if (ppjit_is_off(jit))
		return POLYPERF_JIT_OFF;
	int errno_value;
	int got = ppjit_enter(jit, &errno_value);
	const struct ppjit_move move = {
		.old_address = old_address,
		.new_address = new_address,
		.size = size,
		.index = code_index,
		.pid = jit->pid,
		.tid = ppjit_tid(),
	};
	if (got == 0 && (!old_address || !new_address || !size))
		got = POLYPERF_JIT_INVALID;
	if (got == 0 && jit->flags & POLYPERF_JIT_DUMP)
		got = write_dump(jit, &(struct told){ .move = &move });
	return ppjit_leave(jit, errno_value, got);
}

int polyperf_jit_unload(struct polyperf_jit *jit, uint64_t address, uint64_t size,
			uint64_t code_index)
{
	if (ppjit_is_off(jit))
		return POLYPERF_JIT_OFF;
	int errno_value;
	int got = ppjit_enter(jit, &errno_value);
	const struct ppjit_move unload = {
		.old_address = address,
		.size = size,
		.index = code_index,
		.pid = jit->pid,
		.tid = ppjit_tid(),
	};
	if (got == 0 && !address)
		got = POLYPERF_JIT_INVALID;
	if (got == 0 && jit->flags & POLYPERF_JIT_DUMP)
		got = write_dump(jit, &(struct told){ .unload = &unload });
	return ppjit_leave(jit, errno_value, got);
}

static int tell_method(struct polyperf_jit *jit, const struct polyperf_jit_method_info *method)
{
	if (!method->name || !method->id || (method->line_count && !method->lines))
		return POLYPERF_JIT_INVALID;
	if (method->line_count > COUNT_MAX)
		return POLYPERF_JIT_TOO_BIG;
	if (!(jit->flags & POLYPERF_JIT_DUMP))
		return 0;
	const struct ppjit_method what = {
		.method = method,
		.name = ppjit_name(method->name, method->name_size),
		.pid = jit->pid,
		.tid = ppjit_tid(),
	};
	return write_dump(jit, &(struct told){
				   .method = &what,
				   .is_existing = method->flags & POLYPERF_JIT_EXISTING,
			       });
}

int polyperf_jit_method(struct polyperf_jit *jit, const struct polyperf_jit_method_info *method)
{
	if (ppjit_is_off(jit))
		return POLYPERF_JIT_OFF;
	int errno_value;
	int got = ppjit_enter(jit, &errno_value);
	struct polyperf_jit_method_info taken;
	if (got == 0)
		got = take_struct(&taken, sizeof(taken), method,
				  offsetof(struct polyperf_jit_method_info, file));
	if (got == 0)
		got = tell_method(jit, &taken);
	return ppjit_leave(jit, errno_value, got);
}
