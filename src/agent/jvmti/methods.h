/* methods.h - what JVMTI says of methods: name, source file, lines; kept for a while.
 *
 *   methods_age(&methods, now_ns);                    between two events
 *   const struct method *method = methods_get(&methods, &jvm, id);
 *   line = method_line(method, bytecode_index);
 *
 * A compilation names the methods that were inlined into it, the same few hundred again
 * and again, and to ask for one takes eight calls. All are forgotten after a second, since a method
 * may be redefined under the same id, and when they become too many. One thread at a time.
 */
#ifndef AGENT_JVMTI_METHODS_H
#define AGENT_JVMTI_METHODS_H

#include "base/arena.h"

#include <jvmti.h>
#include <stdint.h>

enum {
	METHODS_CAPACITY = 8192, /* a power of two */
	METHODS_MAX = METHODS_CAPACITY / 2,
	METHODS_BYTES = 16 << 20,
	METHODS_LIFE_NS = 1000000000,
};

/* What the agent asks. `jni` may be NULL where the thread has none yet. */
struct jvm {
	jvmtiEnv *jvmti;
	JNIEnv *jni;
};

struct method {
	const char *name; /* as a symbol; "[unloaded method]" where the JVM has forgotten it */
	const char *file; /* NULL: not known */
	const jvmtiLineNumberEntry *lines; /* in order of start_location */
	size_t line_count;
};

struct methods_entry {
	jmethodID id;
	const struct method *method;
};

/* Zero-initialise. */
struct methods {
	struct arena arena;
	struct methods_entry *entries; /* in the arena; NULL: none yet */
	size_t count;
	uint64_t born_ns;
};

/* Forgets all that is too old or too much. Nothing may be borrowed at that time. */
void methods_age(struct methods *methods, uint64_t now_ns);

/* Never NULL; borrowed until the next methods_age(). */
const struct method *methods_get(struct methods *methods, const struct jvm *jvm, jmethodID id);

/* 0 where nothing is known. A negative index is the method's entry, before its first bytecode. */
uint32_t method_line(const struct method *method, jint bytecode);

void methods_clear(struct methods *methods);

#endif
