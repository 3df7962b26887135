#include "export/about.h"

#include "base/search.h"

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
	const struct export_object *objects = about->objects.items;
	size_t count;
	SEARCH(count, about->objects.count, i, objects[i].path <= path);
	return count && objects[count - 1].path == path ? &objects[count - 1] : NULL;
}

const char *export_program_of(const struct export_about *about, uint32_t pid)
{
	const struct export_program *programs = about->programs.items;
	size_t count;
	SEARCH(count, about->programs.count, i, programs[i].pid <= pid);
	return count && programs[count - 1].pid == pid ? programs[count - 1].path : "";
}

/* Those of a thread stand together, the later ones behind. */
struct export_life export_life_of(const struct export_about *about, uint32_t pid, uint32_t tid,
				  uint64_t time_ns)
{
	struct export_life found = { .pid = pid, .tid = tid };
	const struct export_life *lives = about->lives.items;
	size_t at;
	SEARCH(at, about->lives.count, i,
	       lives[i].tid < tid || (lives[i].tid == tid && lives[i].pid < pid));
	for (; at < about->lives.count; at++) {
		const struct export_life *life = &lives[at];
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
