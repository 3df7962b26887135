#include "base/status.h"
#include "format/nettrace/clr_event.h"
#include "lint/lint_internal.h"

struct walk {
	struct lint *lint;
	uint64_t counts[CLR_EVENT_TYPES + 1];
	uint64_t event_count;
};

static void note_problem(void *context, const struct nettrace_problem *problem)
{
	static const enum lint_kind KINDS[] = {
		[NETTRACE_PROBLEM_NO_END] = LINT_NO_END,   [NETTRACE_PROBLEM_CUT] = LINT_CUT,
		[NETTRACE_PROBLEM_GARBAGE] = LINT_GARBAGE, [NETTRACE_PROBLEM_CORRUPT] = LINT_RECORD,
		[NETTRACE_PROBLEM_NEWER] = LINT_UNKNOWN,
	};
	const struct walk *walk = context;
	const struct lint_place place = { .offset = problem->offset, .record = "stream" };
	if (problem->skipped_bytes)
		lint_tell(walk->lint, KINDS[problem->kind], place,
			  "%s: %" PRIu64 " bytes passed over", problem->what,
			  problem->skipped_bytes);
	else
		lint_tell(walk->lint, KINDS[problem->kind], place, "%s", problem->what);
}

/* Returns 0 or STATUS_NO_MEMORY. */
static int look_at(struct walk *walk, struct clr_rich_join *join,
		   const struct nettrace_event *event, uint32_t pointer_size)
{
	struct clr_event what;
	const struct lint_place place = { .offset = event->offset, .record = "event" };
	if (clr_event_read(event, pointer_size, &what) < 0)
		lint_tell(walk->lint, LINT_EVENT, place,
			  "event %" PRIu32 ", version %" PRIu32 ": its %zu bytes are too few",
			  event->id, event->version, event->payload.size);
	const int got = clr_rich_join_add(join, &what);
	walk->event_count++;
	walk->counts[what.kind]++;
	return got;
}

static void put_count(struct sink *out, uint64_t count, const char *what)
{
	if (count)
		sink_printf(out, ", %" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void put_contents(const struct walk *walk)
{
	struct sink *out = &walk->lint->contents;
	sink_printf(out, "%" PRIu64 " event%s", walk->event_count,
		    walk->event_count == 1 ? "" : "s");
	put_count(out, walk->counts[CLR_EVENT_METHOD], "method");
	put_count(out, walk->counts[CLR_EVENT_UNLOAD], "unload");
	put_count(out, walk->counts[CLR_EVENT_IL_MAP], "IL map");
	put_count(out, walk->counts[CLR_EVENT_RICH_MAP], "rich map");
	put_count(out, walk->counts[CLR_EVENT_MODULE], "module");
}

int lint_nettrace(struct lint *lint, struct bytes file)
{
	struct walk walk = { .lint = lint };
	const struct nettrace_options options = { note_problem, &walk };
	struct nettrace_reader *reader;
	struct nettrace_event event;
	struct clr_rich_join join = { 0 };
	int got = nettrace_open(&reader, file, &options);
	if (got < 0)
		return got;
	while (got >= 0 && (got = nettrace_next(reader, &event)) > 0)
		got = look_at(&walk, &join, &event, nettrace_pointer_size(reader));
	const uint64_t lost = nettrace_lost_events(reader);
	if (lost)
		lint_tell(lint, LINT_DROPPED, (struct lint_place){ .record = "stream" },
			  "there was no room for %" PRIu64 " event%s", lost, lost == 1 ? "" : "s");
	put_contents(&walk);
	clr_rich_join_clear(&join);
	nettrace_free(reader);
	return got;
}
