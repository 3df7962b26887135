/* sink.h - a growing byte buffer that fails once and stays failed.
 *
 *   struct sink out = { .limit = 1 << 20 };
 *   sink_u32(&out, 7);
 *   sink_printf(&out, "%s\n", name);
 *   if (sink_failed(&out))
 *           ...
 *   sink_clear(&out);
 *
 * Zero-initialise to use; limit 0 means none. Past the limit or without memory
 * nothing more is written and sink_failed() is true: ask once, at the end.
 * Numbers are written in host byte order.
 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include "base/bytes.h"

#include <stdarg.h>

struct sink {
	uint8_t *data; /* owned; may move on every write */
	size_t size;
	size_t capacity;
	size_t limit;
	bool failed;
};

static inline bool sink_failed(const struct sink *s)
{
	return s->failed;
}

static inline struct bytes sink_bytes(const struct sink *s)
{
	return (struct bytes){ .data = s->data, .size = s->size };
}

/* `size` bytes at the end, to be filled by the caller before the next call; NULL on failure. */
uint8_t *sink_reserve(struct sink *s, size_t size);

void sink_put(struct sink *s, const void *data, size_t size);
void sink_u8(struct sink *s, uint8_t value);
void sink_u16(struct sink *s, uint16_t value);
void sink_u32(struct sink *s, uint32_t value);
void sink_u64(struct sink *s, uint64_t value);
void sink_text(struct sink *s, const char *text); /* without its NUL */
void sink_cstr(struct sink *s, const char *text); /* with its NUL */
void sink_zeros(struct sink *s, size_t size);
void sink_printf(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sink_grouped(struct sink *s, uint64_t count); /* for people: "1,234,567" */

/* Overwrites four or eight bytes already written, for sizes known later. */
void sink_patch_u32(struct sink *s, size_t at, uint32_t value);
void sink_patch_u64(struct sink *s, size_t at, uint64_t value);

/* Forgets what is behind the first `size` bytes. */
void sink_cut(struct sink *s, size_t size);

/* Forgets the contents (and a failure), keeps the memory. */
void sink_reset(struct sink *s);

/* Frees the memory; the sink can be used again. */
void sink_clear(struct sink *s);

#endif
