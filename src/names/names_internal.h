/* names_internal.h - what the splitters of this folder share.
 *
 * A splitter looks at one name. If the name has a shape of its runtime, it
 * appends the human form, sets the parts and returns true; else it returns
 * false, and whatever it wrote by then is taken back by the caller.
 */
#ifndef NAMES_NAMES_INTERNAL_H
#define NAMES_NAMES_INTERNAL_H

#include "names/names.h"

/* No producer writes names longer than this; splitters never see them, since their work
 * can grow with the square of the size.
 */
enum { NAME_SIZE_MAX = 4096, HUMAN_SIZE_MAX = 16 * 1024 };

typedef bool name_splitter(struct bytes raw, struct name_parts *parts, struct sink *human);

name_splitter split_v8, split_jsc, split_jvm, split_dotnet, split_mono, split_erlang, split_php,
    split_python, split_pypy, split_ruby, split_luajit, split_llvm, split_julia, split_wasm;

/* "path:line:col" with the path cut to what tells files apart (place.c). */
void put_place(struct sink *human, struct bytes place);

/* Splits " name path:line" at the space before the path; all is name where no path follows. */
void cut_place(struct bytes text, struct bytes *name, struct bytes *place);

/* The position of the bracket that the last byte of `text` closes, or TEXT_NONE. */
size_t text_match_back(struct bytes text, char open, char close);

static const size_t TEXT_NONE = SIZE_MAX;

static inline struct bytes text_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static inline struct bytes text_from(struct bytes text, size_t at)
{
	return (struct bytes){ text.data + at, text.size - at };
}

static inline struct bytes text_until(struct bytes text, size_t end)
{
	return (struct bytes){ text.data, end };
}

static inline struct bytes text_between(struct bytes text, size_t at, size_t end)
{
	return (struct bytes){ text.data + at, end - at };
}

static inline bool text_is(struct bytes text, const char *other)
{
	const size_t size = strlen(other);
	return text.size == size && (!size || memcmp(text.data, other, size) == 0);
}

static inline bool text_starts(struct bytes text, const char *start)
{
	const size_t size = strlen(start);
	return text.size >= size && memcmp(text.data, start, size) == 0;
}

static inline bool text_ends(struct bytes text, const char *end)
{
	const size_t size = strlen(end);
	return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

/* Cuts `start` off the front if it is there. */
static inline bool text_skip(struct bytes *text, const char *start)
{
	if (!text_starts(*text, start))
		return false;
	*text = text_from(*text, strlen(start));
	return true;
}

/* Cuts `end` off the back if it is there. */
static inline bool text_drop(struct bytes *text, const char *end)
{
	if (!text_ends(*text, end))
		return false;
	text->size -= strlen(end);
	return true;
}

static inline size_t text_find(struct bytes text, const char *part)
{
	if (!text.size)
		return TEXT_NONE;
	const uint8_t *found = memmem(text.data, text.size, part, strlen(part));
	return found ? (size_t)(found - text.data) : TEXT_NONE;
}

static inline size_t text_last(struct bytes text, char c)
{
	const uint8_t *found = text.size ? memrchr(text.data, c, text.size) : NULL;
	return found ? (size_t)(found - text.data) : TEXT_NONE;
}

static inline bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Cuts leading decimal digits off; false if there are none. */
static inline bool text_skip_number(struct bytes *text)
{
	size_t count = 0;
	while (count < text->size && is_digit(text->data[count]))
		count++;
	*text = text_from(*text, count);
	return count > 0;
}

/* Cuts `mark` and the decimal digits behind it off the back, if both are there. */
static inline bool text_drop_number(struct bytes *text, char mark)
{
	size_t size = text->size;
	while (size && is_digit(text->data[size - 1]))
		size--;
	if (size == text->size || !size || text->data[size - 1] != (uint8_t)mark)
		return false;
	text->size = size - 1;
	return true;
}

static inline void put(struct sink *human, struct bytes text)
{
	sink_put(human, text.data, text.size);
}

#endif
