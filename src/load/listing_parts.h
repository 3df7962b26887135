/* listing_parts.h - what the files of listing.h share. */
#ifndef LOAD_LISTING_PARTS_H
#define LOAD_LISTING_PARTS_H

#include "load/listing.h"
#include "load/load_internal.h"

/* listing_code.c: code made at run time. Returns 0 or STATUS_NO_MEMORY, like the others. */
int listing_of_code(struct load *load, const struct origin *origin, struct listing *listing);

/* listing_lines.c: lines and scopes of a piece, `size` bytes long. */
int listing_put_lines(struct load *load, uint32_t piece, uint64_t size, struct listing *listing);

/* listing_native.c: functions of a mapped file, and of the kernel. */
int listing_of_symbol(struct load *load, const struct origin *origin, struct listing *listing);
int listing_of_kernel(struct load *load, const struct origin *origin, struct listing *listing);

/* listing_native_lines.c: lines and scopes of a listing whose code is known. */
int listing_put_native_lines(struct load *load, struct debuginfo *info, struct listing *listing);

/* What the recording says it ran on. */
enum listing_machine listing_recorded_machine(const struct load *load);
/* By the number in ELF headers. */
enum listing_machine listing_elf_machine(uint32_t machine);

#endif
