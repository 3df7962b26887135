#include "attach/target.h"
#include "base/status.h"
#include "test.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char STATUS[] = "Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4242\n"
			     "Uid:\t1000\t1001\t1002\t1003\nGid:\t50\t51\t52\t53\n"
			     "NStgid:\t4242\t17\t3\nNSpid:\t4242\t17\t3\nNSpgid:\t4242\t17\t3\n"
			     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
			     "SigCgt:\t2000000181005ccf\nCapInh:\t0000000000000000\n";

static void test_status_is_read(void **state)
{
	struct attach_target target = { .pid = 4242 };
	(void)state;
	assert_true(attach_target_read_status(&target, STATUS));
	assert_int_equal(target.uid, 1001); /* effective */
	assert_int_equal(target.gid, 51);
	assert_int_equal(target.own_pid, 3); /* innermost */
	assert_true(target.caught == 0x2000000181005ccf);
	assert_true(attach_target_catches(&target, SIGQUIT));
	assert_false(attach_target_catches(&target, SIGTRAP));
	assert_false(attach_target_catches(&target, SIGKILL));
}

static void test_an_old_kernel_tells_no_namespace(void **state)
{
	struct attach_target target = { .pid = 4242 };
	(void)state;
	assert_true(attach_target_read_status(
	    &target, "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nSigCgt:\t0000000000000004\n"));
	assert_int_equal(target.own_pid, 4242);
	assert_true(attach_target_catches(&target, SIGQUIT));
}

static void test_a_halted_process_is_known(void **state)
{
	struct attach_target target = { .pid = 4242 };
	(void)state;
	assert_true(attach_target_read_status(
	    &target, "Name:\tx\nState:\tT (stopped)\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
		     "SigCgt:\t0000000000000004\n"));
	assert_true(target.is_halted);
	assert_true(attach_target_read_status(&target, STATUS));
	assert_false(target.is_halted);
}

static void test_every_truncation(void **state)
{
	char text[sizeof(STATUS)];
	(void)state;
	for (size_t size = 0; size < sizeof(STATUS); size++) {
		struct attach_target target = { .pid = 4242 };
		memcpy(text, STATUS, size);
		text[size] = 0;
		/* Without the handlers, which stand last, nothing may be done. */
		const bool has_handlers = strstr(text, "SigCgt:\t2") != NULL;
		assert_int_equal(attach_target_read_status(&target, text), has_handlers);
	}
}

static void test_ourselves(void **state)
{
	struct attach_target target;
	(void)state;
	assert_int_equal(attach_target_open(&target, getpid()), 0);
	assert_int_equal(target.uid, geteuid());
	assert_false(target.has_jvm);
	assert_string_equal(target.agent, "");
	assert_string_equal(target.dump, "");
	assert_true(attach_target_sees(&target, "/tmp"));
	assert_false(attach_target_sees(&target, "/no such file"));
	assert_false(attach_target_sees(&target, "tmp"));
	const int fd = attach_target_open_dir(&target, "/tmp");
	assert_true(fd >= 0);
	close(fd);
	attach_target_close(&target);
	assert_int_equal(attach_target_open(&target, 0x3fffffff), STATUS_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_is_read),
		cmocka_unit_test(test_a_halted_process_is_known),
		cmocka_unit_test(test_an_old_kernel_tells_no_namespace),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_ourselves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
