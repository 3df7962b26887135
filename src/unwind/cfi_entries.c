#include "unwind/cfi_entries.h"

#include "unwind/step.h"

enum {
	CIE_PROGRAM_LIMIT = 4096, /* it is run for each FDE: real ones have a few bytes */
	LETTERS_LIMIT = 16,
	VERSION_4 = 4,
	ADDRESS_SIZE = 8,
};

/* What the letters of the augmentation announce, in their order. */
static bool read_augmentation(struct cursor *c, const char *letters, struct cfi_cie *cie)
{
	if (*letters != 'z')
		return !*letters || strcmp(letters, "eh") == 0;
	cie->has_augmentation = true;
	const uint64_t size = cursor_uleb(c);
	struct cursor data = cursor_sub(c, size);
	for (letters++; *letters; letters++) {
		if (*letters == 'R') {
			cie->encoding = cursor_u8(&data);
		} else if (*letters == 'P') {
			const uint8_t encoding = cursor_u8(&data);
			if (encoding != PE_OMIT && (encoding & PE_APPLICATION) == PE_ALIGNED)
				return false;
			if (encoding != PE_OMIT)
				(void)cfi_format(&data, encoding);
		} else if (*letters == 'L') {
			(void)cursor_u8(&data);
		} else if (*letters == 'S') {
			cie->is_signal = true;
		} else if (*letters != 'B' && *letters != 'G') {
			/* B: return addresses signed with the other key; G: of tagged memory. */
			break; /* the size leads past what is not known */
		}
	}
	return !cursor_failed(&data);
}

/* A NUL ends them within a few bytes, so that hostile sections cost no more than others. */
static const char *read_letters(struct cursor *c)
{
	const size_t left = cursor_left(c);
	const size_t most = left < LETTERS_LIMIT ? left : LETTERS_LIMIT;
	if (!memchr(c->pos, 0, most)) {
		cursor_fail(c);
		return "";
	}
	return cursor_cstr(c);
}

static bool read_cie(struct cursor c, struct cfi_cie *cie)
{
	*cie = (struct cfi_cie){ .encoding = PE_ABSPTR };
	const uint8_t version = cursor_u8(&c);
	const char *letters = read_letters(&c);
	if (version == VERSION_4) {
		const uint8_t address_size = cursor_u8(&c);
		const uint8_t segment_size = cursor_u8(&c);
		if (address_size != ADDRESS_SIZE || segment_size)
			return false;
	} else if (version != 1 && version != 3) {
		return false;
	}
	if (strcmp(letters, "eh") == 0)
		(void)cursor_u64(&c);
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	const uint64_t return_register = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	if (return_register >= UNWIND_REGISTERS || !read_augmentation(&c, letters, cie))
		return false;
	cie->return_register = (uint8_t)return_register;
	cie->program = c;
	return !cursor_failed(&c) && cursor_left(&c) <= CIE_PROGRAM_LIMIT;
}

/* One length-prefixed entry, behind its length. */
static struct cursor read_entry(struct cursor *c, bool *is_64)
{
	uint64_t size = cursor_u32(c);
	*is_64 = size == UINT32_MAX;
	if (*is_64)
		size = cursor_u64(c);
	return cursor_sub(c, size);
}

/* The field that tells a CIE from an FDE. In .eh_frame it has four bytes always, is 0 in a CIE and
 * else the distance back to it; in .debug_frame it is all ones, or the CIE's place.
 */
static bool read_id(const struct cfi_section *s, struct cursor *entry, bool is_64,
		    uint64_t *cie_off)
{
	const uint64_t at = (uint64_t)(entry->pos - s->bytes.data);
	if (!s->is_debug_frame) {
		const uint32_t back = cursor_u32(entry);
		*cie_off = at - back;
		return back != 0 && back <= at;
	}
	*cie_off = is_64 ? cursor_u64(entry) : cursor_u32(entry);
	return *cie_off != (is_64 ? UINT64_MAX : UINT32_MAX) && *cie_off < s->bytes.size;
}

static bool load_cie(struct cfi_entries *e, uint64_t off)
{
	if (e->has_cie && off == e->cie_off)
		return e->is_cie_sound;
	const struct bytes all = e->section->bytes;
	struct cursor c = cursor_over((struct bytes){ all.data + off, all.size - off });
	bool is_64;
	uint64_t unused;
	struct cursor entry = read_entry(&c, &is_64);
	const bool is_fde = read_id(e->section, &entry, is_64, &unused);
	e->has_cie = true;
	e->cie_off = off;
	e->is_cie_sound = !is_fde && !cursor_failed(&entry) && read_cie(entry, &e->cie);
	return e->is_cie_sound;
}

static bool read_fde(struct cfi_entries *e, struct cursor c, bool is_64, struct cfi_fde *fde)
{
	uint64_t cie_off;
	if (!read_id(e->section, &c, is_64, &cie_off) || cursor_failed(&c) || !load_cie(e, cie_off))
		return false;
	fde->start_svma = cfi_pointer(e->section, &c, e->cie.encoding);
	fde->size = cfi_format(&c, e->cie.encoding & PE_FORMAT);
	if (e->cie.has_augmentation) {
		const uint64_t extra = cursor_uleb(&c);
		(void)cursor_take(&c, extra);
	}
	fde->instructions = c;
	return !cursor_failed(&c) && fde->size && fde->start_svma + fde->size > fde->start_svma;
}

void cfi_entries_init(struct cfi_entries *entries, const struct cfi_section *section)
{
	*entries = (struct cfi_entries){ .section = section, .c = cursor_over(section->bytes) };
}

bool cfi_entries_next(struct cfi_entries *e, struct cfi_fde *fde)
{
	while (cursor_left(&e->c) >= sizeof(uint32_t)) {
		bool is_64;
		fde->off = (size_t)(e->c.pos - e->section->bytes.data);
		const struct cursor entry = read_entry(&e->c, &is_64);
		/* A length of 0 is a terminator, of which linkers leave some in the middle. */
		if (!cursor_failed(&entry) && cursor_left(&entry) && read_fde(e, entry, is_64, fde))
			return true;
	}
	return false;
}

bool cfi_entries_at(struct cfi_entries *e, size_t off, struct cfi_fde *fde)
{
	const struct bytes all = e->section->bytes;
	struct cursor c = cursor_over((struct bytes){ all.data + off, all.size - off });
	bool is_64;
	fde->off = off;
	const struct cursor entry = read_entry(&c, &is_64);
	return !cursor_failed(&entry) && read_fde(e, entry, is_64, fde);
}
