#include "inject/perfconfig.h"

#include <ctype.h>
#include <strings.h>

enum { END = -1 };

struct text {
	const uint8_t *pos;
	const uint8_t *end;
};

static int peek(const struct text *text)
{
	return text->pos < text->end ? *text->pos : END;
}

static int take(struct text *text)
{
	return text->pos < text->end ? *text->pos++ : END;
}

static bool is_line_end(int c)
{
	return c == '\n' || c == END;
}

static bool is_name(int c)
{
	return c != END && (isalnum(c) || c == '-' || c == '_' || c == '.');
}

static void skip_blanks(struct text *text)
{
	while (!is_line_end(peek(text)) && isspace(peek(text)))
		text->pos++;
}

static void skip_line(struct text *text)
{
	while (!is_line_end(take(text)))
		;
}

static struct bytes take_name(struct text *text)
{
	const uint8_t *begin = text->pos;
	while (is_name(peek(text)))
		text->pos++;
	return (struct bytes){ begin, (size_t)(text->pos - begin) };
}

/* One character behind a backslash; false if none may stand there. */
static bool take_escaped(struct text *text, struct sink *value)
{
	const int c = take(text);
	switch (c) {
	case '\n':
		return true;
	case 't':
		sink_u8(value, '\t');
		return true;
	case 'n':
		sink_u8(value, '\n');
		return true;
	case 'b':
		sink_u8(value, '\b');
		return true;
	case '\\':
	case '"':
		sink_u8(value, (uint8_t)c);
		return true;
	default:
		return false;
	}
}

/* Up to the end of the line. Blanks between words become one, unless they are quoted. */
static bool take_value(struct text *text, struct sink *value)
{
	bool is_quoted = false;
	bool is_blank = false;
	skip_blanks(text);
	for (;;) {
		const int c = take(text);
		if (is_line_end(c))
			return !is_quoted;
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(text);
			return true;
		}
		if (!is_quoted && isspace(c)) {
			is_blank = value->size > 0;
			continue;
		}
		if (is_blank)
			sink_u8(value, ' ');
		is_blank = false;
		if (c == '"')
			is_quoted = !is_quoted;
		else if (c != '\\')
			sink_u8(value, (uint8_t)c);
		else if (!take_escaped(text, value))
			return false;
	}
}

static bool is_text(struct bytes bytes, const char *text)
{
	return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

/* "[section]"; one with a second name, in quotes, is not it. False if it is no heading. */
static bool take_heading(struct text *text, const char *section, bool *is_inside)
{
	const struct bytes name = take_name(text);
	skip_blanks(text);
	bool has_second = false;
	if (peek(text) == '"') {
		has_second = true;
		text->pos++;
		while (!is_line_end(peek(text)) && peek(text) != '"')
			text->pos++;
		if (take(text) != '"')
			return false;
	}
	*is_inside = !has_second && name.size == strlen(section) &&
		     strncasecmp((const char *)name.data, section, name.size) == 0;
	return name.size && take(text) == ']';
}

/* "key = value", or a key alone, which says true. */
static bool take_setting(struct text *text, struct bytes *key, struct sink *value, bool *has_value)
{
	*key = take_name(text);
	skip_blanks(text);
	*has_value = peek(text) == '=';
	if (!key->size)
		return false;
	if (!*has_value)
		return is_line_end(take(text));
	text->pos++;
	return take_value(text, value);
}

bool perfconfig_find(struct bytes bytes, const char *section, const char *key, struct sink *value)
{
	const struct cursor c = cursor_over(bytes);
	struct text text = { c.pos, c.end };
	struct sink read = { 0 };
	bool is_inside = false;
	bool is_sound = true;
	bool found = false;
	while (is_sound && peek(&text) != END) {
		const int first = peek(&text);
		if (isspace(first)) {
			text.pos++;
		} else if (first == '#' || first == ';') {
			skip_line(&text);
		} else if (first == '[') {
			text.pos++;
			is_sound = take_heading(&text, section, &is_inside);
		} else {
			struct bytes name;
			bool has_value;
			sink_reset(&read);
			is_sound = take_setting(&text, &name, &read, &has_value);
			if (is_sound && is_inside && has_value && is_text(name, key)) {
				sink_reset(value);
				sink_put(value, read.data, read.size);
				value->failed |= sink_failed(&read);
				found = true;
			}
		}
	}
	sink_clear(&read);
	return found;
}
