/* json.h - pieces of JSON, for exports. */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include "base/escape.h"
#include "profile/profile.h"

#include <inttypes.h>

static inline void json_string(struct sink *out, struct bytes text)
{
	sink_u8(out, '"');
	escape_json(out, text);
	sink_u8(out, '"');
}

static inline void json_text(struct sink *out, const char *text)
{
	json_string(out, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

/* Quicker than sink_printf(), for what there are millions of. */
static inline void json_number(struct sink *out, uint64_t value)
{
	uint8_t digits[20];
	size_t at = sizeof(digits);
	do
		digits[--at] = (uint8_t)('0' + value % 10);
	while (value /= 10);
	sink_put(out, digits + at, sizeof(digits) - at);
}

/* The comma before all items but the first. */
static inline void json_next(struct sink *out, bool *is_later)
{
	if (*is_later)
		sink_u8(out, ',');
	*is_later = true;
}

#endif
