#include "load/facts.h"

#include "format/perfdata/features.h"
#include "load/load_internal.h"

void load_facts(const struct load *load, struct load_facts *facts)
{
	struct perfdata_clock_data clock;
	*facts = (struct load_facts){
		.host = perfdata_feature_text(load->perf, PERFDATA_FEATURE_HOSTNAME),
		.kernel = perfdata_feature_text(load->perf, PERFDATA_FEATURE_OSRELEASE),
		.arch = perfdata_feature_text(load->perf, PERFDATA_FEATURE_ARCH),
		.cpu = perfdata_feature_text(load->perf, PERFDATA_FEATURE_CPUDESC),
		.recorder = perfdata_feature_text(load->perf, PERFDATA_FEATURE_VERSION),
	};
	if (perfdata_clock_data(load->perf, &clock) == 0 && clock.wall_clock_ns) {
		facts->wall_ns = clock.wall_clock_ns;
		facts->clock_ns = clock.clockid_ns;
	} else if (load->file.mtime_ns) {
		facts->wall_ns = load->file.mtime_ns;
		facts->is_wall_guessed = true;
		uint64_t first_ns;
		(void)perfdata_sample_time(load->perf, &first_ns, &facts->clock_ns);
	}
}

const char *load_command(const struct load *load, size_t index)
{
	return perfdata_cmdline(load->perf, index);
}

void load_rate(const struct load *load, uint32_t event, struct load_rate *rate)
{
	*rate = (struct load_rate){ 0 };
	if (event >= perfdata_event_count(load->perf))
		return;
	const struct perfdata_attr *attr = &perfdata_event(load->perf, event)->attr;
	if (attr->flags & PERFDATA_ATTR_FREQ)
		rate->frequency = attr->sample_period;
	else
		rate->period = attr->sample_period;
}

bool load_task_at(const struct load *load, size_t index, struct load_task *task)
{
	if (index >= load->tasks.count)
		return false;
	const struct task_event *event = &load->tasks.items[index];
	*task = (struct load_task){ event->pid, event->tid, event->time_ns, event->is_end };
	return true;
}

bool load_object_at(const struct load *load, size_t index, struct load_object *object)
{
	if (index >= load->objects.count)
		return false;
	const struct object *from = &load->objects.items[index];
	const uint32_t build_id = from->build_id ? from->build_id : from->feature_build_id;
	*object = (struct load_object){ .path = intern_get(&load->strings, from->path),
					.build_id = intern_get_bytes(&load->strings, build_id) };
	if (from->kind == OBJECT_FILE) {
		object->start_off = from->start_off;
		object->end_off = from->end_off;
	}
	return true;
}
