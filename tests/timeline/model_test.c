#include "test.h"

#include "script.h"

/* The same numbers on every run: xorshift64. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void run_scripts(size_t script_size, int count, uint64_t seed)
{
	uint8_t bytes[400];
	for (int i = 0; i < count; i++) {
		for (size_t k = 0; k < script_size; k++)
			bytes[k] = (uint8_t)(next_random(&seed) >> 32);
		assert_true(script_holds((struct bytes){ .data = bytes, .size = script_size }));
	}
}

static void short_scripts_answer_as_the_rules_say(void **state)
{
	(void)state;
	run_scripts(40, 1000, 1);
}

static void medium_scripts_answer_as_the_rules_say(void **state)
{
	(void)state;
	run_scripts(110, 500, 2);
}

static void long_scripts_answer_as_the_rules_say(void **state)
{
	(void)state;
	run_scripts(400, 120, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_scripts_answer_as_the_rules_say),
		cmocka_unit_test(medium_scripts_answer_as_the_rules_say),
		cmocka_unit_test(long_scripts_answer_as_the_rules_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
