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
	about->clock_ns = facts.clock_ns;
	about->is_wall_guessed = facts.is_wall_guessed;
	int got = fill_command(about, load);
	if (got == 0)
		got = fill_rates(about, load, profile);
	if (got == 0)
		got = fill_objects(about, load, profile);
	return got == 0 ? fill_programs(about, load, profile) : got;
}
