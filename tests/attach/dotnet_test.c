/* The protocol against a process of our own that listens as a .NET runtime does, and then answers
 * as the case wants.
 */
#include "attach/attach.h"
#include "attach/dotnet_ipc.h"
#include "attach/dotnet_stream.h"
#include "base/status.h"
#include "os/clock.h"
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

static const uint64_t SECOND_NS = 1000000000;

/* How the child behaves. */
struct manner {
	struct bytes answer;
	bool in_pieces;
	bool keeps_open;    /* never ends the connection */
	bool never_listens; /* and has no socket */
	const char *name;   /* of its socket, instead of the right one */
};

static struct attach_target target;
static char socket_path[PATH_MAX + 128];

static const uint8_t INFO[] = {
	/* DOTNET_IPC_V1, size 98, success */
	'D', 'O', 'T', 'N', 'E', 'T', '_', 'I', 'P', 'C', '_', 'V', '1', 0, 98, 0, 0xff, 0, 0, 0,
	/* PID 7, cookie */
	7, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	/* "app", "", "x64", "a", "10.0.1" */
	4, 0, 0, 0, 'a', 0, 'p', 0, 'p', 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'x', 0, '6', 0, '4', 0, 0,
	0, 2, 0, 0, 0, 'a', 0, 0, 0, 7, 0, 0, 0, '1', 0, '0', 0, '.', 0, '0', 0, '.', 0, '1', 0, 0,
	0
};

static struct bytes info_payload(void)
{
	return (struct bytes){ INFO + DOTNET_HEADER_SIZE, sizeof(INFO) - DOTNET_HEADER_SIZE };
}

/* --- what is said --- */

static void test_info_is_read(void **state)
{
	struct dotnet_info info;
	struct dotnet_header header;
	(void)state;
	assert_true(dotnet_ipc_read_header((struct bytes){ INFO, sizeof(INFO) }, &header));
	assert_int_equal(header.size, sizeof(INFO));
	assert_int_equal(header.set, DOTNET_ANSWER);
	assert_int_equal(header.command, DOTNET_ANSWER_OK);
	assert_true(dotnet_ipc_read_info(info_payload(), &info));
	assert_int_equal(info.pid, 7);
	assert_string_equal(info.version, "10.0.1");
	assert_int_equal(info.major, 10);
}

static void test_every_truncation(void **state)
{
	struct dotnet_info info;
	struct dotnet_header header;
	(void)state;
	for (size_t size = 0; size < sizeof(INFO); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, INFO, size);
		assert_int_equal(dotnet_ipc_read_header((struct bytes){ copy, size }, &header),
				 size >= DOTNET_HEADER_SIZE);
		free(copy);
	}
	for (size_t size = 0; size < info_payload().size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, info_payload().data, size);
		assert_false(dotnet_ipc_read_info((struct bytes){ copy, size }, &info));
		free(copy);
	}
}

static void test_every_changed_byte(void **state)
{
	static const uint8_t VALUES[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct dotnet_info info;
	const struct bytes payload = info_payload();
	uint8_t *copy = malloc(payload.size);
	(void)state;
	assert_non_null(copy);
	for (size_t at = 0; at < payload.size; at++)
		for (size_t v = 0; v < sizeof(VALUES); v++) {
			memcpy(copy, payload.data, payload.size);
			copy[at] = VALUES[v];
			if (!dotnet_ipc_read_info((struct bytes){ copy, payload.size }, &info))
				continue;
			for (const char *c = info.version; *c; c++)
				assert_true(*c > ' ' && *c < 0x7f);
			assert_true(info.major < 1000);
		}
	free(copy);
}

static void test_a_version_that_is_too_long_is_cut(void **state)
{
	enum { UNITS = 5000 };
	struct sink payload = { 0 };
	struct dotnet_info info;
	(void)state;
	sink_zeros(&payload, 8 + 16 + 4 * 4);
	sink_u32(&payload, UNITS);
	for (int i = 0; i < UNITS; i++)
		sink_u16(&payload, 0x1234);
	assert_true(dotnet_ipc_read_info(sink_bytes(&payload), &info));
	assert_int_equal(strlen(info.version), sizeof(info.version) - 1);
	assert_int_equal(info.version[0], '?');
	assert_int_equal(info.major, 0);
	sink_clear(&payload);
}

static void expect_text(const char *text, const char *bytes, size_t size)
{
	struct sink payload = { 0 };
	assert_true(dotnet_ipc_put_text(&payload, text));
	assert_int_equal(payload.size, size);
	assert_memory_equal(payload.data, bytes, size);
	sink_clear(&payload);
}

static void test_text_goes_as_utf16(void **state)
{
	static const char *const NONE[] = {
		"\x80",  "\xc3",     "\xc0\x80",        "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"a\xff", "\xe2\x82", "\xf0\x80\x80\x80"
	};
	(void)state;
	expect_text("", "\0\0\0", 4);
	expect_text("ab", "\3\0\0\0a\0b\0\0", 10);
	expect_text("\xc3\xa9", "\2\0\0\0\xe9\0\0", 8);
	expect_text("\xe2\x82\xac", "\2\0\0\0\xac\x20\0", 8);
	expect_text("\xf0\x9f\x98\x80", "\3\0\0\0\x3d\xd8\x00\xde\0", 10);
	for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
		struct sink payload = { 0 };
		assert_false(dotnet_ipc_put_text(&payload, NONE[i]));
		sink_clear(&payload);
	}
}

static void test_providers_of_events(void **state)
{
	static const char *const NONE[] = { "",       "A",        "A:",     "A:1:2",
					    "A:0x:5", "A:0x1",    "A:0x1:", "A:0x1:5;B:0x1:5",
					    ":0x1:5", "A:0x1:5,B" };
	struct sink payload = { 0 };
	uint8_t command;
	(void)state;
	assert_true(dotnet_ipc_put_collect(&payload, "A:0x20018:5,Bc:0x1:4", 8, &command));
	assert_int_equal(command, DOTNET_EVENTS_COLLECT_2);
	static const char EXPECTED[] = "\x40\0\0\0\1\0\0\0\1\2\0\0\0"
				       "\x18\0\2\0\0\0\0\0\5\0\0\0\2\0\0\0A\0\0\0\0\0\0\0"
				       "\1\0\0\0\0\0\0\0\4\0\0\0\3\0\0\0B\0c\0\0\0\0\0\0";
	assert_int_equal(payload.size, sizeof(EXPECTED));
	assert_memory_equal(payload.data, EXPECTED, sizeof(EXPECTED));
	sink_reset(&payload);
	assert_true(dotnet_ipc_put_collect(&payload, "A:0x1:5", 9, &command));
	assert_int_equal(command, DOTNET_EVENTS_COLLECT_4);
	for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
		sink_reset(&payload);
		assert_false(dotnet_ipc_put_collect(&payload, NONE[i], 10, &command));
	}
	sink_clear(&payload);
}

/* --- a process that listens --- */

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 4) != 0)
		_exit(90);
	return fd;
}

static _Noreturn void be_a_runtime(const struct manner *manner, int ready_fd)
{
	char request[256];
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	const int door = manner->never_listens ? -1 : listen_at(socket_path);
	(void)!write(ready_fd, "", 1);
	for (;;) {
		const int fd = door < 0 ? -1 : accept(door, NULL, NULL);
		if (fd < 0) {
			pause();
			continue;
		}
		(void)!read(fd, request, sizeof(request));
		const size_t piece = manner->in_pieces ? 1 : manner->answer.size;
		for (size_t at = 0; piece && at < manner->answer.size; at += piece)
			(void)send(fd, manner->answer.data + at, piece, MSG_NOSIGNAL);
		if (!manner->keeps_open)
			close(fd);
	}
}

static void name_socket(pid_t pid, const char *name)
{
	char directory[PATH_MAX];
	const struct attach_target self = { .pid = pid, .own_pid = pid };
	dotnet_ipc_directory(&self, directory);
	if (name)
		(void)snprintf(socket_path, sizeof(socket_path), "%s/dotnet-diagnostic-%d-%s",
			       directory, pid, name);
	else
		(void)snprintf(socket_path, sizeof(socket_path),
			       "%s/dotnet-diagnostic-%d-%llu-socket", directory, pid,
			       (unsigned long long)attach_target_start_ticks(&self));
}

static void start_runtime(const struct manner *manner)
{
	int go[2];
	int ready[2];
	char byte;
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ready[0]);
		(void)!read(go[0], &byte, 1);
		name_socket(getpid(), manner->name);
		be_a_runtime(manner, ready[1]);
	}
	close(ready[1]);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	assert_int_equal(attach_target_open(&target, pid), 0);
	name_socket(pid, manner->name);
}

static void end_runtime(void)
{
	assert_int_equal(kill(target.pid, SIGKILL), 0);
	assert_int_equal(waitpid(target.pid, NULL, 0), target.pid);
	attach_target_close(&target);
	(void)unlink(socket_path);
}

static struct dotnet_call call_for(int door, uint64_t timeout_ns)
{
	return (struct dotnet_call){
		.target = &target,
		.door_fd = door,
		.set = DOTNET_PROCESS,
		.command = DOTNET_PROCESS_INFO_2,
		.deadline_ns = os_clock_mono_ns() + timeout_ns,
		.cancel_fd = -1,
	};
}

/* Returns what the call did, with how far it came. */
static int ask(const struct manner *manner, struct sink *answer, struct dotnet_failure *failure)
{
	start_runtime(manner);
	const int door = dotnet_ipc_find(&target);
	assert_true(door >= 0);
	const struct dotnet_call call = call_for(door, 10 * SECOND_NS);
	const int result = dotnet_ipc_call(&call, answer, failure);
	close(door);
	end_runtime();
	return result;
}

static void test_an_answer_is_taken(void **state)
{
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	struct dotnet_failure failure;
	(void)state;
	for (int in_pieces = 0; in_pieces < 2; in_pieces++) {
		const struct manner manner = { .answer = { INFO, sizeof(INFO) },
					       .in_pieces = in_pieces };
		sink_reset(&answer);
		assert_int_equal(ask(&manner, &answer, &failure), 0);
		assert_int_equal(failure.stage, DOTNET_DONE);
		assert_int_equal(answer.size, info_payload().size);
		assert_memory_equal(answer.data, info_payload().data, answer.size);
	}
	sink_clear(&answer);
}

static void expect_failure(struct bytes said, enum dotnet_stage stage, uint32_t code)
{
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	struct dotnet_failure failure;
	const struct manner manner = { .answer = said };
	assert_int_equal(ask(&manner, &answer, &failure), STATUS_IO);
	assert_int_equal(failure.stage, stage);
	assert_int_equal(failure.code, code);
	sink_clear(&answer);
}

static void test_what_is_no_answer_is_refused(void **state)
{
	uint8_t copy[sizeof(INFO)];
	static const size_t CUTS[] = { 0, 1, DOTNET_HEADER_SIZE - 1, DOTNET_HEADER_SIZE,
				       sizeof(INFO) - 1 };
	(void)state;
	for (size_t i = 0; i < sizeof(CUTS) / sizeof(CUTS[0]); i++)
		expect_failure((struct bytes){ INFO, CUTS[i] }, DOTNET_TALK, 0);
	memcpy(copy, INFO, sizeof(INFO));
	copy[0] = 'X';
	expect_failure((struct bytes){ copy, sizeof(copy) }, DOTNET_GARBAGE, 0);
	memcpy(copy, INFO, sizeof(INFO));
	copy[14] = DOTNET_HEADER_SIZE - 1; /* shorter than its own header */
	expect_failure((struct bytes){ copy, sizeof(copy) }, DOTNET_GARBAGE, 0);
	memcpy(copy, INFO, sizeof(INFO));
	copy[15] = 0xff; /* longer than what comes */
	expect_failure((struct bytes){ copy, sizeof(copy) }, DOTNET_TALK, 0);
	memcpy(copy, INFO, sizeof(INFO));
	copy[16] = DOTNET_PROCESS; /* a question */
	expect_failure((struct bytes){ copy, sizeof(copy) }, DOTNET_GARBAGE, 0);
}

static void test_an_error_is_told(void **state)
{
	uint8_t copy[DOTNET_HEADER_SIZE + 4];
	(void)state;
	memcpy(copy, INFO, DOTNET_HEADER_SIZE);
	copy[14] = sizeof(copy);
	copy[17] = DOTNET_ANSWER_ERROR;
	memcpy(copy + DOTNET_HEADER_SIZE, "\x85\x13\x13\x80", 4);
	expect_failure((struct bytes){ copy, sizeof(copy) }, DOTNET_REFUSED,
		       DOTNET_UNKNOWN_COMMAND);
	copy[14] = DOTNET_HEADER_SIZE + 3;
	expect_failure((struct bytes){ copy, sizeof(copy) - 1 }, DOTNET_GARBAGE, 0);
}

static void test_silence_has_its_time(void **state)
{
	const struct manner manner = { .keeps_open = true };
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	struct dotnet_failure failure;
	int ends[2];
	(void)state;
	start_runtime(&manner);
	const int door = dotnet_ipc_find(&target);
	struct dotnet_call call = call_for(door, 50000000);
	assert_int_equal(dotnet_ipc_call(&call, &answer, &failure), STATUS_IO);
	assert_int_equal(failure.stage, DOTNET_TALK);
	assert_int_equal(failure.error, ETIMEDOUT);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	call = call_for(door, 100 * SECOND_NS);
	call.cancel_fd = ends[0];
	assert_int_equal(dotnet_ipc_call(&call, &answer, &failure), STATUS_IO);
	assert_int_equal(failure.stage, DOTNET_CANCELLED);
	close(ends[0]);
	close(ends[1]);
	close(door);
	end_runtime();
	sink_clear(&answer);
}

/* --- whose socket it is --- */

/* Sockets of dead processes of the same PID lie beside it, and one that is another's. */
static void test_the_right_one_of_many(void **state)
{
	const struct manner manner = { .answer = { INFO, sizeof(INFO) }, .name = "77777-socket" };
	char stale[PATH_MAX + 128];
	char foreign[PATH_MAX + 128];
	char link_path[PATH_MAX + 128];
	(void)state;
	start_runtime(&manner);
	const size_t stem = (size_t)(strstr(socket_path, "77777") - socket_path);
	(void)snprintf(stale, sizeof(stale), "%.*s11111-socket", (int)stem, socket_path);
	(void)snprintf(foreign, sizeof(foreign), "%.*s22222-socket", (int)stem, socket_path);
	(void)snprintf(link_path, sizeof(link_path), "%.*s%llu-socket", (int)stem, socket_path,
		       (unsigned long long)attach_target_start_ticks(&target));
	close(listen_at(stale));
	const int others = listen_at(foreign);
	/* A link under the right name, that leads to the right socket: not taken. */
	assert_int_equal(symlink(socket_path, link_path), 0);
	struct stat found;
	struct stat right;
	const int door = dotnet_ipc_find(&target);
	assert_true(door >= 0);
	assert_int_equal(fstat(door, &found), 0);
	assert_int_equal(lstat(socket_path, &right), 0);
	assert_int_equal(found.st_ino, right.st_ino);
	close(door);
	assert_int_equal(unlink(link_path), 0);
	close(others);
	assert_int_equal(unlink(stale), 0);
	assert_int_equal(unlink(foreign), 0);
	end_runtime();
}

/* What listens under the right name is this test, not the process. */
static void test_anothers_socket_is_not_talked_to(void **state)
{
	const struct manner manner = { .never_listens = true };
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	struct dotnet_failure failure;
	(void)state;
	start_runtime(&manner);
	const int listening = listen_at(socket_path);
	const int door = dotnet_ipc_find(&target);
	assert_true(door >= 0);
	const struct dotnet_call call = call_for(door, SECOND_NS);
	assert_int_equal(dotnet_ipc_call(&call, &answer, &failure), STATUS_IO);
	assert_int_equal(failure.stage, DOTNET_PEER);
	close(door);
	close(listening);
	end_runtime();
	sink_clear(&answer);
}

static void test_no_socket_no_runtime(void **state)
{
	const struct manner manner = { .never_listens = true };
	(void)state;
	start_runtime(&manner);
	assert_int_equal(dotnet_ipc_find(&target), -1);
	assert_int_equal(errno, ENOENT);
	assert_null(attach_runtime_of(target.pid));
	/* A file of this name is no socket. */
	const int fd = open(socket_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(dotnet_ipc_find(&target), -1);
	end_runtime();
}

/* A program in one file has no libcoreclr.so: by its socket it is known. */
static void test_a_refusing_runtime_is_told_of(void **state)
{
	uint8_t refusal[DOTNET_HEADER_SIZE + 4];
	struct attachment *attachment;
	struct attach_report report;
	(void)state;
	memcpy(refusal, INFO, DOTNET_HEADER_SIZE);
	refusal[14] = sizeof(refusal);
	refusal[17] = DOTNET_ANSWER_ERROR;
	memcpy(refusal + DOTNET_HEADER_SIZE, "\x85\x13\x13\x80", 4);
	const struct manner manner = { .answer = { refusal, sizeof(refusal) } };
	start_runtime(&manner);
	assert_string_equal(attach_runtime_of(target.pid), "dotnet");
	const struct attach_options options = { .pid = target.pid, .cancel_fd = -1 };
	assert_int_equal(attach_start(&attachment, &options, &report), STATUS_UNSUPPORTED);
	assert_null(attachment);
	assert_non_null(strstr(report.reason, "only from 8 on"));
	end_runtime();
}

/* --- events --- */

static void test_events_are_kept_up_to_a_limit(void **state)
{
	static const uint64_t LIMITS[] = { 1 << 20, 100000 };
	uint8_t chunk[4096];
	(void)state;
	memset(chunk, 'e', sizeof(chunk));
	for (size_t l = 0; l < 2; l++) {
		int ends[2];
		int error = -1;
		struct dotnet_stream *stream;
		FILE *file = tmpfile();
		assert_non_null(file);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
		assert_int_equal(dotnet_stream_start(&stream, ends[0], fileno(file), LIMITS[l]), 0);
		for (int i = 0; i < 100; i++)
			assert_int_equal(write(ends[1], chunk, sizeof(chunk)), sizeof(chunk));
		close(ends[1]);
		const enum dotnet_stream_end end =
		    dotnet_stream_wait(stream, os_clock_mono_ns() + 10 * SECOND_NS, -1, &error);
		assert_int_equal(end, l == 0 ? DOTNET_STREAM_WHOLE : DOTNET_STREAM_CUT);
		assert_int_equal(error, 0);
		assert_int_equal(dotnet_stream_bytes(stream), 100 * sizeof(chunk));
		struct stat st;
		assert_int_equal(fstat(fileno(file), &st), 0);
		assert_true((uint64_t)st.st_size <= LIMITS[l]);
		assert_true(l == 1 || st.st_size == 100 * sizeof(chunk));
		dotnet_stream_free(stream);
		(void)fclose(file);
	}
}

static void test_events_that_do_not_end_are_left(void **state)
{
	int ends[2];
	int error;
	char byte;
	struct dotnet_stream *stream;
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dotnet_stream_start(&stream, ends[0], full, 1 << 20), 0);
	assert_int_equal(dotnet_stream_wait(stream, 0, -1, &error), DOTNET_STREAM_LATE);
	dotnet_stream_free(stream);
	/* By that the process notices. */
	assert_int_equal(read(ends[1], &byte, 1), 0);
	close(ends[1]);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(dotnet_stream_start(&stream, ends[0], full, 1 << 20), 0);
	assert_int_equal(write(ends[1], "event", 5), 5);
	close(ends[1]);
	assert_int_equal(
	    dotnet_stream_wait(stream, os_clock_mono_ns() + 10 * SECOND_NS, -1, &error),
	    DOTNET_STREAM_FULL);
	assert_int_equal(error, ENOSPC);
	dotnet_stream_free(stream);
	dotnet_stream_free(NULL);
	close(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info_is_read),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_a_version_that_is_too_long_is_cut),
		cmocka_unit_test(test_text_goes_as_utf16),
		cmocka_unit_test(test_providers_of_events),
		cmocka_unit_test(test_an_answer_is_taken),
		cmocka_unit_test(test_what_is_no_answer_is_refused),
		cmocka_unit_test(test_an_error_is_told),
		cmocka_unit_test(test_silence_has_its_time),
		cmocka_unit_test(test_the_right_one_of_many),
		cmocka_unit_test(test_anothers_socket_is_not_talked_to),
		cmocka_unit_test(test_no_socket_no_runtime),
		cmocka_unit_test(test_a_refusing_runtime_is_told_of),
		cmocka_unit_test(test_events_are_kept_up_to_a_limit),
		cmocka_unit_test(test_events_that_do_not_end_are_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
