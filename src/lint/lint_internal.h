/* lint_internal.h - what the checks of this folder share. */
#ifndef LINT_LINT_INTERNAL_H
#define LINT_LINT_INTERNAL_H

#include "lint/lint.h"

#include <inttypes.h>

struct lint_place {
	uint64_t offset;
	uint64_t line;
	const char *record; /* a static text */
};

void lint_tell(struct lint *lint, enum lint_kind kind, struct lint_place place, const char *format,
	       ...) __attribute__((format(printf, 4, 5)));

/* For "%.*s": the start of a name, long enough to know it by. */
#define LINT_NAME(name) (int)((name).size < 100 ? (name).size : 100), (const char *)(name).data

/* A name's bytes; of jitdump and perf map alike. */
void lint_name(struct lint *lint, struct lint_place place, struct bytes name);

/* Each returns 0, or the negative status of a file that cannot be read at all. */
int lint_jitdump(struct lint *lint, struct bytes file);
int lint_perfmap(struct lint *lint, struct bytes file);
int lint_times(struct lint *lint, struct bytes file);
int lint_perfdata(struct lint *lint, struct bytes file);
int lint_nettrace(struct lint *lint, struct bytes file);

/* The features of BPF programs. Returns 0 or STATUS_NO_MEMORY. */
struct perfdata;
int lint_bpf(struct lint *lint, const struct perfdata *perf, struct bytes file);

bool lint_is_perfmap(struct bytes file);

#endif
