#include "base/status.h"
#include "os/proc.h"
#include "record/event_internal.h"

#include <stdio.h>

static bool is_plain_name(struct bytes name)
{
	if (name.size == 0 || name.size > 63 || name.data[0] == '.')
		return false;
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] == '/' || name.data[i] <= ' ' || name.data[i] >= 0x7f)
			return false;
	return true;
}

static void sys_line(const char *root, struct bytes pmu, const char *folder, struct bytes name,
		     char *line, size_t size)
{
	char path[512];
	(void)snprintf(path, sizeof(path), "%s/%.*s/%s%s%.*s", root, (int)pmu.size,
		       (const char *)pmu.data, folder, *folder ? "/" : "", (int)name.size,
		       (const char *)name.data);
	proc_line(path, line, size);
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static bool is_text(struct bytes bytes, const char *text)
{
	return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static struct bytes take_until(struct bytes *text, char stop)
{
	const uint8_t *end = text->size ? memchr(text->data, stop, text->size) : NULL;
	const size_t size = end ? (size_t)(end - text->data) : text->size;
	const struct bytes taken = { text->data, size };
	const size_t used = end ? size + 1 : size;
	text->data += used;
	text->size -= used;
	return taken;
}

/* Spreads `value` over the bits that a format file names: "config:0-7,32-35". */
static bool place_value(struct event *event, const char *format, uint64_t value)
{
	struct bytes rest = bytes_of(format);
	const struct bytes word = take_until(&rest, ':');
	uint64_t *config;
	if (is_text(word, "config"))
		config = &event->config;
	else if (is_text(word, "config1"))
		config = &event->config1;
	else if (is_text(word, "config2"))
		config = &event->config2;
	else
		return false;
	unsigned used = 0;
	while (rest.size) {
		struct bytes range = take_until(&rest, ',');
		const struct bytes low = take_until(&range, '-');
		uint64_t first;
		uint64_t last;
		if (!event_parse_number(low, &first))
			return false;
		last = first;
		if (range.size && !event_parse_number(range, &last))
			return false;
		if (first > last || last > 63)
			return false;
		for (uint64_t bit = first; bit <= last; bit++, used++)
			if (used < 64 && value >> used & 1)
				*config |= 1ull << bit;
	}
	return used >= 64 || value >> used == 0;
}

static bool own_term(struct event *event, struct bytes name, uint64_t value)
{
	if (is_text(name, "config"))
		event->config = value;
	else if (is_text(name, "config1"))
		event->config1 = value;
	else if (is_text(name, "config2"))
		event->config2 = value;
	else if (is_text(name, "period"))
		event->period = value;
	else if (is_text(name, "freq"))
		event->frequency_hz = value;
	else
		return false;
	return true;
}

enum { NAMED_EVENT_DEPTH = 2 };

static int parse_terms(struct event *event, const char *root, struct bytes pmu, struct bytes terms,
		       int depth, const char **reason)
{
	while (terms.size) {
		struct bytes term = take_until(&terms, ',');
		const bool has_value = term.size && memchr(term.data, '=', term.size);
		const struct bytes name = take_until(&term, '=');
		uint64_t value = 1;
		char line[256];
		*reason = "a term's value is not a number";
		if (has_value && !event_parse_number(term, &value))
			return STATUS_NOT_FOUND;
		if (has_value && own_term(event, name, value))
			continue;
		*reason = "this PMU has no such term or event";
		if (!is_plain_name(name))
			return STATUS_NOT_FOUND;
		sys_line(root, pmu, "format", name, line, sizeof(line));
		if (line[0]) {
			*reason = "a term's value does not fit";
			if (!place_value(event, line, value))
				return STATUS_NOT_FOUND;
			continue;
		}
		/* A name that stands for terms: "mem-loads". */
		if (!has_value && depth < NAMED_EVENT_DEPTH)
			sys_line(root, pmu, "events", name, line, sizeof(line));
		if (!line[0])
			return STATUS_NOT_FOUND;
		const int result = parse_terms(event, root, pmu, bytes_of(line), depth + 1, reason);
		if (result)
			return result;
	}
	return 0;
}

int event_parse_pmu(struct event *event, const char *root, struct bytes pmu, struct bytes terms,
		    const char **reason)
{
	char line[32];
	uint64_t type;
	*reason = "there is no PMU of this name";
	if (!is_plain_name(pmu))
		return STATUS_NOT_FOUND;
	sys_line(root, pmu, "", bytes_of("type"), line, sizeof(line));
	if (!event_parse_number(bytes_of(line), &type) || type > UINT32_MAX)
		return STATUS_NOT_FOUND;
	event->type = (uint32_t)type;
	return parse_terms(event, root, pmu, terms, 0, reason);
}
