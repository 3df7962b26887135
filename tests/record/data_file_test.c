#include "record/data_file.h"

#include "base/status.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static void expect_content(int fd, const char *content)
{
	char got[64] = "";
	assert_int_equal(pread(fd, got, sizeof(got) - 1, 0), strlen(content));
	assert_string_equal(got, content);
}

static void pieces_follow_each_other(void **state)
{
	(void)state;
	char path[] = "/tmp/data_file_test-XXXXXX";
	const int old = mkstemp(path);
	assert_true(old >= 0);
	assert_int_equal(write(old, "old", 3), 3);
	struct data_file file;
	assert_int_equal(data_file_open(&file, path, false), 0);
	data_file_put(&file, bytes_of("head "));
	const struct bytes pieces[] = { bytes_of("one "), bytes_of(""), bytes_of("two ") };
	data_file_records(&file, pieces, 3);
	data_file_records(&file, pieces, 0);
	data_file_put_at(&file, 0, bytes_of("HEAD"));
	assert_int_equal(data_file_size(&file), 13);
	/* Until it is whole, the old file has the name. */
	expect_content(old, "old");
	assert_int_equal(data_file_commit(&file), 0);
	const int new = open(path, O_RDONLY | O_CLOEXEC);
	expect_content(new, "HEAD one two ");
	close(new);
	close(old);
	assert_int_equal(unlink(path), 0);
}

static void abandoned_files_leave_no_trace(void **state)
{
	(void)state;
	char folder[] = "/tmp/data_file_test-XXXXXX";
	assert_non_null(mkdtemp(folder));
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	struct data_file file;
	assert_int_equal(data_file_open(&file, path, true), 0);
	data_file_put(&file, bytes_of("x"));
	data_file_abandon(&file);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(data_file_open(&file, path, false), STATUS_IO);
	assert_int_equal(errno, ENOENT);
}

/* A rename would put a file in the place of the pipe, or of /dev/null. */
static void pipes_are_written_to(void **state)
{
	(void)state;
	char folder[] = "/tmp/data_file_test-XXXXXX";
	assert_non_null(mkdtemp(folder));
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	struct data_file file;
	assert_int_equal(data_file_open(&file, path, false), 0);
	data_file_put(&file, bytes_of("later"));
	data_file_put_at(&file, 0, bytes_of("L"));
	assert_int_equal(data_file_commit(&file), 0);
	char got[16] = "";
	assert_int_equal(read(reader, got, sizeof(got) - 1), 5);
	assert_string_equal(got, "Later");
	close(reader);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void the_first_failure_stays(void **state)
{
	(void)state;
	struct data_file file;
	assert_int_equal(data_file_open(&file, "/dev/null", false), 0);
	close(file.output.fd);
	file.output.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	if (file.output.fd < 0)
		skip_because("no /dev/full");
	data_file_put(&file, bytes_of("x"));
	assert_int_equal(file.status, STATUS_IO);
	assert_int_equal(file.error, ENOSPC);
	errno = 0;
	data_file_put(&file, bytes_of("y"));
	assert_int_equal(file.error, ENOSPC);
	assert_int_equal(data_file_commit(&file), STATUS_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_follow_each_other),
		cmocka_unit_test(abandoned_files_leave_no_trace),
		cmocka_unit_test(pipes_are_written_to),
		cmocka_unit_test(the_first_failure_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
