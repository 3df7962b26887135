/* stretch.h - records that the kernel made too long.
 *
 * Of KSYMBOL, BPF_EVENT and TEXT_POKE the kernel (5.1 to 6.18 at least; kernel/events/core.c) makes
 * one header for all events that listen and adds the trailer's size for each: the second listener's
 * record is a trailer longer than what is written into it, the third's two. Its trailer lies behind
 * the fields; what follows is whatever was in the ring. A reader that counts from the end finds no
 * time and no id.
 */
#ifndef FORMAT_PERFDATA_STRETCH_H
#define FORMAT_PERFDATA_STRETCH_H

#include "base/bytes.h"

#include <stdbool.h>

static inline bool perfdata_can_be_stretched(uint32_t type)
{
	const uint32_t kinds = 1u << 17 | 1u << 18 | 1u << 20;
	return type < 32 && kinds >> type & 1;
}

/* How much of the body (what is behind the header) was written; all of it where that cannot be
 * told. */
size_t perfdata_written_size(uint32_t type, struct bytes body, size_t trailer_size, bool swap);

/* Cuts whole records in host byte order, in place; returns the bytes that are left. */
size_t perfdata_unstretch(uint8_t *records, size_t size, size_t trailer_size);

#endif
