#include "clr/r2rmap.h"

#include "base/number.h"
#include "base/search.h"
#include "base/status.h"

#include <stdlib.h>

enum { HEX = 16 };

/* From here on lines are about the map. */
static const uint32_t FIRST_ABOUT = 0xfffffffb;
static const uint32_t ABOUT_SIGNATURE = 0xffffffff;

static bool skip(struct bytes *text, size_t size)
{
	if (size > text->size)
		return false;
	*text = (struct bytes){ text->data + size, text->size - size };
	return true;
}

static bool take_number(struct bytes *text, uint32_t *value)
{
	uint64_t wide;
	const size_t length = number_read(*text, HEX, &wide);
	if (!length || wide > UINT32_MAX || length >= text->size || text->data[length] != ' ')
		return false;
	*value = (uint32_t)wide;
	return skip(text, length + 1);
}

static bool read_line(struct bytes text, struct clr_r2rmap_line *line)
{
	if (text.size && text.data[text.size - 1] == '\r')
		text.size--;
	if (!take_number(&text, &line->rva) || !take_number(&text, &line->size))
		return false;
	line->name = text;
	return text.size != 0;
}

static bool next_line(struct bytes *text, struct bytes *line)
{
	if (!text->size)
		return false;
	const uint8_t *end = memchr(text->data, '\n', text->size);
	const size_t size = end ? (size_t)(end - text->data) : text->size;
	*line = (struct bytes){ text->data, size };
	return skip(text, end ? size + 1 : size);
}

static bool is_signature(struct bytes text, const uint8_t signature[CLR_R2RMAP_SIGNATURE_SIZE])
{
	static const uint8_t digits[] = "0123456789ABCDEF";
	if (text.size != (size_t)2 * CLR_R2RMAP_SIGNATURE_SIZE)
		return false;
	for (size_t i = 0; i < CLR_R2RMAP_SIGNATURE_SIZE; i++)
		if (text.data[2 * i] != digits[signature[i] >> 4] ||
		    text.data[2 * i + 1] != digits[signature[i] & 15])
			return false;
	return true;
}

static int by_rva(const void *left, const void *right)
{
	const struct clr_r2rmap_line *a = left;
	const struct clr_r2rmap_line *b = right;
	return a->rva < b->rva ? -1 : a->rva > b->rva;
}

int clr_r2rmap_open(struct clr_r2rmap *map, struct bytes text,
		    const uint8_t signature[CLR_R2RMAP_SIGNATURE_SIZE])
{
	struct bytes bytes;
	struct clr_r2rmap_line line;
	if (!next_line(&text, &bytes) || !read_line(bytes, &line) || line.rva != ABOUT_SIGNATURE)
		return STATUS_NOT_FORMAT;
	if (!is_signature(line.name, signature))
		return STATUS_NOT_FOUND;
	while (next_line(&text, &bytes)) {
		if (!read_line(bytes, &line) || line.rva >= FIRST_ABOUT || !line.size)
			continue;
		struct clr_r2rmap_line *slot = vector_push(&map->lines);
		if (!slot) {
			clr_r2rmap_clear(map);
			return STATUS_NO_MEMORY;
		}
		*slot = line;
	}
	if (map->lines.count)
		qsort(map->lines.items, map->lines.count, sizeof(line), by_rva);
	return STATUS_OK;
}

void clr_r2rmap_clear(struct clr_r2rmap *map)
{
	vector_clear(&map->lines);
}

bool clr_r2rmap_find(const struct clr_r2rmap *map, uint32_t rva, struct clr_r2rmap_line *line)
{
	size_t count;
	SEARCH(count, map->lines.count, i, map->lines.items[i].rva <= rva);
	if (!count || rva - map->lines.items[count - 1].rva >= map->lines.items[count - 1].size)
		return false;
	*line = map->lines.items[count - 1];
	return true;
}

/* Where the type begins: behind the last space in front of "::" that is in no list of arguments. */
static size_t owner_at(struct bytes name)
{
	size_t at = 0;
	unsigned depth = 0;
	for (size_t i = 0; i + 1 < name.size; i++) {
		const uint8_t letter = name.data[i];
		if (letter == '[' || letter == '(')
			depth++;
		else if ((letter == ']' || letter == ')') && depth)
			depth--;
		else if (letter == ' ' && !depth)
			at = i + 1;
		else if (letter == ':' && name.data[i + 1] == ':' && !depth)
			break;
	}
	return at;
}

void clr_r2rmap_spell(struct bytes name, struct bytes assembly, struct sink *spelled)
{
	const size_t owner = owner_at(name);
	if (owner)
		sink_put(spelled, name.data, owner);
	else
		sink_text(spelled, "void "); /* which the map leaves out */
	sink_u8(spelled, '[');
	sink_put(spelled, assembly.data, assembly.size);
	sink_text(spelled, "] ");
	for (size_t i = owner; i < name.size; i++)
		if (name.data[i] != ' ' || i == owner || name.data[i - 1] != ',')
			sink_u8(spelled, name.data[i]);
	sink_text(spelled, "[PreJIT]");
}
