/* Offsets: php-src's Zend/zend_compile.h, zend_globals.h, zend.h and zend_types.h. */
#include "base/status.h"
#include "interp/find.h"

#include <stdio.h>

struct php_version {
	unsigned minor; /* of PHP 8 */
	/* Of executor_globals, which tells builds with other layouts from ours: of the first
	 * releases and of the last. What is read lies before what was added.
	 */
	uint32_t globals_bytes;
	uint32_t globals_bytes_late;
	uint32_t current_off;
	struct walk_php layout;
};

/* The same in all of 8.0 to 8.4. */
#define COMMON                                                                                \
	.info_top = 1 << 17, .info_generator = 1 << 24, .frame_bytes = 64, .frame_opline = 0, \
	.frame_function = 24, .frame_info = 40, .frame_previous = 48, .function_name = 8,     \
	.function_scope = 16, .class_name = 8, .string_hash = 8, .string_length = 16,         \
	.string_text = 24, .opline_line = 24, .opline_bytes = 32, .type_native = 1,           \
	.type_user = 2, .type_eval = 4

static const struct php_version versions[] = {
	{ /* 8.0 */
	  .minor = 0,
	  .globals_bytes = 1696,
	  .globals_bytes_late = 1696,
	  .current_off = 488,
	  .layout = { COMMON, .function_bytes = 160, .function_count = 68, .function_opcodes = 72,
		      .function_file = 144, .function_line = 152 } },
	{ /* 8.1 */
	  .minor = 1,
	  .globals_bytes = 1752,
	  .globals_bytes_late = 1752,
	  .current_off = 488,
	  .layout = { COMMON, .function_bytes = 160, .function_count = 68, .function_opcodes = 72,
		      .function_file = 144, .function_line = 152 } },
	{ /* 8.2, 8.2.36 */
	  .minor = 2,
	  .globals_bytes = 1776,
	  .globals_bytes_late = 1800,
	  .current_off = 488,
	  .layout = { COMMON, .function_bytes = 168, .function_count = 80, .function_opcodes = 88,
		      .function_file = 152, .function_line = 160 } },
	{ /* 8.3 */
	  .minor = 3,
	  .globals_bytes = 1792,
	  .globals_bytes_late = 1816,
	  .current_off = 488,
	  .layout = { COMMON, .function_bytes = 160, .function_count = 76, .function_opcodes = 80,
		      .function_file = 144, .function_line = 152 } },
	{ /* 8.4.27 */
	  .minor = 4,
	  .globals_bytes = 1960,
	  .globals_bytes_late = 1984,
	  .current_off = 488,
	  .layout = { COMMON, .function_bytes = 184, .function_count = 96, .function_opcodes = 104,
		      .function_file = 168, .function_line = 176 } },
};

/* "X-Powered-By: PHP/8.2.36" is in every build. */
static bool find_number(const struct elf_image *elf, unsigned *minor, struct interp_found *found)
{
	static const char before[] = "X-Powered-By: PHP/8.";
	const size_t size = sizeof(before) - 1;
	const uint8_t *at = memmem(elf->bytes.data, elf->bytes.size, before, size);
	const uint8_t *end = elf->bytes.data + elf->bytes.size;
	size_t length = 0;
	if (!at || (size_t)(end - at) < size + sizeof(found->version))
		return false;
	at += size;
	while (at[length] >= '.' && at[length] <= '9' && length < sizeof(found->version) - 3)
		length++;
	(void)snprintf(found->version, sizeof(found->version), "8.%.*s", (int)length,
		       (const char *)at);
	*minor = 0;
	for (size_t i = 0; i < 2 && at[i] >= '0' && at[i] <= '9'; i++)
		*minor = *minor * 10 + (unsigned)(at[i] - '0');
	return length > 0;
}

int interp_php(const struct elf_image *elf, const struct interp_object *object,
	       const struct interp_view *view, struct interp_found *found)
{
	struct interp_symbol symbols[] = { { .name = "execute_ex" },
					   { .name = "executor_globals" },
					   { .name = "zend_register_functions" } };
	const struct php_version *version = NULL;
	unsigned minor;
	(void)view;
	interp_symbols(elf, symbols, 3);
	if (!symbols[0].is_there || !symbols[2].is_there)
		return STATUS_NOT_FOUND;
	found->runtime.language = WALK_PHP;
	if (!find_number(elf, &minor, found))
		return interp_refuse(found, "its version cannot be told");
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].minor == minor)
			version = &versions[i];
	if (!version)
		return interp_refuse(found, "a version whose layout is not known");
	if (!symbols[1].is_there)
		return interp_refuse(found, "a thread-safe build (ZTS)");
	if (elf->header.e_machine != EM_X86_64 || (symbols[1].size != version->globals_bytes &&
						   symbols[1].size != version->globals_bytes_late))
		return interp_refuse(found, "a build with another layout than its version's");
	found->runtime.root = (struct walk_root){ .kind = WALK_ROOT_ADDRESS,
						  .place = object->bias_avma + symbols[1].value +
							   version->current_off };
	found->runtime.php = version->layout;
	found->runtime.php.execute_avma = object->bias_avma + symbols[0].value;
	found->runtime.php.execute_bytes = (uint32_t)symbols[0].size;
	return 0;
}
