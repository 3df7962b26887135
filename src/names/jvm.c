#include "names/names_internal.h"

/* Field descriptors (JVM specification, 4.3.2). */
static const char *primitive(uint8_t c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	case 'V':
		return "void";
	default:
		return NULL;
	}
}

static void put_dotted(struct sink *human, struct bytes name)
{
	for (size_t i = 0; i < name.size; i++)
		sink_u8(human, name.data[i] == '/' ? '.' : name.data[i]);
}

/* Parameters by simple name, as an import would let people write them. */
static struct bytes simple_name(struct bytes type, char separator)
{
	const size_t at = text_last(type, separator);
	return at == TEXT_NONE ? type : text_from(type, at + 1);
}

/* One parameter off the front of a descriptor; false where it is none. */
static bool put_descriptor(struct sink *human, struct bytes *left)
{
	size_t dimensions = 0;
	while (text_skip(left, "["))
		dimensions++;
	if (!left->size)
		return false;
	const uint8_t first = left->data[0];
	if (first == 'L') {
		const size_t end = text_find(*left, ";");
		if (end == TEXT_NONE)
			return false;
		put(human, simple_name(text_between(*left, 1, end), '/'));
		*left = text_from(*left, end + 1);
	} else {
		const char *name = primitive(first);
		if (!name)
			return false;
		sink_text(human, name);
		*left = text_from(*left, 1);
	}
	while (dimensions--)
		sink_text(human, "[]");
	return true;
}

/* "LWork;alpha(II)I", as JVMTI agents join class and method signature. */
static bool split_descriptor(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	const size_t semicolon = text_find(text, ";");
	if (!text_skip(&text, "L") || semicolon == TEXT_NONE || semicolon < 2)
		return false;
	const struct bytes class = text_between(raw, 1, semicolon);
	text = text_from(raw, semicolon + 1);
	text_skip(&text, "::"); /* perf-map-agent */
	const size_t open = text_find(text, "(");
	const struct bytes method = open == TEXT_NONE ? text : text_until(text, open);
	if (!method.size)
		return false;

	parts->runtime = RUNTIME_JVM;
	parts->tier = "compiled";
	put_dotted(human, class);
	sink_u8(human, '.');
	put(human, method);
	if (open == TEXT_NONE)
		return true;

	struct bytes left = text_from(text, open + 1);
	sink_u8(human, '(');
	for (bool first = true; left.size && left.data[0] != ')'; first = false) {
		if (!first)
			sink_text(human, ", ");
		if (!put_descriptor(human, &left))
			return false;
	}
	sink_u8(human, ')');
	return left.size > 0;
}

static bool is_java_type(struct bytes type)
{
	if (!type.size)
		return false;
	for (size_t i = 0; i < type.size; i++)
		if (strchr(" (),:<>&*`!", type.data[i]))
			return false;
	return true;
}

/* "int Work.alpha(int, java.lang.String)", as HotSpot writes its map. */
static bool split_external(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	const size_t space = text_find(raw, " ");
	const size_t open = text_find(raw, "(");
	if (space == TEXT_NONE || open == TEXT_NONE || open < space || !text_ends(raw, ")") ||
	    !is_java_type(text_until(raw, space)))
		return false;
	const struct bytes method = text_between(raw, space + 1, open);
	if (text_find(method, ".") == TEXT_NONE || text_find(method, "::") != TEXT_NONE)
		return false;

	parts->runtime = RUNTIME_JVM;
	parts->tier = "compiled";
	put(human, method);
	sink_u8(human, '(');
	struct bytes left = text_between(raw, open + 1, raw.size - 1);
	for (bool more = left.size > 0; more;) {
		const size_t comma = text_find(left, ", ");
		more = comma != TEXT_NONE;
		put(human, simple_name(more ? text_until(left, comma) : left, '.'));
		if (more) {
			sink_text(human, ", ");
			left = text_from(left, comma + 2);
		}
	}
	sink_u8(human, ')');
	return true;
}

/* Only HotSpot has names of these shapes; all else without a signature is a stub
 * where the runtime is known to be a JVM.
 */
static bool is_marked_stub(struct bytes raw)
{
	return text_starts(raw, "I2C/C2I adapters") || text_ends(raw, " Runtime1 stub") ||
	       text_is(raw, "SafepointBlob") || text_is(raw, "DeoptimizationBlob") ||
	       text_is(raw, "UncommonTrapBlob") || text_is(raw, "ExceptionBlob") ||
	       text_is(raw, "vtable chunks") || text_is(raw, "vtable stub") ||
	       text_is(raw, "itable stub");
}

bool split_jvm(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	const enum runtime known = parts->runtime;
	const size_t size = human->size;
	if (split_descriptor(raw, parts, human))
		return true;
	human->size = size;
	if (split_external(raw, parts, human))
		return true;
	if (known != RUNTIME_JVM && !is_marked_stub(raw))
		return false;

	parts->runtime = RUNTIME_JVM;
	parts->tier = text_is(raw, "Interpreter") ? "interpreter" : "stub";
	/* "I2C/C2I adapters(0xbbaaab)": one per shape of a signature. */
	const size_t open = text_find(raw, "(0x");
	put(human, open == TEXT_NONE ? raw : text_until(raw, open));
	return true;
}
