/* hash.h - 64-bit hashes of bytes and words, for tables in memory.
 *
 * Not cryptographic and not stable between versions: tables must compare keys,
 * and nothing may write a hash to a file.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	const unsigned __int128 product =
	    (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ size;
	uint64_t a = 0;
	uint64_t b = 0;
	for (; size >= 16; p += 16, size -= 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h = hash_mix(h ^ a, b);
	}
	a = b = 0;
	if (size >= 8) {
		memcpy(&a, p, 8);
		p += 8;
		size -= 8;
	}
	if (size)
		memcpy(&b, p, size);
	return hash_mix(h ^ a, b ^ h);
}

/* Two independent hashes, together wide enough to stand for the bytes themselves:
 * with a seed that the input's author cannot know, two texts of a
 * file have one chance in 2^127 a pair to be taken for the same.
 */
struct hash_wide {
	uint64_t low;
	uint64_t high;
};

static inline struct hash_wide hash_wide(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *p = data;
	struct hash_wide h = { seed ^ size, ~seed + size };
	uint64_t a = 0;
	uint64_t b = 0;
	for (; size >= 16; p += 16, size -= 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h.low = hash_mix(h.low ^ a, b);
		h.high = hash_mix(h.high ^ b, a + 0xa0761d6478bd642fu);
	}
	a = b = 0;
	if (size >= 8) {
		memcpy(&a, p, 8);
		p += 8;
		size -= 8;
	}
	if (size)
		memcpy(&b, p, size);
	h.low = hash_mix(h.low ^ a, b ^ seed);
	h.high = hash_mix(h.high ^ b, a + 0xa0761d6478bd642fu);
	return h;
}

#endif
