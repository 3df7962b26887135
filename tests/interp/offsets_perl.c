/* offsets_perl.c - as offsets_php.c, of Perl. */
#include <stddef.h>
#include <stdio.h>

#include "../../src/interp/perl.c"

#include <EXTERN.h>
#include <perl.h>
#undef printf
#undef main

size_t interp_symbols(const struct elf_image *elf, struct interp_symbol *symbols, size_t count)
{
	(void)elf;
	(void)symbols;
	return count;
}

struct bytes interp_bytes(const struct elf_image *elf, uint64_t svma, uint64_t size)
{
	(void)elf;
	(void)svma;
	(void)size;
	return (struct bytes){ 0 };
}

#include "offsets.h"

int main(void)
{
	const struct walk_perl *perl = NULL;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == PERL_VERSION)
			perl = &versions[i].layout;
	if (!perl)
		return 1;
#ifdef MULTIPLICITY
	CHECK(perl->interpreter_cop, struct interpreter, Icurcop);
	CHECK(perl->interpreter_stack, struct interpreter, Icurstackinfo);
	CHECK(perl->interpreter_op, struct interpreter, Iop);
#endif
	CHECK(perl->stack_contexts, PERL_SI, si_cxstack);
	CHECK(perl->stack_index, PERL_SI, si_cxix);
	CHECK(perl->stack_previous, PERL_SI, si_prev);
	check("context_bytes", perl->context_bytes, sizeof(PERL_CONTEXT));
	CHECK(perl->context_type, PERL_CONTEXT, cx_u.cx_blk.blku_type);
	CHECK(perl->context_cop, PERL_CONTEXT, cx_u.cx_blk.blku_oldcop);
	CHECK(perl->context_cv, PERL_CONTEXT, cx_u.cx_blk.blk_u.blku_sub.cv);
	CHECK(perl->cop_line, COP, cop_line);
#ifdef USE_ITHREADS
	CHECK(perl->cop_file, COP, cop_file);
#else
	CHECK(perl->cop_file, COP, cop_filegv);
#endif
	CHECK(perl->cv_root, XPVCV, xcv_root_u);
	CHECK(perl->cv_gv, XPVCV, xcv_gv_u);
	CHECK(perl->cv_file, XPVCV, xcv_file);
	CHECK(perl->cv_flags, XPVCV, xcv_flags);
	CHECK(perl->gv_name, XPVGV, xiv_u.xivu_namehek);
	CHECK(perl->gv_stash, XPVGV, xnv_u.xgv_stash);
#if PERL_VERSION < 35
	CHECK(perl->stash_name, struct xpvhv_aux, xhv_name_u);
	CHECK(perl->stash_name_count, struct xpvhv_aux, xhv_name_count);
	CHECK(perl->stash_max, XPVHV, xhv_max);
	check("has aux", 0x02000000, SVf_OOK);
#else
	check("stash_max", perl->stash_max, 0);
	check("stash_name", perl->stash_name,
	      offsetof(struct xpvhv_with_aux, xhv_aux) + offsetof(struct xpvhv_aux, xhv_name_u));
	check("stash_name_count", perl->stash_name_count,
	      offsetof(struct xpvhv_with_aux, xhv_aux) +
		  offsetof(struct xpvhv_aux, xhv_name_count));
#endif
	CHECK(perl->name_length, HEK, hek_len);
	CHECK(perl->name_text, HEK, hek_key);
	check("cv_is_named", perl->cv_is_named, CVf_NAMED);
	check("type_mask", perl->type_mask, CXTYPEMASK);
	check("type_sub", perl->type_sub, CXt_SUB);
	check("type_format", perl->type_format, CXt_FORMAT);
	check("type_eval", perl->type_eval, CXt_EVAL);
#ifdef CXp_EVALBLOCK
	check("eval_is_block", perl->eval_is_block, CXp_EVALBLOCK | CXp_TRY);
#else
	check("eval_is_block", perl->eval_is_block, CXp_TRYBLOCK);
#endif
	check("cv_type", perl->cv_type, SVt_PVCV);
	/* A bit field, behind this. */
	check("op_type", perl->op_type, offsetof(OP, op_targ) + sizeof(PADOFFSET));
	check("op_call", perl->op_call, OP_ENTERSUB);
	check("op_statement", perl->op_statement, OP_NEXTSTATE);
	check("op_statement_debug", perl->op_statement_debug, OP_DBSTATE);
	check("sv_flags", 12, offsetof(SV, sv_flags));
	check("sv_u", 16, offsetof(SV, sv_u));
	return wrong;
}
