#include "format/perfmap/reader.h"

enum { DIGITS_MAX = 16 };

/* 1 more than the digit's value, so that what is not listed is no digit. */
static const uint8_t digit_plus_one[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

void perfmap_reader_init(struct perfmap_reader *reader, struct bytes file)
{
	static const uint8_t utf8_mark[] = { 0xef, 0xbb, 0xbf };
	*reader = (struct perfmap_reader){ .file = file };
	if (file.size >= sizeof(utf8_mark) && !memcmp(file.data, utf8_mark, sizeof(utf8_mark)))
		reader->next_offset = sizeof(utf8_mark);
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

/* Moves *at behind the hex number that begins there; false if there is none, or
 * it has more than 64 bits.
 */
static bool read_hex(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *at;
	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' && digit_plus_one[p[2]])
		p += 2;
	const uint8_t *digits = p;
	while (p < end && *p == '0')
		p++;
	const uint8_t *significant = p;
	uint64_t read = 0;
	for (; p < end && digit_plus_one[*p]; p++)
		read = read << 4 | (uint64_t)(digit_plus_one[*p] - 1);
	if (p == digits || p - significant > DIGITS_MAX)
		return false;
	*at = p;
	*value = read;
	return true;
}

static const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* The line without its newline. Returns what is wrong with it, or NULL with *entry filled. */
static const char *read_line(const uint8_t *p, const uint8_t *end, struct perfmap_entry *entry)
{
	p = skip_blanks(p, end);
	if (p == end)
		return "an empty line";
	if (!read_hex(&p, end, &entry->start_avma))
		return "no address at the start of the line";
	if (p == end || !is_blank(*p))
		return "no size behind the address";
	p = skip_blanks(p, end);
	if (!read_hex(&p, end, &entry->size))
		return "no size behind the address";
	if (p < end && !is_blank(*p))
		return "the size is no number";
	if (entry->start_avma + entry->size < entry->start_avma)
		return "the code would end beyond the address space";
	if (p < end)
		p++;
	else if (entry->is_last_torn)
		return "the file ends inside this line, before the name";
	entry->name = (struct bytes){ .data = p, .size = (size_t)(end - p) };
	return NULL;
}

static void tell(struct perfmap_reader *reader, size_t offset, const char *what)
{
	const struct perfmap_problem problem = {
		.offset = offset,
		.line = reader->line,
		.what = what,
	};
	reader->problem_count++;
	if (reader->on_problem)
		reader->on_problem(reader->context, &problem);
}

int perfmap_reader_next(struct perfmap_reader *reader, struct perfmap_entry *entry)
{
	const struct bytes file = reader->file;
	while (reader->next_offset < file.size) {
		const size_t offset = reader->next_offset;
		const uint8_t *start = file.data + offset;
		const uint8_t *newline = memchr(start, '\n', file.size - offset);
		const uint8_t *end = newline ? newline : file.data + file.size;
		reader->next_offset = (size_t)(end - file.data) + (newline != NULL);
		reader->line++;

		struct perfmap_entry read = {
			.offset = offset,
			.end_offset = reader->next_offset,
			.is_last_torn = !newline,
		};
		if (newline && end > start && end[-1] == '\r')
			end--;
		const char *wrong = read_line(start, end, &read);
		if (!wrong) {
			*entry = read;
			return 1;
		}
		tell(reader, offset, wrong);
	}
	return 0;
}
