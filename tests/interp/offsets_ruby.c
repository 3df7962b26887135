/* offsets_ruby.c - as offsets_php.c, of Ruby: compiled with its MJIT header, with optimisation
 * (that header has functions that would want all of Ruby).
 */
#include RUBY_HEADER
#undef RUBY_FRAME_FINISH

#define check(name, table, header)                                                      \
	((unsigned long)(table) == (unsigned long)(header)                              \
	     ? 0                                                                        \
	     : (__builtin_printf("%s: %lu, not %lu\n", (name), (unsigned long)(header), \
				 (unsigned long)(table)),                               \
		1))
#define CHECK(field, type, member) \
	check(#type "." #member, (field), __builtin_offsetof(type, member))
#define BODY struct rb_iseq_constant_body

#define interp_ruby not_used_here
#include "../../src/interp/ruby.c"

size_t interp_symbols(const struct elf_image *elf, struct interp_symbol *symbols, size_t count)
{
	return 0;
}

struct bytes interp_bytes(const struct elf_image *elf, uint64_t svma, uint64_t size)
{
	return (struct bytes){ 0 };
}

bool interp_tls_module(const struct elf_image *elf, const struct interp_object *object,
		       const struct interp_view *view, uint32_t *module)
{
	return false;
}

int main(void)
{
	const struct walk_ruby *ruby = NULL;
	int wrong = 0;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].major == 3 && versions[i].minor == RUBY_MINOR)
			ruby = &versions[i].layout;
	if (!ruby)
		return 1;
	wrong += CHECK(ruby->context_thread, rb_execution_context_t, thread_ptr);
	wrong += CHECK(ruby->thread_context, rb_thread_t, ec);
	wrong += CHECK(ruby->context_stack, rb_execution_context_t, vm_stack);
	wrong += CHECK(ruby->context_stack + 8, rb_execution_context_t, vm_stack_size);
	wrong += CHECK(ruby->context_stack + 16, rb_execution_context_t, cfp);
	wrong += check("frame", ruby->frame_bytes, sizeof(rb_control_frame_t));
	wrong += CHECK(ruby->frame_pc, rb_control_frame_t, pc);
	wrong += CHECK(ruby->frame_iseq, rb_control_frame_t, iseq);
	wrong += CHECK(ruby->frame_ep, rb_control_frame_t, ep);
	wrong += CHECK(ruby->iseq_body, rb_iseq_t, body);
	wrong += CHECK(ruby->body_code, BODY, iseq_encoded);
	wrong += CHECK(ruby->body_code_count, BODY, iseq_size);
	wrong += CHECK(ruby->body_file, BODY, location.pathobj);
	wrong += CHECK(ruby->body_label, BODY, location.label);
	wrong += CHECK(ruby->body_first_line, BODY, location.first_lineno);
	wrong += CHECK(ruby->body_lines, BODY, insns_info.body);
	wrong += CHECK(ruby->body_index, BODY, insns_info.succ_index_table);
	wrong += CHECK(ruby->body_line_count, BODY, insns_info.size);
	wrong += check("line", ruby->line_bytes, sizeof(struct iseq_insn_info_entry));
	wrong += CHECK(0, struct iseq_insn_info_entry, line_no);
	wrong += CHECK(ruby->array_embedded, struct RArray, as.ary);
	wrong += CHECK(ruby->array_pointer, struct RArray, as.heap.ptr);
	wrong += CHECK(ruby->string_length, struct RString, as.heap.len);
	wrong += CHECK(ruby->string_pointer, struct RString, as.heap.ptr);
	wrong += CHECK(ruby->string_embedded, struct RString, as.embed);
	wrong += CHECK(ruby->method_definition, rb_callable_method_entry_t, def);
	wrong +=
	    CHECK(ruby->definition_function, struct rb_method_definition_struct, body.cfunc.func);
	wrong += check("elsewhere", ruby->string_elsewhere, RSTRING_NOEMBED);
	wrong += check("length mask", ruby->string_length_mask, RSTRING_EMBED_LEN_MASK);
	wrong += check("length shift", ruby->string_length_shift, RSTRING_EMBED_LEN_SHIFT);
	wrong += check("embedded array", ruby->array_is_embedded, RARRAY_EMBED_FLAG);
	/* What walk_ruby.h has as the same in all versions. */
	wrong += check("finish", 0x20, VM_FRAME_FLAG_FINISH);
	wrong += check("cframe", 0x80, VM_FRAME_FLAG_CFRAME);
	wrong += check("type", 0x7fff0001, VM_FRAME_MAGIC_MASK);
	wrong += check("dummy", 0x79990001, VM_FRAME_MAGIC_DUMMY);
	wrong += check("imemo", 0x1a, RUBY_T_IMEMO);
	wrong += check("array", 7, RUBY_T_ARRAY);
	wrong += check("iseq", 7, imemo_iseq);
	wrong += check("ment", 6, imemo_ment);
	return wrong;
}
