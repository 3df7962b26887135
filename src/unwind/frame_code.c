#include "unwind/frame_code.h"

#include "unwind/rules.h"

enum {
	WORD = 8,
	PROLOGUE_BYTES = 128, /* no compiler takes longer to set the frame pointer */
	EPILOGUE_STEPS = 16,  /* instructions */
	ARM_PROLOGUE_STEPS = 8,
};

/* What an instruction does to a frame. */
enum effect {
	EFFECT_OTHER, /* not one that belongs to these places */
	EFFECT_NONE,
	EFFECT_PUSH,
	EFFECT_PUSH_BP,
	EFFECT_POP,
	EFFECT_POP_BP,
	EFFECT_SUB,    /* sp -= amount */
	EFFECT_ADD,    /* sp += amount */
	EFFECT_SET_BP, /* the frame pointer is the function's */
	EFFECT_LEAVE,  /* sp comes from the frame pointer */
	EFFECT_RETURN,
};

struct instruction {
	enum effect effect;
	size_t size;
	uint32_t amount;
};

/* `mask` bits of each byte decide; the length is that of the whole instruction. */
struct pattern {
	uint8_t bytes[5];
	uint8_t mask_last; /* of the last of the bytes; 0 means all */
	uint8_t count;
	uint8_t size;
	uint8_t effect;
	uint8_t amount_size; /* bytes of an immediate at the end */
};

/* The order does not matter: no two match the same bytes, but for pushes and pops of rbp. */
static const struct pattern patterns[] = {
	{ { 0x55 }, 0, 1, 1, EFFECT_PUSH_BP, 0 },
	{ { 0x50 }, 0xf8, 1, 1, EFFECT_PUSH, 0 },
	{ { 0x41, 0x50 }, 0xf8, 2, 2, EFFECT_PUSH, 0 },
	{ { 0x5d }, 0, 1, 1, EFFECT_POP_BP, 0 },
	{ { 0x58 }, 0xf8, 1, 1, EFFECT_POP, 0 },
	{ { 0x41, 0x58 }, 0xf8, 2, 2, EFFECT_POP, 0 },
	{ { 0x48, 0x83, 0xec }, 0, 3, 4, EFFECT_SUB, 1 },
	{ { 0x48, 0x81, 0xec }, 0, 3, 7, EFFECT_SUB, 4 },
	{ { 0x48, 0x83, 0xc4 }, 0, 3, 4, EFFECT_ADD, 1 },
	{ { 0x48, 0x81, 0xc4 }, 0, 3, 7, EFFECT_ADD, 4 },
	{ { 0x48, 0x89, 0xe5 }, 0, 3, 3, EFFECT_SET_BP, 0 },       /* mov rbp, rsp */
	{ { 0x48, 0x8b, 0xec }, 0, 3, 3, EFFECT_SET_BP, 0 },       /* the same */
	{ { 0x48, 0x8d, 0x6c, 0x24 }, 0, 4, 5, EFFECT_SET_BP, 0 }, /* lea rbp, [rsp + n] */
	{ { 0x48, 0x8d, 0xac, 0x24 }, 0, 4, 8, EFFECT_SET_BP, 0 }, /* the same */
	{ { 0xc9 }, 0, 1, 1, EFFECT_LEAVE, 0 },
	{ { 0x48, 0x8b, 0xe5 }, 0, 3, 3, EFFECT_LEAVE, 0 }, /* mov rsp, rbp */
	{ { 0x48, 0x89, 0xec }, 0, 3, 3, EFFECT_LEAVE, 0 }, /* the same */
	{ { 0x48, 0x8d, 0x65 }, 0, 3, 4, EFFECT_LEAVE, 0 }, /* lea rsp, [rbp + n] */
	{ { 0x48, 0x8d, 0xa5 }, 0, 3, 7, EFFECT_LEAVE, 0 }, /* the same */
	{ { 0xc3 }, 0, 1, 1, EFFECT_RETURN, 0 },
	{ { 0xc2 }, 0, 1, 3, EFFECT_RETURN, 0 },
	{ { 0xf3, 0xc3 }, 0, 2, 2, EFFECT_RETURN, 0 },
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 0, 4, 4, EFFECT_NONE, 0 }, /* endbr64 */
	{ { 0xc5, 0xf8, 0x77 }, 0, 3, 3, EFFECT_NONE, 0 },       /* vzeroupper */
	{ { 0x90 }, 0, 1, 1, EFFECT_NONE, 0 },                   /* nop */
	{ { 0x66, 0x90 }, 0, 2, 2, EFFECT_NONE, 0 },             /* nop */
	{ { 0x0f, 0x1f, 0x00 }, 0, 3, 3, EFFECT_NONE, 0 },       /* nop */
	{ { 0x0f, 0x1f, 0x40 }, 0, 3, 4, EFFECT_NONE, 0 },       /* nop */
	{ { 0x0f, 0x1f, 0x44, 0x00 }, 0, 4, 5, EFFECT_NONE, 0 }, /* nop */
	/* HotSpot touches the stack ahead of what it will need: mov [rsp - n], eax. */
	{ { 0x89, 0x84, 0x24 }, 0, 3, 7, EFFECT_NONE, 0 },
	/* And asks whether it is to stop before it returns: cmp rsp, [r15 + n]; ja; or, before
	 * JDK 16, mov r10, [r15 + n]; test [r10], eax; or test [rip + n], eax.
	 */
	{ { 0x49, 0x3b, 0x67 }, 0, 3, 4, EFFECT_NONE, 0 },
	{ { 0x49, 0x3b, 0xa7 }, 0, 3, 7, EFFECT_NONE, 0 },
	{ { 0x0f, 0x87 }, 0, 2, 6, EFFECT_NONE, 0 },
	{ { 0x4d, 0x8b, 0x57 }, 0, 3, 4, EFFECT_NONE, 0 },
	{ { 0x4d, 0x8b, 0x97 }, 0, 3, 7, EFFECT_NONE, 0 },
	{ { 0x41, 0x85, 0x02 }, 0, 3, 3, EFFECT_NONE, 0 },
	{ { 0x85, 0x05 }, 0, 2, 6, EFFECT_NONE, 0 },
	/* Since JDK 20 it looks, as soon as a frame is there, whether it may go on: cmp [r15 + n],
	 * m; jne.
	 */
	{ { 0x41, 0x81, 0x7f }, 0, 3, 8, EFFECT_NONE, 0 },
	{ { 0x0f, 0x85 }, 0, 2, 6, EFFECT_NONE, 0 },
	/* V8 compares how many arguments came with how many it declared: cmp rcx, n; jg. */
	{ { 0x48, 0x83, 0xf9 }, 0, 3, 4, EFFECT_NONE, 0 },
	{ { 0x7f }, 0, 1, 2, EFFECT_NONE, 0 },
};

static bool matches(const struct pattern *p, const uint8_t *code, size_t size)
{
	if (size < p->size || memcmp(code, p->bytes, p->count - 1u) != 0)
		return false;
	const uint8_t mask = p->mask_last ? p->mask_last : 0xff;
	return (code[p->count - 1] & mask) == p->bytes[p->count - 1];
}

static struct instruction decode(struct bytes code, size_t at)
{
	struct instruction i = { EFFECT_OTHER, 0, 0 };
	const size_t size = code.size - at;
	for (size_t n = 0; n < sizeof(patterns) / sizeof(patterns[0]); n++) {
		const struct pattern *p = &patterns[n];
		if (!matches(p, code.data + at, size))
			continue;
		i.effect = (enum effect)p->effect;
		i.size = p->size;
		for (unsigned byte = 0; byte < p->amount_size; byte++)
			i.amount |= (uint32_t)code.data[at + p->size - p->amount_size + byte]
				    << (8 * byte);
		/* Immediates of a byte have a sign; those that are negative are not ours. */
		if (i.amount > (p->amount_size == 1 ? 0x7fu : 0x7fffffu))
			i.effect = EFFECT_OTHER;
		break;
	}
	return i;
}

/* Where a frame begins to be made, for functions that do something else before: a push of rbp
 * with what belongs beside it.
 */
static bool find_frame_setup(struct bytes code, size_t from, size_t *at)
{
	enum { TOUCH_SIZE = 7 };
	for (size_t i = from; i < PROLOGUE_BYTES && i < code.size; i++) {
		if (code.data[i] != 0x55)
			continue;
		const bool is_behind_touch = i >= TOUCH_SIZE && code.data[i - TOUCH_SIZE] == 0x89 &&
					     code.data[i - TOUCH_SIZE + 1] == 0x84 &&
					     code.data[i - TOUCH_SIZE + 2] == 0x24;
		const enum effect next =
		    i + 1 < code.size ? decode(code, i + 1).effect : EFFECT_OTHER;
		if (is_behind_touch || next == EFFECT_SET_BP || next == EFFECT_SUB) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* What was pushed on the way from the function's start. */
struct depth {
	uint32_t bytes; /* from sp to the CFA */
	bool has_saved_bp;
	bool has_frame_pointer;
};

/* Where the reading came to: pc_off, or an instruction that does not belong there. */
static size_t run_prologue(struct bytes code, size_t at, uint64_t pc_off, struct depth *depth)
{
	while (at < pc_off && at < code.size && at < (size_t)2 * PROLOGUE_BYTES) {
		const struct instruction i = decode(code, at);
		if (i.effect == EFFECT_PUSH_BP && depth->bytes == WORD)
			depth->has_saved_bp = true;
		else if (i.effect == EFFECT_SET_BP)
			depth->has_frame_pointer = true;
		else if (i.effect != EFFECT_PUSH && i.effect != EFFECT_SUB &&
			 i.effect != EFFECT_NONE)
			break;
		if (depth->has_frame_pointer)
			break;
		depth->bytes += i.effect == EFFECT_SUB    ? i.amount
				: i.effect == EFFECT_NONE ? 0
							  : WORD;
		at += i.size;
	}
	return at;
}

/* Runs from the function's start to pc. *has_frame_pointer: it was set on the way. */
static bool read_prologue(struct bytes code, uint64_t pc_off, struct cfi_row *row,
			  bool *has_frame_pointer)
{
	struct depth depth = { .bytes = WORD };
	size_t at = run_prologue(code, 0, pc_off, &depth);
	size_t setup;
	if (at != pc_off && !depth.has_frame_pointer && depth.bytes == WORD &&
	    find_frame_setup(code, at, &setup))
		at = pc_off <= setup ? (size_t)pc_off : run_prologue(code, setup, pc_off, &depth);
	*has_frame_pointer = depth.has_frame_pointer;
	if (at != pc_off || depth.has_frame_pointer)
		return false;
	*row = unwind_rule_fixed(UNWIND_X86_64, (int32_t)depth.bytes, depth.has_saved_bp);
	return true;
}

/* Runs from pc to the return. */
static bool read_epilogue(struct bytes code, uint64_t pc_off, struct cfi_row *row)
{
	uint32_t depth = WORD;
	bool has_saved_bp = false;
	size_t at = (size_t)pc_off;
	for (int step = 0; step < EPILOGUE_STEPS && at < code.size; step++) {
		const struct instruction i = decode(code, at);
		switch (i.effect) {
		case EFFECT_RETURN:
			*row = unwind_rule_fixed(UNWIND_X86_64, (int32_t)depth, has_saved_bp);
			return true;
		case EFFECT_POP_BP:
			has_saved_bp = true;
			depth += WORD;
			break;
		case EFFECT_POP:
		case EFFECT_ADD:
			/* rbp was saved first, so it comes back last. */
			if (has_saved_bp)
				return false;
			depth += i.effect == EFFECT_ADD ? i.amount : WORD;
			break;
		case EFFECT_NONE:
			break;
		default:
			return false;
		}
		at += i.size;
	}
	return false;
}

static uint32_t arm_word(struct bytes code, size_t at)
{
	uint32_t word;
	memcpy(&word, code.data + at, sizeof(word));
	return word;
}

/* stp x29, x30, [sp, #-n]!; mov x29, sp; ...; ldp x29, x30, [sp], #n; ret */
static bool read_arm(struct bytes code, uint64_t pc_off, struct cfi_row *row)
{
	enum { STP = 0xa9807bfd, MOV = 0x910003fd, RET = 0xd65f03c0, IMMEDIATE = 0x7f << 15 };
	if (pc_off + sizeof(uint32_t) <= code.size && arm_word(code, (size_t)pc_off) == RET) {
		*row = unwind_rule_entry(UNWIND_AARCH64);
		return true;
	}
	for (size_t step = 0; step < ARM_PROLOGUE_STEPS; step++) {
		const size_t at = step * sizeof(uint32_t);
		if (at + sizeof(uint32_t) > code.size)
			return false;
		const uint32_t word = arm_word(code, at);
		if (pc_off <= at && (word & ~(uint32_t)IMMEDIATE) == (uint32_t)STP) {
			*row = unwind_rule_entry(UNWIND_AARCH64);
			return true;
		}
		if ((word & ~(uint32_t)IMMEDIATE) != (uint32_t)STP)
			continue;
		const uint32_t scaled = (word & IMMEDIATE) >> 15;
		const int32_t size = (0x80 - (int32_t)scaled) * WORD;
		if (pc_off != at + sizeof(uint32_t) || at + 2 * sizeof(uint32_t) > code.size ||
		    arm_word(code, at + sizeof(uint32_t)) != MOV)
			return false;
		*row = unwind_rule_fixed(UNWIND_AARCH64, size, true);
		/* The pair lies at sp, not below the CFA. */
		return size == 2 * WORD;
	}
	return false;
}

bool unwind_rule_of_code(enum unwind_machine machine, struct bytes code, uint64_t pc_off,
			 struct cfi_row *row)
{
	if (pc_off > code.size)
		return false;
	if (machine == UNWIND_AARCH64)
		return read_arm(code, pc_off, row);
	bool has_frame_pointer;
	if (read_prologue(code, pc_off, row, &has_frame_pointer) ||
	    read_epilogue(code, pc_off, row))
		return true;
	*row = unwind_rule_frame_pointer(UNWIND_X86_64);
	return has_frame_pointer;
}

/* ff /2: how long the instruction is with its ModRM byte, SIB byte and displacement. */
static size_t indirect_call_size(const uint8_t *modrm, size_t left)
{
	const unsigned mode = modrm[0] >> 6;
	const unsigned base = modrm[0] & 7;
	const bool has_sib = mode != 3 && base == 4;
	if (has_sib && left < 2)
		return 0;
	size_t size = 2 + has_sib;
	if (mode == 1)
		size += 1;
	else if (mode == 2 || (mode == 0 && base == 5) ||
		 (mode == 0 && has_sib && (modrm[1] & 7) == 5))
		size += 4;
	return size;
}

static bool ends_with_x86_call(struct bytes before, int64_t *target_distance)
{
	enum { DIRECT = 5, SHORTEST = 2, LONGEST = 7 };
	const uint8_t *end = before.data + before.size;
	if (before.size >= DIRECT && end[-DIRECT] == 0xe8) {
		int32_t distance;
		memcpy(&distance, end - sizeof(distance), sizeof(distance));
		*target_distance = distance;
		return true;
	}
	for (size_t size = SHORTEST; size <= LONGEST && size <= before.size; size++)
		if (end[-(ptrdiff_t)size] == 0xff && (end[1 - (ptrdiff_t)size] & 0x38) == 0x10 &&
		    indirect_call_size(end + 1 - size, size - 1) == size)
			return true;
	return false;
}

bool unwind_ends_with_call(enum unwind_machine machine, struct bytes before,
			   int64_t *target_distance)
{
	*target_distance = 0;
	if (machine == UNWIND_X86_64)
		return ends_with_x86_call(before, target_distance);
	if (before.size < sizeof(uint32_t))
		return false;
	const uint32_t word = arm_word(before, before.size - sizeof(word));
	if (word >> 26 == 0x25) { /* bl */
		*target_distance = (int64_t)((word & 0x3ffffff) ^ 0x2000000) - 0x2000000;
		*target_distance = *target_distance * 4 - 4;
		return true;
	}
	return (word & 0xfffffc1f) == 0xd63f0000; /* blr */
}

bool unwind_ends_with_system_call(enum unwind_machine machine, struct bytes before)
{
	static const uint8_t x86_64[] = { 0x0f, 0x05 };              /* syscall */
	static const uint8_t aarch64[] = { 0x01, 0x00, 0x00, 0xd4 }; /* svc #0 */
	const bool is_arm = machine == UNWIND_AARCH64;
	const size_t size = is_arm ? sizeof(aarch64) : sizeof(x86_64);
	return before.size >= size &&
	       memcmp(before.data + before.size - size, is_arm ? aarch64 : x86_64, size) == 0;
}
