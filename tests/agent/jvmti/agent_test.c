/* The agent in a made-up JVM: what its events leave in a dump. */
#include "agent/jvmti/agent.h"
#include "fake_jvm.h"
#include "format/jitdump/reader.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct fake_method METHODS[] = {
	{ "LWork;", "alpha", "()V", "Work.java", NULL, 0 },
	{ "LWork;", "beta", "()V", "Work.java", NULL, 0 },
};

static char code[4096];
static struct options options;
static char folder[] = "/tmp/agent-test-XXXXXX";
static char dump[128];

struct counts {
	int loads;
	int existing;
	int unloads;
	int closes;
	char names[512];
};

static int setup(void **state)
{
	const char *wrong;
	char text[128];
	(void)state;
	fake = (struct fake_jvm){ .methods = METHODS, .method_count = 2 };
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(dump, sizeof(dump), "%s/jit-%d.dump", folder, getpid());
	(void)snprintf(text, sizeof(text), "dir=%s", folder);
	return options_parse(&options, text, &wrong) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	(void)agent_stop();
	(void)unlink(dump);
	return rmdir(folder) == 0 && fake.environments == 0 && fake.given == 0 ? 0 : -1;
}

static struct counts count_records(void)
{
	struct counts counts = { 0 };
	struct stat st;
	FILE *file = fopen(dump, "r");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	uint8_t *bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	const size_t size = fread(bytes, 1, (size_t)st.st_size, file);
	(void)fclose(file);
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, (struct bytes){ bytes, size }), 0);
	while (jitdump_reader_next(&reader, &record) > 0) {
		counts.unloads += record.id == JITDUMP_UNLOAD;
		counts.closes += record.id == JITDUMP_CLOSE;
		if (record.id != JITDUMP_CODE_LOAD)
			continue;
		counts.loads++;
		counts.existing += record.time_ns == 0;
		const size_t used = strlen(counts.names);
		(void)snprintf(counts.names + used, sizeof(counts.names) - used, "%.*s ",
			       (int)record.code_load.name.size,
			       (const char *)record.code_load.name.data);
	}
	assert_int_equal(reader.problem_count, 0);
	free(bytes);
	return counts;
}

static void tell_load(size_t method, size_t off, jint size)
{
	fake.callbacks.CompiledMethodLoad(fake_jvmti(), fake_id(method), size, code + off, 0, NULL,
					  NULL);
}

static void tell_unload(size_t method, size_t off)
{
	fake.callbacks.CompiledMethodUnload(fake_jvmti(), fake_id(method), code + off);
}

static void test_from_the_start(void **state)
{
	(void)state;
	assert_int_equal(agent_start(fake_vm(), &options, false), AGENT_STARTED);
	assert_true(fake.is_enabled[JVMTI_EVENT_COMPILED_METHOD_LOAD]);
	assert_true(fake.is_enabled[JVMTI_EVENT_COMPILED_METHOD_UNLOAD]);
	assert_true(fake.is_enabled[JVMTI_EVENT_DYNAMIC_CODE_GENERATED]);
	assert_int_equal(fake.generated, 0);
	assert_int_equal(agent_start(fake_vm(), &options, false), AGENT_IS_RUNNING);
	fake.callbacks.DynamicCodeGenerated(fake_jvmti(), "Interpreter", code, 64);
	tell_load(1, 64, 32);
	tell_unload(2, 64); /* another's, which lay there before */
	tell_load(2, 128, 32);
	tell_unload(1, 64);
	tell_unload(1, 64);
	tell_load(1, 200, 0);
	tell_load(1, 200, -5);
	assert_int_equal(agent_stop(), AGENT_STARTED);
	assert_int_equal(agent_stop(), AGENT_NOT_RUNNING);
	assert_false(fake.is_enabled[JVMTI_EVENT_COMPILED_METHOD_LOAD]);
	assert_int_equal(fake.environments, 0);
	const struct counts counts = count_records();
	assert_string_equal(counts.names, "Interpreter LWork;alpha()V LWork;beta()V ");
	assert_int_equal(counts.existing, 0);
	assert_int_equal(counts.unloads, 1);
	assert_int_equal(counts.closes, 1);
	/* What is still under way when it ends. */
	tell_load(1, 300, 8);
	tell_unload(2, 128);
	assert_int_equal(count_records().loads, 3);
}

static void generate(jvmtiEnv *jvmti, jvmtiEvent event)
{
	if (event == JVMTI_EVENT_DYNAMIC_CODE_GENERATED)
		fake.callbacks.DynamicCodeGenerated(jvmti, "Interpreter", code, 64);
	else
		for (size_t i = 0; i < 3; i++)
			tell_load(i % 2 + 1, 64 + i * 32, 32);
}

static void test_attached_and_again(void **state)
{
	(void)state;
	fake.on_generate = generate;
	for (int round = 0; round < 3; round++) {
		assert_int_equal(agent_start(fake_vm(), &options, true), AGENT_STARTED);
		assert_int_equal(fake.generated, 2 * (round + 1));
		tell_load(2, 512, 16);
		assert_int_equal(agent_stop(), AGENT_STARTED);
		const struct counts counts = count_records();
		assert_int_equal(counts.loads, 5);
		assert_int_equal(counts.existing, 4);
		assert_int_equal(unlink(dump), 0);
	}
}

/* Compiled while the old code is told: once, with its time. */
static void generate_late(jvmtiEnv *jvmti, jvmtiEvent event)
{
	if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD)
		generate(jvmti, event);
}

static void *compile(void *argument)
{
	(void)argument;
	tell_load(1, 64, 32);
	return NULL;
}

static void generate_beside(jvmtiEnv *jvmti, jvmtiEvent event)
{
	pthread_t thread;
	if (event != JVMTI_EVENT_COMPILED_METHOD_LOAD)
		return;
	assert_int_equal(pthread_create(&thread, NULL, compile, NULL), 0);
	pthread_join(thread, NULL);
	generate_late(jvmti, event);
}

static void test_compiled_while_the_old_is_told(void **state)
{
	(void)state;
	fake.on_generate = generate_beside;
	assert_int_equal(agent_start(fake_vm(), &options, true), AGENT_STARTED);
	assert_int_equal(agent_stop(), AGENT_STARTED);
	const struct counts counts = count_records();
	assert_int_equal(counts.loads, 3);
	assert_int_equal(counts.existing, 2);
}

static void test_what_cannot_be(void **state)
{
	(void)state;
	struct options elsewhere = options;
	(void)snprintf(elsewhere.directory, sizeof(elsewhere.directory), "%s/none", folder);
	assert_int_equal(agent_start(fake_vm(), &elsewhere, false), AGENT_NO_DUMP);
	fake.has_no_events = true;
	assert_int_equal(agent_start(fake_vm(), &options, false), AGENT_REFUSED);
	assert_int_equal(fake.environments, 0);
	assert_int_equal(agent_stop(), AGENT_NOT_RUNNING);
}

static volatile int is_over;

static void *compile_on_and_on(void *argument)
{
	const size_t number = (size_t)(uintptr_t)argument;
	for (size_t i = 0; !is_over; i++) {
		tell_load(1, number * 512 + i % 8 * 32, 32);
		tell_unload(1, number * 512 + i % 8 * 32);
	}
	return NULL;
}

static void test_switched_while_threads_compile(void **state)
{
	enum { THREADS = 4, ROUNDS = 50 };
	pthread_t threads[THREADS];
	(void)state;
	is_over = 0;
	assert_int_equal(agent_start(fake_vm(), &options, false), AGENT_STARTED);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, compile_on_and_on, (void *)(uintptr_t)i), 0);
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(agent_stop(), AGENT_STARTED);
		(void)count_records();
		assert_int_equal(unlink(dump), 0);
		assert_int_equal(agent_start(fake_vm(), &options, false), AGENT_STARTED);
	}
	is_over = 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_from_the_start),
		TEST(test_attached_and_again),
		TEST(test_compiled_while_the_old_is_told),
		TEST(test_what_cannot_be),
		TEST(test_switched_while_threads_compile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
