/* clr_internal.h - what the decoders of payloads share. Each fails the cursor where the payload is
 * too short.
 */
#ifndef FORMAT_NETTRACE_CLR_INTERNAL_H
#define FORMAT_NETTRACE_CLR_INTERNAL_H

#include "format/nettrace/clr_event.h"
#include "format/nettrace/nettrace_internal.h"

/* A pointer of the process's own size. */
static inline uint64_t clr_pointer(struct cursor *c, uint32_t pointer_size)
{
	return pointer_size == 4 ? cursor_u32(c) : cursor_u64(c);
}

/* Up to its NUL of two bytes, which is passed over. */
static inline struct clr_text clr_text_take(struct cursor *c)
{
	const uint8_t *start = c->pos;
	while (cursor_u16(c))
		;
	if (cursor_failed(c))
		return (struct clr_text){ 0 };
	return (struct clr_text){ { start, (size_t)(c->pos - start) - sizeof(uint16_t) } };
}

/* clr_rich.c */
void clr_read_rich(struct cursor *c, uint32_t pointer_size, struct clr_event *what);

/* clr_types.c */
void clr_read_details(struct cursor *c, struct clr_event *what);
void clr_read_types(struct cursor *c, struct clr_event *what);

#endif
