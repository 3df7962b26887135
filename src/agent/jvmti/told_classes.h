/* told_classes.h - of which classes the methods were told, and where the first of them was then.
 *
 * A class is known by the jmethodID of one of its methods, which leads to another place once the
 * class was redefined, and to none once it was unloaded: JVMTI has no cheap event for either. One
 * thread.
 */
#ifndef AGENT_JVMTI_TOLD_CLASSES_H
#define AGENT_JVMTI_TOLD_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct told_class {
	uint64_t id;          /* jmethodID; 0: an empty slot */
	uint64_t method_avma; /* 0: no longer of interest */
};

/* Zero-initialise. */
struct told_classes {
	struct told_class *slots; /* owned */
	size_t slot_count;        /* 0 or a power of two */
	size_t used;
};

/* Replaces what is known of the id; false without memory, or beyond a million classes. */
bool told_classes_put(struct told_classes *classes, const struct told_class *told);

/* 0: not known. */
uint64_t told_classes_get(const struct told_classes *classes, uint64_t id);

void told_classes_clear(struct told_classes *classes);

#endif
