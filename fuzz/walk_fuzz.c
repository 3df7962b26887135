/* A walk through tables and over a stack that the input makes up:
 *
 *   flags (1: aarch64, 2: .debug_frame, 4: unwinding information of a JIT), size of the table's
 *   bytes (u16), those; then registers (u8 count, each u8 number, u64 value), the rest is the stack
 *   at 0x10000. Code lies at 0 to 0xffff; how a frame is found hangs on bits of its address.
 */
#include "unwind/rules.h"
#include "unwind/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STACK = 0x10000, CODE = 0x10000, LIMIT = 64 };

struct code {
	struct cfi_table *table;
	enum unwind_machine machine;
	uint64_t sum;
};

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	struct code *code = context;
	uint64_t word = 0;
	code->sum += unwind_stack_word(frame, frame->avma, &word) + frame->is_exact;
	if (frame->avma >= CODE)
		return;
	place->table = code->table;
	place->svma = frame->avma;
	place->code = UNWIND_CFI;
	place->otherwise = frame->avma & 0x100 ? UNWIND_FRAME_POINTER : UNWIND_UNKNOWN;
	if (!(frame->avma & 0x8000))
		return;
	place->code = (enum unwind_code)(frame->avma >> 8 & 7);
	place->is_interpreter = frame->avma & 1;
	place->rule = frame->avma & 0x10 ? unwind_rule_signal(frame->machine)
		      : frame->avma & 0x20
			  ? unwind_rule_entry(frame->machine)
			  : unwind_rule_fixed(frame->machine, (int32_t)(frame->avma & 0xff), true);
}

static void tell(void *context, const struct unwind_frame *frame)
{
	struct code *code = context;
	uint64_t word = 0;
	code->sum += unwind_frame_word(frame, -8, &word) + word;
}

static void make_table(struct code *code, struct bytes bytes, unsigned flags)
{
	struct cfi_sections sections = { .machine = code->machine };
	const struct cfi_jit jit = { .machine = code->machine,
				     .unwinding = bytes,
				     .eh_frame_hdr_size = flags & 8 ? 20 : 0,
				     .code_svma = 0x100,
				     .code_size = 0x100 };
	if (flags & 2) {
		sections.debug_frame = bytes;
	} else {
		sections.eh_frame = bytes;
		sections.eh_frame_svma = 0x8000;
	}
	if ((flags & 4 ? cfi_table_jit(&code->table, &jit)
		       : cfi_table_sections(&code->table, &sections)) < 0)
		code->table = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_over((struct bytes){ data, size });
	struct code code = { 0 };
	struct unwind_state state = { .stack_avma = STACK };
	uint64_t avmas[LIMIT];
	enum unwind_end end;
	const unsigned flags = cursor_u8(&c);
	code.machine = state.machine = flags & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	const size_t table_size = cursor_u16(&c);
	make_table(&code, cursor_take(&c, table_size), flags);
	for (unsigned left = cursor_u8(&c); left && cursor_left(&c); left--) {
		const unsigned number = cursor_u8(&c) % UNWIND_REGISTERS;
		unwind_set(&state.registers, number, cursor_u64(&c));
	}
	state.stack = cursor_take(&c, cursor_left(&c));
	const struct unwind_callbacks callbacks = { .context = &code,
						    .find = find,
						    .interpreter = tell };
	const size_t count = unwind_walk(&callbacks, &state, avmas, LIMIT, &end);
	for (size_t i = 0; i < count; i++)
		code.sum += avmas[i];
	if (count > LIMIT || !*unwind_end_text(end))
		__builtin_trap();
	cfi_table_free(code.table);
	return code.sum == UINT64_MAX;
}
