#include "names/names_internal.h"

static void put_name_and_place(struct sink *human, struct bytes name, struct bytes place,
			       struct name_parts *parts)
{
	put(human, name);
	if (name.size && place.size)
		sink_u8(human, ' ');
	if (place.size)
		put_place(human, place);
	parts->place = place;
}

/* "py::Klass.method_m:/home/me/work.py": CPython's trampolines; no line is told. */
bool split_python(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (!text_skip(&text, "py::"))
		return false;
	const size_t colon = text_find(text, ":");
	parts->runtime = RUNTIME_PYTHON;
	parts->tier = "trampoline";
	if (colon == TEXT_NONE)
		put(human, text);
	else
		put_name_and_place(human, text_until(text, colon), text_from(text, colon + 1),
				   parts);
	return true;
}

/* Cuts what stands between `before` and `after`; false if they are not both there. */
static bool cut_between(struct bytes *text, const char *before, const char *after,
			struct bytes *found)
{
	const size_t start = text_find(*text, before);
	if (start == TEXT_NONE)
		return false;
	const struct bytes rest = text_from(*text, start + strlen(before));
	const size_t end = text_find(rest, after);
	if (end == TEXT_NONE)
		return false;
	*found = text_until(rest, end);
	*text = text_from(rest, end);
	return true;
}

/* "Loop 3 (<code object alpha. file 'work.py'. line 2> #12 FOR_ITER)" */
bool split_pypy(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	struct bytes name;
	struct bytes file;
	const bool is_bridge = text_starts(raw, "Bridge") || text_starts(raw, "bridge");
	if (!cut_between(&text, "<code object ", " file '", &name) ||
	    !cut_between(&text, " file '", "'", &file))
		return false;
	if (!text_drop(&name, ","))
		text_drop(&name, ".");
	parts->runtime = RUNTIME_PYPY;
	parts->tier = is_bridge ? "bridge" : "trace";
	put_name_and_place(human, name, file, parts);
	struct bytes line;
	if (cut_between(&text, " line ", ">", &line)) {
		sink_u8(human, ':');
		put(human, line);
	}
	return true;
}

/* "[YJIT] block in main@/home/me/work.rb:12" */
bool split_ruby(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (text_skip(&text, "[YJIT] "))
		parts->tier = "yjit";
	else if (text_skip(&text, "[JIT] "))
		parts->tier = "jit";
	else if (text_skip(&text, "ZJIT: "))
		parts->tier = "zjit";
	else
		return false;
	parts->runtime = RUNTIME_RUBY;
	const size_t at = text_find(text, "@");
	if (at == TEXT_NONE)
		put(human, text);
	else
		put_name_and_place(human, text_until(text, at), text_from(text, at + 1), parts);
	return true;
}

/* "TRACE_12::work.lua:3", and " side 5/2" where it leaves trace 5 by exit 2. A trace has
 * no name of its own but where it starts.
 */
bool split_luajit(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (!text_skip(&text, "TRACE_") || !text_skip_number(&text) || !text_skip(&text, "::"))
		return false;
	parts->runtime = RUNTIME_LUAJIT;
	parts->tier = "trace";
	const size_t side = text_find(text, " side ");
	if (side != TEXT_NONE)
		text = text_until(text, side);
	if (text.size && (text.data[0] == '@' || text.data[0] == '='))
		text = text_from(text, 1);
	struct bytes name;
	struct bytes place;
	cut_place(text, &name, &place);
	if (!place.size) {
		place = name;
		name.size = 0;
	}
	put_name_and_place(human, name, place, parts);
	return true;
}
