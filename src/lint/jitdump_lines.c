#include "lint/jitdump_internal.h"

static struct lint_place at_record(const struct jitdump_record *record)
{
	return (struct lint_place){ .offset = record->offset, .record = "DEBUG_INFO" };
}

void lint_lines_begin(struct lint_lines *lines, struct lint *lint, struct bytes file)
{
	*lines = (struct lint_lines){ .style = jitdump_debug_style(file) };
	if (lines->style.bias)
		lint_tell(lint, LINT_BIAS, (struct lint_place){ .record = "file" },
			  "the addresses of all lines are 0x%" PRIx64 " too high",
			  lines->style.bias);
}

static void tell_orphan(struct lint_lines *lines, struct lint *lint, const char *why)
{
	lint_tell(lint, LINT_LINES_ORPHAN, at_record(&lines->pending),
		  "lines of the code at 0x%" PRIx64 ": %s", lines->pending.debug_info.code_avma,
		  why);
	lines->has_pending = false;
}

void lint_lines_debug_info(struct lint_lines *lines, struct lint *lint,
			   const struct jitdump_record *record)
{
	if (lines->has_pending)
		tell_orphan(lines, lint, "more lines follow, and no LOAD");
	lines->pending = *record;
	lines->has_pending = true;
}

struct entries {
	uint64_t damaged_count;
	uint64_t outside_count;
	struct bytes repaired;
};

static void look_at(struct entries *seen, const struct jitdump_debug_entry *entry,
		    const struct jitdump_code_load *load)
{
	/* The entry behind the last byte ends the last line. */
	seen->outside_count += entry->avma - load->code_avma > load->code_size;
	if (!entry->is_name_damaged)
		return;
	seen->damaged_count++;
	if (!seen->repaired.size)
		seen->repaired = jitdump_debug_repair_name(entry->file, load->name);
}

static void tell_entries(struct lint *lint, const struct jitdump_record *record,
			 const struct entries *seen)
{
	const uint64_t count = record->debug_info.entry_count;
	if (seen->damaged_count && seen->repaired.size)
		lint_tell(lint, LINT_DAMAGED_FILE, at_record(record),
			  "%" PRIu64 " of %" PRIu64
			  " file names are overwritten; the LOAD's name still has it: %.*s",
			  seen->damaged_count, count, LINT_NAME(seen->repaired));
	else if (seen->damaged_count)
		lint_tell(lint, LINT_DAMAGED_FILE, at_record(record),
			  "%" PRIu64 " of %" PRIu64 " file names are overwritten",
			  seen->damaged_count, count);
	if (seen->outside_count)
		lint_tell(lint, LINT_LINES_OUTSIDE, at_record(record),
			  "%" PRIu64 " of %" PRIu64 " lines lie before or behind the code",
			  seen->outside_count, count);
}

void lint_lines_load(struct lint_lines *lines, struct lint *lint,
		     const struct jitdump_record *record)
{
	const struct jitdump_code_load *load = &record->code_load;
	if (!lines->has_pending)
		return;
	if (lines->pending.debug_info.code_avma != load->code_avma) {
		tell_orphan(lines, lint, "the LOAD that follows is of other code");
		return;
	}
	lines->has_pending = false;
	const struct jitdump_record *debug = &lines->pending;
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	struct entries seen = { 0 };
	int got;
	jitdump_debug_walk_init(&walk, debug, lines->style);
	const uint64_t claimed = walk.left;
	while ((got = jitdump_debug_entry_next(&walk, &entry)) > 0)
		look_at(&seen, &entry, load);
	if (got < 0)
		lint_tell(lint, LINT_LINES_CUT, at_record(debug),
			  "the bytes hold fewer than the %" PRIu64 " lines it promises", claimed);
	tell_entries(lint, debug, &seen);
}

void lint_lines_end(struct lint_lines *lines, struct lint *lint)
{
	if (lines->has_pending)
		tell_orphan(lines, lint, "no LOAD follows");
}
