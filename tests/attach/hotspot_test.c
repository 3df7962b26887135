/* The protocol against a JVM of our own: a child that opens its door when it is knocked at, and
 * then answers as the case wants.
 */
#include "attach/hotspot.h"
#include "base/status.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* How the child behaves. */
struct manner {
	const char *answer; /* what it says ... */
	size_t size;
	size_t repeat; /* ... so many times; 0: once */
	bool in_pieces;
	bool keeps_open; /* never ends the connection */
	bool is_deaf;    /* opens no door */
	bool reads_nothing;
};

static const uint64_t SECOND_NS = 1000000000;

static struct attach_target target;
static struct sink answer;
static struct hotspot_failure failure;
static char file_path[64];
static char socket_path[64];

static volatile sig_atomic_t knocks;

static void on_quit(int number)
{
	(void)number;
	knocks++;
}

static int open_door(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 4) != 0)
		_exit(90);
	return fd;
}

/* "1" and four words, each with a NUL behind it. */
static void read_request(int fd)
{
	char byte;
	int words = 0;
	while (words < 5 && read(fd, &byte, 1) == 1)
		words += byte == 0;
}

static void write_answer(int fd, const struct manner *manner)
{
	const size_t piece = manner->in_pieces ? 1 : manner->size;
	for (size_t r = 0; r < (manner->repeat ? manner->repeat : 1); r++)
		for (size_t at = 0; at < manner->size; at += piece) {
			if (send(fd, manner->answer + at, piece, MSG_NOSIGNAL) < 0)
				return;
			if (manner->in_pieces)
				usleep(1000);
		}
}

static _Noreturn void be_a_jvm(const struct manner *manner, int ready_fd)
{
	struct sigaction action = { .sa_handler = on_quit };
	struct stat st;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(file_path, sizeof(file_path), "/tmp/.attach_pid%d", getpid());
	(void)snprintf(socket_path, sizeof(socket_path), "/tmp/.java_pid%d", getpid());
	(void)sigaction(SIGQUIT, &action, NULL);
	(void)!write(ready_fd, "", 1);
	while (knocks == 0 || manner->is_deaf)
		usleep(1000);
	(void)unlink(socket_path); /* as a JVM does */
	/* Without the file this was meant otherwise. */
	if (stat(file_path, &st) != 0 || st.st_uid != geteuid())
		_exit(91);
	const int door = open_door(socket_path);
	for (;;) {
		const int fd = accept(door, NULL, NULL);
		if (!manner->reads_nothing)
			read_request(fd);
		write_answer(fd, manner);
		if (!manner->keeps_open)
			close(fd);
	}
}

static void start_jvm(const struct manner *manner)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_a_jvm(manner, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(attach_target_open(&target, pid), 0);
	assert_true(attach_target_catches(&target, SIGQUIT));
	(void)snprintf(file_path, sizeof(file_path), "/tmp/.attach_pid%d", pid);
	(void)snprintf(socket_path, sizeof(socket_path), "/tmp/.java_pid%d", pid);
	answer = (struct sink){ .limit = HOTSPOT_ANSWER_LIMIT };
}

static void end_jvm(void)
{
	assert_int_equal(kill(target.pid, 0), 0); /* it has survived */
	(void)kill(target.pid, SIGKILL);
	(void)waitpid(target.pid, NULL, 0);
	/* Nothing of ours is left. */
	assert_int_not_equal(access(file_path, F_OK), 0);
	(void)unlink(socket_path);
	attach_target_close(&target);
	sink_clear(&answer);
}

static int call(uint64_t timeout_ns, int cancel_fd)
{
	const struct hotspot_call one = { .target = &target,
					  .words = { "load", "/a/b.so", "true", "x=y" },
					  .timeout_ns = timeout_ns,
					  .cancel_fd = cancel_fd };
	answer.size = 0;
	return hotspot_call(&one, &answer, &failure);
}

static void expect_answer(const char *text)
{
	assert_int_equal(answer.size, strlen(text));
	assert_memory_equal(answer.data, text, answer.size);
}

#define SAYS(text) .answer = (text), .size = sizeof(text) - 1

static void test_an_answer(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\nreturn code: 0\n") });
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	expect_answer("0\nreturn code: 0\n");
	/* The door is open now: no knock. */
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	expect_answer("0\nreturn code: 0\n");
	end_jvm();
}

static void test_an_answer_byte_by_byte(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\nreturn code: 103\n"), .in_pieces = true });
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	expect_answer("0\nreturn code: 103\n");
	end_jvm();
}

static void test_none_at_all(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("") });
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	assert_int_equal(answer.size, 0);
	end_jvm();
}

static void test_one_without_end_is_cut(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0123456789abcdef"), .repeat = 100000 });
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	assert_int_equal(answer.size, HOTSPOT_ANSWER_LIMIT);
	end_jvm();
}

static void test_one_that_does_not_end(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\n"), .keeps_open = true });
	assert_int_equal(call(SECOND_NS / 2, -1), STATUS_IO);
	assert_int_equal(failure.stage, HOTSPOT_TALK);
	assert_int_equal(failure.error, ETIMEDOUT);
	end_jvm();
}

static void test_one_that_closes_unread(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\n0\n"), .reads_nothing = true });
	(void)call(20 * SECOND_NS, -1);
	end_jvm();
}

static void test_a_jvm_that_opens_no_door(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ .answer = "", .is_deaf = true });
	assert_int_equal(call(SECOND_NS / 2, -1), STATUS_IO);
	assert_int_equal(failure.stage, HOTSPOT_WAIT);
	end_jvm();
}

static void test_the_caller_gives_up(void **state)
{
	int cancel[2];
	(void)state;
	assert_int_equal(pipe(cancel), 0);
	assert_int_equal(write(cancel[1], "", 1), 1);
	start_jvm(&(struct manner){ .answer = "", .is_deaf = true });
	assert_int_equal(call(60 * SECOND_NS, cancel[0]), STATUS_IO);
	assert_int_equal(failure.stage, HOTSPOT_CANCELLED);
	end_jvm();
	close(cancel[0]);
	close(cancel[1]);
}

static void test_a_socket_left_by_another(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\n0\n") });
	/* A dead process had this PID: nobody listens there. */
	const int door = open_door(socket_path);
	close(door);
	assert_int_equal(call(20 * SECOND_NS, -1), 0);
	expect_answer("0\n0\n");
	end_jvm();
}

static void test_another_listens_at_its_door(void **state)
{
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\n0\n") });
	const int door = open_door(socket_path);
	assert_int_equal(call(20 * SECOND_NS, -1), STATUS_IO);
	assert_int_equal(failure.stage, HOTSPOT_CONNECT);
	close(door);
	end_jvm();
}

static void test_words_that_are_too_long(void **state)
{
	char path[HOTSPOT_WORD_SIZE + 1];
	(void)state;
	start_jvm(&(struct manner){ SAYS("0\n0\n") });
	memset(path, 'x', sizeof(path));
	path[HOTSPOT_WORD_SIZE] = 0;
	const struct hotspot_call one = { .target = &target,
					  .words = { "load", path, "true", "" },
					  .timeout_ns = SECOND_NS,
					  .cancel_fd = -1 };
	assert_int_equal(hotspot_call(&one, &answer, &failure), STATUS_TOO_BIG);
	end_jvm();
}

static void expect_read(const char *text, bool is_answer, bool was_loaded, long returned)
{
	const size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);
	struct hotspot_answer got;
	assert_non_null(copy);
	memcpy(copy, text, size);
	assert_int_equal(hotspot_read_answer((struct bytes){ (const uint8_t *)copy, size }, &got),
			 is_answer);
	if (is_answer) {
		assert_int_equal(got.was_loaded, was_loaded);
		assert_int_equal(got.returned, was_loaded ? returned : 0);
	}
	free(copy);
}

static void test_answers_are_read(void **state)
{
	(void)state;
	expect_read("0\nreturn code: 0\n", true, true, 0);
	expect_read("0\nreturn code: -3\n", true, true, -3);
	expect_read("0\nreturn code: 103", true, true, 103);
	expect_read("0\n0\n", true, true, 0); /* JDK 8 */
	expect_read("0\r\n102\r\n", true, true, 102);
	expect_read("0\n/x.so was not loaded.\n/x.so: wrong ELF class", true, false, 0);
	expect_read("-1\n", true, false, 0);
	expect_read("-1\n0\n", true, false, 0);
	expect_read("101\nProtocol version 2 not supported\n", true, false, 0);
	expect_read("0\n", true, false, 0);
	expect_read("0\nreturn code: ", true, false, 0);
	expect_read("0\nreturn code: 5x\n", true, false, 0);
	expect_read("", false, false, 0);
	expect_read("-", false, false, 0);
	expect_read("x\n", false, false, 0);
	expect_read("99999999999999999999\n", false, false, 0);
	expect_read("0x\n", false, false, 0);
}

static void test_why_it_was_not_loaded(void **state)
{
	static const char TEXT[] = "0\n/x.so was not loaded.\nno memory\n";
	struct hotspot_answer got;
	(void)state;
	assert_true(
	    hotspot_read_answer((struct bytes){ (const uint8_t *)TEXT, sizeof(TEXT) - 1 }, &got));
	assert_int_equal(got.text_size, sizeof(TEXT) - 1 - 2);
	assert_memory_equal(got.text, "/x.so was", 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer),
		cmocka_unit_test(test_an_answer_byte_by_byte),
		cmocka_unit_test(test_none_at_all),
		cmocka_unit_test(test_one_without_end_is_cut),
		cmocka_unit_test(test_one_that_does_not_end),
		cmocka_unit_test(test_one_that_closes_unread),
		cmocka_unit_test(test_a_jvm_that_opens_no_door),
		cmocka_unit_test(test_the_caller_gives_up),
		cmocka_unit_test(test_a_socket_left_by_another),
		cmocka_unit_test(test_another_listens_at_its_door),
		cmocka_unit_test(test_words_that_are_too_long),
		cmocka_unit_test(test_answers_are_read),
		cmocka_unit_test(test_why_it_was_not_loaded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
