/* Offsets: vm_core.h, method.h, iseq.h and include/ruby/internal/core/ of CRuby: of 3.1 as in
 * rb_mjit_min_header-3.1.2.h, of the others in the releases that are named with the tables. In
 * each minor version the first and the last release have the same.
 */
#include "base/number.h"
#include "base/status.h"
#include "interp/find.h"

#include <stdio.h>

struct ruby_version {
	unsigned major;
	unsigned minor;
	struct walk_ruby layout;
};

/* The same in all of 2.7 to 3.4. */
#define COMMON                                                                                \
	.context_stack = 0, .frame_pc = 0, .frame_iseq = 16, .frame_ep = 32, .iseq_body = 16, \
	.body_bytes = 152, .body_code_count = 4, .body_code = 8, .body_file = 64,             \
	.body_label = 80, .body_first_line = 88, .array_embedded = 16, .array_pointer = 32,   \
	.string_length = 16, .string_pointer = 24, .method_definition = 16,                   \
	.definition_function = 8, .string_elsewhere = 0x2000, .array_is_embedded = 0x2000

/* Up to 3.1: short texts have their length in their flags. */
#define SHORT_TEXTS .string_embedded = 16, .string_length_mask = 0x7c000, .string_length_shift = 14

/* From 3.2 on objects have many sizes, and all texts their length before them. */
#define WIDE_TEXTS .string_embedded = 24

#define LINES .body_lines = 120, .body_line_count = 136, .body_index = 144
#define LINES_3_2 .body_lines = 112, .body_line_count = 128, .body_index = 136

static const struct ruby_version versions[] = {
	{ /* 2.7.0, 2.7.8 */
	  .major = 2,
	  .minor = 7,
	  .layout = { .context_thread = 56,
		      .thread_context = 32,
		      .thread_id = 72,
		      COMMON,
		      SHORT_TEXTS,
		      LINES,
		      .frame_bytes = 56,
		      .line_bytes = 8 } },
	{ /* 3.0.0, 3.0.7 */
	  .major = 3,
	  .minor = 0,
	  .layout = { .context_thread = 56,
		      .thread_context = 40,
		      COMMON,
		      SHORT_TEXTS,
		      LINES,
		      .frame_bytes = 56,
		      .line_bytes = 8 } },
	{ /* 3.1.0, 3.1.2, 3.1.7 */
	  .major = 3,
	  .minor = 1,
	  .layout = { .context_thread = 48,
		      .thread_context = 40,
		      COMMON,
		      SHORT_TEXTS,
		      LINES,
		      .frame_bytes = 64,
		      .line_bytes = 12 } },
	{ /* 3.2.0, 3.2.11 */
	  .major = 3,
	  .minor = 2,
	  .layout = { .context_thread = 48,
		      .thread_context = 48,
		      COMMON,
		      WIDE_TEXTS,
		      LINES_3_2,
		      .frame_bytes = 64,
		      .line_bytes = 12 } },
	{ /* 3.3.0, 3.3.12 */
	  .major = 3,
	  .minor = 3,
	  .layout = { .context_thread = 48,
		      .thread_context = 48,
		      COMMON,
		      WIDE_TEXTS,
		      LINES_3_2,
		      .frame_bytes = 56,
		      .line_bytes = 12 } },
	{ /* 3.4.0, 3.4.10 */
	  .major = 3,
	  .minor = 4,
	  .layout = { .context_thread = 48,
		      .thread_context = 48,
		      COMMON,
		      WIDE_TEXTS,
		      LINES_3_2,
		      .frame_bytes = 56,
		      .line_bytes = 12 } },
};

/* ruby_version is "3.1.2". */
static const struct ruby_version *find_version(const struct elf_image *elf,
					       const struct interp_symbol *symbol,
					       struct interp_found *found)
{
	uint32_t major;
	uint32_t minor;
	if (!symbol->is_there || symbol->size < 4 || symbol->size > INTERP_VERSION_SIZE)
		return NULL;
	const struct bytes told = interp_bytes(elf, symbol->value, symbol->size);
	(void)snprintf(found->version, sizeof(found->version), "%.*s", (int)told.size,
		       (const char *)told.data);
	const char *at = number_skip_u32(found->version, &major);
	if (!at || at[0] != '.' || !number_skip_u32(at + 1, &minor))
		return NULL;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].major == major && versions[i].minor == minor)
			return &versions[i];
	return NULL;
}

enum { CODE_BYTES = 48, NUMBER_BYTES = 4 };

static int32_t number_at(const uint8_t *code)
{
	int32_t number;
	memcpy(&number, code, sizeof(number));
	return number;
}

/* `mov %fs:place, %reg`: the variable of a program that was linked statically. */
static bool read_static(const uint8_t *code, struct walk_root *root)
{
	enum { FS = 0x64, LOAD = 0x8b, FROM_SIB = 0x04, ABSOLUTE = 0x25, BEHIND = 16 };
	for (size_t i = 0; i < BEHIND; i++) {
		if (code[i] != FS || (code[i + 1] & 0xf8) != 0x48 || code[i + 2] != LOAD ||
		    (code[i + 3] & 0xc7) != FROM_SIB || code[i + 4] != ABSOLUTE ||
		    number_at(code + i + 5) >= 0) /* what is there is the C library's */
			continue;
		*root = (struct walk_root){ .kind = WALK_ROOT_TLS,
					    .place = (uint64_t)(int64_t)number_at(code + i + 5) };
		return true;
	}
	return false;
}

/* The first load from %rax behind a call: `mov at(%rax), %reg`. */
static bool read_load(const uint8_t *code, uint64_t *at)
{
	enum { LOAD = 0x8b, CALL = 0xe8, BETWEEN = 12 };
	size_t i = 0;
	while (i < BETWEEN && code[i] != CALL)
		i++;
	if (i == BETWEEN)
		return false;
	i += 1 + NUMBER_BYTES;
	for (size_t k = i; k < i + BETWEEN; k++) {
		if ((code[k] & 0xf8) != 0x48 || code[k + 1] != LOAD || (code[k + 2] & 7) != 0)
			continue;
		const uint8_t mode = code[k + 2] >> 6;
		*at = mode == 0   ? 0
		      : mode == 1 ? code[k + 3]
				  : (uint64_t)(int64_t)number_at(code + k + 3);
		return mode != 3;
	}
	return false;
}

/* `lea pair(%rip), %rdi`, `call __tls_get_addr`, `mov at(%rax), %reg`: the pair is the module and
 * the offset in it, which the loader has filled in.
 */
static bool read_dynamic(const uint8_t *code, uint64_t code_avma, const struct interp_view *view,
			 struct walk_root *root)
{
	enum { BEHIND = 16, LEA_BYTES = 7 };
	static const uint8_t lea[] = { 0x48, 0x8d, 0x3d };
	for (size_t i = 0; i < BEHIND; i++) {
		uint64_t at;
		uint64_t pair[2];
		if (memcmp(code + i, lea, sizeof(lea)) != 0)
			continue;
		const uint64_t pair_avma = code_avma + i + LEA_BYTES +
					   (uint64_t)(int64_t)number_at(code + i + sizeof(lea));
		if (!read_load(code + i + LEA_BYTES, &at) ||
		    !view->read(view->context, pair_avma, pair, sizeof(pair)) || !pair[0] ||
		    pair[0] > UINT16_MAX)
			return false;
		*root = (struct walk_root){ .kind = WALK_ROOT_DTV,
					    .place = pair[1] + at,
					    .detail = (uint32_t)pair[0] };
		return true;
	}
	return false;
}

/* Where no symbol leads to the thread's context, functions do that begin with reading it: all
 * of some must have the same place. The walk proves each context that it finds there.
 */
static bool find_in_code(const struct elf_image *elf, const struct interp_object *object,
			 const struct interp_view *view, struct walk_root *root)
{
	struct interp_symbol readers[] = { { .name = "rb_errinfo" },
					   { .name = "rb_sourceline" },
					   { .name = "rb_current_receiver" },
					   { .name = "rb_thread_current" } };
	enum { COUNT = sizeof(readers) / sizeof(readers[0]) };
	interp_symbols(elf, readers, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		struct walk_root own;
		const struct bytes code = interp_bytes(elf, readers[i].value, CODE_BYTES);
		if (!readers[i].is_there || code.size < CODE_BYTES)
			return false;
		if (!read_static(code.data, &own) &&
		    !read_dynamic(code.data, object->bias_avma + readers[i].value, view, &own))
			return false;
		if (i && (own.kind != root->kind || own.place != root->place ||
			  own.detail != root->detail))
			return false;
		*root = own;
	}
	/* One word, below or behind what the ABI has there. */
	return root->place % sizeof(uint64_t) == 0 &&
	       (root->kind == WALK_ROOT_DTV ? root->place < UINT16_MAX : (int64_t)root->place < 0);
}

struct symbols {
	struct interp_symbol exec;
	struct interp_symbol context; /* thread-local: 3.0 and 3.1, and later where it is told */
	struct interp_symbol version;
	struct interp_symbol holder; /* 2.7: of the thread that holds the lock */
	struct interp_symbol errinfo;
};

static bool find_root(const struct elf_image *elf, const struct interp_object *object,
		      const struct interp_view *view, const struct symbols *symbols,
		      struct walk_runtime *runtime)
{
	uint32_t module;
	if (runtime->ruby.thread_id) {
		runtime->root =
		    (struct walk_root){ .kind = WALK_ROOT_ADDRESS,
					.place = object->bias_avma + symbols->holder.value };
		return symbols->holder.is_there;
	}
	if (!symbols->context.is_there || !interp_tls_module(elf, object, view, &module))
		return find_in_code(elf, object, view, &runtime->root);
	runtime->root = (struct walk_root){ .kind = WALK_ROOT_DTV,
					    .place = symbols->context.value,
					    .detail = module };
	return true;
}

int interp_ruby(const struct elf_image *elf, const struct interp_object *object,
		const struct interp_view *view, struct interp_found *found)
{
	union {
		struct symbols named;
		struct interp_symbol list[5];
	} symbols = { .named = { .exec = { .name = "rb_vm_exec" },
				 .context = { .name = "ruby_current_ec" },
				 .version = { .name = "ruby_version" },
				 .holder = { .name = "ruby_current_execution_context_ptr" },
				 .errinfo = { .name = "rb_errinfo" } } };
	interp_symbols(elf, symbols.list, 5);
	if (!symbols.named.version.is_there ||
	    (!symbols.named.exec.is_there && !symbols.named.context.is_there &&
	     !symbols.named.errinfo.is_there))
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_RUBY;
	const struct ruby_version *version = find_version(elf, &symbols.named.version, found);
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	found->runtime.ruby = version->layout;
	if (!find_root(elf, object, view, &symbols.named, &found->runtime))
		return interp_refuse(found, "where its threads keep their state cannot be told");
	return 0;
}
