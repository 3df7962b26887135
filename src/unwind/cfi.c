#include "unwind/cfi.h"

#include "base/status.h"
#include "base/vector.h"
#include "unwind/cfi_program.h"

#include <gelf.h>
#include <stdlib.h>

/* Pointer encodings of .eh_frame (LSB 5.0 Core, 10.5.1). */
enum {
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_APPLICATION = 0x70,
	PE_OMIT = 0xff,
};

struct cfi_table {
	VECTOR(struct cfi_row) rows;
};

/* The section while it is read. */
struct section {
	struct bytes bytes;
	uint64_t svma;
	struct cfi_table *table;
};

static uint64_t svma_of(const struct section *s, const struct cursor *c)
{
	return s->svma + (uint64_t)(c->pos - s->bytes.data);
}

static uint64_t read_format(struct cursor *c, unsigned encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case 0:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

static uint64_t read_pointer(const struct section *s, struct cursor *c, unsigned encoding)
{
	const uint64_t at = svma_of(s, c);
	const uint64_t value = read_format(c, encoding);
	if ((encoding & PE_APPLICATION) == PE_PCREL)
		return at + value;
	if (encoding & PE_APPLICATION)
		cursor_fail(c); /* relative to things we do not know */
	return value;
}

/* What the letters of the augmentation announce, in their order. */
static bool read_augmentation(const struct section *s, struct cursor *c, const char *letters,
			      struct cfi_cie *cie)
{
	if (!*letters)
		return true;
	if (*letters != 'z')
		return false; /* "eh", of compilers long gone */
	cie->has_augmentation = true;
	const uint64_t size = cfi_uleb(c);
	struct cursor data = cursor_sub(c, size);
	for (letters++; *letters; letters++) {
		if (*letters == 'R') {
			cie->encoding = cursor_u8(&data);
		} else if (*letters == 'P') {
			const uint8_t encoding = cursor_u8(&data);
			(void)read_format(&data, encoding);
		} else if (*letters == 'L') {
			(void)cursor_u8(&data);
		}
		/* S and B take no data. */
	}
	(void)s;
	return !cursor_failed(&data);
}

static bool read_cie(const struct section *s, struct cursor c, struct cfi_cie *cie)
{
	*cie = (struct cfi_cie){ .encoding = 0 };
	const uint8_t version = cursor_u8(&c);
	const char *letters = cursor_cstr(&c);
	cie->code_align = cfi_uleb(&c);
	cie->data_align = cfi_sleb(&c);
	const uint64_t return_register = version == 1 ? cursor_u8(&c) : cfi_uleb(&c);
	if ((version != 1 && version != 3) || return_register != CFI_RETURN_ADDRESS ||
	    !read_augmentation(s, &c, letters, cie))
		return false;
	cie->program = c;
	return !cursor_failed(&c);
}

/* One length-prefixed entry; `id_at` is where its CIE pointer lies. */
static struct cursor next_entry(struct cursor *c, const uint8_t **id_at, uint32_t *id)
{
	uint64_t size = cursor_u32(c);
	if (size == UINT32_MAX)
		size = cursor_u64(c);
	struct cursor entry = cursor_sub(c, size);
	*id_at = entry.pos;
	*id = size ? cursor_u32(&entry) : 0;
	return entry;
}

static bool cie_of(const struct section *s, const uint8_t *id_at, uint32_t id, struct cfi_cie *cie)
{
	const size_t at = (size_t)(id_at - s->bytes.data);
	if (id > at)
		return false;
	struct cursor c = cursor_over((struct bytes){ id_at - id, s->bytes.size - (at - id) });
	const uint8_t *unused;
	uint32_t cie_id;
	struct cursor entry = next_entry(&c, &unused, &cie_id);
	return !cursor_failed(&entry) && cie_id == 0 && read_cie(s, entry, cie);
}

static bool put_row(void *context, const struct cfi_row *row)
{
	struct cfi_table *table = context;
	struct cfi_row *slot = vector_push(&table->rows);
	if (slot)
		*slot = *row;
	return slot != NULL;
}

/* False without memory; a damaged entry is passed over. */
static bool read_fde(const struct section *s, struct cursor c, const struct cfi_cie *cie)
{
	const uint64_t start_svma = read_pointer(s, &c, cie->encoding);
	const uint64_t size = read_format(&c, cie->encoding & PE_FORMAT);
	if (cie->has_augmentation) {
		const uint64_t extra = cfi_uleb(&c);
		(void)cursor_take(&c, extra);
	}
	if (cursor_failed(&c) || !size || start_svma + size < start_svma)
		return true;
	const struct cfi_row behind = { .start_svma = start_svma + size, .frame = CFI_NONE };
	return put_row(s->table, &behind) &&
	       cfi_program_run(cie, c, start_svma, start_svma + size, put_row, s->table);
}

/* Of equal addresses the "behind" of one function gives way to the start of the next. */
static int by_start(const void *left, const void *right)
{
	const struct cfi_row *a = left;
	const struct cfi_row *b = right;
	if (a->start_svma != b->start_svma)
		return a->start_svma < b->start_svma ? -1 : 1;
	return (a->frame != CFI_NONE) - (b->frame != CFI_NONE);
}

int cfi_table_section(struct cfi_table **result, struct bytes bytes, uint64_t section_svma)
{
	struct cfi_table *table = calloc(1, sizeof(*table));
	if (!table)
		return STATUS_NO_MEMORY;
	const struct section s = { .bytes = bytes, .svma = section_svma, .table = table };
	struct cursor c = cursor_over(bytes);
	const uint8_t *cie_at = NULL;
	struct cfi_cie cie;
	bool is_known = false;
	while (cursor_left(&c) >= sizeof(uint32_t)) {
		const uint8_t *id_at;
		uint32_t id;
		const struct cursor entry = next_entry(&c, &id_at, &id);
		if (cursor_failed(&entry) || id == 0)
			continue; /* a CIE, the terminator, or the torn end */
		/* Runs of FDEs share a CIE. */
		if (id_at - id != cie_at) {
			cie_at = id_at - id;
			is_known = cie_of(&s, id_at, id, &cie);
		}
		if (is_known && !read_fde(&s, entry, &cie)) {
			cfi_table_free(table);
			return STATUS_NO_MEMORY;
		}
	}
	if (table->rows.count)
		qsort(table->rows.items, table->rows.count, sizeof(table->rows.items[0]), by_start);
	*result = table;
	return 0;
}

static int find_section(Elf *elf, struct bytes image, struct bytes *section, uint64_t *svma)
{
	GElf_Ehdr header;
	size_t names;
	if (!gelf_getehdr(elf, &header) || elf_getshdrstrndx(elf, &names) != 0)
		return STATUS_NOT_FORMAT;
	if (header.e_machine != EM_X86_64)
		return STATUS_NOT_FOUND;
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name =
		    gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!name || strcmp(name, ".eh_frame") != 0 || sh.sh_type == SHT_NOBITS)
			continue;
		if (sh.sh_offset > image.size || sh.sh_size > image.size - sh.sh_offset)
			return STATUS_CORRUPT;
		*section = (struct bytes){ image.data + sh.sh_offset, sh.sh_size };
		*svma = sh.sh_addr;
		return 0;
	}
	return STATUS_NOT_FOUND;
}

int cfi_table_elf(struct cfi_table **table, struct bytes image)
{
	elf_version(EV_CURRENT);
	/* libelf asks for a writable pointer; it writes nothing for what is used here. */
	Elf *elf = elf_memory((char *)(uintptr_t)image.data, image.size);
	struct bytes section;
	uint64_t svma;
	int got = elf ? find_section(elf, image, &section, &svma) : STATUS_NOT_FORMAT;
	if (got == 0)
		got = cfi_table_section(table, section, svma);
	elf_end(elf);
	return got;
}

void cfi_table_free(struct cfi_table *table)
{
	if (table)
		vector_clear(&table->rows);
	free(table);
}

const struct cfi_row *cfi_find(const struct cfi_table *table, uint64_t svma)
{
	size_t low = 0;
	size_t high = table->rows.count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (table->rows.items[middle].start_svma <= svma)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->rows.items[low - 1] : NULL;
}
