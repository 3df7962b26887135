#include "tui/prompt.h"

#include "tui/keys.h"

#include <string.h>

enum { TEXT_MOST = 4095 };

/* The NUL behind the text. */
static void terminate(struct prompt *prompt)
{
	sink_u8(&prompt->text, 0);
	if (!sink_failed(&prompt->text))
		prompt->text.size--;
}

void prompt_set(struct prompt *prompt, const char *text)
{
	sink_reset(&prompt->text);
	sink_text(&prompt->text, text);
	terminate(prompt);
	prompt->at = prompt->text.size;
}

const char *prompt_text(const struct prompt *prompt)
{
	return prompt->text.data && !sink_failed(&prompt->text) ? (const char *)prompt->text.data
								: "";
}

void prompt_clear(struct prompt *prompt)
{
	sink_clear(&prompt->text);
	prompt->at = 0;
}

static bool is_inside(const struct prompt *prompt, size_t at)
{
	return at < prompt->text.size && (prompt->text.data[at] & 0xc0) == 0x80;
}

static size_t before(const struct prompt *prompt, size_t at)
{
	if (at)
		at--;
	while (at && is_inside(prompt, at))
		at--;
	return at;
}

static size_t behind(const struct prompt *prompt, size_t at)
{
	if (at < prompt->text.size)
		at++;
	while (is_inside(prompt, at))
		at++;
	return at;
}

static enum prompt_outcome cut(struct prompt *prompt, size_t start, size_t end)
{
	if (start == end)
		return PROMPT_SAME;
	memmove(prompt->text.data + start, prompt->text.data + end, prompt->text.size - end);
	prompt->text.size -= end - start;
	terminate(prompt);
	prompt->at = start;
	return PROMPT_CHANGED;
}

static size_t encode(uint32_t point, uint8_t bytes[4])
{
	const size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = size; i-- > 1;) {
		bytes[i] = (uint8_t)(0x80 | (point & 0x3f));
		point >>= 6;
	}
	bytes[0] = (uint8_t)(first[size] | point);
	return size;
}

static enum prompt_outcome insert(struct prompt *prompt, int32_t key)
{
	uint8_t bytes[4];
	const bool is_character = key >= 0x20 && key != 0x7f && key <= 0x10ffff;
	if (!is_character || (key >= 0xd800 && key < 0xe000) || (key >= 0x80 && key < 0xa0))
		return PROMPT_SAME;
	const size_t size = encode((uint32_t)key, bytes);
	if (prompt->text.size + size > TEXT_MOST)
		return PROMPT_SAME;
	sink_zeros(&prompt->text, size + 1);
	if (sink_failed(&prompt->text))
		return PROMPT_GIVEN_UP;
	prompt->text.size--;
	memmove(prompt->text.data + prompt->at + size, prompt->text.data + prompt->at,
		prompt->text.size - size - prompt->at);
	memcpy(prompt->text.data + prompt->at, bytes, size);
	prompt->at += size;
	return PROMPT_CHANGED;
}

/* Back over blanks, then over a word. */
static size_t word_before(const struct prompt *prompt)
{
	size_t at = prompt->at;
	while (at && prompt->text.data[at - 1] == ' ')
		at--;
	while (at && prompt->text.data[at - 1] != ' ')
		at--;
	return at;
}

enum prompt_outcome prompt_key(struct prompt *prompt, int32_t key)
{
	switch (key) {
	case KEY_IS_ENTER:
		return PROMPT_DONE;
	case KEY_IS_ESCAPE:
		return PROMPT_GIVEN_UP;
	case KEY_IS_BACKSPACE:
		if (!prompt->text.size)
			return PROMPT_GIVEN_UP;
		return cut(prompt, before(prompt, prompt->at), prompt->at);
	case KEY_IS_DELETE:
		return cut(prompt, prompt->at, behind(prompt, prompt->at));
	case KEY_IS_LEFT:
		prompt->at = before(prompt, prompt->at);
		return PROMPT_SAME;
	case KEY_IS_RIGHT:
		prompt->at = behind(prompt, prompt->at);
		return PROMPT_SAME;
	case KEY_IS_HOME:
	case 'A' & 0x1f:
		prompt->at = 0;
		return PROMPT_SAME;
	case KEY_IS_LAST:
	case 'E' & 0x1f:
		prompt->at = prompt->text.size;
		return PROMPT_SAME;
	case 'U' & 0x1f:
		return cut(prompt, 0, prompt->at);
	case 'W' & 0x1f:
		return cut(prompt, word_before(prompt), prompt->at);
	default:
		return insert(prompt, key);
	}
}

unsigned prompt_draw(struct prompt *prompt, struct canvas *canvas, const struct area *area)
{
	const struct bytes left = { prompt->text.data, prompt->at };
	struct area at = { area->row, area->column, 1, area->columns };
	canvas_fill(canvas, &at, INK_PLAIN);
	const unsigned label = canvas_put_text(canvas, &at, INK_TITLE, prompt->label);
	at.column += label;
	at.columns -= label;
	/* The cursor is seen, with a column behind it. */
	const unsigned cursor = canvas_width(canvas, left);
	const unsigned skip = cursor + 2 > at.columns ? cursor + 2 - at.columns : 0;
	(void)canvas_put_from(canvas, &at, INK_PLAIN, sink_bytes(&prompt->text), skip);
	return at.column + cursor - skip;
}
