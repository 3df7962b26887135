/* offsets_php.c - as offsets_python.c, of PHP: includes the table's own file. */
#include <php.h>

#include "../../src/interp/php.c"

size_t interp_symbols(const struct elf_image *elf, struct interp_symbol *symbols, size_t count)
{
	(void)elf;
	(void)symbols;
	return count;
}

#include "offsets.h"

int main(void)
{
	const struct php_version *version = NULL;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].minor == PHP_MINOR_VERSION)
			version = &versions[i];
	if (!version)
		return 1;
	const struct walk_php *php = &version->layout;
	if (sizeof(zend_executor_globals) != version->globals_bytes)
		check("globals", version->globals_bytes_late, sizeof(zend_executor_globals));
	CHECK(version->current_off, zend_executor_globals, current_execute_data);
	CHECK(php->frame_opline, zend_execute_data, opline);
	CHECK(php->frame_function, zend_execute_data, func);
	CHECK(php->frame_info, zend_execute_data, This.u1);
	CHECK(php->frame_previous, zend_execute_data, prev_execute_data);
	CHECK(php->function_name, zend_op_array, function_name);
	CHECK(php->function_scope, zend_op_array, scope);
	CHECK(php->function_count, zend_op_array, last);
	CHECK(php->function_opcodes, zend_op_array, opcodes);
	CHECK(php->function_file, zend_op_array, filename);
	CHECK(php->function_line, zend_op_array, line_start);
	CHECK(php->class_name, zend_class_entry, name);
	CHECK(php->string_hash, zend_string, h);
	CHECK(php->string_length, zend_string, len);
	CHECK(php->string_text, zend_string, val);
	CHECK(php->opline_line, zend_op, lineno);
	check("opline_bytes", php->opline_bytes, sizeof(zend_op));
	check("info_top", php->info_top, ZEND_CALL_TOP);
	check("info_generator", php->info_generator, ZEND_CALL_GENERATOR);
	check("type_user", php->type_user, ZEND_USER_FUNCTION);
	check("type_eval", php->type_eval, ZEND_EVAL_CODE);
	check("type_native", php->type_native, ZEND_INTERNAL_FUNCTION);
	return wrong;
}
