/* Processes by pid, and the names of threads by time. */
#include "load/load_internal.h"

#include "base/number.h"
#include "base/search.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct process *load_process_find(const struct load *load, uint32_t pid)
{
	const uint32_t id = idmap_get(&load->process_of_pid, pid);
	return id ? &load->processes.items[id - 1] : NULL;
}

struct process *load_process(struct load *load, uint32_t pid)
{
	uint32_t *id = idmap_put(&load->process_of_pid, pid);
	if (!id)
		return NULL;
	if (!*id) {
		struct process *process = vector_push(&load->processes);
		if (!process)
			return NULL;
		process->pid = pid;
		*id = (uint32_t)load->processes.count;
	}
	return &load->processes.items[*id - 1];
}

int load_comm(struct load *load, uint32_t tid, const char *comm, uint64_t time_ns)
{
	struct comm_change *change = vector_push(&load->comms);
	const uint32_t name = intern_text(&load->strings, comm);
	if (!change || name == INTERN_NONE)
		return STATUS_NO_MEMORY;
	*change = (struct comm_change){
		.time_ns = time_ns, .tid = tid, .comm = name, .order = (uint32_t)load->comms.count
	};
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct comm_change *a = left;
	const struct comm_change *b = right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_thread(const void *left, const void *right)
{
	const struct comm_change *a = left;
	const struct comm_change *b = right;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return by_time(left, right);
}

/* The last change of the thread at or before that time; SIZE_MAX: none. */
static size_t change_at(const struct load *load, uint32_t tid, uint64_t time_ns)
{
	const struct comm_change *comms = load->comms.items;
	size_t count;
	SEARCH(count, load->comms.count, i,
	       comms[i].tid < tid || (comms[i].tid == tid && comms[i].time_ns <= time_ns));
	return count && comms[count - 1].tid == tid ? count - 1 : SIZE_MAX;
}

void load_comms_sort(struct load *load)
{
	const size_t count = load->comms.count;
	if (!count)
		return;
	qsort(load->comms.items, count, sizeof(load->comms.items[0]), by_thread);
	/* A new thread starts with its parent's name. Parents change before their
	 * children see it, so in time order one pass settles chains of forks; the
	 * array itself stays sorted by thread.
	 */
	struct comm_change *sorted = calloc(count, sizeof(*sorted));
	if (sorted) {
		memcpy(sorted, load->comms.items, count * sizeof(*sorted));
		for (uint32_t i = 0; i < count; i++)
			sorted[i].order = i; /* equal times of one thread stay in file order */
		qsort(sorted, count, sizeof(*sorted), by_time);
		for (size_t i = 0; i < count; i++) {
			struct comm_change *c = &load->comms.items[sorted[i].order];
			if (c->comm != INTERN_NONE)
				continue;
			const size_t parent = change_at(load, c->parent_tid, c->time_ns);
			c->comm = parent == SIZE_MAX ? 0 : load->comms.items[parent].comm;
			if (c->comm == INTERN_NONE)
				c->comm = 0;
		}
	}
	free(sorted);
}

uint32_t load_comm_at(const struct load *load, uint32_t tid, uint64_t time_ns,
		      uint64_t *valid_from_ns, uint64_t *valid_to_ns)
{
	const struct comm_change *changes = load->comms.items;
	size_t at = change_at(load, tid, time_ns);
	*valid_from_ns = 0;
	*valid_to_ns = UINT64_MAX;
	if (at == SIZE_MAX)
		return 0;
	*valid_from_ns = changes[at].time_ns;
	if (at + 1 < load->comms.count && changes[at + 1].tid == tid)
		*valid_to_ns = changes[at + 1].time_ns;
	return changes[at].comm == INTERN_NONE ? 0 : changes[at].comm;
}

/* One line a process: pid, then named facts "key=value", tab-separated. */
static void take_facts(struct load *load, char *line)
{
	char *rest = line;
	const char *first = strsep(&rest, "\t");
	uint32_t pid;
	const char *end = number_skip_u32(first, &pid);
	if (!end || *end || pid == 0)
		return;
	struct process *process = load_process(load, pid);
	const char *field;
	while (process && (field = strsep(&rest, "\t"))) {
		if (strncmp(field, "nspid=", 6) == 0) {
			/* Outermost first, as in /proc/PID/status: the last is its own. */
			const char *last = strrchr(field, ',');
			(void)number_skip_u32(last ? last + 1 : field + 6, &process->ns_pid);
		}
	}
}

int load_process_facts(struct load *load)
{
	struct bytes text;
	if (!load->bundle || bundle_read(load->bundle, "processes.tsv", &text) < 0)
		return 0;
	char *copy = arena_new(&load->scratch, char, text.size + 1);
	if (!copy)
		return STATUS_NO_MEMORY;
	memcpy(copy, text.data, text.size);
	char *rest = copy;
	char *line;
	while ((line = strsep(&rest, "\n")))
		take_facts(load, line);
	return 0;
}
