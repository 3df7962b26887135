/* Offsets: intrpvar.h, cop.h, cv.h, gv.h, hv.h and sv.h of Perl, with threads and without: the
 * structures are the same but for where the interpreter's own variables are and for how a
 * statement has its file.
 */
#include "base/status.h"
#include "interp/find.h"

#include <stdio.h>

struct perl_version {
	unsigned version;
	struct walk_perl layout;
};

/* The same in all of 5.30 to 5.40. */
#define COMMON                                                                                    \
	.interpreter_op = 8, .stack_contexts = 8, .stack_previous = 16, .stack_index = 32,        \
	.context_type = 0, .context_cop = 16, .cop_line = 36, .cop_file = 48, .cv_bytes = 96,     \
	.cv_root = 48, .cv_gv = 56, .cv_file = 64, .cv_flags = 92, .gv_name = 32, .gv_stash = 40, \
	.name_length = 4, .name_text = 8, .cv_is_named = 0x8000, .type_mask = 15, .type_sub = 9,  \
	.type_format = 10, .type_eval = 11, .cv_type = 13, .op_type = 32

/* Up to 5.34 what a package is called is behind the array of its table. */
#define STASH_BEHIND .stash_name = 0, .stash_name_count = 28, .stash_max = 24
#define STASH .stash_name = 32, .stash_name_count = 60

#define OPS .op_call = 184, .op_statement = 195, .op_statement_debug = 196
#define OPS_5_38 .op_call = 187, .op_statement = 198, .op_statement_debug = 199

static const struct perl_version versions[] = {
	{ /* 5.30.0 */
	  .version = 30,
	  .layout = { COMMON, STASH_BEHIND, OPS, .interpreter_cop = 224, .interpreter_stack = 240,
		      .context_bytes = 96, .context_cv = 64, .eval_is_block = 0x40 } },
	{ /* 5.32.0, 5.32.1 */
	  .version = 32,
	  .layout = { COMMON, STASH_BEHIND, OPS, .interpreter_cop = 224, .interpreter_stack = 240,
		      .context_bytes = 104, .context_cv = 72, .eval_is_block = 0x40 } },
	{ /* 5.34.0 */
	  .version = 34,
	  .layout = { COMMON, STASH_BEHIND, OPS, .interpreter_cop = 208, .interpreter_stack = 224,
		      .context_bytes = 104, .context_cv = 72, .eval_is_block = 0xc0 } },
	{ /* 5.36.0 */
	  .version = 36,
	  .layout = { COMMON, STASH, OPS, .interpreter_cop = 208, .interpreter_stack = 224,
		      .context_bytes = 104, .context_cv = 72, .eval_is_block = 0xc0 } },
	{ /* 5.38.0 */
	  .version = 38,
	  .layout = { COMMON, STASH, OPS_5_38, .interpreter_cop = 208, .interpreter_stack = 224,
		      .context_bytes = 104, .context_cv = 72, .eval_is_block = 0xc0 } },
	{ /* 5.40.0, 5.40.1 */
	  .version = 40,
	  .layout = { COMMON, STASH, OPS_5_38, .interpreter_cop = 208, .interpreter_stack = 224,
		      .context_bytes = 104, .context_cv = 72, .eval_is_block = 0xc0 } },
};

static unsigned number(const struct elf_image *elf, const struct interp_symbol *symbol)
{
	const struct bytes told = interp_bytes(elf, symbol->value, 1);
	return symbol->is_there && told.size ? told.data[0] : 0;
}

struct symbols {
	struct interp_symbol revision;
	struct interp_symbol version;
	struct interp_symbol subversion;
	struct interp_symbol runops;
	struct interp_symbol key; /* with threads */
	struct interp_symbol cop; /* without: the interpreter's variables are the program's */
	struct interp_symbol stack;
	struct interp_symbol op;
};

/* Without threads: the one interpreter is the main thread's. */
static void describe_single(const struct symbols *symbols, uint64_t bias_avma,
			    struct walk_runtime *runtime)
{
	runtime->root =
	    (struct walk_root){ .kind = WALK_ROOT_ITSELF, .place = bias_avma + symbols->cop.value };
	runtime->perl.cop_avma = bias_avma + symbols->cop.value;
	runtime->perl.stack_avma = bias_avma + symbols->stack.value;
	runtime->perl.op_avma = bias_avma + symbols->op.value;
}

static const struct perl_version *find_version(const struct elf_image *elf,
					       const struct symbols *symbols,
					       struct interp_found *found)
{
	const unsigned revision = number(elf, &symbols->revision);
	const unsigned minor = number(elf, &symbols->version);
	(void)snprintf(found->version, sizeof(found->version), "%u.%u.%u", revision, minor,
		       number(elf, &symbols->subversion));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (revision == 5 && versions[i].version == minor)
			return &versions[i];
	return NULL;
}

int interp_perl(const struct elf_image *elf, const struct interp_object *object,
		const struct interp_view *view, struct interp_found *found)
{
	union {
		struct symbols named;
		struct interp_symbol list[8];
	} symbols = { .named = { .revision = { .name = "PL_revision" },
				 .version = { .name = "PL_version" },
				 .subversion = { .name = "PL_subversion" },
				 .runops = { .name = "Perl_runops_standard" },
				 .key = { .name = "PL_thr_key" },
				 .cop = { .name = "PL_curcop" },
				 .stack = { .name = "PL_curstackinfo" },
				 .op = { .name = "PL_op" } } };
	interp_symbols(elf, symbols.list, 8);
	if (!symbols.named.revision.is_there || !symbols.named.runops.is_there)
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_PERL;
	const struct perl_version *version = find_version(elf, &symbols.named, found);
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (elf->header.e_machine != EM_X86_64)
		return interp_refuse(found, "not on this machine");
	found->runtime.perl = version->layout;
	if (!symbols.named.key.is_there) {
		if (!symbols.named.cop.is_there || !symbols.named.stack.is_there ||
		    !symbols.named.op.is_there)
			return interp_refuse(found, "where it keeps its state cannot be told");
		describe_single(&symbols.named, object->bias_avma, &found->runtime);
		return 0;
	}
	if (!view->pthread_values_off)
		return interp_refuse(found, "its C library is not glibc");
	found->runtime.root =
	    (struct walk_root){ .kind = WALK_ROOT_KEY,
				.place = object->bias_avma + symbols.named.key.value,
				.detail = view->pthread_values_off };
	return 0;
}
