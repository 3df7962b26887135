#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_table *table;
	uint64_t sum = 0;
	if (cfi_table_section(&table, (struct bytes){ data, size }, 0x1000) < 0)
		return 0;
	for (uint64_t svma = 0; svma < 0x4000; svma += 64) {
		const struct cfi_row *row = cfi_find(table, svma);
		sum += row ? row->frame : 0;
	}
	cfi_table_free(table);
	return sum == UINT64_MAX;
}
