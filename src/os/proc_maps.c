#include "os/proc_maps.h"

#include <sys/mman.h>

void proc_maps_open(struct proc_maps *maps, struct bytes text)
{
	maps->text = text;
	maps->bad_lines = 0;
}

static bool take_line(struct bytes *text, struct cursor *line)
{
	if (!text->size)
		return false;
	const uint8_t *end = memchr(text->data, '\n', text->size);
	const size_t size = end ? (size_t)(end - text->data) : text->size;
	*line = cursor_over((struct bytes){ text->data, size });
	const size_t used = end ? size + 1 : size;
	text->data += used;
	text->size -= used;
	return true;
}

static unsigned digit_value(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10u;
	return 16;
}

/* A number of base 10 or 16 that ends in `stop`, which is taken too. */
static uint64_t take_number(struct cursor *c, unsigned base, char stop)
{
	uint64_t value = 0;
	bool any = false;
	while (cursor_left(c)) {
		const uint8_t byte = cursor_u8(c);
		if (any && byte == (uint8_t)stop)
			return value;
		const unsigned digit = digit_value(byte);
		if (digit >= base || value > (UINT64_MAX - digit) / base)
			break;
		value = value * base + digit;
		any = true;
	}
	cursor_fail(c);
	return 0;
}

static uint32_t take_prot(struct cursor *c, uint32_t *flags)
{
	const struct bytes mode = cursor_take(c, 5); /* "rwxp " */
	if (mode.size != 5 || mode.data[4] != ' ') {
		cursor_fail(c);
		return 0;
	}
	*flags = mode.data[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return (mode.data[0] == 'r' ? PROT_READ : 0u) | (mode.data[1] == 'w' ? PROT_WRITE : 0u) |
	       (mode.data[2] == 'x' ? PROT_EXEC : 0u);
}

/* The inode is followed by blanks up to the path's column, or by nothing. */
static uint64_t take_inode(struct cursor *c)
{
	uint64_t inode = 0;
	while (cursor_left(c) && *c->pos != ' ') {
		const unsigned digit = digit_value(cursor_u8(c));
		if (digit >= 10 || inode > (UINT64_MAX - digit) / 10) {
			cursor_fail(c);
			return 0;
		}
		inode = inode * 10 + digit;
	}
	while (cursor_left(c) && *c->pos == ' ')
		c->pos++;
	return inode;
}

/* The kernel writes a newline in a name as \012, and changes nothing else. */
static void take_path(struct cursor *c, char path[PROC_MAPS_PATH_SIZE])
{
	size_t size = 0;
	while (cursor_left(c) && size < PROC_MAPS_PATH_SIZE - 1) {
		if (cursor_left(c) >= 4 && memcmp(c->pos, "\\012", 4) == 0) {
			path[size++] = '\n';
			c->pos += 4;
		} else {
			path[size++] = (char)cursor_u8(c);
		}
	}
	path[size] = '\0';
}

static bool parse_line(struct cursor *c, struct proc_mapping *map, char *path)
{
	*map = (struct proc_mapping){ .path = path };
	map->start_avma = take_number(c, 16, '-');
	map->end_avma = take_number(c, 16, ' ');
	map->prot = take_prot(c, &map->flags);
	map->file_off = take_number(c, 16, ' ');
	const uint64_t maj = take_number(c, 16, ':');
	const uint64_t min = take_number(c, 16, ' ');
	map->inode = take_inode(c);
	map->maj = (uint32_t)maj;
	map->min = (uint32_t)min;
	if (cursor_failed(c) || map->end_avma <= map->start_avma || maj > UINT32_MAX ||
	    min > UINT32_MAX)
		return false;
	take_path(c, path);
	return true;
}

bool proc_maps_next(struct proc_maps *maps, struct proc_mapping *map)
{
	struct cursor line;
	while (take_line(&maps->text, &line)) {
		if (parse_line(&line, map, maps->path))
			return true;
		maps->bad_lines++;
	}
	return false;
}
