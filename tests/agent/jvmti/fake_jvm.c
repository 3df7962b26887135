#include "fake_jvm.h"

#include <stdlib.h>
#include <string.h>

struct fake_jvm fake;

static char *give(const char *text)
{
	char *copy = strdup(text);
	fake.given += copy != NULL;
	return copy;
}

static const struct fake_method *method_of(jmethodID id)
{
	const uintptr_t number = (uintptr_t)id;
	if (++fake.calls == fake.refuse || number < 1 || number > fake.method_count)
		return NULL;
	const struct fake_method *method = &fake.methods[number - 1];
	return method->class_signature ? method : NULL;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID id, char **name,
					  char **descriptor, char **generic)
{
	const struct fake_method *method = method_of(id);
	(void)env;
	(void)generic;
	if (!method)
		return JVMTI_ERROR_INVALID_METHODID;
	*name = give(method->name);
	*descriptor = give(method->descriptor);
	return JVMTI_ERROR_NONE;
}

/* A class is its method: jclass n is that of jmethodID n. */
static jvmtiError JNICALL get_class(jvmtiEnv *env, jmethodID id, jclass *class)
{
	(void)env;
	if (!method_of(id))
		return JVMTI_ERROR_INVALID_METHODID;
	fake.local_references++;
	*class = (jclass)(void *)id;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass class, char **signature,
					char **generic)
{
	const struct fake_method *method = method_of((jmethodID)(void *)class);
	(void)env;
	(void)generic;
	if (!method)
		return JVMTI_ERROR_INVALID_CLASS;
	*signature = give(method->class_signature);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_file(jvmtiEnv *env, jclass class, char **file)
{
	const struct fake_method *method = method_of((jmethodID)(void *)class);
	(void)env;
	if (!method || !method->file)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*file = give(method->file);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID id, jint *count,
				    jvmtiLineNumberEntry **lines)
{
	const struct fake_method *method = method_of(id);
	(void)env;
	if (!method || !method->lines)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	const size_t size = (size_t)method->line_count * sizeof(**lines);
	*lines = malloc(size);
	if (!*lines)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	memcpy(*lines, method->lines, size);
	*count = method->line_count;
	fake.given++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env;
	fake.given -= memory != NULL;
	free(memory);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env;
	return wanted->can_generate_compiled_method_load_events && fake.has_no_events
		   ? JVMTI_ERROR_NOT_AVAILABLE
		   : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks,
					jint size)
{
	(void)env;
	memcpy(&fake.callbacks, callbacks, (size_t)size);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
				   jthread thread, ...)
{
	(void)env;
	(void)thread;
	fake.is_enabled[event] = mode == JVMTI_ENABLE;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL generate(jvmtiEnv *env, jvmtiEvent event)
{
	fake.generated++;
	if (fake.on_generate)
		fake.on_generate(env, event);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
	(void)env;
	fake.environments--;
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local(JNIEnv *env, jobject reference)
{
	(void)env;
	(void)reference;
	fake.local_references--;
}

static const struct jvmtiInterface_1_ jvmti_functions = {
	.GetMethodName = get_method_name,
	.GetMethodDeclaringClass = get_class,
	.GetClassSignature = get_signature,
	.GetSourceFileName = get_file,
	.GetLineNumberTable = get_lines,
	.Deallocate = deallocate,
	.AddCapabilities = add_capabilities,
	.SetEventCallbacks = set_callbacks,
	.SetEventNotificationMode = set_mode,
	.GenerateEvents = generate,
	.DisposeEnvironment = dispose,
};

static const struct JNINativeInterface_ jni_functions = { .DeleteLocalRef = delete_local };

static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	if (version == JNI_VERSION_1_6) {
		*env = &jni;
		return JNI_OK;
	}
	fake.environments++;
	*env = &jvmti;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_functions = { .GetEnv = get_env };
static JavaVM vm = &vm_functions;

jvmtiEnv *fake_jvmti(void)
{
	return &jvmti;
}

JNIEnv *fake_jni(void)
{
	return &jni;
}

JavaVM *fake_vm(void)
{
	return &vm;
}
