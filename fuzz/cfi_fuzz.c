/* The first byte says which machine, and whether it is .debug_frame; the rest is the section. */
#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_table *table;
	uint64_t sum = 0;
	if (!size)
		return 0;
	const struct bytes section = { data + 1, size - 1 };
	struct cfi_sections sections = { .machine = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64 };
	if (data[0] & 2) {
		sections.debug_frame = section;
	} else {
		sections.eh_frame = section;
		sections.eh_frame_svma = 0x1000;
	}
	if (cfi_table_sections(&table, &sections) < 0)
		return 0;
	for (uint64_t svma = 0; svma < 0x4000; svma += 64) {
		const struct cfi_row *row = cfi_find(table, svma);
		sum += row ? row->cfa.kind : 0;
	}
	cfi_table_free(table);
	return sum == UINT64_MAX;
}
