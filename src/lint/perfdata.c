#include "format/perfdata/reader.h"

#include "base/status.h"
#include "format/frames/reader.h"
#include "format/perfdata/records.h"
#include "lint/lint_internal.h"

#include <string.h>
#include <time.h>

enum { ATTR_SIZE_KNOWN = 136 }; /* Linux 6.3 */

struct walk {
	struct lint *lint;
	struct perfdata *file;
	uint64_t record_count;
	uint64_t sample_count;
	uint64_t frames_count;    /* records of the walk of interpreters, which are samples, too */
	uint64_t latest_ns;       /* of all records so far */
	uint64_t round_latest_ns; /* before the last FINISHED_ROUND */
	uint64_t flushed_ns;      /* before the one before it: nothing older may follow */
	uint64_t jitdump_off;     /* of the first mapping that announces one; 0: none */
};

static struct lint_place at_record(const struct perfdata_record *record)
{
	return (struct lint_place){ .offset = record->offset,
				    .record = perfdata_record_name(record->type) };
}

static void check_attrs(struct walk *walk)
{
	const struct lint_place at = { .record = "attr" };
	for (size_t i = 0; i < perfdata_event_count(walk->file); i++) {
		const struct perfdata_event *event = perfdata_event(walk->file, i);
		const struct perfdata_attr *attr = &event->attr;
		if (attr->size > ATTR_SIZE_KNOWN)
			lint_tell(walk->lint, LINT_NEWER, at,
				  "%s: attr of %" PRIu32 " bytes, %d are known", event->name,
				  attr->size, ATTR_SIZE_KNOWN);
		if (!(attr->sample_type & PERFDATA_SAMPLE_TIME))
			lint_tell(walk->lint, LINT_NO_TIMES, at, "%s: samples carry no time",
				  event->name);
		else if (!(attr->flags & PERFDATA_ATTR_SAMPLE_ID_ALL))
			lint_tell(walk->lint, LINT_NO_TIMES, at, "%s: only samples carry a time",
				  event->name);
		const bool is_monotonic =
		    attr->flags & PERFDATA_ATTR_USE_CLOCKID && attr->clockid == CLOCK_MONOTONIC;
		if (walk->jitdump_off && !is_monotonic)
			lint_tell(
			    walk->lint, LINT_CLOCK,
			    (struct lint_place){ .offset = walk->jitdump_off, .record = "MMAP2" },
			    "a jitdump is mapped, and %s is not stamped with CLOCK_MONOTONIC",
			    event->name);
	}
}

static void check_order(struct walk *walk, const struct perfdata_record *record)
{
	if (record->type == PERFDATA_FINISHED_ROUND) {
		walk->flushed_ns = walk->round_latest_ns;
		walk->round_latest_ns = walk->latest_ns;
		return;
	}
	const uint64_t time_ns = perfdata_record_time_ns(walk->file, record);
	if (time_ns && time_ns < walk->flushed_ns)
		lint_tell(walk->lint, LINT_ORDER, at_record(record),
			  "%" PRIu64 " ns older than a round that was finished",
			  walk->flushed_ns - time_ns);
	if (time_ns > walk->latest_ns)
		walk->latest_ns = time_ns;
}

static bool is_jitdump_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t length = strlen(name);
	return length > 9 && strncmp(name, "jit-", 4) == 0 &&
	       strcmp(name + length - 5, ".dump") == 0;
}

/* What the walk of interpreters wrote, as samples of an event of its own. */
static void take_sample(struct walk *walk, const struct perfdata_record *record)
{
	struct perfdata_sample sample;
	struct frames_record frames;
	const bool is_known = perfdata_decode_sample(walk->file, record, &sample) == 0;
	if (!is_known ||
	    strcmp(perfdata_event(walk->file, sample.event)->name, FRAMES_EVENT_NAME) != 0) {
		walk->sample_count++;
		return;
	}
	walk->frames_count++;
	const int got = frames_read(&frames, sample.raw);
	if (got < 0)
		lint_tell(walk->lint, got == STATUS_UNSUPPORTED ? LINT_UNKNOWN : LINT_RECORD,
			  at_record(record), "frames of an interpreter: %s", status_text(got));
}

/* Decodes what loading a recording would: the reader keeps what is wrong with it. */
static void decode(struct walk *walk, const struct perfdata_record *record)
{
	union {
		struct perfdata_mmap mmap;
		struct perfdata_comm comm;
		struct perfdata_task task;
		struct perfdata_lost lost;
		struct perfdata_ksymbol ksymbol;
		struct perfdata_namespaces namespaces;
		struct perfdata_cgroup cgroup;
	} as;
	switch (record->type) {
	case PERFDATA_SAMPLE:
		take_sample(walk, record);
		break;
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		if (perfdata_decode_mmap(walk->file, record, &as.mmap) == 0 && !walk->jitdump_off &&
		    is_jitdump_name(as.mmap.path))
			walk->jitdump_off = record->offset;
		break;
	case PERFDATA_COMM:
		(void)perfdata_decode_comm(walk->file, record, &as.comm);
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		(void)perfdata_decode_task(walk->file, record, &as.task);
		break;
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		if (perfdata_decode_lost(walk->file, record, &as.lost) == 0 && as.lost.count)
			lint_tell(walk->lint, LINT_LOST, at_record(record),
				  "%" PRIu64 " were lost before it", as.lost.count);
		break;
	case PERFDATA_KSYMBOL:
		(void)perfdata_decode_ksymbol(walk->file, record, &as.ksymbol);
		break;
	case PERFDATA_NAMESPACES:
		(void)perfdata_decode_namespaces(walk->file, record, &as.namespaces);
		break;
	case PERFDATA_CGROUP:
		(void)perfdata_decode_cgroup(walk->file, record, &as.cgroup);
		break;
	case PERFDATA_THROTTLE:
		lint_tell(walk->lint, LINT_THROTTLED, at_record(record), "sampling stood still");
		break;
	default:
		break;
	}
}

/* The reader tells kinds, with how many there were. */
static void tell_problems(struct walk *walk)
{
	struct lint *lint = walk->lint;
	for (size_t i = 0; i < perfdata_problem_count(walk->file); i++) {
		const struct perfdata_problem *problem = perfdata_problem(walk->file, i);
		const bool is_newer =
		    problem->status == STATUS_UNSUPPORTED &&
		    strcmp(perfdata_record_name(problem->record_type), "unknown") == 0;
		const enum lint_kind kind = is_newer ? LINT_UNKNOWN : LINT_RECORD;
		const struct lint_place at = {
			.offset = problem->first_offset,
			.record = problem->record_type ? perfdata_record_name(problem->record_type)
						       : "file",
		};
		lint_tell(lint, kind, at, "%s (%" PRIu64 " in all)", problem->what, problem->count);
		lint->counts[kind] += problem->count - 1;
	}
	if (perfdata_is_interrupted(walk->file))
		lint_tell(lint, LINT_INTERRUPTED, (struct lint_place){ .record = "header" },
			  "it does not say how long the records are");
}

int lint_perfdata(struct lint *lint, struct bytes file)
{
	struct walk walk = { .lint = lint };
	struct perfdata_record record;
	int got = perfdata_open(&walk.file, file, NULL);
	if (got < 0)
		return got;
	while ((got = perfdata_next(walk.file, &record)) > 0) {
		progress_at(lint->progress, "records", record.offset, file.size);
		walk.record_count++;
		check_order(&walk, &record);
		decode(&walk, &record);
	}
	progress_done(lint->progress, "records", file.size);
	check_attrs(&walk);
	if (got == 0)
		got = lint_bpf(lint, walk.file, file);
	tell_problems(&walk);
	sink_printf(&lint->contents, "%" PRIu64 " records, %" PRIu64 " samples", walk.record_count,
		    walk.sample_count);
	if (walk.frames_count)
		sink_printf(&lint->contents, ", %" PRIu64 " of frames of interpreters",
			    walk.frames_count);
	perfdata_close(walk.file);
	return got;
}
