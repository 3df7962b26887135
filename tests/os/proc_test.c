#include "os/proc.h"

#include "base/status.h"
#include "test.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool contains(const struct proc_ids *ids, pid_t id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->items[i] == id)
			return true;
	return false;
}

static void lists_us(void **state)
{
	(void)state;
	struct proc_ids pids = { 0 };
	struct proc_ids tids = { 0 };
	assert_int_equal(proc_processes(&pids), 0);
	assert_true(contains(&pids, getpid()));
	for (size_t i = 1; i < pids.count; i++)
		assert_true(pids.items[i - 1] < pids.items[i]);
	assert_int_equal(proc_tasks(getpid(), &tids), 0);
	assert_true(contains(&tids, gettid()));
	vector_clear(&pids);
	vector_clear(&tids);
}

static void missing_process_is_not_found(void **state)
{
	(void)state;
	/* Beyond the largest pid that a kernel gives out. */
	const pid_t none = 1 << 26;
	struct proc_ids tids = { 0 };
	struct proc_parents parents;
	char comm[PROC_COMM_SIZE];
	uint64_t links[PROC_NAMESPACE_COUNT][2];
	assert_int_equal(proc_tasks(none, &tids), STATUS_NOT_FOUND);
	assert_int_equal(proc_comm(none, none, comm), STATUS_NOT_FOUND);
	assert_int_equal(proc_parents(none, &parents), STATUS_NOT_FOUND);
	assert_int_equal(proc_namespaces(none, none, links), STATUS_NOT_FOUND);
}

static void comm_holds_any_byte(void **state)
{
	(void)state;
	static const char *const names[] = { "a", "fifteen bytes..", "a\nb", "tab\tand\\", "\n" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char comm[PROC_COMM_SIZE];
		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(proc_comm(getpid(), gettid(), comm), 0);
		assert_string_equal(comm, names[i]);
	}
}

/* A name cannot pretend to be another line of status. */
static void parents_are_true(void **state)
{
	(void)state;
	struct proc_parents parents;
	assert_int_equal(prctl(PR_SET_NAME, "\nPPid:\t1"), 0);
	assert_int_equal(proc_parents(gettid(), &parents), 0);
	assert_int_equal(parents.pid, getpid());
	assert_int_equal(parents.parent_pid, getppid());
}

static void namespaces_are_links(void **state)
{
	(void)state;
	uint64_t links[PROC_NAMESPACE_COUNT][2];
	assert_int_equal(proc_namespaces(getpid(), gettid(), links), 0);
	assert_true(links[5][1] != 0); /* mnt */
}

static void numbers_and_lines(void **state)
{
	(void)state;
	char path[] = "/tmp/proc_test-XXXXXX";
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(proc_number(path, 42), 42);
	assert_int_equal(write(fd, "-17\nrest", 8), 8);
	assert_int_equal(proc_number(path, 42), -17);
	char line[3];
	proc_line(path, line, sizeof(line));
	assert_string_equal(line, "-1");
	struct sink text = { .limit = 4 };
	assert_int_equal(proc_read(&text, path), STATUS_TOO_BIG);
	sink_clear(&text);
	close(fd);
	unlink(path);
	assert_int_equal(proc_number(path, 7), 7);
	proc_line(path, line, sizeof(line));
	assert_string_equal(line, "");
	assert_int_equal(proc_read(&text, path), STATUS_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_us),
		cmocka_unit_test(missing_process_is_not_found),
		cmocka_unit_test(comm_holds_any_byte),
		cmocka_unit_test(parents_are_true),
		cmocka_unit_test(namespaces_are_links),
		cmocka_unit_test(numbers_and_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
