/* Which LuaJIT it is, where its interpreter lies in it, and which of its calls need care.
 * Offsets are in src/bpf/walk_luajit.h: lj_obj.h and lj_frame.h of version 2.1.
 */
#include "base/status.h"
#include "interp/find.h"

#include <stdio.h>

/* Functions that are one field's access: their code says where the field is. */
struct accessor {
	const char *name;
	const char *code; /* hexadecimal */
};

/* As compilers write them: of the builds that are known all agree. */
static const struct accessor accessors[] = {
	/* the state's status, top and base, and cframe */
	{ "lua_status", "0fb6470bc3" },
	{ "lua_gettop", "488b4728482b472048c1f803c3" },
	{ "lua_isyieldable", "488b475083e001c3" },
	/* the global state's hooks, which lie around where the interpreter's own fields are */
	{ "lua_gethook", "488b4710488b8050010000c3" },
	{ "lua_gethookmask", "488b47100fb6809100000083e00fc3" },
	{ "lua_gethookcount", "488b47108b804c010000c3" },
	{ "lua_atpanic", "488b4710488b906001000048" },
};

enum { CALL_BYTES = 5 };

enum { ACCESSORS = sizeof(accessors) / sizeof(accessors[0]) };

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static bool has_code(const struct elf_image *elf, const struct interp_symbol *symbol,
		     const char *code)
{
	const size_t size = strlen(code) / 2;
	const struct bytes there = interp_bytes(elf, symbol->value, size);
	if (!symbol->is_there || there.size < size)
		return false;
	for (size_t i = 0; i < size; i++)
		if (there.data[i] != (digit(code[2 * i]) << 4 | digit(code[2 * i + 1])))
			return false;
	return true;
}

/* "LuaJIT 2.1.0-beta3" is in every build. */
static void find_number(const struct elf_image *elf, struct interp_found *found)
{
	static const char before[] = "LuaJIT 2.";
	const size_t size = sizeof(before) - 1;
	const uint8_t *at = memmem(elf->bytes.data, elf->bytes.size, before, size);
	const uint8_t *end = elf->bytes.data + elf->bytes.size;
	if (!at || (size_t)(end - at) < size + sizeof(found->version))
		return;
	at += size;
	size_t length = 0;
	while (length < sizeof(found->version) - 3 && at[length] > ' ')
		length++;
	(void)snprintf(found->version, sizeof(found->version), "2.%.*s", (int)length,
		       (const char *)at);
}

/* The interpreter is one piece of assembly with a description of frames of its own: 80 bytes from
 * the first instruction on, of which four are rbp, rbx, r15 and r14.
 */
static bool find_interpreter(const struct elf_image *elf, uint64_t *svma, uint64_t *bytes)
{
	static const uint8_t frame[] = { 0x00, 0x0e, 0x50, 0x86, 0x02, 0x83,
					 0x03, 0x8f, 0x04, 0x8e, 0x05 };
	enum { FIELDS = 8 }; /* where it begins, from this very field, and its size */
	struct elf_section section;
	if (!elf_section_named(elf, ".eh_frame", &section))
		return false;
	const struct bytes there =
	    interp_bytes(elf, section.header.sh_addr, section.header.sh_size);
	const uint8_t *at = memmem(there.data, there.size, frame, sizeof(frame));
	if (!at || at - there.data < FIELDS)
		return false;
	const uint64_t field_svma = section.header.sh_addr + (uint64_t)(at - there.data) - FIELDS;
	struct cursor c = cursor_over((struct bytes){ at - FIELDS, FIELDS });
	*svma = field_svma + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
	*bytes = cursor_u32(&c);
	return true;
}

static bool has_before(const uint8_t *code, size_t at, size_t reach, const char *wanted)
{
	const size_t size = strlen(wanted);
	const size_t from = at < reach ? 0 : at - reach;
	return memmem(code + from, at - from, wanted, size) != NULL;
}

/* A call of something in the same segment; what looks like one may be part of an instruction. */
static bool is_call(struct bytes code, size_t at, const struct walk_luajit *luajit)
{
	enum { CALL = 0xe8 };
	int32_t distance;
	if (code.data[at] != CALL)
		return false;
	memcpy(&distance, code.data + at + 1, sizeof(distance));
	const uint64_t to_avma = luajit->vm_avma + at + CALL_BYTES + (uint64_t)(int64_t)distance;
	return to_avma - luajit->text_avma < luajit->text_bytes;
}

/* Most calls write the frame's base into the state, and the place into the C frame. */
static bool list_calls(struct bytes code, struct walk_luajit *luajit)
{
	enum { NEAR = 16, FAR = 35 };
	uint16_t placeless[WALK_LUAJIT_CALLS];
	for (size_t i = 0; i + CALL_BYTES <= code.size; i++) {
		const size_t back = i + CALL_BYTES;
		if (back > UINT16_MAX || !is_call(code, i, luajit))
			continue;
		/* mov %rdx, 32(%rbp), 32(%rdi) or 32(%r10) */
		const bool writes_base = has_before(code.data, i, FAR, "\x48\x89\x55\x20") ||
					 has_before(code.data, i, FAR, "\x48\x89\x57\x20") ||
					 has_before(code.data, i, FAR, "\x49\x89\x52\x20");
		/* mov %rdx, %rbp; mov %rbx, 24(%rsp) */
		const bool keeps_base = has_before(code.data, i, NEAR, "\x48\x89\xd5");
		const bool writes_place = has_before(code.data, i, FAR, "\x48\x89\x5c\x24\x18");
		const bool is_keeping = keeps_base && !writes_place;
		if (!is_keeping && (!writes_base || writes_place))
			continue;
		if (luajit->keeping + luajit->placeless == WALK_LUAJIT_CALLS)
			return false;
		if (is_keeping)
			luajit->calls[luajit->keeping++] = (uint16_t)back;
		else
			placeless[luajit->placeless++] = (uint16_t)back;
	}
	memcpy(luajit->calls + luajit->keeping, placeless,
	       luajit->placeless * sizeof(placeless[0]));
	return luajit->keeping > 0;
}

/* The segment that has the interpreter: what calls it, too. */
static bool find_text(const struct elf_image *elf, struct walk_luajit *luajit)
{
	size_t count = 0;
	if (elf_getphdrnum(elf->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    luajit->vm_avma < segment.p_vaddr || segment.p_memsz > UINT32_MAX ||
		    luajit->vm_avma - segment.p_vaddr >= segment.p_memsz)
			continue;
		luajit->text_avma = segment.p_vaddr;
		luajit->text_bytes = (uint32_t)segment.p_memsz;
		return true;
	}
	return false;
}

static const char *look(const struct elf_image *elf, struct walk_luajit *luajit)
{
	enum { LEAST = 0x1000, MOST = 0xffff, NUMBERED = 16453 };
	uint64_t bytes;
	if (!find_interpreter(elf, &luajit->vm_avma, &bytes) || bytes < LEAST || bytes > MOST)
		return "where its interpreter is cannot be told";
	luajit->vm_bytes = (uint32_t)bytes;
	/* That of Debian 12, of March 2022: others may count their functions otherwise. */
	luajit->has_numbers = bytes == NUMBERED;
	const struct bytes code = interp_bytes(elf, luajit->vm_avma, bytes);
	if (code.size < bytes || !find_text(elf, luajit) || !list_calls(code, luajit))
		return "its interpreter is not the one that is known";
	return NULL;
}

int interp_luajit(const struct elf_image *elf, const struct interp_object *object,
		  const struct interp_view *view, struct interp_found *found)
{
	struct interp_symbol symbols[ACCESSORS + 1] = { [ACCESSORS] = { .name =
									    "luaJIT_setmode" } };
	(void)view;
	for (size_t i = 0; i < ACCESSORS; i++)
		symbols[i].name = accessors[i].name;
	interp_symbols(elf, symbols, ACCESSORS + 1);
	if (!symbols[ACCESSORS].is_there)
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_LUAJIT;
	find_number(elf, found);
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	if (strncmp(found->version, "2.1.", 4) != 0)
		return interp_refuse(found, "a version whose layout is not known");
	for (size_t i = 0; i < ACCESSORS; i++)
		if (!has_code(elf, &symbols[i], accessors[i].code))
			return interp_refuse(found, "a build whose layout is not known");
	struct walk_luajit *luajit = &found->runtime.luajit;
	const char *wrong = look(elf, luajit);
	if (wrong)
		return interp_refuse(found, wrong);
	luajit->vm_avma += object->bias_avma;
	luajit->text_avma += object->bias_avma;
	found->runtime.root =
	    (struct walk_root){ .kind = WALK_ROOT_ITSELF, .place = luajit->vm_avma };
	return 0;
}
