/* Where code objects were told, and which runtime tells so. */
#include "load/load_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { GUESS_NAMES = 64 };

struct source *load_add_source(struct load *load, uint32_t pid, uint32_t *id)
{
	char label[64];
	(void)snprintf(label, sizeof(label), "jitted-%" PRIu32 ".so", pid);
	struct source *source = vector_push(&load->sources);
	if (!source)
		return NULL;
	*source = (struct source){ .pid = pid, .path = intern_text(&load->strings, label) };
	*id = (uint32_t)load->sources.count - 1;
	return source;
}

void load_guess_runtime(struct load *load, uint32_t source_id, size_t first_code,
			const struct name_evidence *evidence)
{
	struct source *source = &load->sources.items[source_id];
	const struct process *process = load_process_find(load, source->pid);
	const size_t count = load->codes.count - first_code;
	const size_t taken = count < GUESS_NAMES ? count : GUESS_NAMES;
	/* Spread over all of them: the first ones are often stubs. */
	struct bytes names[GUESS_NAMES];
	for (size_t i = 0; i < taken; i++)
		names[i] = load->codes.items[first_code + i * count / taken].name;
	struct name_evidence all = *evidence;
	all.executable = intern_get_bytes(&load->strings, process ? process->exe : 0);
	source->runtime = names_guess(&all, names, taken);
}
