/* cfi_entries.h - the CIEs and FDEs of a section. Shared inside unwind/. */
#ifndef UNWIND_CFI_ENTRIES_H
#define UNWIND_CFI_ENTRIES_H

#include "unwind/cfi_program.h"

/* Goes over a section's FDEs; zero-initialise but for the section. Keeps the CIE of the last one,
 * since runs of FDEs share theirs.
 */
struct cfi_entries {
	const struct cfi_section *section;
	struct cursor c;
	uint64_t cie_off;
	bool has_cie;      /* that of cie_off was read */
	bool is_cie_sound; /* and it makes sense */
	struct cfi_cie cie;
};

struct cfi_fde {
	uint64_t start_svma;
	uint64_t size;
	size_t off; /* of its length field in the section */
	struct cursor instructions;
};

void cfi_entries_init(struct cfi_entries *entries, const struct cfi_section *section);

/* The next FDE that makes sense, with entries->cie being its CIE; false at the end. */
bool cfi_entries_next(struct cfi_entries *entries, struct cfi_fde *fde);

/* The FDE whose length field is there. */
bool cfi_entries_at(struct cfi_entries *entries, size_t off, struct cfi_fde *fde);

#endif
