/* Offsets: intrpvar.h, cop.h, cv.h, gv.h, hv.h and sv.h of Perl, threaded. */
#include "base/status.h"
#include "interp/find.h"

#include <stdio.h>

struct perl_version {
	unsigned version;
	struct walk_perl layout;
};

static const struct perl_version versions[] = {
	{ /* 5.36.0, x86_64-linux-gnu-thread-multi */
	  .version = 36,
	  .layout = { .interpreter_cop = 208,
		      .interpreter_stack = 224,
		      .stack_contexts = 8,
		      .stack_previous = 16,
		      .stack_index = 32,
		      .context_bytes = 104,
		      .context_type = 0,
		      .context_cop = 16,
		      .context_cv = 72,
		      .cop_line = 36,
		      .cop_file = 48,
		      .cv_bytes = 96,
		      .cv_root = 48,
		      .cv_gv = 56,
		      .cv_file = 64,
		      .cv_flags = 92,
		      .gv_name = 32,
		      .gv_stash = 40,
		      .stash_name = 32,
		      .stash_name_count = 60,
		      .name_length = 4,
		      .name_text = 8,
		      .cv_is_named = 0x8000,
		      .type_mask = 15,
		      .type_sub = 9,
		      .type_format = 10,
		      .type_eval = 11,
		      .eval_is_block = 0xc0,
		      .cv_type = 13,
		      .interpreter_op = 8,
		      .op_type = 32,
		      .op_call = 184,
		      .op_statement = 195,
		      .op_statement_debug = 196 } },
};

static unsigned number(const struct elf_image *elf, const struct interp_symbol *symbol)
{
	const struct bytes told = interp_bytes(elf, symbol->value, 1);
	return symbol->is_there && told.size ? told.data[0] : 0;
}

int interp_perl(const struct elf_image *elf, const struct interp_object *object,
		const struct interp_view *view, struct interp_found *found)
{
	struct interp_symbol symbols[] = { { .name = "PL_revision" },
					   { .name = "PL_version" },
					   { .name = "PL_subversion" },
					   { .name = "PL_thr_key" },
					   { .name = "Perl_runops_standard" } };
	const struct perl_version *version = NULL;
	interp_symbols(elf, symbols, 5);
	if (!symbols[0].is_there || !symbols[4].is_there)
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_PERL;
	(void)snprintf(found->version, sizeof(found->version), "%u.%u.%u", number(elf, &symbols[0]),
		       number(elf, &symbols[1]), number(elf, &symbols[2]));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (number(elf, &symbols[0]) == 5 &&
		    versions[i].version == number(elf, &symbols[1]))
			version = &versions[i];
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	if (!symbols[3].is_there)
		return interp_refuse(found, "a build without threads");
	if (!view->pthread_values_off)
		return interp_refuse(found, "its C library is not glibc");
	found->runtime.root = (struct walk_root){ .kind = WALK_ROOT_KEY,
						  .place = object->bias_avma + symbols[3].value,
						  .detail = view->pthread_values_off };
	found->runtime.perl = version->layout;
	return 0;
}
