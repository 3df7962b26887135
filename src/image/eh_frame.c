/* .eh_frame and .eh_frame_hdr out of the functions' UNWINDING_INFO (LSB 5.0 Core, 10.6).
 *
 * Entries are not copied but written anew: with one encoding of addresses, for the place of
 * the function in this file, and without what points elsewhere (personality, LSDA). A blob
 * says where its code lies by distances from itself, as if it lay behind the code, at the
 * next multiple of 8.
 */
#include "image/internal.h"

enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_APPLICATION = 0xf0,
	ENTRY_ALIGN = 8,
	FDE_HEAD_SIZE = 4 + 4 + 4 + 4 + 1,
	HDR_SIZE = 12,
	HDR_ROW_SIZE = 8,
};

/* A blob while it is read. */
struct blob {
	struct image *image;
	struct function *function;
	struct bytes frame;
	uint64_t frame_off; /* its place, from the start of the function */
	uint32_t fde_count;
	struct fde misplaced; /* an FDE whose addresses are not the function's */
};

struct cie {
	struct bytes program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t return_register;
	uint8_t encoding;
	bool has_augmentation;
	bool is_signal;
	bool has_b_key;
};

static uint64_t read_format(struct cursor *c, unsigned encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_SDATA2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SDATA4:
		return (uint64_t)(int32_t)cursor_u32(c);
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

static void skip_operands(struct cursor *c, const char *kinds)
{
	for (; *kinds; kinds++) {
		if (*kinds == 'u')
			(void)cursor_uleb(c);
		else if (*kinds == 'b')
			(void)cursor_take(c, cursor_uleb(c));
		else
			(void)cursor_take(c, (size_t)(*kinds - '0'));
	}
}

/* True if readers will understand the instructions, and none of them holds an address. */
static bool is_sound(struct bytes program)
{
	/* Operands of the instructions below 0x30: u LEB128, b a block, a digit so many bytes. */
	static const char *const OPERANDS[0x30] = {
		[0x00] = "",   [0x02] = "1",  [0x03] = "2",  [0x04] = "4",  [0x05] = "uu",
		[0x06] = "u",  [0x07] = "u",  [0x08] = "u",  [0x09] = "uu", [0x0a] = "",
		[0x0b] = "",   [0x0c] = "uu", [0x0d] = "u",  [0x0e] = "u",  [0x0f] = "b",
		[0x10] = "ub", [0x11] = "uu", [0x12] = "uu", [0x13] = "u",  [0x14] = "uu",
		[0x15] = "uu", [0x16] = "ub", [0x2d] = "",   [0x2e] = "u",  [0x2f] = "uu",
	};
	struct cursor c = cursor_over(program);
	size_t remembered = 0;
	while (cursor_left(&c)) {
		const uint8_t opcode = cursor_u8(&c);
		if ((opcode & 0xc0) == 0x80) {
			(void)cursor_uleb(&c);
		} else if (!(opcode & 0xc0)) {
			const char *kinds = opcode < 0x30 ? OPERANDS[opcode] : NULL;
			if (!kinds)
				return false;
			skip_operands(&c, kinds);
			remembered += opcode == 0x0a;
			if (opcode == 0x0b && !remembered--)
				return false;
		}
	}
	return !cursor_failed(&c);
}

/* One entry behind its length; false at the end, or where it is torn. */
static bool next_entry(struct cursor *c, struct cursor *entry)
{
	const uint32_t size = cursor_u32(c);
	if (cursor_failed(c) || !size || size >= 0xfffffff0)
		return false;
	*entry = cursor_sub(c, size);
	return !cursor_failed(entry);
}

static bool read_augmentation(struct cursor *c, const char *letters, struct cie *cie)
{
	if (!*letters)
		return true;
	if (*letters != 'z')
		return false; /* "eh", of compilers long gone */
	cie->has_augmentation = true;
	struct cursor data = cursor_sub(c, cursor_uleb(c));
	for (letters++; *letters; letters++) {
		if (*letters == 'R') {
			cie->encoding = cursor_u8(&data);
		} else if (*letters == 'P') {
			const uint8_t encoding = cursor_u8(&data);
			(void)read_format(&data, encoding);
		} else if (*letters == 'L') {
			(void)cursor_u8(&data);
		} else if (*letters == 'S') {
			cie->is_signal = true;
		} else if (*letters == 'B') {
			cie->has_b_key = true;
		} else {
			return false;
		}
	}
	return !cursor_failed(&data);
}

static bool read_cie(struct cursor c, struct cie *cie)
{
	*cie = (struct cie){ .encoding = PE_ABSPTR };
	if (cursor_u32(&c) != 0)
		return false;
	const uint8_t version = cursor_u8(&c);
	const char *letters = cursor_cstr(&c);
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	const uint64_t return_register = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	if ((version != 1 && version != 3) || return_register > UINT8_MAX ||
	    !read_augmentation(&c, letters, cie))
		return false;
	cie->return_register = (uint8_t)return_register;
	cie->program = cursor_take(&c, cursor_left(&c));
	return !cursor_failed(&c) && is_sound(cie->program);
}

/* Pads the entry at `start` with DW_CFA_nop and writes its length. */
static void end_entry(struct sink *out, size_t start)
{
	const size_t size = out->size - start;
	sink_zeros(out, align_up(size, ENTRY_ALIGN) - size);
	sink_patch_u32(out, start, (uint32_t)(out->size - start - sizeof(uint32_t)));
}

/* The CIE as it will be written; the same one is kept once. INTERN_NONE: no memory. */
static uint32_t keep_cie(struct image *image, const struct cie *cie)
{
	struct sink *out = &image->cie_scratch;
	uint8_t leb[20];
	sink_reset(out);
	sink_u32(out, 0);
	sink_u32(out, 0);
	sink_u8(out, 1);
	sink_text(out, "zR");
	if (cie->is_signal)
		sink_u8(out, 'S');
	if (cie->has_b_key)
		sink_u8(out, 'B');
	sink_u8(out, 0);
	uint8_t *end = put_uleb(leb, cie->code_align);
	end = put_sleb(end, cie->data_align);
	sink_put(out, leb, (size_t)(end - leb));
	sink_u8(out, cie->return_register);
	sink_u8(out, 1);
	sink_u8(out, PE_PCREL | PE_SDATA4);
	sink_put(out, cie->program.data, cie->program.size);
	end_entry(out, 0);
	return sink_failed(out) ? INTERN_NONE : intern_bytes(&image->cies, sink_bytes(out));
}

/* Where the FDE's address lies in the function, if it does: its distance from the start. */
static uint64_t read_start(struct blob *b, struct cursor *c, uint8_t encoding)
{
	const uint64_t at = b->frame_off + (uint64_t)(c->pos - b->frame.data);
	const uint64_t value = read_format(c, encoding);
	switch (encoding & PE_APPLICATION) {
	case PE_PCREL:
		return at + value;
	case PE_DATAREL: /* from .eh_frame_hdr, behind .eh_frame */
		return b->frame_off + b->frame.size + value;
	case 0:
		return value - b->function->start_avma;
	default:
		return UINT64_MAX;
	}
}

static int keep_fde(struct blob *b, const struct fde *fde)
{
	struct fde *slot = vector_push(&b->image->fdes);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = *fde;
	b->function->fde_count++;
	return 0;
}

/* Damaged ones are passed over. */
static int read_fde(struct blob *b, struct cursor c, struct cursor cie_entry)
{
	struct cie cie;
	if (!read_cie(cie_entry, &cie))
		return 0;
	const uint64_t start = read_start(b, &c, cie.encoding);
	const uint64_t size = read_format(&c, cie.encoding & PE_FORMAT);
	if (cie.has_augmentation)
		(void)cursor_take(&c, cursor_uleb(&c));
	struct fde fde = { .program = cursor_take(&c, cursor_left(&c)) };
	if (cursor_failed(&c) || !size || fde.program.size > UINT32_MAX / 4 ||
	    !is_sound(fde.program))
		return 0;
	fde.cie = keep_cie(b->image, &cie);
	if (fde.cie == INTERN_NONE)
		return STATUS_NO_MEMORY;
	b->fde_count++;
	if (start >= b->function->size) {
		b->misplaced = fde;
		return 0;
	}
	const uint64_t left = b->function->size - start;
	fde.offset = (uint32_t)start;
	fde.size = (uint32_t)(size < left ? size : left);
	return keep_fde(b, &fde);
}

int image_unwinding(struct image *image, struct bytes unwinding, uint64_t eh_frame_hdr_size)
{
	struct function *f =
	    image->functions.count ? &image->functions.items[image->functions.count - 1] : NULL;
	if (!f || !f->code.size || f->fde_count || eh_frame_hdr_size > unwinding.size)
		return 0;
	struct blob b = { .image = image,
			  .function = f,
			  .frame = { unwinding.data, unwinding.size - eh_frame_hdr_size },
			  .frame_off = align_up(f->size, ENTRY_ALIGN) };
	f->first_fde = (uint32_t)image->fdes.count;
	struct cursor c = cursor_over(b.frame);
	struct cursor entry;
	while (next_entry(&c, &entry)) {
		const size_t at = (size_t)(entry.pos - b.frame.data);
		const uint32_t back = cursor_u32(&entry);
		if (!back || back > at || cursor_failed(&entry))
			continue;
		struct cursor from = cursor_over(
		    (struct bytes){ b.frame.data + (at - back), b.frame.size - (at - back) });
		struct cursor cie_entry;
		const int got = next_entry(&from, &cie_entry) ? read_fde(&b, entry, cie_entry) : 0;
		if (got < 0)
			return got;
	}
	/* A lone entry can only mean the whole function, wherever it thinks that it lies. */
	if (b.fde_count == 1 && !f->fde_count) {
		b.misplaced.size = (uint32_t)f->size;
		return keep_fde(&b, &b.misplaced);
	}
	return 0;
}

static uint64_t fde_size(const struct fde *fde)
{
	return align_up(FDE_HEAD_SIZE + fde->program.size, ENTRY_ALIGN);
}

uint64_t eh_frame_size_bound(const struct image *image)
{
	uint64_t size = sizeof(uint32_t); /* the end: a length of 0 */
	for (size_t i = 0; i < image->cies.texts.count; i++)
		size += image->cies.texts.items[i].size;
	for (size_t i = 0; i < image->fdes.count; i++)
		size += fde_size(&image->fdes.items[i]);
	return size;
}

uint64_t eh_frame_hdr_size_bound(const struct image *image)
{
	return HDR_SIZE + HDR_ROW_SIZE * (uint64_t)image->fdes.count;
}

struct writer {
	struct image *image;
	struct sink *frame;
	struct sink *hdr;
	uint32_t *cie_at; /* by id, 1 + its place in .eh_frame; 0: not yet written */
	uint32_t count;
};

static void put_fde(struct writer *w, const struct fde *fde, uint64_t file_off)
{
	struct sink *out = w->frame;
	const struct section *sections = w->image->sections;
	if (!w->cie_at[fde->cie]) {
		const struct bytes cie = intern_get_bytes(&w->image->cies, fde->cie);
		w->cie_at[fde->cie] = (uint32_t)out->size + 1;
		sink_put(out, cie.data, cie.size);
	}
	const size_t start = out->size;
	const uint64_t start_off = sections[SECTION_EH_FRAME].off + start;
	sink_u32(out, 0);
	sink_u32(out, (uint32_t)(start + 4 - (w->cie_at[fde->cie] - 1)));
	sink_u32(out, (uint32_t)(file_off - (start_off + 8)));
	sink_u32(out, fde->size);
	sink_u8(out, 0);
	sink_put(out, fde->program.data, fde->program.size);
	end_entry(out, start);
	const uint64_t hdr_off = sections[SECTION_EH_FRAME_HDR].off;
	sink_u32(w->hdr, (uint32_t)(file_off - hdr_off));
	sink_u32(w->hdr, (uint32_t)(start_off - hdr_off));
	w->count++;
}

static void put_function(struct writer *w, const struct function *f)
{
	const struct fde *fdes = w->image->fdes.items + f->first_fde;
	uint64_t end = 0;
	for (uint32_t i = 0; i < f->fde_count; i++) {
		const uint64_t file_off = f->file_off + fdes[i].offset;
		/* Readers search the table: no disorder, no overlap, nothing out of reach. */
		if (file_off < end || file_off + fdes[i].size > INT32_MAX)
			continue;
		put_fde(w, &fdes[i], file_off);
		end = file_off + fdes[i].size;
	}
}

int eh_frame_make(struct image *image)
{
	if (!image->fdes.count)
		return 0;
	struct section *sections = image->sections;
	struct writer w = { .image = image,
			    .frame = &image->contents[SECTION_EH_FRAME],
			    .hdr = &image->contents[SECTION_EH_FRAME_HDR],
			    .cie_at =
				arena_new(&image->arena, uint32_t, image->cies.texts.count + 1) };
	if (!w.cie_at)
		return STATUS_NO_MEMORY;
	sink_u8(w.hdr, 1); /* version; then how the three that follow are encoded */
	sink_u8(w.hdr, PE_PCREL | PE_SDATA4);
	sink_u8(w.hdr, PE_UDATA4);
	sink_u8(w.hdr, PE_DATAREL | PE_SDATA4);
	sink_u32(w.hdr, (uint32_t)(sections[SECTION_EH_FRAME].off -
				   (sections[SECTION_EH_FRAME_HDR].off + 4)));
	sink_u32(w.hdr, 0);
	for (uint32_t i = 0; i < image->present.count; i++)
		put_function(&w, &image->functions.items[image->present.order[i]]);
	sink_u32(w.frame, 0);
	sink_patch_u32(w.hdr, HDR_SIZE - 4, w.count);
	sections[SECTION_EH_FRAME_HDR].size = w.hdr->size;
	sections[SECTION_EH_FRAME].size = w.frame->size;
	return sink_failed(w.hdr) || sink_failed(w.frame) ? STATUS_NO_MEMORY : 0;
}
