/* interpreted.h - tells what methods there are for the interpreter to run, besides the JVM's work.
 *
 *   interpreted = interpreted_new(&options);
 *   interpreted_begin(interpreted, jni);                 in the live phase
 *   interpreted_add(interpreted, jni, class);            for each class that was prepared
 *   interpreted_flush(interpreted);                      before the JVM ends
 *   interpreted_end(interpreted);                        it frees itself
 *
 * A thread of its own asks JVMTI and writes, so that a class costs the thread that prepares it no
 * more than a reference: first of all classes that are there, then of those that come. When nothing
 * comes for ten seconds, and at the end, it looks whether a class was redefined.
 *
 * The reader can do with methods that are told after they ran. What runs only in the very last
 * moment of a JVM that is killed is lost.
 */
#ifndef AGENT_JVMTI_INTERPRETED_H
#define AGENT_JVMTI_INTERPRETED_H

#include "agent/jvmti/vm_structs.h"

#include <jvmti.h>
#include <polyperf/jit.h>

struct interpreted;

struct interpreted_options {
	jvmtiEnv *jvmti;
	struct polyperf_jit *jit;         /* these three are used between enter() and leave() */
	const struct vm_structs *structs; /* not changed meanwhile */
	bool lines;
	/* Around each use of JVMTI; false: the recording has ended. */
	bool (*enter)(const jvmtiEnv *jvmti);
	void (*leave)(void);
};

/* NULL without memory, or where the JVM does not say where its methods are. */
struct interpreted *interpreted_new(const struct interpreted_options *options);

/* All these may be called by any thread, with NULL too, and none waits but flush. */

/* Tells all that is there, and from now on what comes; once more, where a new dump was begun. */
void interpreted_begin(struct interpreted *interpreted, JNIEnv *jni);

void interpreted_add(struct interpreted *interpreted, JNIEnv *jni, jclass class);

/* Waits until all is told that was added, though not for long. */
void interpreted_flush(struct interpreted *interpreted);

/* After this no other call may be made. */
void interpreted_end(struct interpreted *interpreted);

#endif
