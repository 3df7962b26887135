/* The DWARF expressions that call frame information uses (DWARF 5, sections 2.5 and 6.4.2). */
#include "unwind/step.h"

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	DEPTH = 32,
	STEP_LIMIT = 512, /* jumps may go back */
};

struct evaluation {
	const struct unwind_step *step;
	struct bytes expression;
	struct cursor c;
	uint64_t stack[DEPTH];
	unsigned depth;
	enum unwind_end end; /* other than UNWIND_WHOLE: it came to nothing */
};

static void fail(struct evaluation *e, enum unwind_end end)
{
	if (e->end == UNWIND_WHOLE)
		e->end = end;
}

static void push(struct evaluation *e, uint64_t value)
{
	if (e->depth == DEPTH)
		fail(e, UNWIND_NO_CFI);
	else
		e->stack[e->depth++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (!e->depth) {
		fail(e, UNWIND_NO_CFI);
		return 0;
	}
	return e->stack[--e->depth];
}

static void push_register(struct evaluation *e, uint64_t number, int64_t offset)
{
	uint64_t value = 0;
	if (number >= UNWIND_REGISTERS ||
	    !unwind_get(&e->step->registers, (unsigned)number, &value))
		fail(e, UNWIND_NO_REGISTER);
	push(e, value + (uint64_t)offset);
}

static void push_pick(struct evaluation *e, unsigned from_top)
{
	if (from_top >= e->depth)
		fail(e, UNWIND_NO_CFI);
	else
		push(e, e->stack[e->depth - 1 - from_top]);
}

static void push_memory(struct evaluation *e, unsigned size)
{
	const struct unwind_memory *m = &e->step->memory;
	const uint64_t avma = pop(e);
	const uint64_t at = avma - m->start_avma;
	uint64_t value = 0;
	if (!size || size > sizeof(value))
		fail(e, UNWIND_NO_CFI);
	else if (avma < m->start_avma || at > m->bytes.size || m->bytes.size - at < size)
		fail(e, UNWIND_TRUNCATED);
	else
		memcpy(&value, m->bytes.data + at, size); /* both machines are little endian */
	push(e, value);
}

static void jump(struct evaluation *e, bool is_taken)
{
	const int16_t by = (int16_t)cursor_u16(&e->c);
	const ptrdiff_t to = (e->c.pos - e->expression.data) + by;
	if (!is_taken)
		return;
	if (to < 0 || (size_t)to > e->expression.size)
		fail(e, UNWIND_NO_CFI);
	else
		e->c.pos = e->expression.data + to;
}

static bool do_constant(struct evaluation *e, uint8_t op)
{
	struct cursor *c = &e->c;
	switch (op) {
	case OP_CONST1U:
		push(e, cursor_u8(c));
		return true;
	case OP_CONST1S:
		push(e, (uint64_t)(int64_t)(int8_t)cursor_u8(c));
		return true;
	case OP_CONST2U:
		push(e, cursor_u16(c));
		return true;
	case OP_CONST2S:
		push(e, (uint64_t)(int64_t)(int16_t)cursor_u16(c));
		return true;
	case OP_CONST4U:
		push(e, cursor_u32(c));
		return true;
	case OP_CONST4S:
		push(e, (uint64_t)(int64_t)(int32_t)cursor_u32(c));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(e, cursor_u64(c));
		return true;
	case OP_CONSTU:
		push(e, cursor_uleb(c));
		return true;
	case OP_CONSTS:
		push(e, (uint64_t)cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

static bool do_stack(struct evaluation *e, uint8_t op)
{
	uint64_t a;
	uint64_t b;
	uint64_t d;
	switch (op) {
	case OP_DUP:
		push_pick(e, 0);
		return true;
	case OP_DROP:
		(void)pop(e);
		return true;
	case OP_OVER:
		push_pick(e, 1);
		return true;
	case OP_PICK:
		push_pick(e, cursor_u8(&e->c));
		return true;
	case OP_SWAP:
		a = pop(e);
		b = pop(e);
		push(e, a);
		push(e, b);
		return true;
	case OP_ROT: /* the top becomes the third */
		a = pop(e);
		b = pop(e);
		d = pop(e);
		push(e, a);
		push(e, d);
		push(e, b);
		return true;
	case OP_NOP:
		return true;
	default:
		return false;
	}
}

static bool do_unary(struct evaluation *e, uint8_t op)
{
	uint64_t a;
	switch (op) {
	case OP_DEREF:
		push_memory(e, sizeof(uint64_t));
		return true;
	case OP_DEREF_SIZE:
		push_memory(e, cursor_u8(&e->c));
		return true;
	case OP_ABS:
		a = pop(e);
		push(e, (int64_t)a < 0 ? 0 - a : a);
		return true;
	case OP_NEG:
		push(e, 0 - pop(e));
		return true;
	case OP_NOT:
		push(e, ~pop(e));
		return true;
	case OP_PLUS_UCONST:
		a = pop(e);
		push(e, a + cursor_uleb(&e->c));
		return true;
	default:
		return false;
	}
}

static uint64_t divided(struct evaluation *e, uint64_t a, uint64_t b)
{
	if (!b || ((int64_t)a == INT64_MIN && (int64_t)b == -1)) {
		fail(e, UNWIND_NO_CFI);
		return 0;
	}
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shifted_down(int64_t value, uint64_t by)
{
	return (uint64_t)(value >> (by < 63 ? by : 63));
}

/* With `a` pushed before `b`; false for what is no operation of two. */
static bool two(struct evaluation *e, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return push(e, a & b), true;
	case OP_DIV:
		return push(e, divided(e, a, b)), true;
	case OP_MINUS:
		return push(e, a - b), true;
	case OP_MOD:
		if (!b)
			fail(e, UNWIND_NO_CFI);
		return push(e, b ? a % b : 0), true;
	case OP_MUL:
		return push(e, a * b), true;
	case OP_OR:
		return push(e, a | b), true;
	case OP_PLUS:
		return push(e, a + b), true;
	case OP_SHL:
		return push(e, b < 64 ? a << b : 0), true;
	case OP_SHR:
		return push(e, b < 64 ? a >> b : 0), true;
	case OP_SHRA:
		return push(e, shifted_down((int64_t)a, b)), true;
	case OP_XOR:
		return push(e, a ^ b), true;
	case OP_EQ:
		return push(e, a == b), true;
	case OP_GE:
		return push(e, (int64_t)a >= (int64_t)b), true;
	case OP_GT:
		return push(e, (int64_t)a > (int64_t)b), true;
	case OP_LE:
		return push(e, (int64_t)a <= (int64_t)b), true;
	case OP_LT:
		return push(e, (int64_t)a < (int64_t)b), true;
	case OP_NE:
		return push(e, a != b), true;
	default:
		return false;
	}
}

static void do_one(struct evaluation *e, uint8_t op)
{
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(e, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(e, op - OP_BREG0, cursor_sleb(&e->c));
	} else if (op == OP_BREGX) {
		const uint64_t number = cursor_uleb(&e->c);
		push_register(e, number, cursor_sleb(&e->c));
	} else if (op == OP_SKIP) {
		jump(e, true);
	} else if (op == OP_BRA) {
		jump(e, pop(e) != 0);
	} else if (!do_constant(e, op) && !do_stack(e, op) && !do_unary(e, op)) {
		const uint64_t b = pop(e);
		const uint64_t a = pop(e);
		if (!two(e, op, a, b))
			fail(e, UNWIND_NO_CFI);
	}
}

enum unwind_end unwind_evaluate(const struct unwind_step *step, struct bytes expression,
				const uint64_t *first, uint64_t *result)
{
	struct evaluation e = { .step = step,
				.expression = expression,
				.c = cursor_over(expression) };
	if (first)
		push(&e, *first);
	for (unsigned steps = 0; cursor_left(&e.c) && e.end == UNWIND_WHOLE; steps++) {
		if (steps == STEP_LIMIT)
			fail(&e, UNWIND_NO_CFI);
		else
			do_one(&e, cursor_u8(&e.c));
	}
	const uint64_t value = pop(&e);
	if (cursor_failed(&e.c))
		fail(&e, UNWIND_NO_CFI);
	if (e.end == UNWIND_WHOLE)
		*result = value;
	return e.end;
}
