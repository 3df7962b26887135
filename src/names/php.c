#include "names/names_internal.h"

/* The main program of a file is named by the file. */
static void put_function(struct sink *human, struct bytes name, struct name_parts *parts)
{
	if (!text_starts(name, "/")) {
		put(human, name);
		return;
	}
	sink_text(human, "{main} ");
	put_place(human, name);
	parts->place = name;
}

/* "TRACE-3$Klass::method_m$7": number, function, line where it starts. All traces that
 * start in a function count as the function.
 */
static bool split_trace(struct bytes text, struct name_parts *parts, struct sink *human)
{
	if (!text_skip(&text, "TRACE-") || !text_skip_number(&text) || !text_skip(&text, "$") ||
	    !text_drop_number(&text, '$') || !text.size)
		return false;
	parts->runtime = RUNTIME_PHP;
	parts->tier = "trace";
	put_function(human, text, parts);
	return true;
}

bool split_php(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (split_trace(raw, parts, human))
		return true;
	const bool is_stub = text_skip(&text, "JIT$$") || text_skip(&text, "jit$$");
	if (!is_stub && !text_skip(&text, "JIT$"))
		return false;
	parts->runtime = RUNTIME_PHP;
	parts->tier = is_stub ? "stub" : "jit";
	if (is_stub)
		put(human, text);
	else
		put_function(human, text, parts);
	return true;
}
