/* The code of processes that write a perf map and no jitdump. */
#include "base/status.h"
#include "record/collector_internal.h"

#include <stdio.h>

enum { MEGABYTE = 1 << 20 };

static void set_more(struct collector *c, struct map *map, bool has_more)
{
	c->busy_captures += (size_t)has_more;
	c->busy_captures -= (size_t)map->has_more_code;
	map->has_more_code = has_more;
}

/* Whose memory it is. A number is used again: what one process did not live to be read of
 * is not looked for in the next one.
 */
static void find_process(struct collector *c, struct map *map)
{
	const uint32_t known = map->captured_process;
	if (known != COLLECTOR_NONE) {
		if (c->processes.items[known].end_ns == 0)
			return;
		capture_end(&map->capture);
	}
	if (map->owner_known_at == c->process_changes)
		return;
	map->owner_known_at = c->process_changes;
	const uint32_t index = collector_find_owner(c, map->directory, map->number);
	if (index == COLLECTOR_NONE || index == known ||
	    !collector_may_own(c, index, map->follow.owner))
		return;
	map->captured_process = index;
	capture_begin(&map->capture, c->processes.items[index].pid,
		      known == COLLECTOR_NONE ? 0 : map->follow.known_size);
	if (c->processes.items[index].end_ns)
		capture_end(&map->capture);
}

static void tell_state(struct collector *c, const struct map *map)
{
	const struct capture *capture = &map->capture;
	switch (capture->state) {
	case CAPTURE_REFUSED:
		if (!c->is_refusal_told)
			collector_add_note(c,
					   "the code of process %d may not be read (%s): the "
					   "functions of its map have names, and no instructions",
					   capture->pid, strerror(capture->error));
		c->is_refusal_told = true;
		return;
	case CAPTURE_FULL:
		if (!c->is_limit_told)
			collector_add_note(c,
					   "the code of process %d is not all in the recording: "
					   "the limit is %d MB a map, and %d MB for all",
					   capture->pid, CAPTURE_MAP_BYTES / MEGABYTE,
					   CAPTURE_ALL_BYTES / MEGABYTE);
		c->is_limit_told = true;
		return;
	case CAPTURE_FAILED:
		collector_add_note(c, "the code of process %d could not be kept: %s", capture->pid,
				   capture->error ? strerror(capture->error)
						  : status_text(STATUS_NO_MEMORY));
		return;
	default:
		return;
	}
}

void collector_capture(struct collector *c, struct map *map)
{
	if (c->options.no_code)
		return;
	find_process(c, map);
	if (map->captured_process == COLLECTOR_NONE)
		return;
	if (!c->capture_room)
		c->capture_room = capture_room_new();
	if (!c->capture_room)
		return;
	struct capture *capture = &map->capture;
	if (c->processes.items[map->captured_process].has_dump)
		capture_drop(capture, c->capture_room);
	const enum capture_state before = capture->state;
	set_more(c, map, capture_step(capture, &map->follow, c->capture_room));
	if (capture->state != before)
		tell_state(c, map);
	if (capture->counts.too_long_count && !c->is_length_told) {
		collector_add_note(c,
				   "the code of process %d is not all in the recording: a line of "
				   "its map may speak of %d MB",
				   capture->pid, CAPTURE_LINE_BYTES / MEGABYTE);
		c->is_length_told = true;
	}
}

bool collector_capture_more(struct collector *c)
{
	for (size_t i = 0; c->busy_captures && i < c->maps.count; i++) {
		struct map *map = &c->maps.items[c->capture_next++ % c->maps.count];
		if (map->has_more_code) {
			collector_capture(c, map);
			break;
		}
	}
	return c->busy_captures > 0;
}

int collector_write_code(struct collector *c, struct bundle_writer *writer, struct map *map)
{
	struct capture *capture = &map->capture;
	char name[512];
	if (map->captured_process == COLLECTOR_NONE)
		return 0;
	const struct process *process = &c->processes.items[map->process];
	if (process->has_dump || process->pid != capture->pid ||
	    capture->cut_count != map->follow.cut_count)
		capture_drop(capture, c->capture_room);
	const enum capture_state before = capture->state;
	const bool is_there = capture_finish(capture);
	if (capture->state != before)
		tell_state(c, map);
	if (!is_there)
		return 0;
	(void)snprintf(name, sizeof(name), "%s.code", map->member);
	c->totals.code_lines += capture->counts.line_count;
	c->totals.code_bytes += capture->counts.code_bytes;
	return capture->spool_fd >= 0
		   ? bundle_writer_add_fd(writer, name, capture->spool_fd, UINT64_MAX)
		   : bundle_writer_add(writer, name, sink_bytes(&capture->out));
}

void collector_put_code(const struct collector *c, struct sink *out)
{
	struct capture_counts sum = { 0 };
	uint64_t refused = 0;
	uint64_t limited = 0;
	if (c->options.no_code)
		return;
	for (size_t i = 0; i < c->maps.count; i++) {
		const struct capture *capture = &c->maps.items[i].capture;
		sum.unreadable_count += capture->counts.unreadable_count;
		sum.replaced_count += capture->counts.replaced_count;
		sum.too_long_count += capture->counts.too_long_count;
		refused += capture->state == CAPTURE_REFUSED;
		limited += capture->state == CAPTURE_FULL || capture->state == CAPTURE_FAILED;
	}
	sink_printf(out,
		    ",\n  \"code\": {\"lines\": %llu, \"bytes\": %llu, \"unreadable\": %llu, "
		    "\"replaced\": %llu, \"too_long\": %llu, \"refused\": %llu, \"limited\": "
		    "%llu}",
		    (unsigned long long)c->totals.code_lines,
		    (unsigned long long)c->totals.code_bytes,
		    (unsigned long long)sum.unreadable_count,
		    (unsigned long long)sum.replaced_count, (unsigned long long)sum.too_long_count,
		    (unsigned long long)refused, (unsigned long long)limited);
}
