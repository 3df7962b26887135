#include "interp/find.h"

#include "base/status.h"

static void fill(struct interp_symbol *symbols, size_t count, const char *name,
		 const GElf_Sym *from)
{
	for (size_t i = 0; i < count; i++) {
		if (symbols[i].is_there || strcmp(symbols[i].name, name) != 0)
			continue;
		symbols[i].value = from->st_value;
		symbols[i].size = from->st_size;
		symbols[i].is_there = true;
	}
}

static void fill_from(const struct elf_image *elf, uint32_t type, struct interp_symbol *symbols,
		      size_t count)
{
	struct elf_section section;
	if (!elf_section_typed(elf, type, &section) || !section.header.sh_entsize)
		return;
	Elf_Data *data = elf_getdata(section.scn, NULL);
	const struct bytes names = elf_strings(elf, section.header.sh_link);
	const size_t entries = section.header.sh_size / section.header.sh_entsize;
	for (size_t i = 0; data && i < entries && i <= INT32_MAX; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (symbol.st_shndx != SHN_UNDEF)
			fill(symbols, count, elf_string_at(names, symbol.st_name), &symbol);
	}
}

size_t interp_symbols(const struct elf_image *elf, struct interp_symbol *symbols, size_t count)
{
	size_t there = 0;
	fill_from(elf, SHT_DYNSYM, symbols, count);
	for (size_t i = 0; i < count; i++)
		there += symbols[i].is_there;
	/* A statically linked program may have no other table. */
	if (there)
		return there;
	fill_from(elf, SHT_SYMTAB, symbols, count);
	for (size_t i = 0; i < count; i++)
		there += symbols[i].is_there;
	return there;
}

struct bytes interp_bytes(const struct elf_image *elf, uint64_t svma, uint64_t size)
{
	const struct bytes nothing = { .data = elf->bytes.data, .size = 0 };
	size_t count = 0;
	if (elf_getphdrnum(elf->elf, &count) != 0)
		return nothing;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    svma < segment.p_vaddr || svma - segment.p_vaddr >= segment.p_filesz ||
		    size > segment.p_filesz - (svma - segment.p_vaddr))
			continue;
		const uint64_t offset = segment.p_offset + (svma - segment.p_vaddr);
		if (offset <= elf->bytes.size && size <= elf->bytes.size - offset)
			return (struct bytes){ elf->bytes.data + offset, (size_t)size };
	}
	return nothing;
}

/* The loader writes the module's number where a relocation asks for it: of an object's own
 * variables all have the same.
 */
bool interp_tls_module(const struct elf_image *elf, const struct interp_object *object,
		       const struct interp_view *view, uint32_t *module)
{
	struct elf_section section;
	if (elf->header.e_machine != EM_X86_64 || !elf_section_typed(elf, SHT_RELA, &section))
		return false;
	Elf_Data *data = elf_getdata(section.scn, NULL);
	const size_t entries = section.header.sh_size / sizeof(Elf64_Rela);
	for (size_t i = 0; data && i < entries && i <= INT32_MAX; i++) {
		GElf_Rela relocation;
		uint64_t number;
		if (!gelf_getrela(data, (int)i, &relocation))
			return false;
		/* Without a symbol it is for this object's own variables. */
		if (GELF_R_TYPE(relocation.r_info) != R_X86_64_DTPMOD64 ||
		    GELF_R_SYM(relocation.r_info) != 0)
			continue;
		if (!view->read(view->context, object->bias_avma + relocation.r_offset, &number,
				sizeof(number)) ||
		    number == 0 || number > UINT16_MAX)
			return false;
		*module = (uint32_t)number;
		return true;
	}
	return false;
}

const char *interp_language_name(enum walk_language language)
{
	static const char *const names[WALK_LANGUAGE_COUNT] = {
		[WALK_NO_LANGUAGE] = "",  [WALK_PYTHON] = "Python", [WALK_PHP] = "PHP",
		[WALK_RUBY] = "Ruby",     [WALK_PERL] = "Perl",     [WALK_SLOT] = "slot",
		[WALK_LUAJIT] = "LuaJIT", [WALK_LUA] = "Lua",
	};
	return language < WALK_LANGUAGE_COUNT ? names[language] : "";
}

uint32_t interp_pthread_values(struct bytes image)
{
	/* What glibc tells debuggers: bits, count, and offset of an array. */
	struct interp_symbol symbol = { .name = "_thread_db_pthread_specific" };
	struct elf_image elf;
	uint32_t words[3] = { 0 };
	if (elf_image_open(&elf, image) != 0)
		return 0;
	if (interp_symbols(&elf, &symbol, 1)) {
		const struct bytes told = interp_bytes(&elf, symbol.value, sizeof(words));
		memcpy(words, told.data, told.size);
	}
	elf_image_close(&elf);
	return words[2] < UINT16_MAX && words[2] % 8 == 0 ? words[2] : 0;
}

static int find(const struct interp_object *object, const struct interp_view *view,
		interp_search *const searches[], struct interp_found *found)
{
	struct elf_image elf;
	int result = elf_image_open(&elf, object->image);
	if (result != 0)
		return result;
	result = STATUS_NOT_FOUND;
	const uint8_t *ident = elf.header.e_ident;
	if (ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB)
		for (size_t i = 0; searches[i] && result == STATUS_NOT_FOUND; i++) {
			*found = (struct interp_found){ .refusal = NULL };
			result = searches[i](&elf, object, view, found);
		}
	elf_image_close(&elf);
	return result;
}

int interp_find(const struct interp_object *object, const struct interp_view *view,
		struct interp_found *found)
{
	static interp_search *const searches[] = { interp_python, interp_php,    interp_ruby,
						   interp_perl,   interp_luajit, interp_slot,
						   NULL };
	return find(object, view, searches, found);
}

int interp_find_slot(const struct interp_object *object, const struct interp_view *view,
		     struct interp_found *found)
{
	static interp_search *const searches[] = { interp_slot, NULL };
	return find(object, view, searches, found);
}
