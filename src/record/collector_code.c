/* The code of processes that write a perf map and no jitdump. */
#include "base/status.h"
#include "record/collector_internal.h"

#include <stdio.h>

enum { MEGABYTE = 1 << 20 };

static void set_more(struct collector *c, struct map *map, bool has_more)
{
	c->busy_codes += (size_t)has_more;
	c->busy_codes -= (size_t)map->has_more_code;
	map->has_more_code = has_more;
}

/* Whose memory it is. A number is used again: what one process did not live to be read of
 * is not looked for in the next one.
 */
static void find_process(struct collector *c, struct map *map)
{
	const uint32_t known = map->code_process;
	if (known != COLLECTOR_NONE) {
		if (c->processes.items[known].end_ns == 0)
			return;
		map_code_end(&map->code);
	}
	if (map->owner_known_at == c->process_changes)
		return;
	map->owner_known_at = c->process_changes;
	const uint32_t index = collector_find_owner(c, map->directory, map->number);
	if (index == COLLECTOR_NONE || index == known ||
	    !collector_may_own(c, index, map->follow.owner))
		return;
	map->code_process = index;
	map_code_begin(&map->code, c->processes.items[index].pid,
		       known == COLLECTOR_NONE ? 0 : map->follow.known_size);
	if (c->processes.items[index].end_ns)
		map_code_end(&map->code);
}

static void tell_state(struct collector *c, const struct map *map)
{
	const struct map_code *code = &map->code;
	switch (code->state) {
	case MAP_CODE_REFUSED:
		if (!c->is_refusal_told)
			collector_add_note(c,
					   "the code of process %d may not be read (%s): the "
					   "functions of its map have names, and no instructions",
					   code->pid, strerror(code->error));
		c->is_refusal_told = true;
		return;
	case MAP_CODE_FULL:
		if (!c->is_limit_told)
			collector_add_note(c,
					   "the code of process %d is not all in the recording: "
					   "the limit is %d MB a map, and %d MB for all",
					   code->pid, MAP_CODE_MAP_BYTES / MEGABYTE,
					   MAP_CODE_ALL_BYTES / MEGABYTE);
		c->is_limit_told = true;
		return;
	case MAP_CODE_FAILED:
		collector_add_note(c, "the code of process %d could not be kept: %s", code->pid,
				   code->error ? strerror(code->error)
					       : status_text(STATUS_NO_MEMORY));
		return;
	default:
		return;
	}
}

void collector_read_code(struct collector *c, struct map *map)
{
	if (c->options.no_code)
		return;
	find_process(c, map);
	if (map->code_process == COLLECTOR_NONE)
		return;
	if (!c->code_room)
		c->code_room = map_code_room_new();
	if (!c->code_room)
		return;
	struct map_code *code = &map->code;
	if (c->processes.items[map->code_process].has_dump)
		map_code_drop(code, c->code_room);
	const enum map_code_state before = code->state;
	set_more(c, map, map_code_step(code, &map->follow, c->code_room));
	if (code->state != before)
		tell_state(c, map);
	if (code->counts.too_long_count && !c->is_length_told) {
		collector_add_note(c,
				   "the code of process %d is not all in the recording: a line of "
				   "its map may speak of %d MB",
				   code->pid, MAP_CODE_LINE_BYTES / MEGABYTE);
		c->is_length_told = true;
	}
}

bool collector_read_more_code(struct collector *c)
{
	for (size_t i = 0; c->busy_codes && i < c->maps.count; i++) {
		struct map *map = &c->maps.items[c->code_turn++ % c->maps.count];
		if (map->has_more_code) {
			collector_read_code(c, map);
			break;
		}
	}
	return c->busy_codes > 0;
}

int collector_write_code(struct collector *c, struct bundle_writer *writer, struct map *map)
{
	struct map_code *code = &map->code;
	char name[512];
	if (map->code_process == COLLECTOR_NONE || (c->is_looking && c->leaves_code))
		return 0;
	const struct process *process = &c->processes.items[map->process];
	if (process->has_dump || process->pid != code->pid ||
	    code->cut_count != map->follow.cut_count)
		map_code_drop(code, c->code_room);
	const enum map_code_state before = code->state;
	const bool is_there = c->is_looking ? map_code_flush(code) : map_code_finish(code);
	if (code->state != before)
		tell_state(c, map);
	if (!is_there)
		return 0;
	(void)snprintf(name, sizeof(name), "%s.code", map->member);
	c->totals.code_lines += code->counts.line_count;
	c->totals.code_bytes += code->counts.code_bytes;
	return code->spool_fd >= 0 ? bundle_writer_add_fd(writer, name, code->spool_fd, UINT64_MAX)
				   : bundle_writer_add(writer, name, sink_bytes(&code->out));
}

void collector_put_code(const struct collector *c, struct sink *out)
{
	struct map_code_counts sum = { 0 };
	uint64_t refused = 0;
	uint64_t limited = 0;
	if (c->options.no_code)
		return;
	for (size_t i = 0; i < c->maps.count; i++) {
		const struct map_code *code = &c->maps.items[i].code;
		sum.unreadable_count += code->counts.unreadable_count;
		sum.replaced_count += code->counts.replaced_count;
		sum.too_long_count += code->counts.too_long_count;
		refused += code->state == MAP_CODE_REFUSED;
		limited += code->state == MAP_CODE_FULL || code->state == MAP_CODE_FAILED;
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
