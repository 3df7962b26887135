#include "record/collector.h"

#include "format/perfmap/times.h"
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_a_map_is_followed_copied_and_removed(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	PATH(times_member, "process/%d/perf.map.times", scene->child);
	const uint64_t before_ns = os_clock_mono_ns();
	put_file(path, "1000 10 alpha\n", O_EXCL);
	settle(scene);
	const uint64_t between_ns = os_clock_mono_ns();
	settle(scene);
	put_file(path, "1010 10 beta\n", O_APPEND);
	settle(scene);
	finish(scene);
	expect_text(scene, member, "1000 10 alpha\n1010 10 beta\n");
	struct bytes text;
	assert_true(has_member(scene, times_member, &text));
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	assert_int_equal(perfmap_times_init(&times, text), 0);
	assert_int_equal(perfmap_times_at(&times, 13, &stretch), 1);
	assert_in_range(stretch.latest_ns, before_ns, between_ns);
	assert_int_equal(perfmap_times_at(&times, 26, &stretch), 1);
	assert_true(stretch.best_ns > between_ns);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(collector_totals(scene->collector).map_count, 1);
	assert_int_equal(collector_totals(scene->collector).removed_count, 1);
}

static void test_keep_leaves_files(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ .keep = true });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	put_file(path, "1000 10 alpha\n", O_EXCL);
	finish(scene);
	expect_text(scene, member, "1000 10 alpha\n");
	assert_int_equal(unlink(path), 0);
}

/* As .NET Core has one. */
static void test_a_list_of_images_goes_with_the_map(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(list, "/tmp/perfinfo-%d.map", scene->child);
	PATH(other_list, "/tmp/perfinfo-%d.map", INT32_MAX);
	put_file(path, "1000 10 alpha\n", O_EXCL);
	put_file(list, "ImageLoad;a.dll;{0};\n", O_EXCL);
	put_file(other_list, "ImageLoad;a.dll;{0};\n", O_EXCL);
	settle(scene);
	finish(scene);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(list, F_OK), -1);
	assert_int_equal(unlink(other_list), 0);
}

static void test_the_map_of_another_process_is_left_alone(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene); /* not told of */
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	put_file(path, "1000 10 alpha\n", O_EXCL);
	settle(scene);
	const pid_t other = scene->child;
	close(scene->child_fd);
	(void)waitpid(other, NULL, 0);
	scene->child = 0;
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, member, &bytes));
	assert_int_equal(unlink(path), 0);
}

static void test_what_an_earlier_process_left_is_not_taken(void **state)
{
	struct scene *scene = *state;
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	put_file(path, "1 1 stale\n", O_EXCL);
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	start(scene, (struct collector_options){ 0 });
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	settle(scene);
	put_file(path, "1000 10 alpha\n", O_APPEND); /* as CPython does */
	settle(scene);
	finish(scene);
	expect_text(scene, member, "1000 10 alpha\n");
	unlink(path); /* gone or not, as the file system tells its birth */
}

static void test_a_link_is_refused(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, member, &bytes));
	assert_true(has_note(scene, "a link"));
	assert_int_equal(unlink(path), 0);
}

static void test_a_file_with_other_names_is_refused(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(other, "%s/other", scene->place);
	PATH(member, "process/%d/perf.map", scene->child);
	put_file(other, "secret", O_EXCL);
	assert_int_equal(link(other, path), 0);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, member, &bytes));
	assert_true(has_note(scene, "other names"));
	assert_int_equal(unlink(path), 0);
}

static void test_another_owner_is_refused(void **state)
{
	struct scene *scene = *state;
	if (geteuid() != 0)
		skip_because("needs root");
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	PATH(elsewhere, "%s/perf.map", scene->place);
	put_file(elsewhere, "1000 10 alpha\n", O_EXCL);
	assert_int_equal(chown(elsewhere, 12345, 12345), 0);
	assert_int_equal(rename(elsewhere, path), 0);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, member, &bytes));
	assert_true(has_note(scene, "another user"));
	assert_int_equal(unlink(path), 0);
}

static void test_a_dump_is_held_whatever_happens_to_its_name(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "%s/any name", scene->place);
	PATH(member, "process/%d/jit/any_name", scene->child);
	put_dump(path, (uint32_t)scene->child);
	tell_mapping(scene, path);
	settle(scene);
	assert_int_equal(unlink(path), 0);
	PATH(log, "%s/isolate-0x55d0a0-%d-v8.log", scene->place, scene->child);
	PATH(other_log, "%s/isolate-0x55d0a0-%d-v8.log", scene->place, 1);
	put_file(log, "v8\n", O_EXCL);
	put_file(other_log, "v8\n", O_EXCL);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, member, &bytes));
	assert_int_equal(bytes.size, JITDUMP_HEADER_SIZE + 1);
	assert_true(member_holds(scene, "about.json", "any name"));
	struct bytes facts;
	assert_true(has_member(scene, "processes.tsv", &facts));
	/* Its own log goes with it, that of process 1 stays. */
	struct stat st;
	assert_int_equal(stat(other_log, &st), 0);
	assert_int_equal(access(log, F_OK), -1);
}

static void test_a_dump_that_is_not_yet_one(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "%s/jit-1.dump", scene->place);
	PATH(member, "process/%d/jit/jit-1.dump", scene->child);
	put_file(path, "", O_EXCL);
	tell_mapping(scene, path);
	settle(scene);
	put_dump(path, 1);
	PATH(library, "%s/small", scene->place);
	put_file(library, "no dump at all", O_EXCL);
	tell_mapping(scene, library);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, member, &bytes));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(library, F_OK), 0);
	assert_int_equal(collector_totals(scene->collector).dump_count, 1);
}

/* Has inotify_init1() fail in this process, as where the user has too many instances. */
static bool forbid_inotify(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_inotify_init1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Follows a map of its own: 0 if it was stored with the times of both lines. */
static int follow_without_inotify(int recording_fd)
{
	char path[64];
	char line[] = "1000 10 alpha\n";
	struct collector *collector;
	struct bundle_writer *writer;
	const struct collector_options options = { .attached = true };
	const struct collector_about about = { .without_kernel = true };
	if (!forbid_inotify() || collector_new(&collector, &options) < 0)
		return 2;
	collector_process(collector, getpid(), os_clock_mono_ns());
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	for (int i = 0; i < 2; i++) {
		(void)!write(fd, line, sizeof(line) - 1);
		usleep(100000);
	}
	unlink(path);
	int got = bundle_writer_open(&writer, recording_fd, false);
	if (got == 0)
		got = collector_finish(collector, writer, &about);
	if (got == 0)
		got = bundle_writer_close(writer);
	const size_t count = collector_totals(collector).map_count;
	collector_free(collector);
	return got == 0 && count == 1 ? 0 : 3;
}

static void test_without_inotify(void **state)
{
	struct scene *scene = *state;
	const pid_t child = fork();
	if (child == 0)
		_exit(follow_without_inotify(scene->recording_fd));
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip_because("no seccomp filters here");
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(os_file_open(&scene->recording, scene->recording_path, OS_FILE_PLAIN), 0);
	assert_int_equal(bundle_open(&scene->bundle, scene->recording.bytes), 0);
	PATH(member, "process/%d/perf.map", child);
	PATH(times_member, "process/%d/perf.map.times", child);
	expect_text(scene, member, "1000 10 alpha\n1000 10 alpha\n");
	struct bytes text;
	struct perfmap_times times;
	struct perfmap_stretch first;
	struct perfmap_stretch second;
	assert_true(has_member(scene, times_member, &text));
	assert_int_equal(perfmap_times_init(&times, text), 0);
	assert_int_equal(perfmap_times_at(&times, 13, &first), 1);
	assert_int_equal(perfmap_times_at(&times, 27, &second), 1);
	assert_true(second.earliest_ns > first.latest_ns);
}

static void test_survivors_are_told(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	collector_process(scene->collector, getpid(), os_clock_mono_ns());
	finish(scene);
	assert_int_equal(collector_totals(scene->collector).survivor_count, 1);
	assert_true(has_note(scene, "still runs"));
}

static void test_two_dumps_of_one_name(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(inner, "%s/inner", scene->place);
	assert_int_equal(mkdir(inner, 0755), 0);
	PATH(first, "%s/jit-1.dump", scene->place);
	PATH(second, "%s/inner/jit-1.dump", scene->place);
	put_dump(first, 1);
	put_dump(second, 1);
	tell_mapping(scene, first);
	tell_mapping(scene, second);
	tell_mapping(scene, second);
	PATH(member, "process/%d/jit/jit-1.dump", scene->child);
	PATH(other, "process/%d/jit/jit-1.dump-2", scene->child);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, member, &bytes));
	assert_true(has_member(scene, other, &bytes));
	assert_int_equal(collector_totals(scene->collector).dump_count, 2);
}

static void test_dumps_in_the_private_directory_need_no_mapping(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(inner, "%s/.debug", scene->dir.path);
	assert_int_equal(mkdir(inner, 0755), 0);
	PATH(path, "%s/jit-%d.dump", inner, scene->child);
	PATH(nobodys, "%s/jit-0.dump", inner);
	PATH(map, "%s/perf-%d.map", scene->dir.path, scene->child);
	put_dump(path, (uint32_t)scene->child);
	put_dump(nobodys, 0x7fffffff);
	put_file(map, "1000 10 alpha\n", O_EXCL);
	PATH(member, "process/%d/jit/jit-%d.dump", scene->child, scene->child);
	PATH(map_member, "process/%d/perf.map", scene->child);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, member, &bytes));
	assert_true(has_member(scene, "unclaimed/jit-0.dump", &bytes));
	expect_text(scene, map_member, "1000 10 alpha\n");
	assert_true(has_note(scene, "no process of this recording"));
}

/* The head of a stream, as far as whose it is. */
static void put_events(const char *path, uint32_t pid)
{
	struct sink out = { 0 };
	sink_text(&out, "Nettrace");
	sink_u32(&out, 20);
	sink_text(&out, "!FastSerialization.1");
	sink_put(&out, "\5\5\1\4\0\0\0\4\0\0\0\5\0\0\0Trace\6", 21);
	sink_zeros(&out, 16); /* a date */
	sink_u64(&out, 1);
	sink_u64(&out, 1000000000);
	sink_u32(&out, 8);
	sink_u32(&out, pid);
	sink_u32(&out, 2);
	sink_u32(&out, 0);
	sink_put(&out, "\6\1", 2);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, out.data, out.size), out.size);
	close(fd);
	sink_clear(&out);
}

static void test_events_in_the_private_directory(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	/* By the header, whatever the name; by the name where we took it off a socket, since the
	 * header has the PID that a process in a namespace sees.
	 */
	PATH(own, "%s/clr-1.nettrace", scene->dir.path);
	PATH(attached, "%s/attached-%d.nettrace", scene->dir.path, scene->child);
	PATH(nobodys, "%s/clr-%d.nettrace", scene->dir.path, scene->child);
	PATH(outside, "%s/outside.nettrace", scene->place);
	PATH(link_path, "%s/clr-link.nettrace", scene->dir.path);
	put_events(own, (uint32_t)scene->child);
	put_events(attached, 1);
	put_events(nobodys, 0x7fffffff);
	put_events(outside, (uint32_t)scene->child);
	assert_int_equal(symlink(outside, link_path), 0);
	PATH(own_member, "process/%d/clr/clr-1.nettrace", scene->child);
	PATH(attached_member, "process/%d/clr/attached-%d.nettrace", scene->child, scene->child);
	PATH(nobodys_member, "unclaimed/clr/clr-%d.nettrace", scene->child);
	PATH(link_member, "process/%d/clr/clr-link.nettrace", scene->child);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, own_member, &bytes));
	assert_true(has_member(scene, attached_member, &bytes));
	assert_true(has_member(scene, nobodys_member, &bytes));
	assert_false(has_member(scene, link_member, &bytes));
	assert_true(has_note(scene, "no process of this recording"));
	assert_int_equal(collector_totals(scene->collector).events_count, 3);
	assert_int_equal(collector_totals(scene->collector).dump_count, 0);
	assert_int_equal(unlink(outside), 0);
}

static void test_a_map_that_was_told_of(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ .attached = true });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(map, "%s/perf-%d.map", scene->place, scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	put_file(map, "1000 10 alpha\n", O_EXCL);
	collector_map_file(scene->collector, scene->child, map);
	/* Of what is not there nothing comes, and no harm. */
	collector_map_file(scene->collector, scene->child, "/nonexistent/perf-1.map");
	collector_map_file(scene->collector, scene->child, "relative");
	finish(scene);
	expect_text(scene, member, "1000 10 alpha\n");
	assert_int_equal(unlink(map), 0);
}

static void test_attached_processes_keep_their_files(void **state)
{
	struct scene *scene = *state;
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	PATH(times_member, "process/%d/perf.map.times", scene->child);
	put_file(path, "1000 10 before\n", O_EXCL);
	start(scene, (struct collector_options){ .attached = true });
	collector_process(scene->collector, scene->child, 0);
	settle(scene);
	put_file(path, "1010 10 after\n", O_APPEND);
	settle(scene);
	finish(scene);
	expect_text(scene, member, "1000 10 before\n1010 10 after\n");
	struct bytes text;
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	assert_true(has_member(scene, times_member, &text));
	assert_int_equal(perfmap_times_init(&times, text), 0);
	assert_int_equal(perfmap_times_at(&times, 14, &stretch), 1);
	assert_int_equal(stretch.latest_ns, 0);
	assert_int_equal(perfmap_times_at(&times, 28, &stretch), 1);
	assert_true(stretch.earliest_ns > 0);
	assert_int_equal(unlink(path), 0);
}

static int child_of(pid_t parent)
{
	char path[64];
	int child = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	FILE *list = fopen(path, "re");
	if (!list)
		return 0;
	(void)!fscanf(list, "%d", &child); // NOLINT
	fclose(list);
	return child;
}

/* The process in the new namespace, a child of unshare's, once it has written its line. */
static int wait_for_map(struct scene *scene, pid_t parent)
{
	for (;;) {
		struct stat st;
		const int inside = child_of(parent);
		const char *map = made(scene, "/proc/%d/root/tmp/perf-1.map", inside);
		if (inside && stat(map, &st) == 0 && st.st_size > 0)
			return inside;
		assert_int_equal(waitpid(parent, NULL, WNOHANG), 0);
		usleep(1000);
	}
}

/* A map in a root of its own, under the PID that the process has in its namespace. */
static void test_a_map_in_another_namespace(void **state)
{
	struct scene *scene = *state;
	PATH(tmp, "%s/tmp", scene->place);
	PATH(script,
	     "exec unshare -rpfm --mount-proc sh -c 'mount --bind %s /tmp && "
	     "read -r line </proc/$$/maps && "
	     "printf \"%%s 10 inside\\n\" \"${line%%%%-*}\" >/tmp/perf-$$.map && "
	     "{ sleep 2; true; }' 2>/dev/null",
	     tmp);
	assert_int_equal(mkdir(tmp, 0777), 0);
	if (geteuid() != 0 || system("unshare -rpfm --mount-proc true 2>/dev/null") != 0) // NOLINT
		skip_because("needs root and PID namespaces");
	start(scene, (struct collector_options){ 0 });
	const pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	const int inside = wait_for_map(scene, child);
	collector_process(scene->collector, inside, os_clock_mono_ns());
	settle(scene);
	kill(inside, SIGKILL);
	(void)waitpid(child, NULL, 0);
	collector_exit(scene->collector, inside, os_clock_mono_ns());
	finish(scene);
	PATH(member, "process/%d/perf.map", inside);
	assert_true(member_holds(scene, member, " 10 inside\n"));
	PATH(code_member, "process/%d/perf.map.code", inside);
	assert_true(member_holds(scene, code_member, "\177ELF"));
	PATH(facts, "nspid=%d,1\t", inside);
	assert_true(member_holds(scene, "processes.tsv", facts));
	assert_true(member_holds(scene, "processes.tsv", "root=other"));
}

static void test_many_processes_and_pids_used_again(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	for (int round = 0; round < 2; round++) {
		for (pid_t pid = 1000000; pid < 1003000; pid++) {
			collector_process(scene->collector, pid, 5);
			collector_exec(scene->collector, pid, 6);
			collector_exit(scene->collector, pid, 7);
		}
	}
	finish(scene);
	assert_int_equal(collector_totals(scene->collector).process_count, 6000);
}

static void test_about_is_json(void **state)
{
	struct scene *scene = *state;
	start(scene, (struct collector_options){ 0 });
	const char *const command[] = { "sh", "-c", "echo \"\x01\xff\\\"", NULL };
	const char *const notes[] = { "It was a test.\n" };
	struct bundle_writer *writer;
	const struct collector_about about = {
		.command = command, .runtimes = scene->runtimes, .notes = notes, .note_count = 1
	};
	assert_int_equal(bundle_writer_open(&writer, scene->recording_fd, true), 0);
	assert_int_equal(collector_finish(scene->collector, writer, &about), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
	if (system("command -v python3 >/dev/null 2>&1") != 0) // NOLINT
		skip_because("no python3");
	PATH(check,
	     "python3 -c 'import json, zipfile; a = json.loads(zipfile.ZipFile(\"%s\")"
	     ".read(\"about.json\")); assert a[\"format\"] == 1 and len(a[\"command\"]) == 3 and "
	     "a[\"start\"][\"monotonic_ns\"] <= a[\"end\"][\"monotonic_ns\"]'",
	     scene->recording_path);
	assert_int_equal(system(check), 0); // NOLINT
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	os_file_guard();
	const struct CMUnitTest tests[] = {
		TEST(test_a_map_is_followed_copied_and_removed),
		TEST(test_keep_leaves_files),
		TEST(test_a_list_of_images_goes_with_the_map),
		TEST(test_the_map_of_another_process_is_left_alone),
		TEST(test_what_an_earlier_process_left_is_not_taken),
		TEST(test_a_link_is_refused),
		TEST(test_a_file_with_other_names_is_refused),
		TEST(test_another_owner_is_refused),
		TEST(test_a_dump_is_held_whatever_happens_to_its_name),
		TEST(test_a_dump_that_is_not_yet_one),
		TEST(test_survivors_are_told),
		TEST(test_without_inotify),
		TEST(test_two_dumps_of_one_name),
		TEST(test_dumps_in_the_private_directory_need_no_mapping),
		TEST(test_events_in_the_private_directory),
		TEST(test_a_map_that_was_told_of),
		TEST(test_attached_processes_keep_their_files),
		TEST(test_a_map_in_another_namespace),
		TEST(test_many_processes_and_pids_used_again),
		TEST(test_about_is_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
