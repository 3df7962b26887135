#include "clr/image_internal.h"

#include "base/status.h"

struct cursor cursor_at(struct bytes bytes, size_t off)
{
	struct cursor c = cursor_over(bytes);
	cursor_take(&c, off);
	return c;
}

/* Numbers of one to five bytes: the first one's lowest bits, up to a 0, tell how many follow. */
static uint32_t read_number(struct cursor *c, unsigned *bits)
{
	const uint32_t first = cursor_u8(c);
	unsigned more = 0;
	while (more < 4 && first >> more & 1)
		more++;
	if (more == 4) {
		if (first & 0x10)
			cursor_fail(c);
		*bits = 32;
		return cursor_u32(c);
	}
	uint32_t value = first;
	for (unsigned i = 0; i < more; i++)
		value |= (uint32_t)cursor_u8(c) << (8 * (i + 1));
	*bits = 7 * (more + 1);
	return value >> (more + 1);
}

uint32_t native_unsigned(struct cursor *c)
{
	unsigned bits;
	return read_number(c, &bits);
}

int32_t native_signed(struct cursor *c)
{
	unsigned bits;
	const uint32_t value = read_number(c, &bits);
	if (bits < 32 && value >> (bits - 1) & 1)
		return (int32_t)(value | UINT32_MAX << bits);
	return (int32_t)value;
}

static uint32_t read_offset(struct cursor *c, uint8_t size)
{
	return size == 1 ? cursor_u8(c) : size == 2 ? cursor_u16(c) : cursor_u32(c);
}

enum { BLOCK_ELEMENTS = 16, COUNT_MOST = 0xffffff };

bool native_array_open(struct native_array *array, struct bytes bytes)
{
	*array = (struct native_array){ .bytes = bytes };
	struct cursor c = cursor_over(bytes);
	const uint32_t header = native_unsigned(&c);
	if (cursor_failed(&c) || (header & 3) > 2)
		return false;
	array->count = header >> 2;
	array->offset_size = (uint8_t)(1u << (header & 3));
	array->index_off = (uint32_t)(bytes.size - cursor_left(&c));
	const uint32_t blocks = (array->count + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS;
	return array->count <= COUNT_MOST && cursor_can_hold(&c, blocks, array->offset_size);
}

/* A block is a binary tree over the four lower bits of the index. A node tells whether it has a
 * child for 0 (which follows it) and for 1 (its offset is the rest of the number); one without
 * children has a single element and its number.
 */
bool native_array_find(const struct native_array *array, uint32_t index, uint32_t *off)
{
	if (index >= array->count)
		return false;
	struct cursor at = cursor_at(
	    array->bytes, array->index_off + (size_t)(index / BLOCK_ELEMENTS) * array->offset_size);
	const struct bytes blocks = { array->bytes.data + array->index_off,
				      array->bytes.size - array->index_off };
	uint64_t node = read_offset(&at, array->offset_size);
	for (uint32_t bit = BLOCK_ELEMENTS / 2; bit; bit /= 2) {
		struct cursor c = cursor_at(blocks, node);
		const uint32_t value = native_unsigned(&c);
		if (cursor_failed(&at) || cursor_failed(&c))
			return false;
		const uint64_t behind = blocks.size - cursor_left(&c);
		if (index & bit && value & 2) {
			node += value >> 2;
		} else if (!(index & bit) && value & 1) {
			node = behind;
		} else if (!(value & 3) && value >> 2 == index % BLOCK_ELEMENTS) {
			node = behind;
			break;
		} else {
			return false;
		}
	}
	if (node >= blocks.size)
		return false;
	*off = (uint32_t)(array->index_off + node);
	return true;
}

bool native_table_open(struct native_table *table, struct bytes bytes)
{
	*table = (struct native_table){ .bytes = bytes, .index_off = 1, .bucket = UINT32_MAX };
	struct cursor c = cursor_over(bytes);
	const uint8_t header = cursor_u8(&c);
	const unsigned shift = header >> 2;
	if (cursor_failed(&c) || (header & 3) > 2 || shift > 30)
		return false;
	table->bucket_count = 1u << shift;
	table->offset_size = (uint8_t)(1u << (header & 3));
	return cursor_can_hold(&c, (uint64_t)table->bucket_count + 1, table->offset_size);
}

/* A bucket ends where the next one begins: one in front of the last one's end is no bucket, and
 * would let a few bytes be entries of many.
 */
static bool open_bucket(struct native_table *table)
{
	struct cursor c =
	    cursor_at(table->bytes, table->index_off + (size_t)table->bucket * table->offset_size);
	const uint32_t start = read_offset(&c, table->offset_size);
	const uint32_t end = read_offset(&c, table->offset_size);
	if (start < table->bucket_end || end < start)
		return false;
	table->bucket_end = end;
	const struct bytes base = { table->bytes.data + table->index_off,
				    table->bytes.size - table->index_off };
	table->entries = cursor_at(base, start);
	table->entries = cursor_sub(&table->entries, end - start);
	return !cursor_failed(&table->entries);
}

int native_table_next(struct native_table *table, uint32_t *off)
{
	while (!cursor_left(&table->entries)) {
		if (++table->bucket == table->bucket_count)
			return 0;
		if (!open_bucket(table))
			return STATUS_CORRUPT;
	}
	struct cursor *c = &table->entries;
	cursor_u8(c); /* low bits of the hash */
	const int64_t from = c->pos - table->bytes.data;
	const int64_t to = from + native_signed(c);
	if (cursor_failed(c) || to < 0 || to >= (int64_t)table->bytes.size)
		return STATUS_CORRUPT;
	*off = (uint32_t)to;
	return 1;
}

uint32_t nibbles_unsigned(struct nibbles *nibbles)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < 11; i++) {
		uint32_t nibble;
		if (nibbles->has_pending) {
			nibble = nibbles->pending;
			nibbles->has_pending = false;
		} else {
			const uint8_t byte = cursor_u8(&nibbles->bytes);
			nibble = byte & 0xf;
			nibbles->pending = byte >> 4;
			nibbles->has_pending = true;
		}
		value = value << 3 | (nibble & 7);
		if (!(nibble & 8))
			return value;
	}
	cursor_fail(&nibbles->bytes); /* no 32 bits are that long */
	return 0;
}

void nibbles_align(struct nibbles *nibbles)
{
	nibbles->has_pending = false;
}
