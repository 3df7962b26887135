#include "clr/image_internal.h"

#include "base/status.h"

enum {
	IL_LOWEST = CLR_IL_EPILOG, /* offsets are written as what they are above it */
	MAJOR_PACKED = 16,         /* .NET 10: entries of as many bits as the method needs */
	MAJOR_ASYNC = 17,          /* .NET 11: one bit more of what the place is, longer headers */
	PACKED_BITS_MOST = 64,
	ASYNC_HEADER_REST = 4,
};

static bool add(struct clr_il_map *map, uint32_t native_off, uint32_t il)
{
	struct clr_il_entry *entry = vector_push(&map->items);
	if (!entry)
		return false;
	entry->native_off = native_off;
	entry->il_off = (int32_t)(il + (uint32_t)IL_LOWEST);
	return true;
}

/* Before version 16: distance, IL offset, and what the place is, each in as many nibbles as it
 * takes: three at least.
 */
static int read_nibbles(struct nibbles *nibbles, struct clr_il_map *map)
{
	uint32_t native_off = 0;
	const uint32_t count = nibbles_unsigned(nibbles);
	if (!cursor_can_hold(&nibbles->bytes, count, 1))
		return STATUS_CORRUPT;
	for (uint32_t i = 0; i < count; i++) {
		native_off += nibbles_unsigned(nibbles);
		const uint32_t il = nibbles_unsigned(nibbles);
		nibbles_unsigned(nibbles);
		if (cursor_failed(&nibbles->bytes))
			return STATUS_CORRUPT;
		if (!add(map, native_off, il))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

struct bits {
	struct bytes bytes;
	uint64_t at; /* in bits */
};

/* Up to 32, lowest first; 0 past the end. */
static uint32_t take_bits(struct bits *bits, unsigned count)
{
	uint64_t value = 0;
	struct cursor c = cursor_at(bits->bytes, (size_t)(bits->at / 8));
	for (unsigned i = 0; i < 5 && cursor_left(&c); i++)
		value |= (uint64_t)cursor_u8(&c) << (8 * i);
	value >>= bits->at % 8;
	bits->at += count;
	return (uint32_t)(value & ((UINT64_C(1) << count) - 1));
}

static int read_packed(struct nibbles *nibbles, unsigned kind_bits, struct clr_il_map *map)
{
	uint32_t native_off = 0;
	const uint32_t count = nibbles_unsigned(nibbles);
	const uint32_t native_bits = nibbles_unsigned(nibbles);
	const uint32_t il_bits = nibbles_unsigned(nibbles);
	if (cursor_failed(&nibbles->bytes) || native_bits >= 32 || il_bits >= 32)
		return STATUS_CORRUPT;
	const size_t left = cursor_left(&nibbles->bytes);
	struct bits bits = { .bytes = cursor_take(&nibbles->bytes, left) };
	const uint64_t needed = (uint64_t)count * (kind_bits + native_bits + 1 + il_bits + 1);
	if (needed > (uint64_t)left * 8)
		return STATUS_CORRUPT;
	for (uint32_t i = 0; i < count; i++) {
		take_bits(&bits, kind_bits);
		native_off += take_bits(&bits, native_bits + 1);
		if (!add(map, native_off, take_bits(&bits, il_bits + 1)))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* The sizes of what is kept of a method: its bounds first, which are what is wanted. */
static struct bytes find_bounds(const struct r2r *r2r, struct bytes at)
{
	struct nibbles header = { .bytes = cursor_over(at) };
	uint32_t size = nibbles_unsigned(&header);
	const bool is_long = !size && r2r->major >= MAJOR_ASYNC;
	if (is_long)
		size = nibbles_unsigned(&header);
	nibbles_unsigned(&header); /* of variables */
	for (unsigned i = 0; is_long && i < ASYNC_HEADER_REST; i++)
		nibbles_unsigned(&header);
	nibbles_align(&header);
	return cursor_take(&header.bytes, size);
}

uint32_t clr_image_native_off(const struct clr_image *image, uint32_t index, uint32_t rva)
{
	const struct r2r *r2r = &image->r2r;
	if (index >= r2r->code_count || r2r->code[index].first == R2R_NO_METHOD)
		return 0;
	const uint32_t first = r2r->code[index].first;
	if (!r2r->code[index].is_cold)
		return rva - r2r->code[first].rva;
	uint32_t cold = index;
	while (cold && r2r->code[cold - 1].first == first && r2r->code[cold - 1].is_cold)
		cold--;
	uint32_t last = first;
	while (r2r->code[last + 1].first == first && !r2r->code[last + 1].is_cold)
		last++;
	const uint32_t hot_end = r2r->code[last].rva + r2r->code[last].size;
	return hot_end - r2r->code[first].rva + (rva - r2r->code[cold].rva);
}

int clr_image_il_map(const struct clr_image *image, uint32_t index, struct clr_il_map *map)
{
	const struct r2r *r2r = &image->r2r;
	struct native_array array;
	uint32_t off;
	map->items.count = 0;
	if (index >= r2r->code_count || r2r->code[index].first == R2R_NO_METHOD ||
	    !native_array_open(&array, r2r->debug_info) ||
	    !native_array_find(&array, r2r->code[index].first, &off))
		return STATUS_NOT_FOUND;
	/* Methods with the same information share it: then this says how far in front it is. */
	struct cursor c = cursor_at(array.bytes, off);
	const uint32_t back = native_unsigned(&c);
	if (back > off)
		return STATUS_CORRUPT;
	if (back)
		c = cursor_at(array.bytes, off - back);
	struct nibbles bounds = {
		.bytes = cursor_over(find_bounds(r2r, cursor_take(&c, cursor_left(&c)))),
	};
	if (!cursor_left(&bounds.bytes))
		return STATUS_NOT_FOUND;
	return r2r->major < MAJOR_PACKED
		   ? read_nibbles(&bounds, map)
		   : read_packed(&bounds, r2r->major < MAJOR_ASYNC ? 2 : 3, map);
}
