/* Which interpreter an object is, and which are refused. Objects: fake.c. */
#include "interp/interp.h"

#include "base/status.h"
#include "os/file.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of relocations for thread-local variables: any numbers do. */
static bool read_word(void *context, uint64_t avma, void *to, size_t size)
{
	static const uint64_t module = 5;
	(void)context;
	(void)avma;
	static const uint64_t offset = 24;
	memset(to, 0, size);
	memcpy(to, &module, sizeof(module));
	if (size == sizeof(module) + sizeof(offset))
		memcpy((uint8_t *)to + sizeof(module), &offset, sizeof(offset));
	return true;
}

static bool read_nothing(void *context, uint64_t avma, void *to, size_t size)
{
	(void)context;
	(void)avma;
	(void)to;
	(void)size;
	return false;
}

static int find(const char *name, const struct interp_view *view, struct interp_found *found)
{
	char path[4096];
	struct os_file file;
	(void)snprintf(path, sizeof(path), "%s/%s", OBJECTS, name);
	assert_int_equal(os_file_open(&file, path, OS_FILE_REGULAR), 0);
	const struct interp_object object = { file.bytes, 0x10000000 };
	const int result = interp_find(&object, view, found);
	os_file_close(&file);
	return result;
}

static const struct interp_view on_glibc = { .read = read_word, .pthread_values_off = 0x510 };
static const struct interp_view elsewhere = { .read = read_nothing };

struct expectation {
	const char *object;
	enum walk_language language;
	const char *version;
	const char *refusal; /* a part of it; NULL: it can be walked */
};

static void test_objects(void **state)
{
	static const struct expectation expected[] = {
		{ "libpython38.so", WALK_PYTHON, "3.8", NULL },
		{ "libpython39.so", WALK_PYTHON, "3.9", NULL },
		{ "libpython310.so", WALK_PYTHON, "3.10", NULL },
		{ "libpythonold.so", WALK_PYTHON, "", "layout is not known" },
		{ "libpython311.so", WALK_PYTHON, "3.11.9", NULL },
		{ "libpython312.so", WALK_PYTHON, "3.12.0", NULL },
		{ "libpythonbeta.so", WALK_PYTHON, "3.12.0", "layout is not known" },
		{ "libpythonnew.so", WALK_PYTHON, "3.99.0", "layout is not known" },
		{ "libpython313.so", WALK_PYTHON, "3.13.1", "table of offsets" },
		{ "libpythonfree.so", WALK_PYTHON, "3.13.1", "free-threaded" },
		{ "libpythonother.so", WALK_PYTHON, "3.13.1", "not that of its version" },
		{ "libpython314.so", WALK_PYTHON, "3.14.10", NULL },
		{ "libpython314other.so", WALK_PYTHON, "3.14.10", "not that of its version" },
		{ "libphp80.so", WALK_PHP, "8.0.30", NULL },
		{ "libphp81.so", WALK_PHP, "8.1.29", NULL },
		{ "libphp82.so", WALK_PHP, "8.2.7", NULL },
		{ "libphp83.so", WALK_PHP, "8.3.6", NULL },
		{ "libphp84.so", WALK_PHP, "8.4.27", NULL },
		{ "libphpother.so", WALK_PHP, "8.2.7", "another layout" },
		{ "libphpzts.so", WALK_PHP, "8.2.7", "thread-safe" },
		{ "libphpnew.so", WALK_PHP, "8.17.0", "layout is not known" },
		{ "libruby27.so", WALK_RUBY, "2.7.8", NULL },
		{ "libruby30.so", WALK_RUBY, "3.0.7", NULL },
		{ "libruby31.so", WALK_RUBY, "3.1.4", NULL },
		{ "libruby32.so", WALK_RUBY, "3.2.8", NULL },
		{ "libruby33.so", WALK_RUBY, "3.3.8", NULL },
		{ "libruby34.so", WALK_RUBY, "3.4.9", NULL },
		{ "librubystatic.so", WALK_RUBY, "3.4.9", NULL },
		{ "librubymixed.so", WALK_RUBY, "3.4.9", "threads keep their state" },
		{ "librubynotls.so", WALK_RUBY, "3.1.4", "threads keep their state" },
		{ "librubynew.so", WALK_RUBY, "9.1.0", "layout is not known" },
		{ "libperl36.so", WALK_PERL, "5.36.3", NULL },
		{ "libperl30.so", WALK_PERL, "5.30.3", NULL },
		{ "libperl32.so", WALK_PERL, "5.32.3", NULL },
		{ "libperl34.so", WALK_PERL, "5.34.3", NULL },
		{ "libperl38.so", WALK_PERL, "5.38.3", NULL },
		{ "libperl40.so", WALK_PERL, "5.40.3", NULL },
		{ "libperlsingle30.so", WALK_PERL, "5.30.3", NULL },
		{ "libperlsingle40.so", WALK_PERL, "5.40.3", NULL },
		{ "libperlnokey.so", WALK_PERL, "5.36.3", "keeps its state" },
		{ "libperlnew.so", WALK_PERL, "5.98.3", "layout is not known" },
		{ "libluajit21.so", WALK_LUAJIT, "2.1.0-beta3", NULL },
		{ "libluajitother.so", WALK_LUAJIT, "2.1.0-beta3", "a build whose layout" },
		{ "libluajitsmall.so", WALK_LUAJIT, "2.1.0-beta3",
		  "interpreter is cannot be told" },
		{ "libluajitbare.so", WALK_LUAJIT, "2.1.0-beta3", "interpreter is cannot be told" },
		{ "libluajitold.so", WALK_LUAJIT, "2.0.5", "a version whose layout" },
		{ "libslot.so", WALK_SLOT, "fake", NULL },
		{ "liblua544.so", WALK_LUA, "5.4.4", NULL },
		{ "libluanew.so", WALK_LUA, "5.4.99", "layout is not known" },
		{ "libluaold.so", WALK_LUA, "5.4.2", "layout is not known" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct interp_found found;
		assert_int_equal(find(expected[i].object, &on_glibc, &found), 0);
		assert_int_equal(found.runtime.language, expected[i].language);
		assert_string_equal(found.version, expected[i].version);
		if (expected[i].refusal) {
			assert_non_null(found.refusal);
			assert_non_null(strstr(found.refusal, expected[i].refusal));
		} else {
			assert_null(found.refusal);
			assert_true(found.runtime.root.place > 0);
		}
	}
}

static void test_addresses_are_where_it_is_mapped(void **state)
{
	struct interp_found found;
	(void)state;
	assert_int_equal(find("libpython38.so", &on_glibc, &found), 0);
	assert_int_equal(found.runtime.root.kind, WALK_ROOT_TSS);
	assert_int_equal(found.runtime.root.detail, 0x510);
	assert_true(found.runtime.root.place > 0x10000000);
	assert_int_equal(found.runtime.root.place - found.runtime.python.holder_avma, 1392 - 1368);
	assert_true(found.runtime.python.eval_avma > 0x10000000);
	assert_true(found.runtime.python.code_type_avma > 0x10000000);
	assert_int_equal(find("libruby31.so", &on_glibc, &found), 0);
	assert_int_equal(found.runtime.root.kind, WALK_ROOT_DTV);
	assert_int_equal(found.runtime.root.detail, 5);
}

/* One is exported, the other is not: their relocations differ. */
static void test_evaluators_of_slots(void **state)
{
	struct interp_found found;
	(void)state;
	assert_int_equal(find("libslot.so", &on_glibc, &found), 0);
	const uint64_t *avmas = found.runtime.slot.evaluator_avmas;
	assert_true(avmas[0] > 0x10000000 && avmas[0] < 0x10100000);
	assert_true(avmas[1] > 0x10000000 && avmas[1] < 0x10100000);
	assert_int_not_equal(avmas[0], avmas[1]);
	assert_int_equal(avmas[2], 0);
	assert_int_equal(avmas[3], 0);
}

static void test_luajit_code(void **state)
{
	struct interp_found found;
	const struct walk_luajit *luajit = &found.runtime.luajit;
	(void)state;
	assert_int_equal(find("libluajit21.so", &on_glibc, &found), 0);
	assert_int_equal(luajit->vm_bytes, 16453);
	assert_true(luajit->has_numbers);
	assert_true(luajit->text_avma > 0x10000000);
	assert_true(luajit->vm_avma - luajit->text_avma < luajit->text_bytes);
	assert_int_equal(luajit->keeping, 1);
	assert_int_equal(luajit->placeless, 1);
	/* Behind a move of three bytes and a call; of four, and 64 bytes on. */
	assert_int_equal(luajit->calls[0], 3 + 5);
	assert_int_equal(luajit->calls[1], 3 + 5 + 64 + 4 + 5);
	assert_int_equal(luajit->calls[2], 0);
}

/* The places that differ between the versions of a language, as the headers have them. */
static void test_php_versions(void **state)
{
	static const struct {
		const char *object;
		uint16_t count, opcodes, file, line;
	} expected[] = {
		{ "libphp80.so", 68, 72, 144, 152 },  { "libphp81.so", 68, 72, 144, 152 },
		{ "libphp82.so", 80, 88, 152, 160 },  { "libphp83.so", 76, 80, 144, 152 },
		{ "libphp84.so", 96, 104, 168, 176 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct interp_found found;
		assert_int_equal(find(expected[i].object, &on_glibc, &found), 0);
		const struct walk_php *php = &found.runtime.php;
		assert_int_equal(php->function_count, expected[i].count);
		assert_int_equal(php->function_opcodes, expected[i].opcodes);
		assert_int_equal(php->function_file, expected[i].file);
		assert_int_equal(php->function_line, expected[i].line);
		/* All that is looked at of a function is read. */
		assert_true(php->function_bytes >= php->function_line + 4);
		assert_true(php->function_bytes <= 8 * WALK_CODE_WORDS);
	}
}

static void test_ruby_versions(void **state)
{
	static const struct {
		const char *object;
		uint64_t place;
		enum walk_root_kind root;
		uint16_t frame, line, lines, text, thread, context, id;
	} expected[] = {
		{ "libruby27.so", 0, WALK_ROOT_ADDRESS, 56, 8, 120, 16, 56, 32, 72 },
		{ "libruby30.so", 0, WALK_ROOT_DTV, 56, 8, 120, 16, 56, 40, 0 },
		{ "libruby31.so", 0, WALK_ROOT_DTV, 64, 12, 120, 16, 48, 40, 0 },
		{ "libruby32.so", 0, WALK_ROOT_DTV, 64, 12, 112, 24, 48, 48, 0 },
		{ "libruby33.so", 24 + 16, WALK_ROOT_DTV, 56, 12, 112, 24, 48, 48, 0 },
		{ "libruby34.so", 24, WALK_ROOT_DTV, 56, 12, 112, 24, 48, 48, 0 },
		{ "librubystatic.so", (uint64_t)-24, WALK_ROOT_TLS, 56, 12, 112, 24, 48, 48, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct interp_found found;
		assert_int_equal(find(expected[i].object, &on_glibc, &found), 0);
		const struct walk_ruby *ruby = &found.runtime.ruby;
		assert_int_equal(found.runtime.root.kind, expected[i].root);
		if (expected[i].place)
			assert_int_equal(found.runtime.root.place, expected[i].place);
		assert_int_equal(ruby->frame_bytes, expected[i].frame);
		assert_int_equal(ruby->line_bytes, expected[i].line);
		assert_int_equal(ruby->body_lines, expected[i].lines);
		assert_int_equal(ruby->body_line_count, expected[i].lines + 16);
		assert_int_equal(ruby->body_index, expected[i].lines + 24);
		assert_int_equal(ruby->string_embedded, expected[i].text);
		assert_int_equal(ruby->string_length_mask, expected[i].text == 16 ? 0x7c000 : 0);
		assert_int_equal(ruby->context_thread, expected[i].thread);
		assert_int_equal(ruby->thread_context, expected[i].context);
		assert_int_equal(ruby->thread_id, expected[i].id);
	}
}

static void test_perl_versions(void **state)
{
	static const struct {
		const char *version;
		uint16_t cop, context_bytes, stash_name, stash_max, call;
		uint8_t block;
	} expected[] = {
		{ "30", 224, 96, 0, 24, 184, 0x40 },  { "32", 224, 104, 0, 24, 184, 0x40 },
		{ "34", 208, 104, 0, 24, 184, 0xc0 }, { "36", 208, 104, 32, 0, 184, 0xc0 },
		{ "38", 208, 104, 32, 0, 187, 0xc0 }, { "40", 208, 104, 32, 0, 187, 0xc0 },
	};
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(expected) / sizeof(expected[0]); i++) {
		struct interp_found found;
		char name[64];
		const bool is_single = i % 2;
		(void)snprintf(name, sizeof(name), "libperl%s%s.so", is_single ? "single" : "",
			       expected[i / 2].version);
		assert_int_equal(find(name, &on_glibc, &found), 0);
		const struct walk_perl *perl = &found.runtime.perl;
		assert_null(found.refusal);
		assert_int_equal(perl->interpreter_cop, expected[i / 2].cop);
		assert_int_equal(perl->interpreter_stack, expected[i / 2].cop + 16);
		assert_int_equal(perl->context_bytes, expected[i / 2].context_bytes);
		assert_int_equal(perl->context_cv, expected[i / 2].context_bytes - 32);
		assert_int_equal(perl->stash_name, expected[i / 2].stash_name);
		assert_int_equal(perl->stash_max, expected[i / 2].stash_max);
		assert_int_equal(perl->op_call, expected[i / 2].call);
		assert_int_equal(perl->op_statement, expected[i / 2].call + 11);
		assert_int_equal(perl->eval_is_block, expected[i / 2].block);
		assert_int_equal(found.runtime.root.kind,
				 is_single ? WALK_ROOT_ITSELF : WALK_ROOT_KEY);
		assert_true(is_single == (perl->cop_avma && perl->stack_avma && perl->op_avma));
	}
}

static void test_python_314(void **state)
{
	struct interp_found found;
	(void)state;
	assert_int_equal(find("libpython314.so", &on_glibc, &found), 0);
	const struct walk_python *python = &found.runtime.python;
	assert_int_equal(python->code_tag, 3);
	assert_int_equal(python->frame_owner, 74);
	assert_int_equal(python->owner_shim, 3);
	assert_int_equal(python->code_instructions, 208);
	assert_int_equal(python->style, WALK_PYTHON_SHIM);
	assert_int_equal(python->holder_avma, 0);
	assert_true(python->frame_bytes > python->frame_owner);
}

static void test_other_libraries(void **state)
{
	struct interp_found found;
	(void)state;
	assert_int_equal(find("libnothing.so", &on_glibc, &found), STATUS_NOT_FOUND);
	assert_int_equal(find("libpython311.so", &elsewhere, &found), 0);
	assert_string_equal(found.refusal, "its C library is not glibc");
	assert_int_equal(find("libruby31.so", &elsewhere, &found), 0);
	assert_non_null(found.refusal);
}

/* Objects are anyone's: cut ones, and each byte of the header and the tables changed. */
static void test_hostile_objects(void **state)
{
	static const char *const names[] = { "libpython313.so", "libphp82.so", "libruby31.so",
					     "libperl36.so",    "libslot.so",  "libluajit21.so",
					     "liblua544.so" };
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[4096];
		struct os_file file;
		struct interp_found found;
		(void)snprintf(path, sizeof(path), "%s/%s", OBJECTS, names[i]);
		assert_int_equal(os_file_open(&file, path, OS_FILE_REGULAR), 0);
		const size_t size = file.bytes.size;
		uint8_t *copy = malloc(size);
		assert_non_null(copy);
		for (size_t cut = 0; cut < size; cut += cut < 0x1000 ? 1 : 97) {
			uint8_t *shorter = malloc(cut ? cut : 1);
			assert_non_null(shorter);
			memcpy(shorter, file.bytes.data, cut);
			const struct interp_object object = { { shorter, cut }, 0 };
			(void)interp_find(&object, &on_glibc, &found);
			(void)interp_pthread_values(object.image);
			free(shorter);
		}
		memcpy(copy, file.bytes.data, size);
		for (size_t at = 0; at < size; at += at < 0x1000 ? 1 : 13) {
			const struct interp_object object = { { copy, size }, 0 };
			copy[at] ^= 0xff;
			(void)interp_find(&object, &on_glibc, &found);
			copy[at] ^= 0xff;
		}
		free(copy);
		os_file_close(&file);
	}
}

static void test_address_space(void **state)
{
	struct walk_process process;
	(void)state;
	assert_true(interp_address_space(
	    &process,
	    "5 (a) b (c) S 1 5 5 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 99 1000 10 "
	    "18446744073709551615 93824992231424 93824992235520 140737488346000 0 0 0\n"));
	assert_int_equal(process.start_code_avma, 93824992231424);
	assert_int_equal(process.end_code_avma, 93824992235520);
	assert_int_equal(process.start_stack_avma, 140737488346000);
	/* Another user's. */
	assert_false(interp_address_space(
	    &process, "5 (x) S 1 5 5 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 99 1000 10 "
		      "18446744073709551615 1 1 0 0 0 0\n"));
	assert_false(interp_address_space(&process, "5 (x) S 1 5"));
	assert_false(interp_address_space(&process, ""));
}

static void test_own_process(void **state)
{
	struct interp_process process;
	(void)state;
	struct interp_cache cache = { 0 };
	for (int i = 0; i < 2; i++) {
		assert_int_equal(interp_process_open(&process, &cache, getpid()), 0);
		assert_int_equal(process.found_count, 0);
		/* At least this program and its C library. */
		assert_true(cache.files.used >= 2);
	}
	interp_cache_clear(&cache);
	assert_true(process.walk.start_stack_avma != 0);
	assert_int_equal(interp_process_open(&process, NULL, 0x7ffffff0), STATUS_NOT_FOUND);
}

static void test_language_names(void **state)
{
	(void)state;
	assert_string_equal(interp_language_name(WALK_PYTHON), "Python");
	assert_string_equal(interp_language_name(WALK_PERL), "Perl");
	assert_string_equal(interp_language_name(WALK_LANGUAGE_COUNT), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_addresses_are_where_it_is_mapped),
		cmocka_unit_test(test_evaluators_of_slots),
		cmocka_unit_test(test_luajit_code),
		cmocka_unit_test(test_php_versions),
		cmocka_unit_test(test_ruby_versions),
		cmocka_unit_test(test_perl_versions),
		cmocka_unit_test(test_python_314),
		cmocka_unit_test(test_other_libraries),
		cmocka_unit_test(test_hostile_objects),
		cmocka_unit_test(test_address_space),
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_language_names),
	};
	os_file_guard();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
