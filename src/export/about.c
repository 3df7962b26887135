#include "export/about.h"

void export_about_clear(struct export_about *about)
{
	vector_clear(&about->command);
	vector_clear(&about->rates);
	vector_clear(&about->objects);
	vector_clear(&about->programs);
	vector_clear(&about->lives);
}

uint64_t export_wall_ns(const struct export_about *about, uint64_t time_ns)
{
	uint64_t wall_ns;
	if (!about->wall_ns)
		return 0;
	if (time_ns < about->clock_ns)
		return about->wall_ns > about->clock_ns - time_ns
			   ? about->wall_ns - (about->clock_ns - time_ns)
			   : 0;
	return __builtin_add_overflow(about->wall_ns, time_ns - about->clock_ns, &wall_ns)
		   ? 0
		   : wall_ns;
}

const struct export_object *export_object_of(const struct export_about *about, uint32_t path)
{
	size_t from = 0;
	size_t to = about->objects.count;
	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct export_object *object = &about->objects.items[middle];
		if (object->path == path)
			return object;
		if (object->path < path)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

const char *export_program_of(const struct export_about *about, uint32_t pid)
{
	size_t from = 0;
	size_t to = about->programs.count;
	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct export_program *program = &about->programs.items[middle];
		if (program->pid == pid)
			return program->path;
		if (program->pid < pid)
			from = middle + 1;
		else
			to = middle;
	}
	return "";
}

/* Those of a thread stand together, the later ones behind. */
struct export_life export_life_of(const struct export_about *about, uint32_t pid, uint32_t tid,
				  uint64_t time_ns)
{
	struct export_life found = { .pid = pid, .tid = tid };
	size_t from = 0;
	size_t to = about->lives.count;
	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct export_life *life = &about->lives.items[middle];
		if (life->tid < tid || (life->tid == tid && life->pid < pid))
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < about->lives.count; from++) {
		const struct export_life *life = &about->lives.items[from];
		if (life->tid != tid || life->pid != pid || life->begins_ns > time_ns)
			break;
		found = *life;
	}
	return found;
}

struct export_rate export_rate_of(const struct export_about *about, uint32_t event)
{
	return event < about->rates.count ? about->rates.items[event] : (struct export_rate){ 0 };
}
