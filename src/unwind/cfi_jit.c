#include "base/status.h"
#include "unwind/cfi_table.h"

/* The blob is written before it is known where the code will lie: as if it lay behind it. */
enum { BLOB_ALIGN = 8 };

int cfi_table_jit(struct cfi_table **result, const struct cfi_jit *jit)
{
	if (jit->eh_frame_hdr_size > jit->unwinding.size || !jit->code_size)
		return STATUS_CORRUPT;
	const uint64_t behind = jit->code_svma + jit->code_size;
	const uint64_t svma = (behind + BLOB_ALIGN - 1) & ~(uint64_t)(BLOB_ALIGN - 1);
	const size_t size = jit->unwinding.size - (size_t)jit->eh_frame_hdr_size;
	struct cfi_sections sections = {
		.machine = jit->machine,
		.eh_frame = { jit->unwinding.data, size },
		.eh_frame_svma = svma,
		.data_svma = svma + size,
	};
	struct cfi_table *table;
	const int got = cfi_table_make(&table, &sections, NULL);
	if (got < 0)
		return got;
	/* A lone entry can only mean the whole function, wherever it thinks that it lies. */
	struct cfi_function *only = &table->functions.items[0];
	if (table->functions.count == 1 &&
	    (only->start_svma < jit->code_svma || only->start_svma >= behind)) {
		only->start_svma = jit->code_svma;
		only->size = jit->code_size < UINT32_MAX ? (uint32_t)jit->code_size : UINT32_MAX;
	}
	*result = table;
	return 0;
}
