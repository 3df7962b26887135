#include "lint/lint.h"

#include "base/escape.h"
#include "base/status.h"
#include "format/jitdump/reader.h"
#include "format/nettrace/nettrace.h"
#include "lint/lint_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	const char *meaning;
	enum lint_severity severity;
} kinds[LINT_KIND_COUNT] = {
#define X(id, name, severity, meaning) { name, meaning, LINT_SEVERITY_##severity },
	LINT_KIND_LIST(X)
#undef X
};

const char *lint_kind_name(enum lint_kind kind)
{
	return kinds[kind].name;
}

const char *lint_kind_meaning(enum lint_kind kind)
{
	return kinds[kind].meaning;
}

enum lint_severity lint_kind_severity(enum lint_kind kind)
{
	return kinds[kind].severity;
}

const char *lint_severity_name(enum lint_severity severity)
{
	static const char *const names[LINT_SEVERITY_COUNT] = { "note", "warning", "error" };
	return names[severity];
}

const char *lint_format_name(enum lint_format format)
{
	static const char *const names[] = {
		[LINT_FORMAT_UNKNOWN] = "unknown",    [LINT_FORMAT_JITDUMP] = "jitdump",
		[LINT_FORMAT_PERFMAP] = "perf map",   [LINT_FORMAT_TIMES] = "times of a perf map",
		[LINT_FORMAT_PERFDATA] = "perf.data", [LINT_FORMAT_NETTRACE] = "event stream",
	};
	return names[format];
}

uint64_t lint_count(const struct lint *lint, enum lint_severity severity)
{
	uint64_t count = 0;
	for (int kind = 0; kind < LINT_KIND_COUNT; kind++)
		if (kinds[kind].severity == severity)
			count += lint->counts[kind];
	return count;
}

void lint_tell(struct lint *lint, enum lint_kind kind, struct lint_place place, const char *format,
	       ...)
{
	lint->counts[kind]++;
	const bool is_note = kinds[kind].severity == LINT_SEVERITY_NOTE;
	if (lint->limit && lint->counts[kind] > (is_note ? 1 : lint->limit))
		return;
	char text[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const size_t size = strlen(text) + 1;
	char *kept = arena_new(&lint->arena, char, size);
	struct lint_finding *finding = kept ? vector_push(&lint->findings) : NULL;
	if (!finding) {
		lint->is_out_of_memory = true;
		return;
	}
	memcpy(kept, text, size);
	*finding = (struct lint_finding){
		.kind = kind,
		.offset = place.offset,
		.line = place.line,
		.record = place.record,
		.text = kept,
	};
}

static bool has_control(struct bytes name)
{
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] < 0x20 || name.data[i] == 0x7f)
			return true;
	return false;
}

void lint_name(struct lint *lint, struct lint_place place, struct bytes name)
{
	if (!name.size) {
		lint_tell(lint, LINT_NAME_EMPTY, place, "code without a name");
		return;
	}
	if (escape_is_plain(name))
		return;
	if (memchr(name.data, '\n', name.size))
		lint_tell(lint, LINT_NAME_NEWLINE, place, "a newline in the name: %.*s",
			  LINT_NAME(name));
	else if (has_control(name))
		lint_tell(lint, LINT_NAME_CONTROL, place, "control bytes in the name: %.*s",
			  LINT_NAME(name));
	else
		lint_tell(lint, LINT_NAME_BYTES, place, "the name is not UTF-8: %.*s",
			  LINT_NAME(name));
}

enum lint_format lint_format(struct bytes file)
{
	static const char times[] = "perfmap-times ";
	static const char perf_data[] = "PERFILE2";
	static const char perf_data_swapped[] = "2ELIFREP";
	if (jitdump_is_magic(file))
		return LINT_FORMAT_JITDUMP;
	if (file.size >= 8 &&
	    (!memcmp(file.data, perf_data, 8) || !memcmp(file.data, perf_data_swapped, 8)))
		return LINT_FORMAT_PERFDATA;
	if (nettrace_is_magic(file))
		return LINT_FORMAT_NETTRACE;
	if (file.size >= sizeof(times) - 1 && !memcmp(file.data, times, sizeof(times) - 1))
		return LINT_FORMAT_TIMES;
	return lint_is_perfmap(file) ? LINT_FORMAT_PERFMAP : LINT_FORMAT_UNKNOWN;
}

static int by_offset(const void *left, const void *right)
{
	const struct lint_finding *a = left;
	const struct lint_finding *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

static int check(struct lint *lint, struct bytes file)
{
	switch (lint->format) {
	case LINT_FORMAT_JITDUMP:
		return lint_jitdump(lint, file);
	case LINT_FORMAT_PERFMAP:
		return lint_perfmap(lint, file);
	case LINT_FORMAT_TIMES:
		return lint_times(lint, file);
	case LINT_FORMAT_PERFDATA:
		return lint_perfdata(lint, file);
	case LINT_FORMAT_NETTRACE:
		return lint_nettrace(lint, file);
	case LINT_FORMAT_UNKNOWN:
		break;
	}
	return STATUS_NOT_FORMAT;
}

int lint_file_as(struct lint *lint, struct bytes file, enum lint_format format)
{
	lint->format = format;
	if (!file.size) {
		lint_tell(lint, LINT_EMPTY, (struct lint_place){ .record = "file" },
			  "the file is empty");
		return lint->is_out_of_memory ? STATUS_NO_MEMORY : STATUS_OK;
	}
	const int got = check(lint, file);
	if (got < 0)
		return got;
	if (sink_failed(&lint->contents) || lint->is_out_of_memory)
		return STATUS_NO_MEMORY;
	if (lint->findings.count)
		qsort(lint->findings.items, lint->findings.count, sizeof(struct lint_finding),
		      by_offset);
	return STATUS_OK;
}

int lint_file(struct lint *lint, struct bytes file)
{
	return lint_file_as(lint, file, lint_format(file));
}

void lint_clear(struct lint *lint)
{
	vector_clear(&lint->findings);
	arena_clear(&lint->arena);
	sink_clear(&lint->contents);
	*lint = (struct lint){ .limit = lint->limit };
}
