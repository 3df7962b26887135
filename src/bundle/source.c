#include "bundle/source.h"

#include "base/number.h"

#include <ctype.h>

enum {
	PATH_LIMIT = 4096,
	MEMBER_LIMIT = 1000, /* bundle_writer_add() refuses longer ones */
};

struct bytes source_path(struct bytes file)
{
	static const char scheme[] = "file://";
	const size_t skip = sizeof(scheme) - 1;
	if (file.size > skip && memcmp(file.data, scheme, skip) == 0)
		file = (struct bytes){ file.data + skip, file.size - skip };
	return file;
}

/* "node:internal/fs", "https://...": what names no file begins like a URL. A drive is one letter.
 */
static bool has_scheme(struct bytes path)
{
	size_t at = 0;
	while (at < path.size && (isalnum(path.data[at]) || (at && strchr("+-.", path.data[at]))))
		at++;
	return at > 1 && at < path.size && path.data[at] == ':';
}

bool source_is_path(struct bytes path)
{
	return path.size && path.size <= PATH_LIMIT && !has_scheme(path) &&
	       !memchr(path.data, '\0', path.size) && path.data[0] != '<' && path.data[0] != '[' &&
	       path.data[path.size - 1] != '/';
}

static void put_component(struct sink *name, struct bytes component)
{
	for (size_t i = 0; i < component.size; i++) {
		const uint8_t c = component.data[i];
		if (c <= ' ' || c >= 0x7f || strchr("%\\:*?\"<>|", c))
			sink_printf(name, "%%%02x", c);
		else
			sink_u8(name, c);
	}
}

/* The next one, moved over; false behind the last. */
static bool next_component(struct bytes *path, struct bytes *component)
{
	while (path->size && *path->data == '/')
		*path = (struct bytes){ path->data + 1, path->size - 1 };
	const uint8_t *slash = path->size ? memchr(path->data, '/', path->size) : NULL;
	component->data = path->data;
	component->size = slash ? (size_t)(slash - path->data) : path->size;
	*path = (struct bytes){ path->data + component->size, path->size - component->size };
	return component->size != 0;
}

static bool is_word(struct bytes component, const char *word)
{
	return component.size == strlen(word) && memcmp(component.data, word, component.size) == 0;
}

bool source_member_name(struct bytes path, struct sink *name)
{
	struct bytes components[PATH_LIMIT / 2 + 1];
	struct bytes component;
	size_t count = 0;
	const size_t before = name->size;
	if (!source_is_path(path))
		return false;
	sink_text(name, path.data[0] == '/' ? "sources/root" : "sources/relative");
	while (next_component(&path, &component)) {
		if (is_word(component, "."))
			continue;
		if (!is_word(component, ".."))
			components[count++] = component;
		else if (count)
			count--;
		else
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		sink_u8(name, '/');
		put_component(name, components[i]);
	}
	return count && !sink_failed(name) && name->size - before <= MEMBER_LIMIT;
}

bool source_decode(char *path)
{
	char *to = path;
	for (const char *from = path; *from; from++) {
		uint64_t value = 0;
		const struct bytes digits = { (const uint8_t *)from + 1, strnlen(from + 1, 2) };
		const bool is_byte =
		    *from == '%' && digits.size == 2 && number_parse(digits, 16, &value) && value;
		*to++ = (char)(is_byte ? value : (uint8_t)*from);
		from += is_byte ? 2 : 0;
	}
	const bool is_other = *to != '\0';
	*to = '\0';
	return is_other;
}
