/* thread.h - a thread of our own in the JVM.
 *
 *   thread_start(jvmti, jni, &(struct thread_wanted){ "polyperf control", follow, argument });
 *
 * It is a daemon, so that the JVM does not wait for it, and of the least priority. It ends when
 * its function does. Only while the JVM is in its live phase.
 */
#ifndef AGENT_JVMTI_THREAD_H
#define AGENT_JVMTI_THREAD_H

#include <jvmti.h>
#include <stdbool.h>

struct thread_wanted {
	const char *name; /* ASCII */
	jvmtiStartFunction function;
	const void *argument;
};

/* False where the JVM refuses: then the function is never called. */
bool thread_start(jvmtiEnv *jvmti, JNIEnv *jni, const struct thread_wanted *wanted);

#endif
