#include "record/private_dir.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_made_for_its_owner_alone(void **state)
{
	(void)state;
	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	struct stat st;
	assert_int_equal(lstat(dir.root, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_uid, geteuid());
	/* Root's may be entered by those who know a name inside, but not listed. */
	assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0711 : 0700);
	assert_int_equal(lstat(dir.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, geteuid() == 0 ? 01777 : 0700);
	private_dir_remove(&dir);
	assert_null(dir.path);
}

static void make_file(int directory, const char *name)
{
	const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void test_removed_with_all_in_it_and_no_more(void **state)
{
	(void)state;
	char outside[] = "/tmp/private_dir_test-XXXXXX";
	assert_non_null(mkdtemp(outside));
	const int outside_fd = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_file(outside_fd, "kept");

	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	char root[128];
	(void)snprintf(root, sizeof(root), "%s", dir.root);
	const int fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_file(fd, "jit-1.dump");
	assert_int_equal(mkdirat(fd, ".debug", 0700), 0);
	const int inner = openat(fd, ".debug", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_file(inner, "jit-2.dump");
	assert_int_equal(symlinkat(outside, fd, "link"), 0);
	close(inner);
	close(fd);

	private_dir_remove(&dir);
	assert_int_equal(access(root, F_OK), -1);
	assert_int_equal(faccessat(outside_fd, "kept", F_OK, 0), 0);
	unlinkat(outside_fd, "kept", 0);
	close(outside_fd);
	rmdir(outside);
}

static void test_kept_where_it_is(void **state)
{
	(void)state;
	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	struct private_dir again = { .path = strdup(dir.path), .root = strdup(dir.root) };
	private_dir_keep(&dir);
	assert_int_equal(access(again.path, W_OK), 0);
	private_dir_remove(&again);
}

/* A path that runtimes could not be told is no use: the next place is taken. */
static void test_a_name_that_needs_quoting_is_passed_over(void **state)
{
	(void)state;
	char odd[] = "/tmp/private dir,test-XXXXXX";
	assert_non_null(mkdtemp(odd));
	const char *set = getenv("TMPDIR");
	char *old = set ? strdup(set) : NULL;
	assert_int_equal(setenv("TMPDIR", odd, 1), 0);
	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	assert_true(private_dir_needs_no_quoting(dir.path));
	private_dir_remove(&dir);
	assert_int_equal(old ? setenv("TMPDIR", old, 1) : unsetenv("TMPDIR"), 0);
	free(old);
	assert_int_equal(rmdir(odd), 0);
}

static void test_twice_is_harmless(void **state)
{
	(void)state;
	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	private_dir_remove(&dir);
	private_dir_remove(&dir);
	private_dir_keep(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_for_its_owner_alone),
		cmocka_unit_test(test_removed_with_all_in_it_and_no_more),
		cmocka_unit_test(test_kept_where_it_is),
		cmocka_unit_test(test_a_name_that_needs_quoting_is_passed_over),
		cmocka_unit_test(test_twice_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
