/* code_table.h - the code that was told and is still there, by address.
 *
 * JVMTI says of code that goes no more than its address and method; the dump wants size
 * and number. One method's code may lie where another's lay before its unload is told, so an entry
 * is taken out for its own method only. Has a lock of its own; any thread.
 */
#ifndef AGENT_JVMTI_CODE_TABLE_H
#define AGENT_JVMTI_CODE_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_entry {
	uint64_t code_avma; /* 0: empty */
	uint64_t size;
	uint64_t index;  /* code_index of its load */
	uintptr_t owner; /* jmethodID; 0: a stub */
};

/* Zero-initialised but for the lock. */
struct code_table {
	pthread_mutex_t lock;
	struct code_entry *entries; /* owned */
	size_t capacity;            /* a power of two */
	size_t count;
};

/* Replaces what is known of the address; false without memory, or beyond a million entries. */
bool code_table_put(struct code_table *table, const struct code_entry *entry);

/* True if this very code is known: its address, size and owner. */
bool code_table_has(struct code_table *table, const struct code_entry *entry);

/* Takes out the entry at the address, if it is of this owner. */
bool code_table_take(struct code_table *table, uint64_t code_avma, uintptr_t owner,
		     struct code_entry *entry);

/* Frees all entries. */
void code_table_clear(struct code_table *table);

#endif
