#include "os/machine.h"

#include "test.h"

static void expect_cpus(const char *text, const int *expected, size_t count)
{
	struct machine_cpus cpus = { 0 };
	assert_int_equal(machine_parse_cpus(&cpus, text), 0);
	assert_int_equal(cpus.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(cpus.items[i], expected[i]);
	vector_clear(&cpus);
}

static void cpu_lists(void **state)
{
	(void)state;
	expect_cpus("0", (int[]){ 0 }, 1);
	expect_cpus("0-3,8", (int[]){ 0, 1, 2, 3, 8 }, 5);
	expect_cpus("2,4-5\n", (int[]){ 2, 4, 5 }, 3);
	expect_cpus("", NULL, 0);
	expect_cpus("none", NULL, 0);
	expect_cpus("1,", (int[]){ 1 }, 1);
	expect_cpus("1-", NULL, 0);
	expect_cpus("3-1", NULL, 0);
	/* No kernel has these; they must not be allocated for. */
	expect_cpus("0-99999999999", NULL, 0);
	expect_cpus("99999999999999999999", NULL, 0);
}

static void reads_this_machine(void **state)
{
	(void)state;
	struct machine machine;
	assert_int_equal(machine_read(&machine), 0);
	assert_true(machine.online.count > 0);
	assert_true(machine.possible_count >= machine.online.count);
	assert_true(machine.memory_kb > 0);
	assert_true(machine.release[0]);
	assert_true(machine.arch[0]);
	assert_int_equal(machine.topology.count, machine.online.count);
	machine_clear(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(reads_this_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
