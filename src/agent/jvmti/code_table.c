#include "agent/jvmti/code_table.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 1024, LAST_CAPACITY = 1 << 21 };

/* Code lies at multiples of 32 and more; the product's upper bits depend on all of them. */
static size_t slot_of(const struct code_table *table, uint64_t code_avma)
{
	return (size_t)((code_avma * 0x9e3779b97f4a7c15u) >> 20) & (table->capacity - 1);
}

/* Where the address is, or would be. */
static struct code_entry *find(const struct code_table *table, uint64_t code_avma)
{
	size_t slot = slot_of(table, code_avma);
	while (table->entries[slot].code_avma && table->entries[slot].code_avma != code_avma)
		slot = (slot + 1) & (table->capacity - 1);
	return &table->entries[slot];
}

static bool grow(struct code_table *table)
{
	struct code_table larger = *table;
	larger.capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
	if (larger.capacity > LAST_CAPACITY)
		return false;
	larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->entries[i].code_avma)
			*find(&larger, table->entries[i].code_avma) = table->entries[i];
	free(table->entries);
	table->entries = larger.entries;
	table->capacity = larger.capacity;
	return true;
}

bool code_table_put(struct code_table *table, const struct code_entry *entry)
{
	if (!entry->code_avma)
		return false;
	pthread_mutex_lock(&table->lock);
	bool has_room = (table->count + 1) * 2 <= table->capacity || grow(table);
	if (has_room) {
		struct code_entry *at = find(table, entry->code_avma);
		table->count += at->code_avma == 0;
		*at = *entry;
	}
	pthread_mutex_unlock(&table->lock);
	return has_room;
}

bool code_table_has(struct code_table *table, const struct code_entry *entry)
{
	pthread_mutex_lock(&table->lock);
	bool has = false;
	if (table->count) {
		const struct code_entry *at = find(table, entry->code_avma);
		has = at->code_avma && at->size == entry->size && at->owner == entry->owner;
	}
	pthread_mutex_unlock(&table->lock);
	return has;
}

/* Those behind a hole that would no longer be found move up. */
static void remove_at(struct code_table *table, size_t hole)
{
	const size_t mask = table->capacity - 1;
	for (size_t next = (hole + 1) & mask; table->entries[next].code_avma;
	     next = (next + 1) & mask) {
		const size_t home = slot_of(table, table->entries[next].code_avma);
		if (((next - home) & mask) >= ((next - hole) & mask)) {
			table->entries[hole] = table->entries[next];
			hole = next;
		}
	}
	table->entries[hole] = (struct code_entry){ 0 };
	table->count--;
}

bool code_table_take(struct code_table *table, uint64_t code_avma, uintptr_t owner,
		     struct code_entry *entry)
{
	pthread_mutex_lock(&table->lock);
	bool found = false;
	if (table->count) {
		struct code_entry *at = find(table, code_avma);
		found = at->code_avma && at->owner == owner;
		if (found) {
			*entry = *at;
			remove_at(table, (size_t)(at - table->entries));
		}
	}
	pthread_mutex_unlock(&table->lock);
	return found;
}

void code_table_clear(struct code_table *table)
{
	pthread_mutex_lock(&table->lock);
	free(table->entries);
	table->entries = NULL;
	table->capacity = 0;
	table->count = 0;
	pthread_mutex_unlock(&table->lock);
}
