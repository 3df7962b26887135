/* leb.h - numbers of variable length (DWARF 5, 7.6). More than 64 bits of them fail the cursor. */
#ifndef DEBUGINFO_LEB_H
#define DEBUGINFO_LEB_H

#include "base/bytes.h"

static inline uint64_t leb_read(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		const uint8_t byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && (byte & 0x40) && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return value;
	}
	cursor_fail(c);
	return 0;
}

static inline uint64_t leb_unsigned(struct cursor *c)
{
	return leb_read(c, false);
}

static inline int64_t leb_signed(struct cursor *c)
{
	return (int64_t)leb_read(c, true);
}

#endif
