#include "record/session.h"

#include "base/status.h"
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"
#include "os/file.h"
#include "record/attr.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Real recordings, small ones. Skipped where the kernel or a sandbox allows none. */
struct fixture {
	char folder[32];
	char path[64];
	char notes[5][2048];
};

static void keep_note(void *context, enum record_note_kind kind, const char *text)
{
	struct fixture *f = context;
	char *notes = f->notes[kind];
	const size_t used = strlen(notes);
	(void)snprintf(notes + used, sizeof(f->notes[kind]) - used, "%s\n", text);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	memcpy(f->folder, "/tmp/session_test-XXXXXX", 25);
	if (!mkdtemp(f->folder))
		return -1;
	(void)snprintf(f->path, sizeof(f->path), "%s/out.data", f->folder);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	char command[64];
	struct fixture *f = *state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->folder);
	const int result = system(command);
	free(f);
	return result;
}

static bool cannot_record(void)
{
	struct attr_support support;
	return attr_probe(&support) < 0;
}

static struct record_options plain(struct fixture *f, const char *const *command)
{
	static const char *const command_line[] = { "polyperf", "record", "it", NULL };
	return (struct record_options){
		.output = f->path,
		.command = command,
		.frequency_hz = 4999,
		.no_auto = true,
		.command_line = command_line,
		.note = keep_note,
		.note_context = f,
	};
}

struct contents {
	size_t samples;
	size_t execs;
	size_t exits;
	size_t file_maps;
	size_t rounds;
	size_t with_chain;
	uint64_t last_flushed_ns;
	uint64_t max_ns;
	uint64_t max_before_ns;
	bool is_in_rounds; /* nothing comes after a round that had to be before it */
};

static void read_record(struct perfdata *file, const struct perfdata_record *record,
			struct contents *c)
{
	struct perfdata_sample sample;
	struct perfdata_comm comm;
	struct perfdata_mmap map;
	const uint64_t time_ns = perfdata_record_time_ns(file, record);
	if (time_ns && time_ns < c->max_before_ns)
		c->is_in_rounds = false;
	if (time_ns > c->max_ns)
		c->max_ns = time_ns;
	switch (record->type) {
	case PERFDATA_SAMPLE:
		assert_int_equal(perfdata_decode_sample(file, record, &sample), 0);
		assert_true(sample.time_ns > 0);
		c->samples++;
		c->with_chain += sample.chain_count > 1;
		break;
	case PERFDATA_COMM:
		assert_int_equal(perfdata_decode_comm(file, record, &comm), 0);
		c->execs += comm.is_exec;
		break;
	case PERFDATA_MMAP2:
		assert_int_equal(perfdata_decode_mmap(file, record, &map), 0);
		c->file_maps += map.path[0] == '/' && map.is_exec;
		break;
	case PERFDATA_EXIT:
		c->exits++;
		break;
	case PERFDATA_FINISHED_ROUND:
		c->rounds++;
		/* What readers have put out by now, and must not get late. */
		c->max_before_ns = c->last_flushed_ns;
		c->last_flushed_ns = c->max_ns;
		break;
	default:
		break;
	}
}

static struct contents contents_of(const char *path)
{
	struct os_file bytes;
	struct perfdata *file;
	struct perfdata_record record;
	struct contents c = { .is_in_rounds = true };
	assert_int_equal(os_file_open(&bytes, path, OS_FILE_PLAIN), 0);
	assert_int_equal(perfdata_open(&file, bytes.bytes, NULL), 0);
	int got;
	while ((got = perfdata_next(file, &record)) > 0)
		read_record(file, &record, &c);
	assert_int_equal(got, 0);
	assert_int_equal(perfdata_problem_count(file), 0);
	assert_string_equal(perfdata_cmdline(file, 2), "it");
	struct perfdata_clock_data clock;
	assert_int_equal(perfdata_clock_data(file, &clock), 0);
	assert_int_equal(clock.clockid, CLOCK_MONOTONIC);
	struct cursor ids = perfdata_build_ids(file);
	struct perfdata_build_id id;
	assert_true(perfdata_build_id_next(&ids, &id) > 0);
	perfdata_close(file);
	os_file_close(&bytes);
	return c;
}

static const char *const spin[] = { "sh", "-c",
				    "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; ls /",
				    NULL };

static void check_spin(struct fixture *f, const struct record_options *options)
{
	struct record_result result;
	const int saved = dup(STDOUT_FILENO);
	assert_non_null(freopen("/dev/null", "w", stdout));
	const int got = record_run(options, &result);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_string_equal(f->notes[RECORD_NOTE_ERROR], "");
	assert_int_equal(got, 0);
	assert_true(result.has_command_status);
	assert_true(WIFEXITED(result.command_status) && WEXITSTATUS(result.command_status) == 0);
	const struct contents c = contents_of(f->path);
	assert_int_equal(c.samples, result.sample_count);
	assert_true(c.samples > 5);
	assert_int_equal(c.execs, 2); /* sh, and ls which it forks */
	assert_true(c.exits >= 2);
	assert_true(c.file_maps >= 4);
	assert_true(c.rounds >= 1);
	assert_true(c.is_in_rounds);
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, result.file_bytes);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void command_with_children(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	const struct record_options options = plain(f, spin);
	check_spin(f, &options);
}

static void compressed(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	struct record_options options = plain(f, spin);
	options.compress = true;
	check_spin(f, &options);
}

static void several_events_and_stacks(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	static const char *const events[] = { "cpu-clock:u,page-faults:u", "cs:u" };
	struct record_options options = plain(f, spin);
	options.events = events;
	options.event_count = 2;
	options.stacks = RECORD_STACKS_DWARF;
	options.stack_bytes = 1024;
	check_spin(f, &options);
}

static void an_old_file_survives_failure(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	FILE *old = fopen(f->path, "w");
	assert_non_null(old);
	assert_true(fputs("old", old) >= 0);
	assert_int_equal(fclose(old), 0);
	static const char *const missing[] = { "no-such-command-anywhere", NULL };
	static const char *const no_program[] = { "/etc/passwd", NULL };
	struct record_options options = plain(f, missing);
	struct record_result result;
	assert_true(record_run(&options, &result) < 0);
	assert_int_equal(result.exec_failure, 127);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "command not found"));
	options.command = no_program;
	assert_true(record_run(&options, &result) < 0);
	assert_int_equal(result.exec_failure, 126);
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 3);
	/* Nothing else is left in the folder. */
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(rmdir(f->folder), 0);
	assert_int_equal(mkdir(f->folder, 0700), 0);
}

/* A disk that is full, as it were: the command runs to its end all the same. */
static void failed_writes_do_not_harm_the_command(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	char witness[64];
	(void)snprintf(witness, sizeof(witness), "%s/witness", f->folder);
	const char *const command[] = {
		"sh",    "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; : >$0",
		witness, NULL,
	};
	struct record_options options = plain(f, command);
	options.ring_bytes = 4096;
	struct rlimit old;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	const struct rlimit small = { 4096, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct record_result result;
	const int got = record_run(&options, &result);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(got, STATUS_IO);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "writing the recording"));
	assert_true(result.has_command_status && result.command_status == 0);
	assert_int_equal(unlink(witness), 0);
	assert_int_equal(rmdir(f->folder), 0);
	assert_int_equal(mkdir(f->folder, 0700), 0);
}

static void exit_status_and_signals_are_told(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	static const char *const seven[] = { "sh", "-c", "exit 7", NULL };
	static const char *const killed[] = { "sh", "-c", "kill -KILL $$", NULL };
	struct record_options options = plain(f, seven);
	struct record_result result;
	assert_int_equal(record_run(&options, &result), 0);
	assert_int_equal(WEXITSTATUS(result.command_status), 7);
	options.command = killed;
	assert_int_equal(record_run(&options, &result), 0);
	assert_true(WIFSIGNALED(result.command_status));
	assert_int_equal(WTERMSIG(result.command_status), SIGKILL);
	contents_of(f->path);
}

static pid_t start_spinning(void)
{
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned i = 0;; i++)
			;
	}
	assert_true(pid > 0);
	return pid;
}

static void running_process_for_a_time(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	const pid_t pid = start_spinning();
	struct record_options options = plain(f, NULL);
	options.pids = &pid;
	options.pid_count = 1;
	options.duration_ns = 100000000;
	struct record_result result;
	const int got = record_run(&options, &result);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(got, 0);
	assert_false(result.has_command_status);
	const struct contents c = contents_of(f->path);
	assert_true(c.samples > 0);
	assert_int_equal(c.samples, result.sample_count);
	assert_true(c.file_maps >= 1); /* synthesized: our own executable */
}

static void a_process_that_ends_ends_the_recording(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	const pid_t pid = fork();
	if (pid == 0) {
		usleep(500000); /* longer than a busy machine takes to begin */
		_exit(0);
	}
	struct record_options options = plain(f, NULL);
	options.pids = &pid;
	options.pid_count = 1;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), 0);
	waitpid(pid, NULL, 0);
	assert_true(contents_of(f->path).exits >= 1);
	/* It is gone now, which is said before anything is written. */
	assert_true(record_run(&options, &result) < 0);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "there is no process"));
}

/* What intervals were handed out. */
struct handed {
	unsigned count;
	unsigned last_count;
	uint64_t sample_count;
	uint64_t file_samples; /* that were in the files */
	uint64_t wide_samples; /* in the last one, widened */
	uint64_t end_ns;
};

static uint64_t samples_at(const char *path)
{
	return contents_of(path).samples;
}

static int take_interval(void *context, const struct record_interval *interval)
{
	struct handed *handed = context;
	assert_true(interval->to_ns > interval->from_ns);
	assert_true(!handed->end_ns || interval->from_ns == handed->end_ns);
	assert_non_null(interval->bundle);
	handed->end_ns = interval->to_ns;
	handed->count++;
	handed->last_count += interval->is_last;
	handed->sample_count += interval->sample_count;
	handed->file_samples += samples_at(interval->path);
	assert_int_equal(interval->widen(interval->widen_context, 0), 0);
	handed->wide_samples = samples_at(interval->path);
	return 0;
}

/* Each sample is in one interval, and no file is left. */
static void intervals_hold_all_samples(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	static const char *const busy[] = { "sh", "-c",
					    "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done",
					    NULL };
	struct handed handed = { 0 };
	struct record_intervals intervals = { .interval_ns = 20000000,
					      .keep_ns = 1000000000000,
					      .take = take_interval,
					      .context = &handed };
	struct record_options options = plain(f, busy);
	options.intervals = &intervals;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), 0);
	assert_true(handed.count >= 2);
	assert_int_equal(handed.last_count, 1);
	assert_true(handed.sample_count > 0);
	assert_int_equal(handed.file_samples, handed.sample_count);
	assert_int_equal(handed.wide_samples, handed.sample_count);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void duration_ends_a_command(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	static const char *const sleeper[] = { "sleep", "60", NULL };
	struct record_options options = plain(f, sleeper);
	options.duration_ns = 50000000;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), 0);
	assert_true(result.is_cut);
	assert_true(WIFSIGNALED(result.command_status));
	assert_int_equal(WTERMSIG(result.command_status), SIGTERM);
}

static void wrong_events_are_told(void **state)
{
	struct fixture *f = *state;
	static const char *const events[] = { "nonsense" };
	struct record_options options = plain(f, spin);
	options.events = events;
	options.event_count = 1;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), STATUS_NOT_FOUND);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "nonsense"));
	options.event_count = 0;
	options.output = "/no/such/folder/out.data";
	assert_int_equal(record_run(&options, &result), STATUS_IO);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "/no/such/folder/out.data"));
}

/* What could be written in the end is asked before the command runs, not behind it. */
static void a_folder_is_no_output(void **state)
{
	struct fixture *f = *state;
	const char *const touch[] = { "touch", f->path, NULL };
	struct record_options options = plain(f, touch);
	options.output = f->folder;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), STATUS_IO);
	assert_non_null(strstr(f->notes[RECORD_NOTE_ERROR], "Is a directory"));
	assert_int_not_equal(access(f->path, F_OK), 0);
}

/* /dev/stdout is a link to whatever standard output is: the link must stay. */
static void a_named_descriptor_is_written_through(void **state)
{
	struct fixture *f = *state;
	if (cannot_record())
		skip_because("perf events are refused here");
	char name[32];
	struct stat before;
	struct stat after;
	const int fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &before), 0);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	struct record_options options = plain(f, spin);
	options.output = name;
	struct record_result result;
	assert_int_equal(record_run(&options, &result), 0);
	assert_int_equal(stat(f->path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_true(after.st_size > 0);
	close(fd);
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE(command_with_children),
		LIVE(compressed),
		LIVE(several_events_and_stacks),
		LIVE(an_old_file_survives_failure),
		LIVE(failed_writes_do_not_harm_the_command),
		LIVE(exit_status_and_signals_are_told),
		LIVE(running_process_for_a_time),
		LIVE(a_process_that_ends_ends_the_recording),
		LIVE(intervals_hold_all_samples),
		LIVE(duration_ends_a_command),
		LIVE(wrong_events_are_told),
		LIVE(a_folder_is_no_output),
		LIVE(a_named_descriptor_is_written_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
