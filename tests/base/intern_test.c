#include "base/intern.h"

#include "failing_memory.h"
#include "test.h"

#include <stdio.h>

static void equal_text_equal_id(void **state)
{
	(void)state;
	struct intern in = { 0 };
	assert_int_equal(intern_text(&in, ""), 0);
	const uint32_t a = intern_text(&in, "alpha");
	const uint32_t b = intern_text(&in, "beta");
	assert_int_not_equal(a, b);
	assert_int_equal(intern_text(&in, "alpha"), a);
	assert_int_equal(intern_bytes(&in, (struct bytes){ (const uint8_t *)"beta2", 4 }), b);
	assert_string_equal(intern_get(&in, a), "alpha");
	assert_string_equal(intern_get(&in, b), "beta");
	intern_clear(&in);
}

static void any_byte_and_any_id(void **state)
{
	(void)state;
	struct intern in = { 0 };
	const uint32_t nul = intern_bytes(&in, (struct bytes){ (const uint8_t *)"a\0b", 3 });
	assert_int_not_equal(nul, intern_text(&in, "a"));
	assert_int_equal(intern_get_bytes(&in, nul).size, 3);
	assert_memory_equal(intern_get(&in, nul), "a\0b", 4);
	assert_string_equal(intern_get(&in, 0), "");
	assert_string_equal(intern_get(&in, 3), "");
	assert_string_equal(intern_get(&in, INTERN_NONE), "");
	intern_clear(&in);
	assert_string_equal(intern_get(&in, nul), "");
}

static void many_stay_where_they_are(void **state)
{
	(void)state;
	struct intern in = { 0 };
	const char *first = NULL;
	for (unsigned i = 0; i < 20000; i++) {
		char text[16];
		(void)snprintf(text, sizeof(text), "f%u", i);
		assert_int_equal(intern_text(&in, text), i + 1);
		if (i == 0)
			first = intern_get(&in, 1);
	}
	assert_ptr_equal(first, intern_get(&in, 1));
	assert_string_equal(intern_get(&in, 20000), "f19999");
	assert_int_equal(intern_text(&in, "f777"), 778);
	intern_clear(&in);
}

static void without_memory_nothing_is_lost(void **state)
{
	(void)state;
	size_t failures = 0;
	struct intern in = { 0 };
	for (unsigned i = 0; i < 20000; i++) {
		char text[16];
		(void)snprintf(text, sizeof(text), "g%u", i);
		/* Fails the table, the list and the arena in turn, where they grow. */
		for (size_t n = 1;; n++) {
			memory_fail_at(n);
			const uint32_t id = intern_text(&in, text);
			if (id != INTERN_NONE) {
				assert_false(memory_has_failed());
				assert_int_equal(id, i + 1);
				break;
			}
			assert_true(memory_has_failed());
			failures++;
		}
	}
	memory_fail_at(0);
	assert_true(failures > 20);
	assert_int_equal(in.texts.count, 20000);
	assert_string_equal(intern_get(&in, 12346), "g12345");
	intern_clear(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_text_equal_id),
		cmocka_unit_test(any_byte_and_any_id),
		cmocka_unit_test(many_stay_where_they_are),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
