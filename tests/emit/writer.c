/* writer.c - tells of everything, once, as a runtime does: for builds for other machines, whose
 * dumps are read on this one, and for stock perf.
 *
 *   writer DIRECTORY        prints the dump's path; exits with 1 if any call failed
 */
#include <polyperf/jit.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LOADS = 200 };

static struct polyperf_jit *jit;
static int bad_count;

static void want(int result, const char *what)
{
	if (result == 0)
		return;
	(void)fprintf(stderr, "%s: %d\n", what, result);
	bad_count++;
}

static const struct polyperf_jit_line lines[] = {
	{ 0, 10, 1, "work.src" },
	{ 8, 11, 5, NULL },
	{ 20, 3, 0, "lib.src" },
};
static const struct polyperf_jit_inline scopes[] = {
	{ 4, 28, 0, 11, 7, 2, "outer", "work.src" },
	{ 8, 8, 1, 3, 0, -1, "inner", NULL },
};
static const struct polyperf_jit_bytecode bytecodes[] = { { 0, -1 }, { 4, 0 }, { 12, 7 } };
static const struct polyperf_jit_note notes[] = {
	{ 0, 0, POLYPERF_JIT_NOTE_TIER, 0, "optimised" },
	{ 0, 4, POLYPERF_JIT_NOTE_PROLOGUE, 0, NULL },
};
static const unsigned char code[2048] = { 1, 2, 3 };

static void tell_everything(void)
{
	struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
	uint64_t index = 0;
	load.name = "alpha";
	load.address = 0x10000000;
	load.size = 64;
	load.code = code;
	load.lines = lines;
	load.line_count = 3;
	load.inlines = scopes;
	load.inline_count = 2;
	load.bytecodes = bytecodes;
	load.bytecode_count = 3;
	load.notes = notes;
	load.note_count = 2;
	load.code_index = &index;
	want(polyperf_jit_load(jit, &load), "load");
	want(polyperf_jit_move(jit, 0x10000000, 0x10001000, 64, index), "move");
	want(polyperf_jit_unload(jit, 0x10001000, 64, index), "unload");
	const struct polyperf_jit_method_info method = {
		.struct_size = sizeof(method),
		.name = "interpreted",
		.id = 0x6000,
		.file = "work.src",
		.line = 5,
	};
	want(polyperf_jit_method(jit, &method), "method");
	want(polyperf_jit_code(jit, "beta", code, sizeof(code)), "code");
}

static void *tell_many(void *argument)
{
	const uint64_t number = (uint64_t)(uintptr_t)argument;
	for (uint64_t i = 0; i < LOADS; i++) {
		struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
		load.name = "many";
		load.address = 0x20000000 + (number * LOADS + i) * 4096;
		load.size = 1000 + i;
		load.code = code;
		want(polyperf_jit_load(jit, &load), "load of a thread");
	}
	return NULL;
}

/* The child's calls work too; its file lies beside the other. */
static void tell_in_a_child(void)
{
	const pid_t pid = fork();
	if (pid == 0) {
		bad_count = 0;
		want(polyperf_jit_code(jit, "of the child", code, 64), "code of the child");
		polyperf_jit_close(jit);
		_exit(bad_count != 0);
	}
	int status = 1;
	want(pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1, "child");
}

int main(int argc, char **argv)
{
	char path[4096];
	pthread_t threads[THREADS];
	struct polyperf_jit_options options = { .struct_size = sizeof(options) };
	options.directory = argc > 1 ? argv[1] : ".";
	want(polyperf_jit_open(&options, &jit), "open");
	(void)polyperf_jit_path(jit, path, sizeof(path));
	tell_everything();
	for (uintptr_t i = 0; i < THREADS; i++)
		want(pthread_create(&threads[i], NULL, tell_many, (void *)i), "thread");
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	tell_in_a_child();
	polyperf_jit_close(jit);
	(void)printf("%s\n", path);
	return bad_count != 0;
}
