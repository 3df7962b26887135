#include "interp/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t from_hex(struct arena *arena, const char *text, uint8_t **bytes)
{
	const size_t size = strspn(text, "0123456789abcdef") / 2;
	*bytes = arena_new(arena, uint8_t, size ? size : 1);
	for (size_t i = 0; *bytes && i < size; i++) {
		unsigned byte = 0;
		(void)sscanf(text + 2 * i, "%2x", &byte);
		(*bytes)[i] = (uint8_t)byte;
	}
	return *bytes ? size : 0;
}

enum { REGISTERS = 11 };

static uint64_t *words(struct walk_registers *registers)
{
	_Static_assert(sizeof(*registers) == REGISTERS * sizeof(uint64_t), "no more and no less");
	return (uint64_t *)(void *)registers;
}

static bool load_registers(struct image *image, const char *text)
{
	char *at = (char *)(uintptr_t)text;
	/* The first images had fewer. */
	for (int i = 0; i < REGISTERS && *at == ' '; i++)
		words(&image->registers)[i] = strtoull(at, &at, 16);
	return *at == '\n';
}

static bool load_line(struct image *image, char *line)
{
	uint8_t *bytes;
	char *at;
	if (strncmp(line, "registers ", 10) == 0)
		return load_registers(image, line + 9);
	if (strncmp(line, "runtime ", 8) == 0) {
		if (from_hex(&image->arena, line + 8, &bytes) != sizeof(image->runtime))
			return false;
		memcpy(&image->runtime, bytes, sizeof(image->runtime));
		return true;
	}
	if (strncmp(line, "memory ", 7) == 0) {
		const uint64_t avma = strtoull(line + 7, &at, 16);
		const size_t size = from_hex(&image->arena, at + 1, &bytes);
		image_add(image, avma, bytes, size);
		return size > 0;
	}
	if (strncmp(line, "expect ", 7) == 0) {
		free(image->expected);
		line[strcspn(line, "\n")] = '\0';
		image->expected = strdup(line + 7);
		return image->expected != NULL;
	}
	return line[0] == '#';
}

bool image_load(struct image *image, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	bool is_good = true;
	FILE *in = fopen(path, "r");
	*image = (struct image){ .expected = NULL };
	if (!in)
		return false;
	while (is_good && getline(&line, &room, in) > 0)
		is_good = load_line(image, line);
	free(line);
	fclose(in);
	return is_good && image->expected;
}

void image_clear(struct image *image)
{
	vector_clear(&image->pieces);
	arena_clear(&image->arena);
	free(image->expected);
	*image = (struct image){ .expected = NULL };
}

bool image_read(void *context, uint64_t avma, void *to, size_t size)
{
	const struct image *image = context;
	for (size_t i = 0; i < image->pieces.count; i++) {
		const struct image_piece *piece = &image->pieces.items[i];
		if (avma < piece->avma || avma - piece->avma > piece->size ||
		    size > piece->size - (avma - piece->avma))
			continue;
		memcpy(to, piece->data + (avma - piece->avma), size);
		return true;
	}
	return false;
}

void image_add(struct image *image, uint64_t avma, const void *data, size_t size)
{
	uint8_t *copy = arena_new(&image->arena, uint8_t, size ? size : 1);
	struct image_piece *last =
	    image->pieces.count ? &image->pieces.items[image->pieces.count - 1] : NULL;
	if (!copy || image_read(image, avma, copy, size))
		return;
	memcpy(copy, data, size);
	/* Texts are read a byte at a time. */
	if (last && last->avma + last->size == avma) {
		uint8_t *both = arena_new(&image->arena, uint8_t, last->size + size);
		if (!both)
			return;
		memcpy(both, last->data, last->size);
		memcpy(both + last->size, data, size);
		last->data = both;
		last->size += size;
		return;
	}
	struct image_piece *piece = vector_push(&image->pieces);
	if (piece)
		*piece = (struct image_piece){ avma, copy, size };
}

static void put_hex(FILE *out, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('\n', out);
}

void image_write(const struct image *image, FILE *out)
{
	struct walk_registers registers = image->registers;
	fprintf(out, "registers");
	for (int i = 0; i < REGISTERS; i++)
		fprintf(out, " %" PRIx64, words(&registers)[i]);
	fprintf(out, "\nruntime ");
	put_hex(out, &image->runtime, sizeof(image->runtime));
	for (size_t i = 0; i < image->pieces.count; i++) {
		fprintf(out, "memory %" PRIx64 " ", image->pieces.items[i].avma);
		put_hex(out, image->pieces.items[i].data, image->pieces.items[i].size);
	}
	if (image->expected)
		fprintf(out, "expect %s\n", image->expected);
}
