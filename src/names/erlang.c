#include "names/names_internal.h"

/* Shared fragments of the emulator, and what the loader puts around a module. */
static bool is_stub(struct bytes text)
{
	return text_starts(text, "global::") || text_ends(text, "::codeHeader") ||
	       text_ends(text, "::codeFooter");
}

/* "$work:alpha/2-CodeInfoPrologue": maps have the dollar, dumps do not. The prologue
 * in front of a function is its own entry and counts as the function.
 */
bool split_erlang(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	const bool has_dollar = text_skip(&text, "$");
	text_drop(&text, "-CodeInfoPrologue");
	struct bytes shape = text;
	const bool has_arity = text_drop_number(&shape, '/');
	const size_t colon = text_find(shape, ":");
	const bool is_function = has_arity && colon != TEXT_NONE && colon > 0;
	const bool is_shared = is_stub(text);
	if (!is_function && !is_shared && !(has_dollar && parts->runtime == RUNTIME_ERLANG))
		return false;
	parts->runtime = RUNTIME_ERLANG;
	parts->tier = is_shared ? "stub" : "jit";
	put(human, text);
	return true;
}
