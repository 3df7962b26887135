#include "interp/host.h"

#include "bpf/walk_any.h"

#include <stdlib.h>

static struct host *current;

static bool may_read(void)
{
	return current->reads++ != current->failing_read;
}

long walk_read(void *to, uint32_t size, uint64_t avma)
{
	if (may_read() && current->read(current->context, avma, to, size))
		return 0;
	/* As the kernel does. */
	memset(to, 0, size);
	return -14;
}

long walk_read_text(void *to, uint32_t size, uint64_t avma)
{
	char *at = to;
	if (!may_read())
		return -14;
	for (uint32_t i = 0; i < size; i++) {
		if (!current->read(current->context, avma + i, at + i, 1))
			return -14;
		if (!at[i])
			return i + 1;
	}
	at[size - 1] = '\0';
	return size;
}

long walk_write(void *context, const void *record, uint32_t size)
{
	(void)context;
	if (current->is_full)
		return -28;
	/* An exact copy, so that a sanitizer sees a reader that goes beyond it. */
	void *copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, record, size);
	told_record(current->told, (struct bytes){ copy, size });
	free(copy);
	return 0;
}

bool walk_is_known(const struct walk_key *key)
{
	for (size_t i = 0; i < current->known.count; i++)
		if (memcmp(&current->known.items[i], key, sizeof(*key)) == 0)
			return true;
	return false;
}

void walk_know(const struct walk_key *key)
{
	struct walk_key *known = vector_push(&current->known);
	if (!known)
		abort();
	*known = *key;
}

void host_walk(struct host *host, const struct walk_runtime *runtime,
	       const struct walk_registers *registers, const struct walk_sample *sample)
{
	/* Neither is zeroed in the kernel: what a sample before left must do no harm. */
	struct walk_space *space = malloc(sizeof(*space));
	if (!space)
		abort();
	memset(space, 0xa5, sizeof(*space));
	struct walk walk = { .space = space,
			     .runtime = runtime,
			     .registers = *registers,
			     .definitions_left = WALK_MAX_DEFINITIONS };
	current = host;
	walk_any(&walk, sample);
	current = NULL;
	free(space);
}

void host_clear(struct host *host)
{
	vector_clear(&host->known);
}
