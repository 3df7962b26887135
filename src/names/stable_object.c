#include "names/stable_internal.h"

/* "PREFIX123SUFFIX" without the number, whatever follows it where `suffix` is NULL. */
static bool put_without_number(struct bytes object, const char *prefix, const char *suffix,
			       struct sink *key)
{
	struct bytes left = object;
	if (!text_skip(&left, prefix) || !text_skip_number(&left) ||
	    (suffix && !text_is(left, suffix)))
		return false;
	sink_text(key, prefix);
	sink_text(key, suffix ? suffix : "");
	return true;
}

/* What a process names by its number: maps, dumps, and images of code that inject or perf made. */
static bool put_of_process(struct bytes object, struct sink *key)
{
	return put_without_number(object, "perf-", ".map", key) ||
	       put_without_number(object, "jit-", ".dump", key) ||
	       put_without_number(object, "jitted-", NULL, key) ||
	       put_without_number(object, "_ruby_mjit_p", NULL, key);
}

/* "libc-2.36", "libpython3.11", "node-20" without what looks like a version: digits behind a dash,
 * or digits with a dot between them. "libz3" has none.
 */
static struct bytes without_version(struct bytes name)
{
	size_t start = name.size;
	bool has_dot = false;
	while (start && (is_digit(name.data[start - 1]) || name.data[start - 1] == '.')) {
		start--;
		has_dot |= name.data[start] == '.';
	}
	if (start == name.size || !start || !is_digit(name.data[start]))
		return name;
	if (name.data[start - 1] == '-')
		return text_until(name, start - 1);
	return has_dot ? text_until(name, start) : name;
}

void names_stable_object(struct bytes object, enum stable_for what, struct sink *key)
{
	text_drop(&object, " (deleted)");
	if (put_of_process(object, key))
		return;
	if (what != STABLE_BUILDS || text_starts(object, "[")) {
		put(key, object);
		return;
	}
	/* "libc.so.6", "libpython3.11.so.1.0" */
	const size_t at = text_find(object, ".so");
	const bool is_library =
	    at != TEXT_NONE && at > 0 && (at + 3 == object.size || object.data[at + 3] == '.');
	put(key, without_version(is_library ? text_until(object, at) : object));
	if (is_library)
		sink_text(key, ".so");
}
