#include "base/sink.h"

#include <stdio.h>
#include <stdlib.h>

uint8_t *sink_reserve(struct sink *s, size_t size)
{
	if (s->failed)
		return NULL;
	const size_t limit = s->limit ? s->limit : SIZE_MAX;
	if (size > limit - s->size) {
		s->failed = true;
		return NULL;
	}
	if (size > s->capacity - s->size) {
		size_t capacity = s->capacity ? s->capacity : 256;
		while (capacity - s->size < size)
			capacity = capacity > SIZE_MAX / 2 ? s->size + size : capacity * 2;
		uint8_t *grown = realloc(s->data, capacity);
		if (!grown) {
			s->failed = true;
			return NULL;
		}
		s->data = grown;
		s->capacity = capacity;
	}
	uint8_t *at = s->data + s->size;
	s->size += size;
	return at;
}

void sink_put(struct sink *s, const void *data, size_t size)
{
	if (!size)
		return;
	uint8_t *at = sink_reserve(s, size);
	if (at)
		memcpy(at, data, size);
}

void sink_u8(struct sink *s, uint8_t value)
{
	sink_put(s, &value, sizeof(value));
}

void sink_u16(struct sink *s, uint16_t value)
{
	sink_put(s, &value, sizeof(value));
}

void sink_u32(struct sink *s, uint32_t value)
{
	sink_put(s, &value, sizeof(value));
}

void sink_u64(struct sink *s, uint64_t value)
{
	sink_put(s, &value, sizeof(value));
}

void sink_text(struct sink *s, const char *text)
{
	sink_put(s, text, strlen(text));
}

void sink_cstr(struct sink *s, const char *text)
{
	sink_put(s, text, strlen(text) + 1);
}

void sink_zeros(struct sink *s, size_t size)
{
	uint8_t *at = size ? sink_reserve(s, size) : NULL;
	if (at)
		memset(at, 0, size);
}

void sink_grouped(struct sink *s, uint64_t count)
{
	char text[32];
	size_t at = sizeof(text);
	int digits = 0;
	do {
		if (digits && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + count % 10);
		count /= 10;
		digits++;
	} while (count);
	sink_put(s, text + at, sizeof(text) - at);
}

void sink_printf(struct sink *s, const char *format, ...)
{
	va_list args;
	va_list again;
	va_start(args, format);
	va_copy(again, args);
	char small[256];
	const int need = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (need < 0) {
		s->failed = true;
	} else if ((size_t)need < sizeof(small)) {
		sink_put(s, small, (size_t)need);
	} else {
		/* vsnprintf writes a NUL behind the text: reserve it, then give it back. */
		uint8_t *at = sink_reserve(s, (size_t)need + 1);
		if (at) {
			(void)vsnprintf((char *)at, (size_t)need + 1, format, again);
			s->size--;
		}
	}
	va_end(again);
}

void sink_patch_u32(struct sink *s, size_t at, uint32_t value)
{
	if (!s->failed && at <= s->size && sizeof(value) <= s->size - at)
		memcpy(s->data + at, &value, sizeof(value));
}

void sink_patch_u64(struct sink *s, size_t at, uint64_t value)
{
	if (!s->failed && at <= s->size && sizeof(value) <= s->size - at)
		memcpy(s->data + at, &value, sizeof(value));
}

void sink_cut(struct sink *s, size_t size)
{
	if (size < s->size)
		s->size = size;
}

void sink_reset(struct sink *s)
{
	s->size = 0;
	s->failed = false;
}

void sink_clear(struct sink *s)
{
	free(s->data);
	*s = (struct sink){ .limit = s->limit };
}
