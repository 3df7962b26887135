/* bytes.h - reading untrusted bytes without a bounds check at every call site.
 *
 * A cursor borrows a byte range and never leaves it. The first read that would
 * leave it returns zero and sets `failed`; every later read also returns zero.
 * So a parser reads a whole record, then asks cursor_failed() once.
 *
 * A cursor owns nothing and may be copied; a copy reads on independently.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *data;
	size_t size;
};

struct cursor {
	const uint8_t *pos;
	const uint8_t *end;
	bool swap;   /* the input has the other byte order */
	bool failed; /* a read left the range; every later read returns zero */
};

/* An empty range still points at a byte: NULL + 0 is undefined before C23. */
static inline struct cursor cursor_over(struct bytes in)
{
	static const uint8_t nothing[1] = { 0 };
	if (!in.data)
		in = (struct bytes){ .data = nothing };
	return (struct cursor){ .pos = in.data, .end = in.data + in.size };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->pos);
}

static inline bool cursor_failed(const struct cursor *c)
{
	return c->failed;
}

/* Fails the cursor and empties it, so that loops over it end. */
static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->pos = c->end;
}

/* The next `size` bytes, borrowed from the input; empty if they are not there. */
static inline struct bytes cursor_take(struct cursor *c, size_t size)
{
	if (size > cursor_left(c)) {
		cursor_fail(c);
		size = 0;
	}
	struct bytes taken = { .data = c->pos, .size = size };
	c->pos += size;
	return taken;
}

/* A cursor over the next `size` bytes; the parent moves past them whatever the
 * child does, so fields a newer writer appended are skipped for free.
 */
static inline struct cursor cursor_sub(struct cursor *c, size_t size)
{
	struct cursor sub = cursor_over(cursor_take(c, size));
	sub.swap = c->swap;
	sub.failed = c->failed;
	return sub;
}

#define CURSOR_READ(bits, bswap)                                      \
	static inline uint##bits##_t cursor_u##bits(struct cursor *c) \
	{                                                             \
		uint##bits##_t value = 0;                             \
		if (sizeof(value) > cursor_left(c)) {                 \
			cursor_fail(c);                               \
			return 0;                                     \
		}                                                     \
		memcpy(&value, c->pos, sizeof(value));                \
		c->pos += sizeof(value);                              \
		return c->swap ? bswap(value) : value;                \
	}
static inline uint8_t cursor_u8(struct cursor *c)
{
	if (!cursor_left(c)) {
		cursor_fail(c);
		return 0;
	}
	return *c->pos++;
}

CURSOR_READ(16, __builtin_bswap16)
CURSOR_READ(32, __builtin_bswap32)
CURSOR_READ(64, __builtin_bswap64)
#undef CURSOR_READ

/* DWARF's numbers of seven bits a byte (LEB128), lowest first. They may be padded to any length;
 * bits beyond 64 are dropped.
 */
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);

/* A NUL-terminated string, borrowed from the input; fails without a NUL in range. */
const char *cursor_cstr(struct cursor *c);

/* True if `count` items of at least `min_size` bytes can still follow. Ask
 * before allocating for a count that the input claims.
 */
static inline bool cursor_can_hold(const struct cursor *c, uint64_t count, size_t min_size)
{
	return count <= cursor_left(c) / min_size;
}

#endif
