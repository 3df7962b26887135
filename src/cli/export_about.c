#include "cli/export_about.h"

#include "base/idmap.h"
#include "base/status.h"
#include "load/code.h"
#include "load/facts.h"

#include <stdlib.h>

static int fill_command(struct export_about *about, const struct load *load)
{
	const char *argument;
	for (size_t i = 0; (argument = load_command(load, i)); i++) {
		const char **slot = vector_push(&about->command);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = argument;
	}
	return 0;
}

static int fill_rates(struct export_about *about, const struct load *load,
		      const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->events.count; i++) {
		struct export_rate *slot = vector_push(&about->rates);
		struct load_rate rate;
		if (!slot)
			return STATUS_NO_MEMORY;
		load_rate(load, i, &rate);
		*slot = (struct export_rate){ rate.period, rate.frequency };
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const uint32_t left = ((const struct export_object *)a)->path;
	const uint32_t right = ((const struct export_object *)b)->path;
	return (left > right) - (left < right);
}

/* Of a path that two files had the build id is not known. */
static void join_objects(struct export_about *about)
{
	size_t kept = 0;
	for (size_t i = 0; i < about->objects.count; i++) {
		const struct export_object *next = &about->objects.items[i];
		struct export_object *last = kept ? &about->objects.items[kept - 1] : NULL;
		if (!last || last->path != next->path) {
			about->objects.items[kept++] = *next;
			continue;
		}
		if (next->start_off < last->start_off)
			last->start_off = next->start_off;
		if (next->end_off > last->end_off)
			last->end_off = next->end_off;
		last->build_id = (struct bytes){ 0 };
	}
	about->objects.count = kept;
}

static int fill_objects(struct export_about *about, const struct load *load,
			struct profile *profile)
{
	struct load_object object;
	for (size_t i = 0; load_object_at(load, i, &object); i++) {
		if (object.start_off >= object.end_off)
			continue;
		const uint32_t path = intern_text(&profile->strings, object.path);
		struct export_object *slot = vector_push(&about->objects);
		if (path == INTERN_NONE || !slot)
			return STATUS_NO_MEMORY;
		*slot = (struct export_object){ .path = path,
						.build_id = object.build_id,
						.start_off = object.start_off,
						.end_off = object.end_off };
	}
	if (about->objects.count)
		qsort(about->objects.items, about->objects.count, sizeof(*about->objects.items),
		      by_path);
	join_objects(about);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const uint32_t left = ((const struct export_program *)a)->pid;
	const uint32_t right = ((const struct export_program *)b)->pid;
	return (left > right) - (left < right);
}

static int fill_programs(struct export_about *about, const struct load *load,
			 const struct profile *profile)
{
	struct idmap seen = { 0 };
	int got = 0;
	for (size_t i = 0; got == 0 && i < profile->threads.count; i++) {
		const uint32_t pid = profile->threads.items[i].pid;
		uint32_t *known = idmap_put(&seen, pid);
		if (known && *known)
			continue;
		struct export_program *slot = known ? vector_push(&about->programs) : NULL;
		if (!slot) {
			got = STATUS_NO_MEMORY;
			break;
		}
		*known = 1;
		*slot = (struct export_program){ pid, load_program_of(load, pid) };
	}
	idmap_clear(&seen);
	if (about->programs.count)
		qsort(about->programs.items, about->programs.count, sizeof(*about->programs.items),
		      by_pid);
	return got;
}

static int by_thread(const void *a, const void *b)
{
	const struct load_task *left = a;
	const struct load_task *right = b;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* A beginning opens a life, an end closes the one that is open, or that of who was there before. */
static int add_life(struct export_about *about, const struct load_task *task)
{
	struct export_life *last =
	    about->lives.count ? &about->lives.items[about->lives.count - 1] : NULL;
	if (task->is_end && last && last->tid == task->tid && last->pid == task->pid &&
	    !last->ends_ns) {
		last->ends_ns = task->time_ns;
		return 0;
	}
	struct export_life *life = vector_push(&about->lives);
	if (!life)
		return STATUS_NO_MEMORY;
	*life = (struct export_life){ .pid = task->pid, .tid = task->tid };
	*(task->is_end ? &life->ends_ns : &life->begins_ns) = task->time_ns;
	return 0;
}

static int fill_lives(struct export_about *about, const struct load *load)
{
	VECTOR(struct load_task) tasks = { 0 };
	struct load_task task;
	int got = 0;
	for (size_t i = 0; got == 0 && load_task_at(load, i, &task); i++) {
		struct load_task *slot = vector_push(&tasks);
		if (slot)
			*slot = task;
		else
			got = STATUS_NO_MEMORY;
	}
	if (tasks.count)
		qsort(tasks.items, tasks.count, sizeof(*tasks.items), by_thread);
	for (size_t i = 0; got == 0 && i < tasks.count; i++)
		got = add_life(about, &tasks.items[i]);
	vector_clear(&tasks);
	return got;
}

int export_about_fill(struct export_about *about, struct load *load, struct profile *profile)
{
	struct load_facts facts;
	load_facts(load, &facts);
	about->host = facts.host;
	about->kernel = facts.kernel;
	about->arch = facts.arch;
	about->cpu = facts.cpu;
	about->recorder = facts.recorder;
	about->wall_ns = facts.wall_ns;
	about->clock_ns =
	    facts.is_wall_guessed && !facts.clock_ns ? profile->last_ns : facts.clock_ns;
	about->is_wall_guessed = facts.is_wall_guessed;
	int got = fill_command(about, load);
	if (got == 0)
		got = fill_rates(about, load, profile);
	if (got == 0)
		got = fill_objects(about, load, profile);
	if (got == 0)
		got = fill_lives(about, load);
	return got == 0 ? fill_programs(about, load, profile) : got;
}
