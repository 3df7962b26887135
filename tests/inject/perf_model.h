/* perf_model.h - which mapping stock perf takes an address for, the slow way.
 *
 *   struct perf_model model = { 0 };
 *   perf_model_take(&model, perf, &record);                 each record, in file order
 *   perf_model_at(&model, pid, avma, &mapping)
 *   perf_model_clear(&model);
 *
 * A process is a list of mappings, the newest last: the newest that covers an address has it. A
 * fork copies the list, unless its misc says that the child was there before (FORK_EXEC); it takes
 * the place of what was known of the child. An exec and an exit change nothing, as in perf.
 */
#ifndef TESTS_INJECT_PERF_MODEL_H
#define TESTS_INJECT_PERF_MODEL_H

#include "base/vector.h"
#include "format/perfdata/records.h"

struct model_mapping {
	uint64_t start_avma;
	uint64_t last_avma; /* inclusive */
	uint64_t file_off;
	bool is_data;
	const char *path; /* lives as long as the reader */
};

struct model_process {
	uint32_t pid;
	VECTOR(struct model_mapping) mappings;
};

struct perf_model {
	VECTOR(struct model_process) processes;
	size_t mapping_count; /* of all of them: for those who must not take too much */
};

/* False without memory. */
bool perf_model_take(struct perf_model *model, struct perfdata *perf,
		     const struct perfdata_record *record);

/* False where perf knows no mapping. */
bool perf_model_at(const struct perf_model *model, uint32_t pid, uint64_t avma,
		   struct model_mapping *mapping);

void perf_model_clear(struct perf_model *model);

#endif
