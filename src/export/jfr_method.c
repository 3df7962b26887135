/* Java's methods: a class, a name and a descriptor, from a name as the JVM wrote it, or as people
 * do.
 */
#include "export/jfr.h"

#include <string.h>

static struct bytes part(struct bytes of, size_t from, size_t to)
{
	return (struct bytes){ of.data + from, to - from };
}

static const uint8_t *find(struct bytes text, char c)
{
	return text.size ? memchr(text.data, c, text.size) : NULL;
}

static const uint8_t *find_last(struct bytes text, char c)
{
	return text.size ? memrchr(text.data, c, text.size) : NULL;
}

/* "Ljava/util/List;size()I", as JVMTI tells it. */
static bool split_raw(struct places *places, struct bytes raw, struct jfr_method *method)
{
	const uint8_t *end = find(raw, ';');
	if (!end || raw.data[0] != 'L')
		return false;
	const size_t name_at = (size_t)(end - raw.data) + 1;
	const struct bytes rest = part(raw, name_at, raw.size);
	const uint8_t *open = find(rest, '(');
	if (!open || open == rest.data || !find(rest, ')'))
		return false;
	const size_t name_size = (size_t)(open - rest.data);
	method->class = places_text_of(places, part(raw, 1, name_at - 1)) + 1;
	method->name = places_text_of(places, part(rest, 0, name_size)) + 1;
	method->descriptor = places_text_of(places, part(rest, name_size, rest.size)) + 1;
	return true;
}

static bool is(struct bytes text, const char *word)
{
	return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* One parameter, "int[]" or "java.lang.String", as "[I" or "Ljava/lang/String;". */
static void put_parameter(struct sink *out, struct bytes type)
{
	static const struct {
		const char *word;
		char letter;
	} basic[] = {
		{ "boolean", 'Z' }, { "byte", 'B' },  { "char", 'C' },
		{ "double", 'D' },  { "float", 'F' }, { "int", 'I' },
		{ "long", 'J' },    { "short", 'S' }, { "void", 'V' },
	};
	while (type.size && (type.data[0] == ' ' || type.data[0] == ','))
		type = part(type, 1, type.size);
	for (; type.size > 2 && memcmp(type.data + type.size - 2, "[]", 2) == 0; type.size -= 2)
		sink_u8(out, '[');
	for (size_t i = 0; i < sizeof(basic) / sizeof(*basic); i++)
		if (is(type, basic[i].word)) {
			sink_u8(out, (uint8_t)basic[i].letter);
			return;
		}
	sink_u8(out, 'L');
	for (size_t i = 0; i < type.size; i++)
		sink_u8(out, type.data[i] == '.' ? '/' : type.data[i]);
	sink_u8(out, ';');
}

/* What is between the brackets. What the method returns is not known: void. */
static uint32_t descriptor_of(struct places *places, struct bytes parameters)
{
	struct sink text = { 0 };
	sink_u8(&text, '(');
	while (parameters.size) {
		const uint8_t *comma = find(parameters, ',');
		const size_t size = comma ? (size_t)(comma - parameters.data) : parameters.size;
		put_parameter(&text, part(parameters, 0, size));
		parameters = part(parameters, comma ? size + 1 : size, parameters.size);
	}
	sink_text(&text, ")V");
	const uint32_t id = places_text_of(places, sink_bytes(&text));
	places->failed |= sink_failed(&text);
	sink_clear(&text);
	return id;
}

/* "java.util.List.size()" */
static bool split_written(struct places *places, struct bytes name, struct jfr_method *method)
{
	const uint8_t *open = find(name, '(');
	if (!open || name.data[name.size - 1] != ')')
		return false;
	const size_t open_at = (size_t)(open - name.data);
	const struct bytes before = part(name, 0, open_at);
	const uint8_t *dot = find_last(before, '.');
	if (!dot || dot == before.data || dot + 1 == open || find(before, ' '))
		return false;
	const size_t dot_at = (size_t)(dot - name.data);
	struct sink class = { 0 };
	for (size_t i = 0; i < dot_at; i++)
		sink_u8(&class, name.data[i] == '.' ? '/' : name.data[i]);
	method->class = places_text_of(places, sink_bytes(&class)) + 1;
	method->name = places_text_of(places, part(name, dot_at + 1, open_at)) + 1;
	method->descriptor = descriptor_of(places, part(name, open_at + 1, name.size - 1)) + 1;
	places->failed |= sink_failed(&class);
	sink_clear(&class);
	return true;
}

struct jfr_method jfr_method_of(struct places *places, const struct profile_function *function)
{
	const struct intern *strings = &places->view->profile->strings;
	struct jfr_method method = { 0 };
	const struct bytes name = intern_get_bytes(strings, function->name);
	if (is(intern_get_bytes(strings, function->runtime), "jvm") &&
	    (split_raw(places, intern_get_bytes(strings, function->raw_name), &method) ||
	     split_written(places, name, &method)))
		return method;
	method.class = places_text(places, function->object) + 1;
	method.name = places_text(places, function->name) + 1;
	method.descriptor = places_text_cstr(places, "()V") + 1;
	return method;
}
