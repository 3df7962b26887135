/* Interpreters that publish their frames: include/polyperf/interp.h. */
#include "base/status.h"
#include "interp/find.h"

#include <polyperf/interp.h>
#include <stddef.h>
#include <stdio.h>

/* The note's descriptor: how far it is from there to the slot. */
static bool note_in(struct bytes notes, uint64_t notes_svma, uint64_t *slot_svma)
{
	struct cursor c = cursor_over(notes);
	while (cursor_left(&c)) {
		const uint64_t name_size = cursor_u32(&c);
		const uint64_t size = cursor_u32(&c);
		const uint32_t type = cursor_u32(&c);
		const struct bytes name = cursor_take(&c, name_size);
		cursor_take(&c, -name_size & 3);
		const uint64_t at_svma = notes_svma + (uint64_t)(c.pos - notes.data);
		struct cursor descriptor = cursor_sub(&c, size);
		if (cursor_failed(&c))
			return false;
		if (type == POLYPERF_INTERP_NOTE && name.size == sizeof("polyperf") &&
		    memcmp(name.data, "polyperf", sizeof("polyperf")) == 0) {
			*slot_svma = at_svma + cursor_u64(&descriptor);
			return !cursor_failed(&descriptor);
		}
		const uint64_t padding = -size & 3;
		cursor_take(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
	}
	return false;
}

static bool find_note(const struct elf_image *elf, uint64_t *slot_svma)
{
	/* No object has more; hostile ones could make us read the same notes over and over. */
	enum { NOTES_LIMIT = 64 };
	size_t count = 0;
	int left = NOTES_LIMIT;
	if (elf_getphdrnum(elf->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && left; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_NOTE)
			continue;
		left--;
		if (segment.p_offset <= elf->bytes.size &&
		    segment.p_filesz <= elf->bytes.size - segment.p_offset &&
		    note_in((struct bytes){ elf->bytes.data + segment.p_offset,
					    (size_t)segment.p_filesz },
			    segment.p_vaddr, slot_svma))
			return true;
	}
	return false;
}

static bool fits(uint16_t offset, size_t size, uint16_t bytes)
{
	return offset % size == 0 && offset + size <= bytes;
}

static bool makes_sense(const struct polyperf_interp_slot *slot)
{
	return slot->frame_bytes <= 8 * WALK_FRAME_WORDS &&
	       slot->code_bytes <= 8 * WALK_CODE_WORDS &&
	       fits(slot->frame_previous, 8, slot->frame_bytes) &&
	       fits(slot->frame_code, 8, slot->frame_bytes) &&
	       fits(slot->frame_generation, 8, slot->frame_bytes) &&
	       fits(slot->frame_line, 4, slot->frame_bytes) &&
	       fits(slot->frame_flags, 4, slot->frame_bytes) &&
	       fits(slot->code_generation, 8, slot->code_bytes) &&
	       fits(slot->code_name, 8, slot->code_bytes) &&
	       fits(slot->code_owner, 8, slot->code_bytes) &&
	       fits(slot->code_file, 8, slot->code_bytes) &&
	       fits(slot->code_first_line, 4, slot->code_bytes);
}

static struct walk_slot layout_of(const struct polyperf_interp_slot *slot)
{
	return (struct walk_slot){ .frame_magic = POLYPERF_INTERP_FRAME_MAGIC,
				   .frame_bytes = slot->frame_bytes,
				   .frame_previous = slot->frame_previous,
				   .frame_code = slot->frame_code,
				   .frame_generation = slot->frame_generation,
				   .frame_line = slot->frame_line,
				   .frame_flags = slot->frame_flags,
				   .code_bytes = slot->code_bytes,
				   .code_generation = slot->code_generation,
				   .code_name = slot->code_name,
				   .code_owner = slot->code_owner,
				   .code_file = slot->code_file,
				   .code_first_line = slot->code_first_line };
}

static bool is_evaluator(uint64_t svma, uint64_t evaluators_svma)
{
	return svma >= evaluators_svma && svma % 8 == evaluators_svma % 8 &&
	       (svma - evaluators_svma) / 8 < WALK_MAX_EVALUATORS;
}

/* The value of a symbol of a relocation section; 0: it is not of this object. */
static uint64_t symbol_value(const struct elf_image *elf, Elf_Data *symbols, uint64_t index)
{
	GElf_Sym symbol;
	(void)elf;
	if (!symbols || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &symbol) ||
	    symbol.st_shndx == SHN_UNDEF)
		return 0;
	return symbol.st_value;
}

/* What the loader will write, or has written: it may not have come to that yet. */
static void relocate(const struct elf_image *elf, uint64_t evaluators_svma,
		     uint64_t svmas[WALK_MAX_EVALUATORS])
{
	struct elf_section section;
	struct elf_section dynsym;
	if (!elf_section_typed(elf, SHT_RELA, &section))
		return;
	Elf_Data *data = elf_getdata(section.scn, NULL);
	Elf_Data *symbols =
	    elf_section_typed(elf, SHT_DYNSYM, &dynsym) ? elf_getdata(dynsym.scn, NULL) : NULL;
	const size_t entries = section.header.sh_size / sizeof(Elf64_Rela);
	for (size_t i = 0; data && i < entries && i <= INT32_MAX; i++) {
		GElf_Rela relocation;
		if (!gelf_getrela(data, (int)i, &relocation))
			return;
		if (!is_evaluator(relocation.r_offset, evaluators_svma))
			continue;
		uint64_t *svma = &svmas[(relocation.r_offset - evaluators_svma) / 8];
		if (GELF_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
			*svma = (uint64_t)relocation.r_addend;
		else if (GELF_R_TYPE(relocation.r_info) == R_X86_64_64)
			*svma = symbol_value(elf, symbols, GELF_R_SYM(relocation.r_info));
	}
}

/* Those that are known come first. */
static void find_evaluators(const struct elf_image *elf, const struct interp_object *object,
			    const struct polyperf_interp_slot *slot, uint64_t slot_svma,
			    struct walk_slot *layout)
{
	uint64_t svmas[WALK_MAX_EVALUATORS];
	size_t count = 0;
	_Static_assert(sizeof(svmas) == sizeof(slot->evaluators), "one is for the other");
	/* Without relocations, or packed ones (RELR), the file has them. */
	memcpy(svmas, slot->evaluators, sizeof(svmas));
	relocate(elf, slot_svma + offsetof(struct polyperf_interp_slot, evaluators), svmas);
	for (size_t i = 0; i < WALK_MAX_EVALUATORS; i++)
		if (svmas[i])
			layout->evaluator_avmas[count++] = object->bias_avma + svmas[i];
}

/* "Lua 5.4.4", as the headers say that the program was compiled with. */
static int find_lua(const struct polyperf_interp_slot *slot, struct interp_found *found)
{
	static const char BEFORE[] = "Lua ";
	static const char *const known[] = { "5.4.3", "5.4.4", "5.4.5", "5.4.6", "5.4.7", "5.4.8" };
	const size_t before = sizeof(BEFORE) - 1;
	found->runtime.language = WALK_LUA;
	const char *name = slot->name;
	if (strncmp(name, BEFORE, before) == 0)
		name += before;
	(void)snprintf(found->version, sizeof(found->version), "%.*s",
		       (int)(sizeof(slot->name) - (size_t)(name - slot->name)), name);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(found->version, known[i]) == 0)
			return 0;
	return interp_refuse(found, "a version whose layout is not known");
}

int interp_slot(const struct elf_image *elf, const struct interp_object *object,
		const struct interp_view *view, struct interp_found *found)
{
	struct polyperf_interp_slot slot;
	uint64_t slot_svma;
	(void)view;
	if (!find_note(elf, &slot_svma))
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_SLOT;
	const struct bytes told = interp_bytes(elf, slot_svma, sizeof(slot));
	if (told.size < sizeof(slot))
		return interp_refuse(found, "its note leads to no slot");
	memcpy(&slot, told.data, sizeof(slot));
	if (slot.magic != POLYPERF_INTERP_SLOT_MAGIC || slot.size < sizeof(slot))
		return interp_refuse(found, "its note leads to no slot");
	if (slot.version != POLYPERF_INTERP_VERSION || slot.kind > POLYPERF_INTERP_KIND_LUA ||
	    (slot.kind == POLYPERF_INTERP_KIND_FRAMES && !makes_sense(&slot)))
		return interp_refuse(found, "a slot of another version");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	(void)snprintf(found->version, sizeof(found->version), "%.*s", (int)sizeof(slot.name),
		       slot.name);
	found->runtime.root = (struct walk_root){
		.kind = WALK_ROOT_TLS_AT, /* Set by a constructor, which may not have run yet. */
		.place = object->bias_avma + slot_svma +
			 offsetof(struct polyperf_interp_slot, top_tp_off)
	};
	if (slot.kind == POLYPERF_INTERP_KIND_LUA)
		return find_lua(&slot, found);
	found->runtime.slot = layout_of(&slot);
	find_evaluators(elf, object, &slot, slot_svma, &found->runtime.slot);
	return 0;
}
