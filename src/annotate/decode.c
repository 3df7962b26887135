#include "annotate/decode.h"

#include "base/status.h"

#include <capstone/capstone.h>
#include <inttypes.h>

enum { DATA_ROW = 8, ARM64_SIZE = 4, INSTRUCTION_LIMIT = 15 /* of x86's; others are shorter */ };

struct decoder {
	const struct listing *listing;
	annotate_rows *rows;
	struct sink *texts;
	csh handle;
	cs_insn *instruction;
	size_t next_note;
};

static bool is_aarch64(const struct decoder *d)
{
	return d->listing->machine == LISTING_AARCH64;
}

/* The text's size is set by end_row(). */
static struct annotate_row *begin_row(struct decoder *d, enum annotate_row_kind kind, size_t offset,
				      size_t size)
{
	struct annotate_row *row = vector_push(d->rows);
	if (!row)
		return NULL;
	row->offset = offset;
	row->size = (uint8_t)size;
	row->kind = (uint8_t)kind;
	row->text = (uint32_t)d->texts->size;
	row->callee = "";
	return row;
}

static int end_row(struct decoder *d, struct annotate_row *row)
{
	/* Rows hold 32 bits of where their text is. */
	if (sink_failed(d->texts) || d->texts->size > UINT32_MAX)
		return STATUS_NO_MEMORY;
	row->text_size = (uint32_t)d->texts->size - row->text;
	return 0;
}

static int put_bytes(struct decoder *d, enum annotate_row_kind kind, size_t offset, size_t size)
{
	const uint8_t *code = d->listing->code.data + offset;
	struct annotate_row *row = begin_row(d, kind, offset, size);
	if (!row)
		return STATUS_NO_MEMORY;
	if (size == ARM64_SIZE && is_aarch64(d)) {
		const uint32_t word = (uint32_t)code[0] | (uint32_t)code[1] << 8 |
				      (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
		sink_printf(d->texts, ".word   0x%08" PRIx32, word);
		return end_row(d, row);
	}
	sink_text(d->texts, ".byte   ");
	for (size_t i = 0; i < size; i++)
		sink_printf(d->texts, "%s0x%02x", i ? ", " : "", code[i]);
	return end_row(d, row);
}

static enum annotate_flow flow_of(const struct decoder *d)
{
	const cs_insn *in = d->instruction;
	if (cs_insn_group(d->handle, in, CS_GRP_RET) || cs_insn_group(d->handle, in, CS_GRP_IRET))
		return ANNOTATE_FLOW_RETURN;
	if (is_aarch64(d)) {
		if (in->id == ARM64_INS_BL || in->id == ARM64_INS_BLR)
			return ANNOTATE_FLOW_CALL;
		if (in->id == ARM64_INS_BR ||
		    (in->id == ARM64_INS_B && in->detail->arm64.cc == ARM64_CC_INVALID))
			return ANNOTATE_FLOW_JUMP;
	} else if (in->id == X86_INS_JMP || in->id == X86_INS_LJMP) {
		return ANNOTATE_FLOW_JUMP;
	}
	if (cs_insn_group(d->handle, in, CS_GRP_CALL))
		return ANNOTATE_FLOW_CALL;
	return cs_insn_group(d->handle, in, CS_GRP_JUMP) ? ANNOTATE_FLOW_BRANCH : ANNOTATE_FLOW_ON;
}

/* The address that the instruction itself names: where it goes to, or what it reads. */
static bool target_of(const struct decoder *d, enum annotate_flow flow, uint64_t *target)
{
	const cs_insn *in = d->instruction;
	if (is_aarch64(d)) {
		const cs_arm64 *arm = &in->detail->arm64;
		const bool speaks = flow != ANNOTATE_FLOW_ON || in->id == ARM64_INS_ADR ||
				    in->id == ARM64_INS_ADRP ||
				    (in->id == ARM64_INS_LDR && arm->op_count == 2);
		if (!speaks || !arm->op_count ||
		    arm->operands[arm->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*target = (uint64_t)arm->operands[arm->op_count - 1].imm;
		return true;
	}
	const cs_x86 *x86 = &in->detail->x86;
	if (flow != ANNOTATE_FLOW_ON && x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
		*target = (uint64_t)x86->operands[0].imm;
		return true;
	}
	for (int i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    x86->operands[i].mem.base == X86_REG_RIP) {
			*target = in->address + in->size + (uint64_t)x86->operands[i].mem.disp;
			return true;
		}
	return false;
}

/* The target of a jump is shown by those who know what is there, so its number is left out. */
static size_t operands_before_target(const cs_insn *in)
{
	const char *comma = strrchr(in->op_str, ',');
	return comma ? (size_t)(comma - in->op_str) + 2 : 0;
}

static int put_instruction(struct decoder *d, size_t offset)
{
	const cs_insn *in = d->instruction;
	struct annotate_row *row = begin_row(d, ANNOTATE_ROW_CODE, offset, in->size);
	if (!row)
		return STATUS_NO_MEMORY;
	const enum annotate_flow flow = flow_of(d);
	row->flow = (uint8_t)flow;
	row->has_target = target_of(d, flow, &row->target);
	const bool is_direct = row->has_target && flow != ANNOTATE_FLOW_ON &&
			       (is_aarch64(d) || in->detail->x86.operands[0].type == X86_OP_IMM);
	size_t operands = strlen(in->op_str);
	if (is_direct)
		operands = operands_before_target(in);
	row->is_direct = is_direct;
	if (operands || is_direct)
		sink_printf(d->texts, "%-7s ", in->mnemonic);
	else
		sink_text(d->texts, in->mnemonic);
	sink_put(d->texts, in->op_str, operands);
	return end_row(d, row);
}

/* What the runtime says is no code, from `at` on: where the next such range starts and ends. */
static void next_data(struct decoder *d, size_t at, size_t end, size_t *from, size_t *to)
{
	const struct listing *listing = d->listing;
	*from = *to = end;
	for (; d->next_note < listing->notes.count; d->next_note++) {
		const struct listing_note *note = &listing->notes.items[d->next_note];
		const uint64_t note_end = (uint64_t)note->offset + note->size;
		if (!note->size || strcmp(note->kind, "data") != 0 || note_end <= at)
			continue;
		*from = note->offset > at ? note->offset : at;
		*from = *from < end ? *from : end;
		*to = note_end < end ? (size_t)note_end : end;
		return;
	}
}

static int decode_code(struct decoder *d, size_t at, size_t end)
{
	const struct listing *listing = d->listing;
	const size_t least = is_aarch64(d) ? ARM64_SIZE : 1;
	int got = 0;
	while (got == 0 && at < end) {
		const uint8_t *code = listing->code.data + at;
		/* Shown more, the disassembler would read on for as long as there are prefixes. */
		size_t left = end - at < INSTRUCTION_LIMIT ? end - at : INSTRUCTION_LIMIT;
		uint64_t avma = listing->start_avma + at;
		const size_t offset = at;
		if (cs_disasm_iter(d->handle, &code, &left, &avma, d->instruction)) {
			got = put_instruction(d, offset);
			at += d->instruction->size;
		} else {
			const size_t size = left < least ? left : least;
			got = put_bytes(d, ANNOTATE_ROW_BYTES, offset, size);
			at += size;
		}
	}
	return got;
}

static int decode_all(struct decoder *d)
{
	const size_t whole = d->listing->code.size;
	const size_t end = whole < ANNOTATE_CODE_LIMIT ? whole : ANNOTATE_CODE_LIMIT;
	size_t at = 0;
	int got = 0;
	while (got == 0 && at < end) {
		size_t data_from;
		size_t data_to;
		next_data(d, at, end, &data_from, &data_to);
		got = decode_code(d, at, data_from);
		at = data_from;
		for (; got == 0 && at < data_to; at += DATA_ROW - at % DATA_ROW) {
			const size_t room = DATA_ROW - at % DATA_ROW;
			const size_t left = data_to - at;
			got = put_bytes(d, ANNOTATE_ROW_DATA, at, room < left ? room : left);
		}
		at = at < data_to ? at : data_to;
	}
	return got;
}

int annotate_decode(const struct listing *listing, bool att, annotate_rows *rows,
		    struct sink *texts)
{
	struct decoder d = { .listing = listing, .rows = rows, .texts = texts };
	if (listing->machine == LISTING_UNKNOWN_MACHINE)
		return STATUS_UNSUPPORTED;
	const bool is_arm = is_aarch64(&d);
	const cs_err opened = cs_open(is_arm ? CS_ARCH_ARM64 : CS_ARCH_X86,
				      is_arm ? CS_MODE_LITTLE_ENDIAN : CS_MODE_64, &d.handle);
	if (opened != CS_ERR_OK)
		return opened == CS_ERR_MEM ? STATUS_NO_MEMORY : STATUS_UNSUPPORTED;
	(void)cs_option(d.handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (!is_arm)
		(void)cs_option(d.handle, CS_OPT_SYNTAX,
				att ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	d.instruction = cs_malloc(d.handle);
	const int got = d.instruction ? decode_all(&d) : STATUS_NO_MEMORY;
	if (d.instruction)
		cs_free(d.instruction, 1);
	cs_close(&d.handle);
	return got;
}
