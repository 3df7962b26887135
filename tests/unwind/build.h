/* build.h - sections of call frame information made by hand.
 *
 *   struct section s = { .is_debug_frame = true };
 *   put_cie(&s, BYTES(0x0c, 7, 8, 0x90, 1));
 *   put_fde(&s, 0x401000, 0x40, BYTES(0x44, 0x0e, 16));
 *   struct cfi_table *table = table_of(&s);
 *   sink_clear(&s.out);
 *
 * Zero-initialised it is an .eh_frame of x86-64 at SECTION_SVMA, with version 1 and "zR" of
 * pc-relative 32-bit pointers.
 */
#ifndef TESTS_UNWIND_BUILD_H
#define TESTS_UNWIND_BUILD_H

#include "base/sink.h"
#include "unwind/cfi.h"

enum { SECTION_SVMA = 0x500000 };

#define BYTES(...)                                         \
	((struct bytes){ (const uint8_t[]){ __VA_ARGS__ }, \
			 sizeof((const uint8_t[]){ __VA_ARGS__ }) })

struct section {
	struct sink out;
	enum unwind_machine machine;
	bool is_debug_frame;
	bool is_64;          /* lengths of 64 bits */
	uint8_t version;     /* 0: 1 */
	const char *letters; /* NULL: "zR", or "" in .debug_frame */
	struct bytes extra;  /* data of the letters; empty: the encoding */
	uint8_t encoding;    /* 0: pc-relative sdata4; of .debug_frame none */
	size_t cie_off;      /* of the last one that was put */
};

void put_cie(struct section *s, struct bytes program);
void put_fde(struct section *s, uint64_t start_svma, uint64_t size, struct bytes program);

/* NULL where nothing came of it. */
struct cfi_table *table_of(const struct section *s);

/* The rule of one register; NULL where it has none. */
const struct cfi_rule *rule_of(const struct cfi_row *row, unsigned number);

#endif
