#include "base/escape.h"

/* The length of the valid UTF-8 sequence at the start of `text`, or 0. */
static size_t utf8_length(struct bytes text)
{
	const uint8_t *p = text.data;
	const uint8_t first = p[0];
	if (first < 0x80)
		return 1;
	const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length > text.size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	const bool overlong = (first == 0xe0 && p[1] < 0xa0) || (first == 0xf0 && p[1] < 0x90);
	const bool surrogate = first == 0xed && p[1] >= 0xa0;
	const bool past_the_end = first == 0xf4 && p[1] >= 0x90;
	return overlong || surrogate || past_the_end ? 0 : length;
}

static uint32_t code_point(const uint8_t *p, size_t length)
{
	static const uint8_t masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t point = p[0] & masks[length];
	for (size_t i = 1; i < length; i++)
		point = point << 6 | (p[i] & 0x3f);
	return point;
}

/* C1 controls (U+0080..U+009F) drive terminals as well as C0 does. Line separators and what
 * turns the direction of writing would let a name show as another, or as two.
 */
static bool is_control(const uint8_t *p, size_t length)
{
	const uint32_t point = code_point(p, length);
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
	       point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069);
}

static void put_hex(struct sink *out, const uint8_t *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sink_printf(out, "\\x%02x", p[i]);
}

bool escape_is_plain(struct bytes text)
{
	for (size_t at = 0; at < text.size;) {
		const struct bytes rest = { text.data + at, text.size - at };
		const size_t length = utf8_length(rest);
		if (!length || is_control(rest.data, length))
			return false;
		at += length;
	}
	return true;
}

void escape_terminal(struct sink *out, struct bytes text)
{
	if (escape_is_plain(text)) {
		sink_put(out, text.data, text.size);
		return;
	}
	for (size_t at = 0; at < text.size;) {
		const struct bytes rest = { text.data + at, text.size - at };
		const size_t length = utf8_length(rest);
		if (rest.data[0] == '\n')
			sink_text(out, "\\n");
		else if (rest.data[0] == '\t')
			sink_text(out, "\\t");
		else if (!length || is_control(rest.data, length))
			put_hex(out, rest.data, length ? length : 1);
		else
			sink_put(out, rest.data, length);
		at += length ? length : 1;
	}
}

void escape_json(struct sink *out, struct bytes text)
{
	for (size_t at = 0; at < text.size;) {
		const struct bytes rest = { text.data + at, text.size - at };
		const size_t length = utf8_length(rest);
		if (!length)
			sink_text(out, "\xef\xbf\xbd");
		else if (rest.data[0] == '"' || rest.data[0] == '\\')
			sink_printf(out, "\\%c", rest.data[0]);
		else if (is_control(rest.data, length))
			sink_printf(out, "\\u%04x", (unsigned)code_point(rest.data, length));
		else
			sink_put(out, rest.data, length);
		at += length ? length : 1;
	}
}

void escape_csv(struct sink *out, struct bytes text)
{
	struct sink safe = { 0 };
	escape_terminal(&safe, text);
	const struct bytes field = sink_bytes(&safe);
	const bool quote = field.size && (memchr(field.data, ',', field.size) ||
					  memchr(field.data, '"', field.size));
	if (quote)
		sink_u8(out, '"');
	for (size_t i = 0; i < field.size; i++) {
		if (field.data[i] == '"')
			sink_u8(out, '"');
		sink_u8(out, field.data[i]);
	}
	if (quote)
		sink_u8(out, '"');
	out->failed |= sink_failed(&safe);
	sink_clear(&safe);
}

void escape_html(struct sink *out, struct bytes text)
{
	struct sink safe = { 0 };
	escape_terminal(&safe, text);
	size_t start = 0;
	for (size_t i = 0; i < safe.size; i++) {
		const uint8_t byte = safe.data[i];
		if (byte != '&' && byte != '<' && byte != '>' && byte != '"' && byte != '\'')
			continue;
		sink_put(out, safe.data + start, i - start);
		sink_printf(out, "&#%d;", byte);
		start = i + 1;
	}
	if (safe.size)
		sink_put(out, safe.data + start, safe.size - start);
	out->failed |= sink_failed(&safe);
	sink_clear(&safe);
}
