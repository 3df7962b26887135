#include "clr/image_internal.h"

#include "base/status.h"

enum {
	DOS_MAGIC = 0x5a4d,
	DOS_PE_OFFSET_AT = 0x3c,
	PE_MAGIC = 0x00004550,
	OPTIONAL_MAGIC_32 = 0x10b,
	OPTIONAL_MAGIC_64 = 0x20b,
	DIRECTORIES_AT_32 = 92, /* their count, then they */
	DIRECTORIES_AT_64 = 108,
	DEBUG_ENTRY_SIZE = 28,
	DEBUG_CODEVIEW = 2,
	DEBUG_EMBEDDED_PDB = 17,
	DEBUG_MAP = 21,
	PORTABLE_CODEVIEW = 0x504d, /* minor version of entries for portable PDBs */
	CODEVIEW_MAGIC = 0x53445352,
	MAP_MAGIC = 0x4d523252, /* "R2RM" */
	EXPORT_NAMES_AT = 24,
	GUID_SIZE = 16,
};

/* ReadyToRun images of other systems than Windows have their machine XORed with one of these. */
static bool known_machine(uint16_t value, enum pe_machine *machine)
{
	static const uint16_t systems[] = { 0, 0x7b79, 0x4644, 0xadc4, 0x1993, 0x1992 };
	static const uint16_t machines[] = { PE_I386, PE_AMD64,       PE_ARM64,
					     PE_ARM,  PE_LOONGARCH64, PE_RISCV64 };
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		for (size_t j = 0; j < sizeof(machines) / sizeof(machines[0]); j++)
			if ((value ^ systems[i]) == machines[j]) {
				*machine = (enum pe_machine)machines[j];
				return true;
			}
	return false;
}

static int read_optional(struct pe *pe, struct cursor optional)
{
	const struct cursor start = optional;
	const uint16_t magic = cursor_u16(&optional);
	if (magic != OPTIONAL_MAGIC_32 && magic != OPTIONAL_MAGIC_64)
		return STATUS_CORRUPT;
	optional = start;
	cursor_take(&optional, magic == OPTIONAL_MAGIC_32 ? DIRECTORIES_AT_32 : DIRECTORIES_AT_64);
	uint32_t count = cursor_u32(&optional);
	if (count > PE_DIRECTORY_COUNT)
		count = PE_DIRECTORY_COUNT;
	for (uint32_t i = 0; i < count; i++) {
		pe->directories[i].rva = cursor_u32(&optional);
		pe->directories[i].size = cursor_u32(&optional);
	}
	return cursor_failed(&optional) ? STATUS_CORRUPT : 0;
}

int pe_open(struct pe *pe, struct bytes file)
{
	*pe = (struct pe){ .file = file };
	struct cursor c = cursor_over(file);
	if (cursor_u16(&c) != DOS_MAGIC)
		return STATUS_NOT_FORMAT;
	c = cursor_at(file, DOS_PE_OFFSET_AT);
	c = cursor_at(file, cursor_u32(&c));
	if (cursor_u32(&c) != PE_MAGIC)
		return STATUS_NOT_FORMAT;
	const uint16_t machine = cursor_u16(&c);
	const uint16_t section_count = cursor_u16(&c);
	cursor_take(&c, 12);
	const uint16_t optional_size = cursor_u16(&c);
	cursor_u16(&c);
	const struct cursor optional = cursor_sub(&c, optional_size);
	pe->sections = cursor_take(&c, (size_t)section_count * PE_SECTION_SIZE);
	if (cursor_failed(&c))
		return STATUS_CORRUPT;
	if (!known_machine(machine, &pe->machine))
		return STATUS_UNSUPPORTED;
	return read_optional(pe, optional);
}

static bool section_at(const struct pe *pe, size_t index, struct pe_section *section)
{
	struct cursor c = cursor_at(pe->sections, index * PE_SECTION_SIZE);
	cursor_take(&c, 8);
	cursor_u32(&c); /* its size in memory: zeros follow what the file has */
	section->rva = cursor_u32(&c);
	section->size = cursor_u32(&c);
	section->file_off = cursor_u32(&c);
	if (cursor_failed(&c) || section->file_off > pe->file.size)
		return false;
	if (section->size > pe->file.size - section->file_off)
		section->size = (uint32_t)(pe->file.size - section->file_off);
	return true;
}

static size_t section_count(const struct pe *pe)
{
	return pe->sections.size / PE_SECTION_SIZE;
}

bool pe_rva_of_offset(const struct pe *pe, uint32_t file_off, uint32_t *rva)
{
	struct pe_section section;
	for (size_t i = 0; i < section_count(pe); i++)
		if (section_at(pe, i, &section) && file_off >= section.file_off &&
		    file_off - section.file_off < section.size) {
			*rva = section.rva + (file_off - section.file_off);
			return true;
		}
	return false;
}

struct bytes pe_bytes_from(const struct pe *pe, uint32_t rva)
{
	struct pe_section section;
	for (size_t i = 0; i < section_count(pe); i++)
		if (section_at(pe, i, &section) && rva >= section.rva &&
		    rva - section.rva < section.size)
			return (struct bytes){
				.data = pe->file.data + section.file_off + (rva - section.rva),
				.size = section.size - (rva - section.rva),
			};
	return (struct bytes){ 0 };
}

bool pe_offset_of_rva(const struct pe *pe, uint32_t rva, uint32_t *file_off)
{
	const struct bytes there = pe_bytes_from(pe, rva);
	if (!there.size)
		return false;
	*file_off = (uint32_t)(there.data - pe->file.data);
	return true;
}

struct bytes pe_bytes(const struct pe *pe, struct pe_directory directory)
{
	struct bytes bytes = pe_bytes_from(pe, directory.rva);
	if (directory.size > bytes.size)
		return (struct bytes){ 0 };
	bytes.size = directory.size;
	return bytes;
}

bool pe_export(const struct pe *pe, const char *name, uint32_t *rva)
{
	struct cursor c = cursor_over(pe_bytes(pe, pe->directories[PE_DIRECTORY_EXPORT]));
	cursor_take(&c, EXPORT_NAMES_AT - 4);
	const uint32_t address_count = cursor_u32(&c);
	const uint32_t name_count = cursor_u32(&c);
	const struct bytes addresses = pe_bytes_from(pe, cursor_u32(&c));
	struct cursor names = cursor_over(pe_bytes_from(pe, cursor_u32(&c)));
	struct cursor ordinals = cursor_over(pe_bytes_from(pe, cursor_u32(&c)));
	for (uint32_t i = 0; !cursor_failed(&c) && i < name_count; i++) {
		struct cursor text = cursor_over(pe_bytes_from(pe, cursor_u32(&names)));
		const uint16_t ordinal = cursor_u16(&ordinals);
		if (cursor_failed(&names) || cursor_failed(&ordinals))
			return false;
		const struct bytes there = cursor_take(&text, strlen(name) + 1);
		if (!there.size || memcmp(there.data, name, there.size) != 0)
			continue;
		struct cursor address = cursor_at(addresses, (size_t)ordinal * 4);
		*rva = cursor_u32(&address);
		return ordinal < address_count && !cursor_failed(&address);
	}
	return false;
}

/* One entry of the debug directory. */
struct debug_entry {
	uint32_t stamp;
	uint16_t minor;
	uint32_t kind;
	struct bytes data;
};

/* Crossgen adds an entry for its own symbols: that of the portable PDB is wanted. */
static void read_codeview(const struct debug_entry *entry, struct clr_identity *identity)
{
	struct cursor c = cursor_over(entry->data);
	const bool is_portable = entry->minor == PORTABLE_CODEVIEW;
	const uint32_t magic = cursor_u32(&c);
	const struct bytes guid = cursor_take(&c, GUID_SIZE);
	cursor_u32(&c); /* age */
	const char *path = cursor_cstr(&c);
	if (cursor_failed(&c) || magic != CODEVIEW_MAGIC || identity->has_pdb_id)
		return;
	if (identity->pdb_path.size && !is_portable)
		return;
	identity->pdb_path = (struct bytes){ (const uint8_t *)path, strlen(path) };
	if (!is_portable)
		return;
	memcpy(identity->pdb_id, guid.data, GUID_SIZE);
	memcpy(identity->pdb_id + GUID_SIZE, &entry->stamp, sizeof(entry->stamp));
	identity->has_pdb_id = true;
}

/* "R2RM", the signature, a version, the file's name. */
static void read_map_entry(struct bytes data, struct clr_identity *identity)
{
	struct cursor c = cursor_over(data);
	const uint32_t magic = cursor_u32(&c);
	const struct bytes signature = cursor_take(&c, sizeof(identity->map_signature));
	cursor_u32(&c);
	const char *name = cursor_cstr(&c);
	if (cursor_failed(&c) || magic != MAP_MAGIC)
		return;
	memcpy(identity->map_signature, signature.data, signature.size);
	identity->map_name = (struct bytes){ (const uint8_t *)name, strlen(name) };
}

void pe_symbols(const struct pe *pe, struct clr_identity *identity)
{
	struct cursor c = cursor_over(pe_bytes(pe, pe->directories[PE_DIRECTORY_DEBUG]));
	while (cursor_left(&c) >= DEBUG_ENTRY_SIZE) {
		struct debug_entry entry = { 0 };
		cursor_u32(&c);
		entry.stamp = cursor_u32(&c);
		cursor_u16(&c);
		entry.minor = cursor_u16(&c);
		entry.kind = cursor_u32(&c);
		const uint32_t size = cursor_u32(&c);
		cursor_u32(&c); /* its RVA: not all are loaded */
		struct cursor data = cursor_at(pe->file, cursor_u32(&c));
		entry.data = cursor_take(&data, size);
		if (entry.kind == DEBUG_CODEVIEW)
			read_codeview(&entry, identity);
		else if (entry.kind == DEBUG_EMBEDDED_PDB && entry.data.size)
			identity->embedded_pdb = entry.data;
		else if (entry.kind == DEBUG_MAP)
			read_map_entry(entry.data, identity);
	}
}
