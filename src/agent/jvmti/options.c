#include "agent/jvmti/options.h"

#include <stddef.h>
#include <string.h>

struct word {
	const char *text;
	size_t size;
};

static bool is_word(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static bool read_switch(struct word value, bool *into)
{
	if (!is_word(value, "on") && !is_word(value, "off"))
		return false;
	*into = is_word(value, "on");
	return true;
}

/* Absolute: a JVM's current directory is nothing that its user thinks of. */
static bool read_path(struct word value, char into[OPTIONS_PATH_SIZE])
{
	if (value.size == 0 || value.size >= OPTIONS_PATH_SIZE || value.text[0] != '/')
		return false;
	memcpy(into, value.text, value.size);
	into[value.size] = 0;
	return true;
}

static bool read_option(struct options *options, struct word key, struct word value)
{
	if (is_word(key, "dir"))
		return read_path(value, options->directory);
	if (is_word(key, "control"))
		return read_path(value, options->control);
	if (is_word(key, "lines"))
		return read_switch(value, &options->lines);
	if (is_word(key, "inlines"))
		return read_switch(value, &options->inlines);
	if (is_word(key, "interpreted"))
		return read_switch(value, &options->interpreted);
	if (is_word(key, "map"))
		return read_switch(value, &options->map);
	return false;
}

bool options_parse(struct options *options, const char *text, const char **wrong)
{
	*options = (struct options){ .lines = true, .inlines = true };
	for (const char *at = text ? text : ""; *at;) {
		const size_t size = strcspn(at, ",");
		const char *equals = memchr(at, '=', size);
		if (equals) {
			const struct word key = { at, (size_t)(equals - at) };
			const struct word value = { equals + 1, size - key.size - 1 };
			if (!read_option(options, key, value)) {
				*wrong = at;
				return false;
			}
		} else if (is_word((struct word){ at, size }, "stop")) {
			options->stop = true;
		} else if (size > 0) {
			*wrong = at;
			return false;
		}
		at += size + (at[size] == ',');
	}
	return true;
}
