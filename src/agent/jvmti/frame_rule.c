#include "agent/jvmti/frame_rule.h"

#include <string.h>

/* DWARF's numbers; the words that a call itself leaves on the stack. */
#if defined(__x86_64__)
enum { REG_SP = 7, REG_BP = 6, REG_RETURN = 16, CALL_WORDS = 1, IS_KNOWN = 1 };
#elif defined(__aarch64__)
enum { REG_SP = 31, REG_BP = 29, REG_RETURN = 30, CALL_WORDS = 0, IS_KNOWN = 1 };
#else
enum { REG_SP = 0, REG_BP = 0, REG_RETURN = 0, CALL_WORDS = 0, IS_KNOWN = 0 };
#endif

/* Of DWARF 5, section 6.4.2, and of .eh_frame: pointers from where they stand, 4 bytes. */
enum {
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_OFFSET = 0x0e,
	CFA_ADVANCE_4 = 0x04,
	CFA_OFFSET = 0x80,
	POINTER_FORM = 0x1b,
	WORD = 8,
	FRAME_WORDS_LIMIT = 1 << 20, /* 8 MB: no frame is larger */
};

struct out {
	uint8_t *bytes;
	size_t size;
};

static void put_u8(struct out *out, unsigned value)
{
	out->bytes[out->size++] = (uint8_t)value;
}

static void put_u32(struct out *out, uint32_t value)
{
	memcpy(out->bytes + out->size, &value, sizeof(value));
	out->size += sizeof(value);
}

static void put_uleb(struct out *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_u8(out, 0x80 | (unsigned)(value & 0x7f));
	put_u8(out, (unsigned)value);
}

/* Fills up to a multiple of 8 with instructions that do nothing, and sets the length in front. */
static void end_entry(struct out *out, size_t start)
{
	while (out->size % WORD)
		put_u8(out, 0);
	const uint32_t length = (uint32_t)(out->size - start - sizeof(length));
	memcpy(out->bytes + start, &length, sizeof(length));
}

static void put_common(struct out *out)
{
	put_u32(out, 0);
	put_u32(out, 0); /* of a CIE */
	put_u8(out, 1);
	memcpy(out->bytes + out->size, "zR", 3);
	out->size += 3;
	put_u8(out, 1);    /* code alignment */
	put_u8(out, 0x78); /* of data: -8 */
	put_u8(out, REG_RETURN);
	put_uleb(out, 1);
	put_u8(out, POINTER_FORM);
	put_u8(out, CFA_DEF_CFA);
	put_uleb(out, REG_SP);
	put_uleb(out, (uint64_t)CALL_WORDS * WORD);
	if (CALL_WORDS) {
		put_u8(out, CFA_OFFSET | REG_RETURN);
		put_uleb(out, 1);
	}
	end_entry(out, 0);
}

static void put_function(struct out *out, uint64_t code_size, const struct vm_frame *frame)
{
	const size_t start = out->size;
	put_u32(out, 0);
	put_u32(out, (uint32_t)out->size); /* back to the CIE */
	/* The table begins behind the code, at the next multiple of 8. */
	const uint64_t behind = (code_size + WORD - 1) & ~(uint64_t)(WORD - 1);
	put_u32(out, (uint32_t) - (int64_t)(behind + out->size));
	put_u32(out, (uint32_t)code_size);
	put_uleb(out, 0);
	if (frame->complete_off) {
		put_u8(out, CFA_ADVANCE_4);
		put_u32(out, frame->complete_off);
	}
	put_u8(out, CFA_DEF_OFFSET);
	put_uleb(out, (uint64_t)frame->words * WORD);
	put_u8(out, CFA_OFFSET | REG_BP);
	put_uleb(out, 2);
	put_u8(out, CFA_OFFSET | REG_RETURN);
	put_uleb(out, 1);
	end_entry(out, start);
}

bool frame_rule_make(struct frame_rule *rule, uint64_t code_size, const struct vm_frame *frame)
{
	enum { LEAST_WORDS = 2, CODE_LIMIT = 1 << 30, HEADER_SIZE = 8 };
	struct out out = { .bytes = rule->bytes };
	if (!IS_KNOWN || frame->words < LEAST_WORDS || frame->words > FRAME_WORDS_LIMIT ||
	    !code_size || code_size > CODE_LIMIT || frame->complete_off >= code_size)
		return false;
	put_common(&out);
	put_function(&out, code_size, frame);
	put_u32(&out, 0); /* no more entries */
	/* .eh_frame_hdr without a table: where .eh_frame begins. */
	const uint32_t distance = (uint32_t) - (int64_t)(out.size + sizeof(uint32_t));
	put_u8(&out, 1);
	put_u8(&out, POINTER_FORM);
	put_u8(&out, 0xff);
	put_u8(&out, 0xff);
	put_u32(&out, distance);
	rule->unwinding = (struct polyperf_jit_unwinding){ .data = rule->bytes,
							   .size = out.size,
							   .eh_frame_hdr_size = HEADER_SIZE };
	return true;
}
