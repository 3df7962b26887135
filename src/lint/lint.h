/* lint.h - what is wrong with a jitdump, a perf map, a perf.data file or a .NET event stream.
 *
 *   struct lint lint = { .limit = 5 };
 *   if (lint_file(&lint, bytes) == 0)
 *           for (size_t i = 0; i < lint.findings.count; i++)
 *                   print(&lint.findings.items[i]);
 *   lint_clear(&lint);
 *
 * Of each kind the first `limit` findings are kept, of notes the first one (limit
 * 0: all), and all are counted.
 * Does no I/O. Findings and their texts live until lint_clear(). One thread.
 */
#ifndef LINT_LINT_H
#define LINT_LINT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/progress.h"
#include "base/sink.h"
#include "base/vector.h"
#include "lint/kinds.h"

enum lint_severity {
	LINT_SEVERITY_NOTE,    /* unusual, and good to know */
	LINT_SEVERITY_WARNING, /* what is there will mislead tools */
	LINT_SEVERITY_ERROR,   /* information is lost: the file does not hold it */
	LINT_SEVERITY_COUNT,
};

enum lint_format {
	LINT_FORMAT_UNKNOWN,
	LINT_FORMAT_JITDUMP,
	LINT_FORMAT_PERFMAP,
	LINT_FORMAT_TIMES,
	LINT_FORMAT_PERFDATA,
	LINT_FORMAT_NETTRACE,
};

struct lint_finding {
	enum lint_kind kind;
	uint64_t offset;
	uint64_t line;      /* of a text file, 1-based; else 0 */
	const char *record; /* "LOAD", "header"; "" in text files */
	const char *text;   /* may hold any bytes that a name may */
};

struct lint {
	struct progress *progress; /* told by the records; may be NULL */
	unsigned limit;
	enum lint_format format;
	VECTOR(struct lint_finding) findings; /* by offset */
	uint64_t counts[LINT_KIND_COUNT];
	struct sink contents; /* text: "2560 LOAD, 66 DEBUG_INFO" */
	struct arena arena;
	bool is_out_of_memory;
};

/* By content; a file that is empty or of another format is UNKNOWN. */
enum lint_format lint_format(struct bytes file);

/* Returns 0, STATUS_NOT_FORMAT where the file is none of these, what its reader said
 * of a file that it could not open, or STATUS_NO_MEMORY.
 */
int lint_file(struct lint *lint, struct bytes file);

/* For a map that is known to be one, whatever it holds. */
int lint_file_as(struct lint *lint, struct bytes file, enum lint_format format);

void lint_clear(struct lint *lint);

uint64_t lint_count(const struct lint *lint, enum lint_severity severity);

const char *lint_kind_name(enum lint_kind kind);
const char *lint_kind_meaning(enum lint_kind kind);
enum lint_severity lint_kind_severity(enum lint_kind kind);
const char *lint_severity_name(enum lint_severity severity);
const char *lint_format_name(enum lint_format format);

#endif
