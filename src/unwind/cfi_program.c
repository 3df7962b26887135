#include "unwind/cfi_program.h"

enum {
	OP_ADVANCE = 0x40, /* the top two bits; the rest is an operand */
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_SET_LOC = 0x01,
	OP_ADVANCE1 = 0x02,
	OP_ADVANCE2 = 0x03,
	OP_ADVANCE4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER = 0x0a,
	OP_RESTORE_STATE = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
	REMEMBER_LIMIT = 16,
};

/* How the frame is found at one address. */
struct state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool is_plt; /* the expression that linkers put for stubs; cfa_offset: see CFI_PLT */
	bool is_opaque;
	bool is_outer; /* the return address is undefined */
	bool has_bp;
	int64_t bp_offset;
};

struct machine {
	const struct cfi_cie *cie;
	struct state now;
	struct state initial; /* after the CIE */
	struct state saved[REMEMBER_LIMIT];
	unsigned saved_count;
	uint64_t svma;
};

uint64_t cfi_uleb(struct cursor *c)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		const uint8_t byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

int64_t cfi_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

static void set_offset(struct machine *m, uint64_t number, int64_t offset)
{
	if (number == CFI_BP) {
		m->now.has_bp = true;
		m->now.bp_offset = offset;
	} else if (number == CFI_RETURN_ADDRESS && offset != -8) {
		m->now.is_opaque = true;
	}
}

static void forget(struct machine *m, uint64_t number)
{
	if (number == CFI_BP)
		m->now.has_bp = false;
}

/* As linkers write it for .plt: rsp + 8, and 8 more from some byte of the sixteen on:
 * breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus.
 */
static bool is_plt_expression(struct bytes e)
{
	static const uint8_t shape[] = {
		0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22
	};
	enum { LIT_AT = 6 };
	return e.size == sizeof(shape) && memcmp(e.data, shape, LIT_AT) == 0 &&
	       memcmp(e.data + LIT_AT + 1, shape + LIT_AT + 1, sizeof(shape) - LIT_AT - 1) == 0 &&
	       e.data[LIT_AT] >= 0x30 && e.data[LIT_AT] <= 0x3f;
}

static void set_expression(struct machine *m, struct cursor *c)
{
	const struct bytes e = cursor_take(c, cfi_uleb(c));
	m->now.is_plt = is_plt_expression(e);
	m->now.is_opaque = !m->now.is_plt;
	if (m->now.is_plt)
		m->now.cfa_offset = e.data[6] - 0x30;
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->now.cfa_register = number;
	m->now.cfa_offset = offset;
	m->now.is_plt = false;
	m->now.is_opaque = number != CFI_SP && number != CFI_BP;
}

static int64_t factored(const struct machine *m, uint64_t offset)
{
	int64_t result;
	return __builtin_mul_overflow((int64_t)offset, m->cie->data_align, &result) ? 0 : result;
}

/* Instructions about registers; false for one that is not known. */
static bool run_extended(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t number;
	switch (op) {
	case 0:
		return true;
	case OP_OFFSET_EXTENDED:
		number = cfi_uleb(c);
		set_offset(m, number, factored(m, cfi_uleb(c)));
		return true;
	case OP_OFFSET_EXTENDED_SF:
		number = cfi_uleb(c);
		set_offset(m, number, factored(m, (uint64_t)cfi_sleb(c)));
		return true;
	case OP_GNU_NEGATIVE_OFFSET:
		number = cfi_uleb(c);
		set_offset(m, number, -factored(m, cfi_uleb(c)));
		return true;
	case OP_RESTORE_EXTENDED:
	case OP_SAME_VALUE:
		forget(m, cfi_uleb(c));
		return true;
	case OP_UNDEFINED:
		number = cfi_uleb(c);
		m->now.is_outer |= number == CFI_RETURN_ADDRESS;
		forget(m, number);
		return true;
	case OP_REGISTER:
	case OP_VAL_OFFSET:
	case OP_VAL_OFFSET_SF:
		number = cfi_uleb(c);
		(void)cfi_uleb(c);
		m->now.is_opaque |= number == CFI_BP || number == CFI_RETURN_ADDRESS;
		return true;
	case OP_EXPRESSION:
	case OP_VAL_EXPRESSION:
		number = cfi_uleb(c);
		(void)cursor_take(c, cfi_uleb(c));
		m->now.is_opaque |= number == CFI_BP || number == CFI_RETURN_ADDRESS;
		return true;
	case OP_GNU_ARGS_SIZE:
		(void)cfi_uleb(c);
		return true;
	default:
		return false;
	}
}

static bool run_frame(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t number;
	switch (op) {
	case OP_DEF_CFA:
		number = cfi_uleb(c);
		set_cfa(m, number, (int64_t)cfi_uleb(c));
		return true;
	case OP_DEF_CFA_SF:
		number = cfi_uleb(c);
		set_cfa(m, number, factored(m, (uint64_t)cfi_sleb(c)));
		return true;
	case OP_DEF_CFA_REGISTER:
		set_cfa(m, cfi_uleb(c), m->now.cfa_offset);
		return true;
	case OP_DEF_CFA_OFFSET:
		m->now.cfa_offset = (int64_t)cfi_uleb(c);
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		m->now.cfa_offset = factored(m, (uint64_t)cfi_sleb(c));
		return true;
	case OP_DEF_CFA_EXPRESSION:
		set_expression(m, c);
		return true;
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
	default:
		return run_extended(m, c, op);
	}
}

/* How far the next instruction advances; false if it is none of these. */
static bool advance_of(struct cursor *c, uint8_t op, uint64_t *units)
{
	if ((op & 0xc0) == OP_ADVANCE)
		*units = op & 0x3f;
	else if (op == OP_ADVANCE1)
		*units = cursor_u8(c);
	else if (op == OP_ADVANCE2)
		*units = cursor_u16(c);
	else if (op == OP_ADVANCE4)
		*units = cursor_u32(c);
	else
		return false;
	return true;
}

static bool run_one(struct machine *m, struct cursor *c, uint8_t op)
{
	if ((op & 0xc0) == OP_OFFSET) {
		set_offset(m, op & 0x3f, factored(m, cfi_uleb(c)));
		return true;
	}
	if ((op & 0xc0) == OP_RESTORE) {
		if ((op & 0x3f) == CFI_BP) {
			m->now.has_bp = m->initial.has_bp;
			m->now.bp_offset = m->initial.bp_offset;
		}
		return true;
	}
	return run_frame(m, c, op);
}

static struct cfi_row row_of(const struct machine *m)
{
	const struct state *s = &m->now;
	struct cfi_row row = { .start_svma = m->svma, .frame = CFI_NONE };
	const bool fits = s->cfa_offset >= INT32_MIN && s->cfa_offset <= INT32_MAX &&
			  s->bp_offset >= INT16_MIN && s->bp_offset <= INT16_MAX;
	if (s->is_outer)
		row.frame = CFI_OUTER;
	else if (s->is_plt)
		row.frame = CFI_PLT;
	else if (!s->is_opaque && fits)
		row.frame = s->cfa_register == CFI_BP ? CFI_FROM_BP : CFI_FROM_SP;
	row.cfa_offset = fits ? (int32_t)s->cfa_offset : 0;
	row.has_bp = s->has_bp;
	if (fits)
		row.bp_offset = (int16_t)s->bp_offset;
	return row;
}

bool cfi_program_run(const struct cfi_cie *cie, struct cursor program, uint64_t start_svma,
		     uint64_t end_svma, bool (*put)(void *context, const struct cfi_row *row),
		     void *context)
{
	struct machine m = { .cie = cie, .svma = start_svma };
	m.now.is_opaque = true; /* until a CFA is defined */
	uint64_t units;
	struct cursor c = cie->program;
	while (cursor_left(&c)) {
		const uint8_t op = cursor_u8(&c);
		if (!advance_of(&c, op, &units) && !run_one(&m, &c, op))
			return true;
	}
	m.initial = m.now;
	while (cursor_left(&program) && m.svma < end_svma) {
		const uint8_t op = cursor_u8(&program);
		if (op != OP_SET_LOC && advance_of(&program, op, &units)) {
			const struct cfi_row row = row_of(&m);
			if (units && !put(context, &row))
				return false;
			m.svma += units * cie->code_align;
		} else if (op == OP_SET_LOC || !run_one(&m, &program, op)) {
			m.now = (struct state){ .is_opaque = true };
			break;
		}
	}
	const struct cfi_row row = row_of(&m);
	return m.svma >= end_svma || put(context, &row);
}
