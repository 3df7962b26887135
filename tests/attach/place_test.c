#include "attach/place.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct attach_target target;

static int setup(void **state)
{
	(void)state;
	return attach_target_open(&target, getpid());
}

static int teardown(void **state)
{
	(void)state;
	attach_target_close(&target);
	return 0;
}

static void test_a_folder_for_the_process_alone(void **state)
{
	struct attach_place place;
	struct stat st;
	char path[256];
	(void)state;
	assert_int_equal(attach_place_make(&place, &target), 0);
	assert_int_equal(stat(place.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(attach_place_copy(&place, &target, "/proc/self/exe", "program"), 0);
	(void)snprintf(path, sizeof(path), "%s/program", place.path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0500);
	/* Never over what is there. */
	assert_true(attach_place_copy(&place, &target, "/proc/self/exe", "program") < 0);
	const int fd = openat(place.fd, "jit-1.dump", O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	(void)snprintf(path, sizeof(path), "%s", place.path);
	attach_place_remove(&place);
	assert_int_not_equal(stat(path, &st), 0);
	assert_string_equal(place.path, "");
	attach_place_remove(&place);
}

static void test_no_two_have_one_name(void **state)
{
	struct attach_place one;
	struct attach_place two;
	(void)state;
	assert_int_equal(attach_place_make(&one, &target), 0);
	assert_int_equal(attach_place_make(&two, &target), 0);
	assert_string_not_equal(one.path, two.path);
	attach_place_remove(&one);
	attach_place_remove(&two);
}

static void test_what_cannot_be_copied(void **state)
{
	struct attach_place place;
	(void)state;
	assert_int_equal(attach_place_make(&place, &target), 0);
	assert_true(attach_place_copy(&place, &target, "/no such file", "x") < 0);
	assert_true(attach_place_copy(&place, &target, "/dev/zero", "x") < 0);
	attach_place_remove(&place);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_folder_for_the_process_alone),
		TEST(test_no_two_have_one_name),
		TEST(test_what_cannot_be_copied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
