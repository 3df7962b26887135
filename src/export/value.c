#include "export/value.h"

#include "base/status.h"
#include "profile/weight.h"

#include <inttypes.h>
#include <string.h>

struct bytes export_value_name(const struct export_view *view, uint32_t event, bool is_single)
{
	static const char cpu[] = "cpu";
	if (is_single && export_is_time(view->profile, event))
		return (struct bytes){ (const uint8_t *)cpu, strlen(cpu) };
	return intern_get_bytes(&view->profile->strings, view->profile->events.items[event]);
}

const char *export_value_unit(const struct export_view *view, uint32_t event)
{
	return export_is_time(view->profile, event) ? "nanoseconds" : "count";
}

uint64_t export_value_period(const struct export_view *view, uint32_t event)
{
	const struct export_rate rate = export_rate_of(view->about, event);
	if (!rate.frequency)
		return weight_sum(0, rate.period);
	return export_is_time(view->profile, event) ? UINT64_C(1000000000) / rate.frequency : 0;
}

enum profile_trust export_stack_trust(const struct profile *profile, uint32_t stack_id)
{
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	if (!stack->depth)
		return PROFILE_UNKNOWN;
	return (enum profile_trust)profile->frames.items[profile->frame_ids.items[stack->first]]
	    .trust;
}

static void put_fact(struct sink *line, const char *name, const char *value)
{
	if (value && *value)
		sink_printf(line, "%s%s %s", line->size ? ", " : "", name, value);
}

static void put_command(struct sink *line, const struct export_about *about)
{
	for (size_t i = 0; i < about->command.count; i++)
		sink_printf(line, "%s%s", i ? " " : "command: ", about->command.items[i]);
}

static void put_trust(struct sink *line, const struct export_view *view)
{
	uint64_t counts[PROFILE_TRUST_COUNT] = { 0 };
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		if (export_has_event(view, row->event))
			counts[export_stack_trust(profile, row->stack)] += row->count;
	}
	for (int trust = 0; trust < PROFILE_TRUST_COUNT; trust++)
		if (counts[trust])
			sink_printf(line, "%s%s %" PRIu64, line->size ? ", " : "trust: ",
				    profile_trust_name((enum profile_trust)trust), counts[trust]);
}

int export_remarks(const struct export_view *view, void (*put)(void *context, struct bytes remark),
		   void *context)
{
	const struct export_about *about = view->about;
	struct sink lines[4] = { 0 };
	int got = 0;
	put_fact(&lines[0], "host", about->host);
	put_fact(&lines[0], "kernel", about->kernel);
	put_fact(&lines[0], "arch", about->arch);
	put_fact(&lines[0], "cpu", about->cpu);
	put_fact(&lines[0], "recorded by", about->recorder);
	put_command(&lines[1], about);
	put_trust(&lines[2], view);
	if (view->profile->lost_count)
		sink_printf(&lines[3], "lost: %" PRIu64 " samples", view->profile->lost_count);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (sink_failed(&lines[i]))
			got = STATUS_NO_MEMORY;
		else if (lines[i].size)
			put(context, sink_bytes(&lines[i]));
		sink_clear(&lines[i]);
	}
	return got;
}
