#include "format/perfdata/perfdata_internal.h"

/* More kinds than this are one: a hostile file has as many types as it likes. */
enum { PROBLEM_KINDS = 64, PROBLEM_SLOTS = 128 };

static struct perfdata_problem_kind *find_kind(struct perfdata *file, uint32_t type, int status,
					       const char *what)
{
	for (size_t i = 0; i < file->problems.count; i++) {
		struct perfdata_problem_kind *kind = &file->problems.items[i];
		const struct perfdata_problem *p = &kind->problem;
		if (p->record_type == type && p->status == status &&
		    (p->what == what || strcmp(p->what, what) == 0))
			return kind;
	}
	return NULL;
}

static int note(struct perfdata *file, struct perfdata_problem problem, uint64_t ordinal)
{
	struct perfdata_problem_kind *kind =
	    find_kind(file, problem.record_type, problem.status, problem.what);
	if (!kind && file->problems.count >= PROBLEM_KINDS - 1) {
		problem.record_type = 0;
		problem.what = "more kinds of problems than are told apart";
		kind = find_kind(file, 0, problem.status, problem.what);
		/* One slot a status is enough; past that the last one takes all. */
		if (!kind && file->problems.count >= PROBLEM_SLOTS)
			kind = &file->problems.items[file->problems.count - 1];
	}
	if (!kind) {
		/* Reserved once, so that perfdata_problem() pointers stay. */
		if (!vector_reserve(&file->problems, PROBLEM_SLOTS - file->problems.count))
			return problem.status;
		kind = vector_push(&file->problems);
		kind->problem = problem;
		kind->last_ordinal = UINT64_MAX;
	}
	if (kind->last_ordinal == UINT64_MAX || ordinal > kind->last_ordinal || !ordinal) {
		kind->problem.count++;
		kind->last_ordinal = ordinal;
	}
	return problem.status;
}

int perfdata_note(struct perfdata *file, uint32_t type, uint64_t offset, int status,
		  const char *what)
{
	return note(
	    file,
	    (struct perfdata_problem){
		.first_offset = offset, .record_type = type, .status = status, .what = what },
	    file->ordinal);
}

int perfdata_note_record(struct perfdata *file, const struct perfdata_record *record, int status,
			 const char *what)
{
	return note(file,
		    (struct perfdata_problem){ .first_offset = record->offset,
					       .record_type = record->type,
					       .status = status,
					       .what = what },
		    record->ordinal);
}

size_t perfdata_problem_count(const struct perfdata *file)
{
	return file->problems.count;
}

const struct perfdata_problem *perfdata_problem(const struct perfdata *file, size_t index)
{
	return index < file->problems.count ? &file->problems.items[index].problem : NULL;
}
