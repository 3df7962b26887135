/* class_methods.h - tells the methods of one class as an interpreter knows them.
 *
 *   struct class_teller teller = { .jvm = jvm, .jit = jit, .structs = &structs, .lines = true };
 *   class_tell(&teller, class);
 *   class_teller_clear(&teller);
 *
 * The frames of HotSpot's interpreter hold the address of a Method, and one in its bytecode. JVMTI
 * gives neither, but a jmethodID is the address of the first; from there vm_structs.h leads on.
 * What it leads to is believed where JVMTI says the same of the bytecode's size. Abstract methods
 * are left out, as no frame is theirs. One thread.
 */
#ifndef AGENT_JVMTI_CLASS_METHODS_H
#define AGENT_JVMTI_CLASS_METHODS_H

#include "agent/jvmti/methods.h"
#include "agent/jvmti/told_classes.h"
#include "agent/jvmti/vm_structs.h"
#include "base/sink.h"
#include "base/vector.h"

#include <polyperf/jit.h>

struct class_teller {
	struct jvm jvm;
	struct polyperf_jit *jit;
	const struct vm_structs *structs;
	bool lines;
	uint32_t flags; /* POLYPERF_JIT_EXISTING, or 0 */
	struct told_classes told;
	bool is_believed; /* jmethodIDs lead where we think */
	/* Of the method or class at hand. */
	VECTOR(struct polyperf_jit_bytecode_line) table;
	struct sink name;
	struct sink file;
};

/* Does nothing where they were told, and are where they were; nor for arrays, and classes
 * that are not yet linked.
 */
void class_tell(struct class_teller *teller, jclass class);

/* Tells again what was redefined since. */
void class_tell_redefined(struct class_teller *teller);

void class_teller_clear(struct class_teller *teller);

#endif
