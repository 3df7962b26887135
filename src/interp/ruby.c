/* Offsets: vm_core.h, method.h, iseq.h and include/ruby/internal/core/ of CRuby, as in
 * rb_mjit_min_header-3.1.2.h.
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

static const struct ruby_version versions[] = {
	{ /* 3.1.2 */
	  .major = 3,
	  .minor = 1,
	  .layout = { .context_stack = 0,
		      .frame_bytes = 64,
		      .frame_pc = 0,
		      .frame_iseq = 16,
		      .frame_ep = 32,
		      .iseq_body = 16,
		      .body_bytes = 152,
		      .body_code_count = 4,
		      .body_code = 8,
		      .body_file = 64,
		      .body_label = 80,
		      .body_first_line = 88,
		      .body_lines = 120,
		      .body_line_count = 136,
		      .body_index = 144,
		      .line_bytes = 12,
		      .array_embedded = 16,
		      .array_pointer = 32,
		      .string_length = 16,
		      .string_pointer = 24,
		      .string_embedded = 16,
		      .method_definition = 16,
		      .definition_function = 8,
		      .string_elsewhere = 0x2000,
		      .string_length_mask = 0x7c000,
		      .string_length_shift = 14,
		      .array_is_embedded = 0x2000 } },
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

int interp_ruby(const struct elf_image *elf, const struct interp_object *object,
		const struct interp_view *view, struct interp_found *found)
{
	struct interp_symbol symbols[] = { { .name = "rb_vm_exec" },
					   { .name = "ruby_current_ec" },
					   { .name = "ruby_version" } };
	interp_symbols(elf, symbols, 3);
	if (!symbols[2].is_there || (!symbols[0].is_there && !symbols[1].is_there))
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_RUBY;
	const struct ruby_version *version = find_version(elf, &symbols[2], found);
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	uint32_t module;
	if (!symbols[1].is_there || !interp_tls_module(elf, object, view, &module))
		return interp_refuse(found, "where its threads keep their state cannot be told");
	found->runtime.root = (struct walk_root){ .kind = WALK_ROOT_DTV,
						  .place = symbols[1].value,
						  .detail = module };
	found->runtime.ruby = version->layout;
	return 0;
}
