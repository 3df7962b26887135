#include "unwind/cfi_program.h"

#include "unwind/step.h"

enum {
	OP_ADVANCE = 0x40, /* the top two bits; the rest is an operand */
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_NOP = 0x00,
	OP_SET_LOC,
	OP_ADVANCE1,
	OP_ADVANCE2,
	OP_ADVANCE4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED,
	OP_UNDEFINED,
	OP_SAME_VALUE,
	OP_REGISTER,
	OP_REMEMBER,
	OP_RESTORE_STATE,
	OP_DEF_CFA,
	OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET,
	OP_DEF_CFA_EXPRESSION,
	OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF,
	OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF,
	OP_VAL_OFFSET,
	OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_MIPS_ADVANCE8 = 0x1d,
	OP_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	OP_AARCH64_NEGATE_RA_STATE = 0x2d,
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
	REMEMBER_LIMIT = 16,
};

struct machine {
	const struct cfi_program *program;
	struct cfi_state now;
	struct cfi_state initial; /* after the CIE */
	struct cfi_state saved[REMEMBER_LIMIT];
	unsigned saved_count;
	uint64_t svma;
};

uint64_t cfi_format(struct cursor *c, unsigned encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ULEB128:
		return cursor_uleb(c);
	case PE_SLEB128:
		return (uint64_t)cursor_sleb(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

uint64_t cfi_pointer(const struct cfi_section *section, struct cursor *c, unsigned encoding)
{
	const uint64_t at = section->svma + (uint64_t)(c->pos - section->bytes.data);
	const uint64_t value = cfi_format(c, encoding);
	switch (encoding & PE_APPLICATION) {
	case 0:
		return value;
	case PE_PCREL:
		return at + value;
	case PE_DATAREL:
		return section->data_svma + value;
	default:
		cursor_fail(c); /* relative to things we do not know */
		return 0;
	}
}

/* Of registers that are not followed (of floats and vectors) nothing is kept. */
static void set_rule(struct cfi_state *state, uint64_t number, struct cfi_rule rule)
{
	if (number >= UNWIND_REGISTERS)
		return;
	state->ruled |= (uint64_t)1 << number;
	state->rules[number] = rule;
}

/* One whose operand does not fit is as good as lost. */
static void set_offset(struct machine *m, uint64_t number, enum cfi_rule_kind kind, int64_t offset)
{
	struct cfi_rule rule = { .kind = (uint8_t)kind, .operand = (int32_t)offset };
	if (rule.operand != offset)
		m->now.has_cfa = false;
	set_rule(&m->now, number, rule);
}

static void restore(struct machine *m, uint64_t number)
{
	if (number >= UNWIND_REGISTERS)
		return;
	const uint64_t bit = (uint64_t)1 << number;
	m->now.ruled = (m->now.ruled & ~bit) | (m->initial.ruled & bit);
	m->now.rules[number] = m->initial.rules[number];
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->now.cfa = (struct cfi_rule){ .kind = CFI_REGISTER,
					.number = (uint8_t)number,
					.operand = (int32_t)offset };
	m->now.has_cfa = number < UNWIND_REGISTERS && m->now.cfa.operand == offset;
}

/* A later instruction may change the register alone, or the offset. */
static void set_cfa_offset(struct machine *m, int64_t offset)
{
	m->now.has_cfa &= m->now.cfa.kind == CFI_REGISTER && (int32_t)offset == offset;
	m->now.cfa.operand = (int32_t)offset;
}

static bool take_expression(const struct machine *m, struct cursor *c, enum cfi_rule_kind kind,
			    struct cfi_rule *rule)
{
	const uint64_t size = cursor_uleb(c);
	const struct bytes e = cursor_take(c, size);
	const size_t at = (size_t)(e.data - m->program->section->bytes.data);
	*rule = (struct cfi_rule){ .kind = (uint8_t)kind,
				   .size = (uint16_t)e.size,
				   .operand = (int32_t)at };
	return !cursor_failed(c) && rule->size == e.size && at <= INT32_MAX;
}

static int64_t factored(const struct machine *m, int64_t offset)
{
	int64_t result;
	return __builtin_mul_overflow(offset, m->program->cie->data_align, &result) ? INT64_MAX
										    : result;
}

static bool run_saved(struct machine *m, struct cursor *c, uint8_t op)
{
	const uint64_t number = cursor_uleb(c);
	struct cfi_rule rule = { 0 };
	switch (op) {
	case OP_OFFSET_EXTENDED:
		set_offset(m, number, CFI_AT_CFA, factored(m, (int64_t)cursor_uleb(c)));
		return true;
	case OP_OFFSET_EXTENDED_SF:
		set_offset(m, number, CFI_AT_CFA, factored(m, cursor_sleb(c)));
		return true;
	case OP_GNU_NEGATIVE_OFFSET:
		set_offset(m, number, CFI_AT_CFA, -factored(m, (int64_t)cursor_uleb(c)));
		return true;
	case OP_VAL_OFFSET:
		set_offset(m, number, CFI_VALUE_CFA, factored(m, (int64_t)cursor_uleb(c)));
		return true;
	case OP_VAL_OFFSET_SF:
		set_offset(m, number, CFI_VALUE_CFA, factored(m, cursor_sleb(c)));
		return true;
	case OP_RESTORE_EXTENDED:
		restore(m, number);
		return true;
	case OP_UNDEFINED:
		rule.kind = CFI_UNDEFINED;
		break;
	case OP_SAME_VALUE:
		rule.kind = CFI_SAME;
		break;
	case OP_REGISTER:
		rule.kind = CFI_REGISTER;
		const uint64_t other = cursor_uleb(c);
		rule.number = other < UNWIND_REGISTERS ? (uint8_t)other : UINT8_MAX;
		break;
	case OP_EXPRESSION:
	case OP_VAL_EXPRESSION:
		if (!take_expression(
			m, c, op == OP_EXPRESSION ? CFI_EXPRESSION : CFI_VALUE_EXPRESSION, &rule))
			return false;
		break;
	default:
		return false;
	}
	set_rule(&m->now, number, rule);
	return true;
}

static bool run_frame(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t number;
	switch (op) {
	case OP_DEF_CFA:
		number = cursor_uleb(c);
		set_cfa(m, number, (int64_t)cursor_uleb(c));
		return true;
	case OP_DEF_CFA_SF:
		number = cursor_uleb(c);
		set_cfa(m, number, factored(m, cursor_sleb(c)));
		return true;
	case OP_DEF_CFA_REGISTER:
		set_cfa(m, cursor_uleb(c), m->now.cfa.operand);
		return true;
	case OP_DEF_CFA_OFFSET:
		set_cfa_offset(m, (int64_t)cursor_uleb(c));
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		set_cfa_offset(m, factored(m, cursor_sleb(c)));
		return true;
	case OP_DEF_CFA_EXPRESSION:
		m->now.has_cfa = take_expression(m, c, CFI_VALUE_EXPRESSION, &m->now.cfa);
		return m->now.has_cfa;
	case OP_REMEMBER:
		if (m->saved_count == REMEMBER_LIMIT)
			return false;
		m->saved[m->saved_count++] = m->now;
		return true;
	case OP_RESTORE_STATE:
		if (!m->saved_count)
			return false;
		m->now = m->saved[--m->saved_count];
		return true;
	case OP_GNU_ARGS_SIZE: /* of interest where an exception lands */
		(void)cursor_uleb(c);
		return true;
	case OP_AARCH64_NEGATE_RA_STATE: /* every return address is stripped of its code */
	case OP_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return m->program->machine == UNWIND_AARCH64;
	case OP_NOP:
		return true;
	default:
		return run_saved(m, c, op);
	}
}

static bool run_one(struct machine *m, struct cursor *c, uint8_t op)
{
	if ((op & 0xc0) == OP_OFFSET)
		set_offset(m, op & 0x3f, CFI_AT_CFA, factored(m, (int64_t)cursor_uleb(c)));
	else if ((op & 0xc0) == OP_RESTORE)
		restore(m, op & 0x3f);
	else
		return run_frame(m, c, op) && !cursor_failed(c);
	return !cursor_failed(c);
}

/* Where the row ends; false if the instruction is none of these. */
static bool next_row(const struct machine *m, struct cursor *c, uint8_t op, uint64_t *svma)
{
	uint64_t units;
	if ((op & 0xc0) == OP_ADVANCE)
		units = op & 0x3f;
	else if (op == OP_ADVANCE1)
		units = cursor_u8(c);
	else if (op == OP_ADVANCE2)
		units = cursor_u16(c);
	else if (op == OP_ADVANCE4)
		units = cursor_u32(c);
	else if (op == OP_MIPS_ADVANCE8)
		units = cursor_u64(c);
	else if (op != OP_SET_LOC)
		return false;
	if (op == OP_SET_LOC)
		*svma = cfi_pointer(m->program->section, c, m->program->cie->encoding);
	else
		*svma = m->svma + units * m->program->cie->code_align;
	return true;
}

static bool run_initial(struct machine *m)
{
	struct cursor c = m->program->cie->program;
	while (cursor_left(&c)) {
		uint64_t unused;
		const uint8_t op = cursor_u8(&c);
		if (!next_row(m, &c, op, &unused) && !run_one(m, &c, op))
			return false;
	}
	m->initial = m->now;
	return !cursor_failed(&c);
}

static bool put(struct machine *m)
{
	return m->program->put(m->program->context, m->svma, &m->now);
}

bool cfi_program_run(const struct cfi_program *p)
{
	struct machine m;
	m.program = p;
	m.now = (struct cfi_state){ .has_cfa = false };
	m.initial = m.now;
	m.saved_count = 0;
	m.svma = p->start_svma;
	if (!run_initial(&m))
		return true;
	struct cursor c = p->instructions;
	while (cursor_left(&c)) {
		uint64_t next;
		const uint8_t op = cursor_u8(&c);
		if (next_row(&m, &c, op, &next)) {
			if (cursor_failed(&c) || next < m.svma)
				break;
			if (next > m.svma && !put(&m))
				return false;
			m.svma = next;
			if (next >= p->end_svma)
				return true;
		} else if (!run_one(&m, &c, op)) {
			cursor_fail(&c);
		}
	}
	if (cursor_failed(&c) || cursor_left(&c))
		m.now.has_cfa = false;
	return put(&m);
}
