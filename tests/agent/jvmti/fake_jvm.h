/* fake_jvm.h - as much of a JVM as the agent asks of one: methods by number, with names and lines;
 * what is refused on demand; a count of what JVMTI gave and was not given back.
 */
#ifndef TESTS_AGENT_JVMTI_FAKE_JVM_H
#define TESTS_AGENT_JVMTI_FAKE_JVM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_method {
	const char *class_signature; /* NULL: unloaded */
	const char *name;
	const char *descriptor;
	const char *file; /* NULL: absent */
	const jvmtiLineNumberEntry *lines;
	jint line_count;
};

enum { FAKE_CALLS = 6 };

/* What the fake was told and asked, and what it shall answer. */
struct fake_jvm {
	const struct fake_method *methods; /* that of jmethodID n is n - 1 */
	size_t method_count;
	int given;  /* by JVMTI, and not deallocated */
	int calls;  /* of JVMTI's questions about methods */
	int refuse; /* this one of them, from 1; 0: none */
	bool has_no_events;
	jvmtiEventCallbacks callbacks;
	bool is_enabled[256]; /* by event number */
	int environments;     /* not disposed */
	int generated;        /* calls of GenerateEvents() */
	int local_references;
	void (*on_generate)(jvmtiEnv *jvmti, jvmtiEvent event);
};

extern struct fake_jvm fake;

jvmtiEnv *fake_jvmti(void);
JNIEnv *fake_jni(void);
JavaVM *fake_vm(void);

static inline jmethodID fake_id(size_t number)
{
	return (jmethodID)(uintptr_t)number;
}

#endif
