#include "base/status.h"
#include "interp/find.h"
#include "interp/python_tables.h"

#include <stdio.h>

/* In the order of `names`. */
struct symbols {
	struct interp_symbol runtime;
	struct interp_symbol code_type;
	struct interp_symbol eval;
	struct interp_symbol version;
};

static const struct python_version *by_number(unsigned minor)
{
	for (size_t i = 0; i < python_version_count; i++)
		if (python_versions[i].minor == minor)
			return &python_versions[i];
	return NULL;
}

bool interp_knows_python(unsigned minor)
{
	return by_number(minor) != NULL;
}

/* Before 3.11 no variable has the version; the size of the runtime's state is of one only. */
static const struct python_version *by_size(uint64_t size)
{
	for (size_t i = 0; i < python_version_count; i++)
		if (python_versions[i].runtime_bytes == size)
			return &python_versions[i];
	return NULL;
}

/* PY_VERSION_HEX: a byte each of major, minor and micro, then the level of the release. */
static const struct python_version *find_version(const struct elf_image *elf,
						 const struct symbols *symbols,
						 struct interp_found *found)
{
	const struct python_version *version;
	if (!symbols->version.is_there) {
		version = by_size(symbols->runtime.size);
		if (version)
			(void)snprintf(found->version, sizeof(found->version), "3.%u",
				       version->minor);
		return version;
	}
	const struct bytes told = interp_bytes(elf, symbols->version.value, sizeof(uint64_t));
	uint64_t number = 0;
	memcpy(&number, told.data, told.size);
	(void)snprintf(found->version, sizeof(found->version), "%u.%u.%u",
		       (unsigned)(number >> 24 & 255), (unsigned)(number >> 16 & 255),
		       (unsigned)(number >> 8 & 255));
	/* Alphas and betas (levels 0xa, 0xb) have layouts of their own. */
	if ((number >> 24 & 255) != 3 || (number >> 4 & 15) < 0xc)
		return NULL;
	version = by_number((unsigned)(number >> 16 & 255));
	return version && version->runtime_bytes == 0 ? version : NULL;
}

/* From 3.13 on the runtime's state begins with a table of its own offsets: all that are in
 * ours, too, must agree.
 */
static const char *check_offsets(const struct elf_image *elf, uint64_t runtime_svma,
				 const struct python_version *version)
{
	const struct bytes told = interp_bytes(elf, runtime_svma, PYTHON_DEBUG_BYTES);
	if (told.size < PYTHON_DEBUG_BYTES || memcmp(told.data, "xdebugpy", 8) != 0)
		return "its table of offsets is not where it should be";
	struct cursor c = cursor_over(told);
	cursor_take(&c, 16);
	if (cursor_u64(&c) != 0)
		return "a free-threaded build";
	for (size_t i = 0; i < version->check_count; i++) {
		c = cursor_over(told);
		cursor_take(&c, 8 * (size_t)version->checks[i].word);
		if (cursor_u64(&c) != version->checks[i].value)
			return "its table of offsets is not that of its version";
	}
	return NULL;
}

enum { ENTRY_LIMIT = 0x180 };

static uint32_t number_at(const uint8_t *code)
{
	uint32_t number;
	memcpy(&number, code, sizeof(number));
	return number;
}

/* The bytes of the evaluator's stack frame, from the one instruction that makes it. */
static uint32_t stack_bytes(const uint8_t *code)
{
	enum { BEHIND_PUSHES = 0x30, MOST = 4096 };
	const uint8_t subtract[] = { 0x48, 0x81, 0xec }; /* sub $imm32, %rsp */
	for (size_t i = 0; i < BEHIND_PUSHES; i++)
		if (memcmp(code + i, subtract, sizeof(subtract)) == 0 &&
		    number_at(code + i + sizeof(subtract)) <= MOST)
			return number_at(code + i + sizeof(subtract));
	return MOST;
}

/* Behind the last of the stores into the part of the stack at %rsp + `at` that begin within
 * the entry: a SIB byte and a displacement of 32 bits, whatever the instruction. Or 0.
 */
static size_t last_store(const uint8_t *code, size_t from, uint32_t at)
{
	enum { RSP = 0x24, LINKED_LIMIT = 0x100 };
	size_t end = 0;
	for (size_t i = from; i < LINKED_LIMIT; i++)
		if (code[i] == RSP && number_at(code + i + 1) == at)
			end = i + 5;
	return end;
}

/* Where the cframe has its frame: behind `lea at(%rsp), %reg`, `mov %reg, cframe(%rdi)` and
 * the store to at + frame(%rsp). Some compilers do it another way; then the entry is all up to
 * the first jump to an instruction's code, and the walk asks the registers.
 */
static uint32_t entry_bytes(const uint8_t *code, const struct walk_python *python)
{
	enum { FIRST_JUMP = 0xa0, MOST_BETWEEN = 0x40 };
	for (size_t i = 0; i < FIRST_JUMP; i++) {
		if (code[i] != 0x48 || code[i + 1] != 0x8d || (code[i + 2] & 0xc7) != 0x84 ||
		    code[i + 3] != 0x24)
			continue;
		const uint32_t at = number_at(code + i + 4);
		for (size_t k = i + 8; k < i + MOST_BETWEEN; k++) {
			/* The same register is stored. */
			if (code[k] != 0x48 || code[k + 1] != 0x89 ||
			    code[k + 2] != (0x47 | (code[i + 2] & 0x38)) ||
			    code[k + 3] != python->thread_frame)
				continue;
			const size_t frame = last_store(code, k, at + python->cframe_frame);
			const size_t previous = last_store(code, k, at + python->cframe_previous);
			if (frame)
				return (uint32_t)(frame > previous ? frame : previous);
		}
	}
	for (size_t i = FIRST_JUMP; i + 1 < ENTRY_LIMIT; i++)
		/* jmp *%reg, jmp *(%reg, %reg, 8) */
		if (code[i] == 0xff && ((code[i + 1] & 0xf8) == 0xe0 || code[i + 1] == 0x24))
			return (uint32_t)i;
	return ENTRY_LIMIT;
}

static void look_at_entry(const struct elf_image *elf, uint64_t eval_svma,
			  struct walk_python *python)
{
	const struct bytes code = interp_bytes(elf, eval_svma, ENTRY_LIMIT);
	python->eval_entry_bytes = ENTRY_LIMIT;
	python->eval_stack_bytes = 4096;
	if (code.size < ENTRY_LIMIT)
		return;
	python->eval_stack_bytes = stack_bytes(code.data);
	python->eval_entry_bytes = entry_bytes(code.data, python);
}

int interp_python(const struct elf_image *elf, const struct interp_object *object,
		  const struct interp_view *view, struct interp_found *found)
{
	union {
		struct symbols named;
		struct interp_symbol list[4];
	} symbols = { .named = { .runtime = { .name = "_PyRuntime" },
				 .code_type = { .name = "PyCode_Type" },
				 .eval = { .name = "_PyEval_EvalFrameDefault" },
				 .version = { .name = "Py_Version" } } };
	interp_symbols(elf, symbols.list, 4);
	if (!symbols.named.runtime.is_there || !symbols.named.code_type.is_there ||
	    !symbols.named.eval.is_there)
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_PYTHON;
	const struct python_version *version = find_version(elf, &symbols.named, found);
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	const char *wrong =
	    version->check_count ? check_offsets(elf, symbols.named.runtime.value, version) : NULL;
	if (wrong)
		return interp_refuse(found, wrong);
	if (!view->pthread_values_off)
		return interp_refuse(found, "its C library is not glibc");
	const uint64_t runtime_avma = object->bias_avma + symbols.named.runtime.value;
	found->runtime.root = (struct walk_root){ .kind = WALK_ROOT_TSS,
						  .place = runtime_avma + version->key_off,
						  .detail = view->pthread_values_off };
	found->runtime.python = version->layout;
	found->runtime.python.code_type_avma = object->bias_avma + symbols.named.code_type.value;
	found->runtime.python.eval_avma = object->bias_avma + symbols.named.eval.value;
	if (version->holder_off)
		found->runtime.python.holder_avma = runtime_avma + version->holder_off;
	look_at_entry(elf, symbols.named.eval.value, &found->runtime.python);
	return 0;
}
