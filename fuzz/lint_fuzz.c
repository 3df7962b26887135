/* Any bytes as a file to lint: each finding lies in the file and has words. */
#include "lint/lint.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes file = { .data = data, .size = size };
	struct lint lint = { .limit = 0 };
	if (lint_file(&lint, file) == 0) {
		uint64_t count = 0;
		for (int severity = 0; severity < LINT_SEVERITY_COUNT; severity++)
			count += lint_count(&lint, (enum lint_severity)severity);
		require(count >= lint.findings.count);
		uint64_t offset = 0;
		for (size_t i = 0; i < lint.findings.count; i++) {
			const struct lint_finding *finding = &lint.findings.items[i];
			require(finding->offset >= offset && finding->offset <= size);
			require(finding->record && finding->text && *finding->text);
			require(lint.counts[finding->kind] > 0);
			offset = finding->offset;
		}
	}
	lint_clear(&lint);
	return 0;
}
