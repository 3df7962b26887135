/* check.h - what lint's tests share: one finding at one place, and no other. */
#ifndef TESTS_LINT_CHECK_H
#define TESTS_LINT_CHECK_H

#include "test.h"

#include "lint/lint.h"

static bool check_seen[LINT_KIND_COUNT];

static inline const struct lint_finding *check_find(const struct lint *lint, enum lint_kind kind)
{
	for (size_t i = 0; i < lint->findings.count; i++)
		if (lint->findings.items[i].kind == kind)
			return &lint->findings.items[i];
	return NULL;
}

/* The file has findings of the kind, the first at `offset`, and no other errors or
 * warnings; returns how many of the kind.
 */
static inline uint64_t check_finds(struct bytes file, enum lint_kind kind, uint64_t offset)
{
	struct lint lint = { .limit = 0 };
	assert_int_equal(lint_file(&lint, file), 0);
	const struct lint_finding *found = check_find(&lint, kind);
	for (size_t i = 0; i < lint.findings.count; i++) {
		const struct lint_finding *finding = &lint.findings.items[i];
		if (finding->kind != kind &&
		    (!found || lint_kind_severity(finding->kind) > LINT_SEVERITY_NOTE))
			fail_msg("besides %s: %s at %llu: %s", lint_kind_name(kind),
				 lint_kind_name(finding->kind), (unsigned long long)finding->offset,
				 finding->text);
	}
	if (!found)
		fail_msg("no %s", lint_kind_name(kind));
	assert_int_equal(found->offset, offset);
	assert_true(strlen(found->text) > 0);
	const uint64_t count = lint.counts[kind];
	check_seen[kind] = true;
	lint_clear(&lint);
	return count;
}

static inline void check_clean(struct bytes file)
{
	struct lint lint = { .limit = 0 };
	assert_int_equal(lint_file(&lint, file), 0);
	if (lint.findings.count)
		fail_msg("%s: %s", lint_kind_name(lint.findings.items[0].kind),
			 lint.findings.items[0].text);
	lint_clear(&lint);
}

/* Called last: every kind of the range was found by a case. */
static inline void check_all_seen(enum lint_kind first, enum lint_kind last)
{
	for (enum lint_kind kind = first; kind <= last; kind++)
		if (!check_seen[kind])
			fail_msg("no case finds %s", lint_kind_name(kind));
}

#endif
