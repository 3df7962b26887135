#include "load/load_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void load_add_note(struct load *load, bool is_warning, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	struct load_note *note = text ? vector_push(&load->notes) : NULL;
	if (!note) {
		free(text);
		return;
	}
	*note = (struct load_note){ .text = text, .is_warning = is_warning };
}

size_t load_note_count(const struct load *load)
{
	return load->notes.count;
}

const struct load_note *load_note(const struct load *load, size_t index)
{
	return index < load->notes.count ? &load->notes.items[index] : NULL;
}
