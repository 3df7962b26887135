#include "clr/build_id.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PAGE = 4096, PAGES = 16, TAIL = 256 << 10 };

/* The SHA-256 of ".net core bundle". */
const uint8_t CLR_BUNDLE_SIGNATURE[32] = { 0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38,
					   0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
					   0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18,
					   0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae };

/* Little-endian, whatever the machine. */
static void put_size(XXH3_state_t *state, uint64_t size)
{
	uint8_t bytes[8];
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(size >> 8 * i);
	XXH3_128bits_update(state, bytes, sizeof(bytes));
}

/* The first page, and 15 at equal distances behind it: all of a file of up to 16 pages. */
static bool put_pages(XXH3_state_t *state, const struct clr_build_file *file)
{
	uint8_t page[PAGE];
	const uint64_t pages = (file->size + PAGE - 1) / PAGE;
	const uint64_t count = pages < PAGES ? pages : PAGES;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t off = pages * i / count * PAGE;
		const size_t size =
		    file->size - off < PAGE ? (size_t)(file->size - off) : (size_t)PAGE;
		if (!file->read(file->context, off, page, size))
			return false;
		XXH3_128bits_update(state, page, size);
	}
	return true;
}

static void start(XXH3_state_t *state, uint64_t size)
{
	XXH3_INITSTATE(state);
	XXH3_128bits_reset(state);
	put_size(state, size);
}

static void finish(const XXH3_state_t *state, uint8_t id[CLR_BUILD_ID_SIZE])
{
	XXH128_canonical_t digest;
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state));
	/* 20 bytes are what every reader knows; the rest says nothing new. */
	XXH32_canonical_t rest;
	XXH32_canonicalFromHash(&rest, XXH32(&digest, sizeof(digest), 0));
	memcpy(id, &digest, sizeof(digest));
	memcpy(id + sizeof(digest), &rest, sizeof(rest));
}

bool clr_build_id(const struct clr_build_file *file, uint8_t id[CLR_BUILD_ID_SIZE])
{
	uint8_t magic[2];
	if (file->size < sizeof(magic) || !file->read(file->context, 0, magic, sizeof(magic)) ||
	    magic[0] != 'M' || magic[1] != 'Z')
		return false;
	XXH3_state_t state;
	start(&state, file->size);
	if (!put_pages(&state, file))
		return false;
	finish(&state, id);
	return true;
}

bool clr_bundle_id(const struct clr_build_file *file, uint8_t id[CLR_BUILD_ID_SIZE])
{
	uint8_t piece[PAGE];
	XXH3_state_t state;
	start(&state, file->size);
	for (uint64_t off = file->size > TAIL ? file->size - TAIL : 0; off < file->size;) {
		const uint64_t left = file->size - off;
		const size_t size = left < PAGE ? (size_t)left : (size_t)PAGE;
		if (!file->read(file->context, off, piece, size))
			return false;
		XXH3_128bits_update(&state, piece, size);
		off += size;
	}
	finish(&state, id);
	return true;
}

static bool read_memory(void *context, uint64_t off, void *buffer, size_t size)
{
	const struct bytes *file = context;
	if (off > file->size || size > file->size - off)
		return false;
	memcpy(buffer, file->data + off, size);
	return true;
}

bool clr_build_id_of(struct bytes file, uint8_t id[CLR_BUILD_ID_SIZE])
{
	const struct clr_build_file over = { &file, read_memory, file.size };
	return clr_build_id(&over, id);
}

bool clr_bundle_id_of(struct bytes file, uint8_t id[CLR_BUILD_ID_SIZE])
{
	const struct clr_build_file over = { &file, read_memory, file.size };
	return clr_bundle_id(&over, id);
}
