#include "attach/attach.h"
#include "attach/library.h"
#include "base/status.h"
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* SIGQUIT would end it. */
static void test_what_is_no_jvm_is_not_touched(void **state)
{
	struct attachment *attachment;
	struct attach_report report;
	(void)state;
	const pid_t pid = fork();
	if (pid == 0) {
		for (;;)
			pause();
	}
	const struct attach_options options = { .pid = pid, .cancel_fd = -1 };
	assert_null(attach_runtime_of(pid));
	assert_int_equal(attach_start(&attachment, &options, &report), STATUS_UNSUPPORTED);
	assert_null(attachment);
	assert_non_null(strstr(report.reason, "is no JVM"));
	assert_int_equal(attach_stop_process(&options, &report), STATUS_UNSUPPORTED);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(attach_start(&attachment, &options, &report), STATUS_NOT_FOUND);
	assert_non_null(strstr(report.reason, "there is no process"));
}

static void test_nothing_is_stopped_without_an_attachment(void **state)
{
	struct attach_report report;
	(void)state;
	assert_int_equal(attach_stop(NULL, &report), 0);
	attach_free(NULL);
}

static void test_files_that_all_may_read(void **state)
{
	char folder[] = "/tmp/attach-test-XXXXXX";
	char path[64];
	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fclose(file);
	assert_int_equal(chmod(path, 0644), 0);
	assert_false(attach_is_open_to_all(path)); /* the folder is closed */
	assert_int_equal(chmod(folder, 0711), 0);
	assert_true(attach_is_open_to_all(path));
	assert_int_equal(chmod(path, 0640), 0);
	assert_false(attach_is_open_to_all(path));
	assert_false(attach_is_open_to_all("relative"));
	assert_int_equal(unlink(path), 0);
	assert_false(attach_is_open_to_all(path));
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_jvm_is_not_touched),
		cmocka_unit_test(test_nothing_is_stopped_without_an_attachment),
		cmocka_unit_test(test_files_that_all_may_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
