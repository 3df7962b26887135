#include "format/jitdump/extensions.h"
#include "lint/jitdump_internal.h"

static struct lint_place at_record(const struct jitdump_record *record)
{
	return (struct lint_place){ .offset = record->offset,
				    .record = jitdump_record_name(record->id) };
}

static int count_inlines(struct jitdump_about about, uint64_t *nested_count)
{
	struct jitdump_inline scope;
	uint32_t deepest = 0;
	int got;
	while ((got = jitdump_inline_next(&about, &scope)) > 0) {
		/* Outer scopes come first, so that each has its caller before it. */
		*nested_count += scope.depth > deepest;
		deepest = scope.depth + 1;
	}
	return got;
}

static int read_entries(const struct jitdump_record *record, uint64_t *nested_count)
{
	struct jitdump_about about = record->about;
	struct jitdump_method method = record->method;
	struct jitdump_bytecode bytecode;
	struct jitdump_annotation annotation;
	struct jitdump_method_line line;
	int got;
	switch (record->id) {
	case JITDUMP_INLINES:
		return count_inlines(about, nested_count);
	case JITDUMP_BYTECODES:
		while ((got = jitdump_bytecode_next(&about, &bytecode)) > 0)
			continue;
		return got;
	case JITDUMP_ANNOTATIONS:
		while ((got = jitdump_annotation_next(&about, &annotation)) > 0)
			continue;
		return got;
	default:
		while ((got = jitdump_method_line_next(&method, &line)) > 0)
			continue;
		return got;
	}
}

void lint_own_record(struct lint *lint, const struct jitdump_record *record)
{
	uint64_t nested_count = 0;
	if (record->is_torn)
		return;
	if (record->id == JITDUMP_METHOD)
		lint_name(lint, at_record(record), record->method.name);
	if (read_entries(record, &nested_count) < 0)
		lint_tell(lint, LINT_EXTENSION, at_record(record),
			  "an entry leads out of the record");
	if (nested_count)
		lint_tell(lint, LINT_EXTENSION, at_record(record),
			  "%" PRIu64 " inlined scopes have no caller before them", nested_count);
}
