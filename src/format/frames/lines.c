#include "format/frames/lines.h"

#include <limits.h>

/* CPython 3.8 and 3.9, Objects/lnotab_notes.txt: each pair adds to the address, then to the
 * line; the line at a position is that of the last pair that is not past it.
 */
static int64_t lnotab_line(struct bytes table, int64_t line, int64_t position)
{
	int64_t at = 0;
	for (size_t i = 0; i + 1 < table.size; i += 2) {
		at += table.data[i];
		if (at > position)
			break;
		line += (int8_t)table.data[i + 1];
	}
	return line;
}

/* CPython 3.10, PEP 626: a pair is a range of bytes and what its line adds; -128 is a range
 * without a line.
 */
static int64_t linetable_line(struct bytes table, int64_t line, int64_t position)
{
	int64_t end = 0;
	for (size_t i = 0; i + 1 < table.size; i += 2) {
		const int8_t delta = (int8_t)table.data[i + 1];
		end += table.data[i];
		if (delta != -128)
			line += delta;
		if (end > position)
			return delta == -128 ? 0 : line;
	}
	return 0;
}

/* 6 bits a byte, the least first; bit 6 says that there is more. */
static uint32_t varint(struct cursor *c)
{
	uint32_t value = 0;
	for (unsigned shift = 0; cursor_left(c); shift += 6) {
		const uint8_t byte = cursor_u8(c);
		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int64_t signed_varint(struct cursor *c)
{
	const uint32_t value = varint(c);
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* CPython 3.11 and later, PEP 657 and Objects/locations.md. An entry begins with a byte whose
 * top bit is set: a kind and a count of 2-byte code units.
 */
static int64_t locations_line(struct bytes table, int64_t line, int64_t position)
{
	enum { SHORT_LAST = 9, ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS, LONG, NONE };
	struct cursor c = cursor_over(table);
	int64_t end = 0;
	while (cursor_left(&c)) {
		const uint8_t first = cursor_u8(&c);
		const unsigned kind = first >> 3 & 15;
		if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2)
			line += kind - ONE_LINE_0;
		else if (kind == NO_COLUMNS || kind == LONG)
			line += signed_varint(&c);
		end += 2 * (int64_t)((first & 7) + 1);
		if (end > position)
			return kind == NONE ? 0 : line;
		/* Columns: up to the next entry. */
		while (cursor_left(&c) && !(*c.pos & 0x80))
			cursor_take(&c, 1);
	}
	return 0;
}

int32_t frames_line(enum walk_table_kind kind, struct bytes table, int32_t first_line,
		    int32_t position)
{
	int64_t line = first_line;
	if (position >= 0 && table.size) {
		switch (kind) {
		case WALK_TABLE_LNOTAB:
			line = lnotab_line(table, line, position);
			break;
		case WALK_TABLE_LINETABLE:
			line = linetable_line(table, line, position);
			break;
		case WALK_TABLE_LOCATIONS:
			line = locations_line(table, line, position);
			break;
		default:
			break;
		}
	}
	return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}
