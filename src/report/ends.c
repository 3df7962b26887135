#include "report/ends.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	PLACE_LIMIT = 256,
	PLACES_SHOWN = 8,
	DUMP_LIMIT_BYTES = 65528, /* what a sample has room for */
};

static bool count_place(struct report_ends *ends, const struct report_end_place *seen)
{
	for (size_t i = 0; i < ends->places.count; i++) {
		struct report_end_place *place = &ends->places.items[i];
		if (place->end != seen->end || place->object != seen->object ||
		    place->name != seen->name)
			continue;
		place->count += seen->count;
		return true;
	}
	if (ends->places.count >= PLACE_LIMIT)
		return true;
	struct report_end_place *place = vector_push(&ends->places);
	if (!place)
		return false;
	*place = *seen;
	return true;
}

bool report_ends_count(struct report_ends *ends, const struct profile *profile,
		       const struct profile_row *row)
{
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	if (stack->end == PROFILE_END_NOT_DUMPED)
		return true;
	ends->dumped_count += row->count;
	ends->counts[stack->end] += row->count;
	if (stack->end == PROFILE_END_WHOLE)
		return true;
	struct report_end_place seen = { .end = stack->end, .count = row->count };
	if (stack->depth) {
		const uint32_t outermost =
		    profile->frame_ids.items[stack->first + stack->depth - 1];
		const uint32_t id = profile->frames.items[outermost].function;
		seen.object = profile->functions.items[id].object;
		seen.name =
		    profile->functions.items[id].is_unknown ? 0 : profile->functions.items[id].name;
	}
	return count_place(ends, &seen);
}

static int by_count(const void *left, const void *right)
{
	const struct report_end_place *a = left;
	const struct report_end_place *b = right;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

void report_ends_sort(struct report_ends *ends)
{
	if (ends->places.count)
		qsort(ends->places.items, ends->places.count, sizeof(ends->places.items[0]),
		      by_count);
}

void report_ends_clear(struct report_ends *ends)
{
	vector_clear(&ends->places);
}

void report_ends_line(struct sink *out, const struct report_ends *ends,
		      const struct profile *profile)
{
	if (!ends->dumped_count)
		return;
	const char *separator = "stacks: ";
	for (int end = PROFILE_END_WHOLE; end < PROFILE_END_COUNT; end++) {
		if (!ends->counts[end] && end != PROFILE_END_WHOLE)
			continue;
		sink_printf(out, "%s%.1f %% %s", separator,
			    100.0 * (double)ends->counts[end] / (double)ends->dumped_count,
			    profile_end_text((enum profile_end)end));
		if (end == PROFILE_END_TRUNCATED && profile->dump_bytes < DUMP_LIMIT_BYTES)
			sink_printf(out, " (record with -g dwarf,%d)", DUMP_LIMIT_BYTES);
		separator = ", ";
	}
	sink_text(out, "\n");
}

void report_ends_places(struct sink *out, const struct report_ends *ends,
			const struct profile *profile)
{
	const size_t count = ends->places.count < PLACES_SHOWN ? ends->places.count : PLACES_SHOWN;
	if (!count)
		return;
	sink_text(out, "\nWhere stacks end early:\n");
	for (size_t i = 0; i < count; i++) {
		const struct report_end_place *place = &ends->places.items[i];
		sink_printf(
		    out, "%7.2f%%  %s: ", 100.0 * (double)place->count / (double)ends->dumped_count,
		    profile_end_text((enum profile_end)place->end));
		escape_terminal(out, intern_get_bytes(&profile->strings, place->name));
		sink_text(out, place->name ? " (" : "(");
		escape_terminal(out, intern_get_bytes(&profile->strings, place->object));
		sink_text(out, ")\n");
	}
	if (ends->places.count > count)
		sink_printf(out, "          and %zu places more\n", ends->places.count - count);
}

static void put_string(struct sink *out, const struct profile *profile, uint32_t string)
{
	sink_u8(out, '"');
	escape_json(out, intern_get_bytes(&profile->strings, string));
	sink_u8(out, '"');
}

void report_ends_json(struct sink *out, const struct report_ends *ends,
		      const struct profile *profile)
{
	sink_text(out, "\"stack_ends\":{");
	for (int end = 0; end < PROFILE_END_COUNT; end++)
		sink_printf(out, "%s\"%s\":%" PRIu64, end ? "," : "",
			    profile_end_key((enum profile_end)end), ends->counts[end]);
	sink_text(out, "},\"ends_early\":[");
	for (size_t i = 0; i < ends->places.count; i++) {
		const struct report_end_place *place = &ends->places.items[i];
		sink_printf(out, "%s{\"end\":\"%s\",\"symbol\":", i ? "," : "",
			    profile_end_key((enum profile_end)place->end));
		put_string(out, profile, place->name);
		sink_text(out, ",\"object\":");
		put_string(out, profile, place->object);
		sink_printf(out, ",\"samples\":%" PRIu64 "}", place->count);
	}
	sink_text(out, "]");
}
