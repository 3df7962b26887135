/* Methods told for the interpreter, out of a made-up JVM: classes by number, methods that lie in
 * memory as HotSpot's do.
 */
#include "agent/jvmti/class_methods.h"
#include "agent/jvmti/interpreted.h"
#include "format/jitdump/extensions.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ABSTRACT = 0x400, NATIVE = 0x100, CLASSES = 2, METHODS = 3 };

struct const_method {
	uint64_t something;
	uint16_t code_size;
	uint8_t bytecode[16];
};

struct hotspot_method {
	void *virtual_table;
	struct const_method *constant;
};

struct class_method {
	struct hotspot_method *id; /* a jmethodID is its address */
	const char *name;
	jint modifiers;
	jint code_size; /* as JVMTI has it */
	const jvmtiLineNumberEntry *lines;
	jint line_count;
};

static const jvmtiLineNumberEntry ALPHA_LINES[] = { { 0, 10 }, { 6, 11 }, { 3, 12 } };

static struct const_method constants[METHODS];
static struct hotspot_method methods[METHODS + 1]; /* and one for a redefinition */
static struct class_method class_methods[CLASSES][METHODS];

static struct {
	const struct class_method *unloaded;
	atomic_int given;
	atomic_int local_references;
	atomic_int global_references;
	pthread_t thread;
	bool refuses_threads;
	bool has_thread;
	bool has_ended;
} jvm;

static struct polyperf_jit *jit;
static char folder[] = "/tmp/agent-test-XXXXXX";
static char dump[128];
static struct vm_structs structs;

/* --- JVMTI --- */

static const struct class_method *of_id(jmethodID id)
{
	for (size_t c = 0; c < CLASSES; c++)
		for (size_t m = 0; m < METHODS; m++)
			if ((void *)&class_methods[c][m].id == (void *)id)
				return jvm.unloaded == &class_methods[c][m] ? NULL
									    : &class_methods[c][m];
	return NULL;
}

static size_t number_of(jclass class)
{
	return (size_t)(uintptr_t) class - 1;
}

static jclass class_at(size_t number)
{
	return (jclass)(uintptr_t)(number + 1);
}

static void *give(const void *data, size_t size)
{
	void *copy = malloc(size);
	if (copy)
		memcpy(copy, data, size);
	jvm.given++;
	return copy;
}

static jvmtiError JNICALL get_methods(jvmtiEnv *env, jclass class, jint *count, jmethodID **ids)
{
	jmethodID all[METHODS];
	(void)env;
	*count = 0;
	for (size_t m = 0; m < METHODS; m++)
		if (class_methods[number_of(class)][m].name)
			all[(*count)++] = (jmethodID)(void *)&class_methods[number_of(class)][m].id;
	*ids = give(all, sizeof(all));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass class, char **signature,
					char **generic)
{
	static const char *const names[] = { "Lp/Work;", "LOther;" };
	(void)env;
	(void)generic;
	*signature = give(names[number_of(class)], strlen(names[number_of(class)]) + 1);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_file(jvmtiEnv *env, jclass class, char **file)
{
	(void)env;
	if (number_of(class) == 1)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*file = give("Work.java", 10);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class(jvmtiEnv *env, jmethodID id, jclass *class)
{
	(void)env;
	const struct class_method *method = of_id(id);
	if (!method)
		return JVMTI_ERROR_INVALID_METHODID;
	*class = class_at((size_t)(method - &class_methods[0][0]) / METHODS);
	jvm.local_references++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_name(jvmtiEnv *env, jmethodID id, char **name, char **descriptor,
				   char **generic)
{
	(void)env;
	(void)generic;
	*name = give(of_id(id)->name, strlen(of_id(id)->name) + 1);
	*descriptor = give("()V", 4);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_modifiers(jvmtiEnv *env, jmethodID id, jint *modifiers)
{
	(void)env;
	*modifiers = of_id(id)->modifiers;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_location(jvmtiEnv *env, jmethodID id, jlocation *first,
				       jlocation *last)
{
	(void)env;
	if (of_id(id)->modifiers & NATIVE)
		return JVMTI_ERROR_NATIVE_METHOD;
	*first = of_id(id)->code_size ? 0 : -1;
	*last = of_id(id)->code_size - 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID id, jint *count,
				    jvmtiLineNumberEntry **lines)
{
	(void)env;
	if (!of_id(id)->lines)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = of_id(id)->line_count;
	*lines = give(of_id(id)->lines, (size_t)*count * sizeof(**lines));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_loaded(jvmtiEnv *env, jint *count, jclass **classes)
{
	const jclass all[] = { class_at(0) };
	(void)env;
	*count = 1;
	*classes = give(all, sizeof(all));
	jvm.local_references++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env;
	jvm.given--;
	free(memory);
	return JVMTI_ERROR_NONE;
}

struct begun {
	jvmtiEnv *env;
	jvmtiStartFunction function;
	const void *argument;
};
static struct begun begun;
static JNIEnv jni;

static void *run_thread(void *context)
{
	const struct begun *what = context;
	what->function(what->env, &jni, (void *)(uintptr_t)what->argument);
	return NULL;
}

static jvmtiError JNICALL run_agent_thread(jvmtiEnv *env, jthread thread,
					   jvmtiStartFunction function, const void *argument,
					   jint priority)
{
	(void)thread;
	(void)priority;
	if (jvm.refuses_threads)
		return JVMTI_ERROR_WRONG_PHASE;
	begun = (struct begun){ env, function, argument };
	jvm.has_thread = pthread_create(&jvm.thread, NULL, run_thread, &begun) == 0;
	return jvm.has_thread ? JVMTI_ERROR_NONE : JVMTI_ERROR_INTERNAL;
}

static const struct jvmtiInterface_1_ jvmti_functions = {
	.GetClassMethods = get_methods,
	.GetClassSignature = get_signature,
	.GetSourceFileName = get_file,
	.GetMethodDeclaringClass = get_class,
	.GetMethodName = get_name,
	.GetMethodModifiers = get_modifiers,
	.GetMethodLocation = get_location,
	.GetLineNumberTable = get_lines,
	.GetLoadedClasses = get_loaded,
	.Deallocate = deallocate,
	.RunAgentThread = run_agent_thread,
};
static jvmtiEnv jvmti = &jvmti_functions;

/* --- JNI --- */

static void JNICALL delete_local(JNIEnv *env, jobject reference)
{
	(void)env;
	(void)reference;
	jvm.local_references--;
}

static jint JNICALL ensure_capacity(JNIEnv *env, jint count)
{
	(void)env;
	assert_int_equal(count, 1);
	return JNI_OK;
}

static jobject JNICALL new_global(JNIEnv *env, jobject object)
{
	(void)env;
	jvm.global_references++;
	return object;
}

static void JNICALL delete_global(JNIEnv *env, jobject reference)
{
	(void)env;
	(void)reference;
	jvm.global_references--;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	(void)env;
	assert_string_equal(name, "java/lang/Thread");
	return class_at(0);
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass class, const char *name,
				       const char *descriptor)
{
	(void)env;
	(void)class;
	(void)name;
	(void)descriptor;
	return (jmethodID)(void *)&class_methods[0][0].id;
}

static jstring JNICALL new_string(JNIEnv *env, const char *text)
{
	(void)env;
	(void)text;
	return class_at(0);
}

static jobject JNICALL new_object(JNIEnv *env, jclass class, jmethodID make, ...)
{
	(void)env;
	(void)make;
	return class;
}

static jboolean JNICALL no_exception(JNIEnv *env)
{
	(void)env;
	return JNI_FALSE;
}

static const struct JNINativeInterface_ jni_functions = {
	.DeleteLocalRef = delete_local,
	.EnsureLocalCapacity = ensure_capacity,
	.NewGlobalRef = new_global,
	.DeleteGlobalRef = delete_global,
	.FindClass = find_class,
	.GetMethodID = get_method_id,
	.NewStringUTF = new_string,
	.NewObject = new_object,
	.ExceptionCheck = no_exception,
};
static JNIEnv jni = &jni_functions;

/* --- the agent --- */

static bool enter(const jvmtiEnv *env)
{
	assert_ptr_equal(env, &jvmti);
	return !jvm.has_ended;
}

static void leave(void)
{
}

static const struct interpreted_options *wants(void)
{
	static struct interpreted_options options;
	options = (struct interpreted_options){ .jvmti = &jvmti,
						.jit = jit,
						.structs = &structs,
						.lines = true,
						.enter = enter,
						.leave = leave };
	return &options;
}

static int setup(void **state)
{
	(void)state;
	memset(&jvm, 0, sizeof(jvm));
	memset(constants, 0, sizeof(constants));
	for (size_t i = 0; i < METHODS; i++)
		methods[i] = (struct hotspot_method){ NULL, &constants[i] };
	constants[0].code_size = 9;
	constants[2].code_size = 5;
	const struct class_method all[CLASSES][METHODS] = {
		{ { &methods[0], "alpha", 0, 9, ALPHA_LINES, 3 },
		  { &methods[1], "call", NATIVE, 0, NULL, 0 },
		  { &methods[1], "none", ABSTRACT, 0, NULL, 0 } },
		{ { &methods[2], "beta", 0, 5, NULL, 0 } },
	};
	memcpy(class_methods, all, sizeof(all));
	structs =
	    (struct vm_structs){ .const_method_size = offsetof(struct const_method, bytecode) };
	structs.fields[VM_METHOD_CONST] =
	    (struct vm_field){ offsetof(struct hotspot_method, constant), 8 };
	structs.fields[VM_CONST_CODE_SIZE] =
	    (struct vm_field){ offsetof(struct const_method, code_size), 2 };
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(dump, sizeof(dump), "%s/jit-%d.dump", folder, getpid());
	return polyperf_jit_open(
	    &(struct polyperf_jit_options){ .struct_size = sizeof(struct polyperf_jit_options),
					    .directory = folder },
	    &jit);
}

static int teardown(void **state)
{
	(void)state;
	polyperf_jit_close(jit);
	(void)unlink(dump);
	return rmdir(folder) == 0 && jvm.given == 0 && jvm.local_references == 0 &&
		       jvm.global_references == 0
		   ? 0
		   : -1;
}

/* "name@file:line/bytecode+size line,line " of each method; '0' before what has no time. */
static void put_method(struct sink *out, const struct jitdump_record *record)
{
	struct jitdump_method method = record->method;
	struct jitdump_method_line line;
	size_t which = METHODS;
	for (size_t i = 0; i < METHODS; i++)
		if (method.bytecode_avma == (uint64_t)(uintptr_t)constants[i].bytecode)
			which = i;
	sink_printf(out, "%s%.*s@%.*s:%u", record->time_ns ? "" : "0:", (int)method.name.size,
		    (const char *)method.name.data, (int)method.file.size,
		    (const char *)method.file.data, method.first_line);
	if (which < METHODS)
		sink_printf(out, " m%zu+%u", which, (unsigned)method.bytecode_size);
	while (jitdump_method_line_next(&method, &line) > 0)
		sink_printf(out, " %u=%u", line.bytecode, line.line);
	sink_text(out, "\n");
}

static void expect_told(const char *expected)
{
	struct stat st;
	struct jitdump_reader reader;
	struct jitdump_record record;
	struct sink seen = { 0 };
	FILE *file = fopen(dump, "r");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	uint8_t *bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	const size_t size = fread(bytes, 1, (size_t)st.st_size, file);
	(void)fclose(file);
	assert_int_equal(jitdump_reader_init(&reader, (struct bytes){ bytes, size }), 0);
	while (jitdump_reader_next(&reader, &record) > 0)
		if (record.id == JITDUMP_METHOD)
			put_method(&seen, &record);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	free(bytes);
}

#define ALPHA "Lp/Work;alpha()V@p/Work.java:10 m0+9 0=10 3=12 6=11\n"
#define CALL "Lp/Work;call()V@p/Work.java:0\n"
#define BETA "LOther;beta()V@:0 m2+5\n"

static struct class_teller a_teller(void)
{
	return (struct class_teller){ .jvm = { .jvmti = &jvmti, .jni = &jni },
				      .jit = jit,
				      .structs = &structs,
				      .lines = true };
}

static void test_a_class_is_told_once(void **state)
{
	(void)state;
	struct class_teller teller = a_teller();
	class_tell(&teller, class_at(0));
	class_tell(&teller, class_at(0));
	teller.flags = POLYPERF_JIT_EXISTING;
	teller.lines = false;
	class_tell(&teller, class_at(1));
	class_teller_clear(&teller);
	expect_told(ALPHA CALL "0:" BETA);
}

static void test_a_jvm_that_is_otherwise_is_not_believed(void **state)
{
	(void)state;
	struct class_teller teller = a_teller();
	constants[0].code_size = 8;
	class_tell(&teller, class_at(0));
	class_methods[0][0].id = NULL;
	class_tell(&teller, class_at(0));
	class_methods[0][0].id = (void *)8;
	class_tell(&teller, class_at(0));
	class_teller_clear(&teller);
	expect_told("");
}

static void test_what_is_redefined_is_told_again(void **state)
{
	(void)state;
	struct class_teller teller = a_teller();
	class_tell(&teller, class_at(0));
	class_tell(&teller, class_at(1));
	class_tell_redefined(&teller);
	methods[METHODS] = (struct hotspot_method){ NULL, &constants[0] };
	class_methods[0][0].id = &methods[METHODS];
	class_tell_redefined(&teller);
	class_tell_redefined(&teller);
	/* Unloaded, for good. */
	class_methods[1][0].id = NULL;
	jvm.unloaded = &class_methods[1][0];
	class_tell_redefined(&teller);
	jvm.unloaded = NULL;
	class_tell_redefined(&teller);
	class_teller_clear(&teller);
	expect_told(ALPHA CALL BETA ALPHA CALL);
}

static void test_many_classes_are_remembered(void **state)
{
	(void)state;
	enum { COUNT = 5000 };
	struct told_classes classes = { 0 };
	assert_int_equal(told_classes_get(&classes, 8), 0);
	assert_false(told_classes_put(&classes, &(struct told_class){ 0, 1 }));
	for (uint64_t i = 1; i <= COUNT; i++)
		assert_true(told_classes_put(&classes, &(struct told_class){ 8 * i, i }));
	for (uint64_t i = 1; i <= COUNT; i++)
		assert_int_equal(told_classes_get(&classes, 8 * i), i);
	for (uint64_t i = 1; i <= COUNT; i++)
		assert_true(told_classes_put(&classes, &(struct told_class){ 8 * i, i % 2 }));
	for (uint64_t i = 1; i <= COUNT; i++)
		assert_int_equal(told_classes_get(&classes, 8 * i), i % 2);
	told_classes_clear(&classes);
}

static void test_the_thread_tells_what_is_and_what_comes(void **state)
{
	(void)state;
	struct interpreted *x = interpreted_new(wants());
	assert_non_null(x);
	/* Found later, when all are looked through. */
	interpreted_add(x, &jni, class_at(0));
	assert_int_equal(jvm.global_references, 0);
	interpreted_flush(x);
	interpreted_begin(x, &jni);
	interpreted_flush(x);
	expect_told("0:" ALPHA "0:" CALL);
	interpreted_add(x, &jni, class_at(1));
	interpreted_add(x, &jni, class_at(0));
	interpreted_flush(x);
	expect_told("0:" ALPHA "0:" CALL BETA);
	methods[METHODS] = (struct hotspot_method){ NULL, &constants[2] };
	class_methods[1][0].id = &methods[METHODS];
	interpreted_flush(x);
	expect_told("0:" ALPHA "0:" CALL BETA BETA);
	/* A new dump: all anew. */
	interpreted_begin(x, &jni);
	interpreted_flush(x);
	expect_told("0:" ALPHA "0:" CALL BETA BETA "0:" ALPHA "0:" CALL);
	interpreted_end(x);
	assert_int_equal(pthread_join(jvm.thread, NULL), 0);
}

static void test_nothing_is_kept_at_the_end(void **state)
{
	(void)state;
	struct interpreted *x = interpreted_new(wants());
	assert_non_null(x);
	jvm.has_ended = true; /* the agent's own end comes first */
	interpreted_begin(x, &jni);
	for (int i = 0; i < 100; i++)
		interpreted_add(x, &jni, class_at(1));
	interpreted_end(x);
	assert_int_equal(pthread_join(jvm.thread, NULL), 0);
	assert_int_equal(jvm.global_references, 0);
	expect_told("");
	/* Without a thread. */
	jvm.refuses_threads = true;
	x = interpreted_new(wants());
	interpreted_begin(x, &jni);
	interpreted_add(x, &jni, class_at(1));
	interpreted_flush(x);
	interpreted_end(x);
	/* A JVM that does not describe its methods; and nobody who asks. */
	structs.const_method_size = 0;
	assert_null(interpreted_new(wants()));
	interpreted_begin(NULL, &jni);
	interpreted_add(NULL, &jni, class_at(1));
	interpreted_flush(NULL);
	interpreted_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_class_is_told_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_jvm_that_is_otherwise_is_not_believed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_redefined_is_told_again, setup,
						teardown),
		cmocka_unit_test(test_many_classes_are_remembered),
		cmocka_unit_test_setup_teardown(test_the_thread_tells_what_is_and_what_comes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_kept_at_the_end, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
