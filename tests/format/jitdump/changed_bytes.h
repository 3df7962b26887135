/* changed_bytes.h - a changed byte may cost the record that it lies in, and no other. */
#ifndef TESTS_FORMAT_JITDUMP_CHANGED_BYTES_H
#define TESTS_FORMAT_JITDUMP_CHANGED_BYTES_H

#include "build.h"
#include "test.h"

/* Reads a dump and says of each record, by its offset, whether it was found. */
typedef void read_and_mark_records(struct bytes dump, const size_t *offsets, bool *found);

/* `offsets` are those of `count` records and of the end; `found` has room for as many. */
static inline void changed_bytes_lose_no_other(struct bytes dump, const size_t *offsets,
					       size_t count, bool *found,
					       read_and_mark_records *read)
{
	static const uint8_t changes[] = { 0x01, 0x02, 0x10, 0x40, 0x80, 0xff };
	for (size_t at = 0; at < dump.size; at++) {
		for (size_t c = 0; c < sizeof(changes); c++) {
			const struct bytes copy = build_part(dump, dump.size);
			((uint8_t *)(uintptr_t)copy.data)[at] ^= changes[c];
			read(copy, offsets, found);
			build_free(copy);
			for (size_t i = 0; at >= 12 && i < count; i++)
				if (!found[i] && (at < offsets[i] || at >= offsets[i + 1]))
					fail_msg("byte %zu ^ %02x lost record %zu", at, changes[c],
						 i);
		}
	}
}

#endif
