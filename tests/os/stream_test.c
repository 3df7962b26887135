/* Where results go: files are replaced as a whole, what is no file is written to as it stands. */
#include "os/stream.h"
#include "test.h"

#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/polyperf-stream.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path_of("file"));
	(void)unlink(path_of("link"));
	(void)unlink(path_of("pipe"));
	return rmdir(folder);
}

static void assert_holds(const char *path, const char *text)
{
	char read_back[64] = "";
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	const size_t size = fread(read_back, 1, sizeof(read_back) - 1, file);
	(void)fclose(file);
	assert_int_equal(size, strlen(text));
	assert_string_equal(read_back, text);
}

static int put(const char *path, const char *text, bool commits)
{
	struct os_stream out;
	int got = os_stream_open(&out, path);
	if (got == 0)
		got = os_stream_write(&out, text, strlen(text));
	if (got == 0 && commits)
		got = os_stream_commit(&out);
	os_stream_abandon(&out);
	return got;
}

static void a_file_is_old_or_new(void **state)
{
	(void)state;
	assert_int_equal(put(path_of("file"), "old", true), 0);
	assert_int_equal(put(path_of("file"), "new, and more", false), 0);
	assert_holds(path_of("file"), "old");
	assert_int_equal(put(path_of("file"), "new", true), 0);
	assert_holds(path_of("file"), "new");
}

static size_t names_in_folder(void)
{
	size_t count = 0;
	DIR *names = opendir(folder);
	assert_non_null(names);
	for (struct dirent *name; (name = readdir(names));)
		count += name->d_name[0] != '.';
	(void)closedir(names);
	return count;
}

/* As by Ctrl-C: nobody is left to remove anything. */
static void a_killed_process_leaves_the_old_file_alone(void **state)
{
	(void)state;
	assert_int_equal(put(path_of("file"), "old", true), 0);
	const size_t before = names_in_folder();
	struct os_stream out;
	const int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (unnamed < 0)
		skip_because("no files without a name on this file system");
	(void)close(unnamed);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (os_stream_open(&out, path_of("file")) == 0)
			(void)os_stream_write(&out, "half", 4);
		(void)raise(SIGKILL);
	}
	int ended;
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFSIGNALED(ended));
	assert_int_equal(names_in_folder(), before);
	assert_holds(path_of("file"), "old");
}

static void a_name_too_long_is_told_at_once(void **state)
{
	(void)state;
	char name[300];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	struct os_stream out;
	assert_true(os_stream_open(&out, name) < 0);
	assert_int_equal(errno, ENAMETOOLONG);
}

static void the_umask_says_who_reads(void **state)
{
	(void)state;
	const mode_t before = umask(027);
	struct stat made;
	assert_int_equal(put(path_of("file"), "x", true), 0);
	(void)umask(before);
	assert_int_equal(stat(path_of("file"), &made), 0);
	assert_int_equal(made.st_mode & 0777, 0640);
}

static void a_pipe_stays_a_pipe(void **state)
{
	(void)state;
	char got[8] = "";
	struct stat there;
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	const int reader = open(path_of("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(put(path_of("pipe"), "abc", true), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	assert_string_equal(got, "abc");
	(void)close(reader);
	assert_int_equal(stat(path_of("pipe"), &there), 0);
	assert_true(S_ISFIFO(there.st_mode));
}

/* As /dev/stdout does, the name leads to a descriptor; the file behind it stays where it is. */
static void names_of_descriptors_are_not_replaced(void **state)
{
	(void)state;
	assert_int_equal(os_stream_is_direct("/dev/null"), 1);
	assert_int_equal(os_stream_is_direct("/proc/self/fd/0"), 1);
	assert_int_equal(os_stream_is_direct("-"), 1);
	assert_int_equal(os_stream_is_direct(path_of("none")), 0);
	assert_int_equal(put("/dev/null", "x", true), 0);
	struct stat null;
	assert_int_equal(stat("/dev/null", &null), 0);
	assert_true(S_ISCHR(null.st_mode));
}

static void a_directory_is_refused(void **state)
{
	(void)state;
	errno = 0;
	assert_int_equal(put(folder, "x", true), STATUS_IO);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(put(path_of("none/file"), "x", true), STATUS_IO);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(put("/dev/full", "x", true), STATUS_IO);
	assert_int_equal(errno, ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_old_or_new),
		cmocka_unit_test(a_killed_process_leaves_the_old_file_alone),
		cmocka_unit_test(a_name_too_long_is_told_at_once),
		cmocka_unit_test(the_umask_says_who_reads),
		cmocka_unit_test(a_pipe_stays_a_pipe),
		cmocka_unit_test(names_of_descriptors_are_not_replaced),
		cmocka_unit_test(a_directory_is_refused),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
