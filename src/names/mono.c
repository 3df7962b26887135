#include "names/clr.h"

/* Trampolines of mono 6 have plain names. */
static bool is_stub(struct bytes raw)
{
	return text_find(raw, "trampoline") != TEXT_NONE || text_starts(raw, "delegate_invoke_") ||
	       text_starts(raw, "restore_context") || text_starts(raw, "call_filter") ||
	       text_starts(raw, "throw_") || text_starts(raw, "rethrow_") || text_is(raw, "(null)");
}

/* "(wrapper KIND) Ns.Type/Nested`1<int>:Name<char> (int,string)". A wrapper is other code
 * than the method that it wraps: its kind stays in the name.
 */
bool split_mono(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	struct bytes wrapper = { 0 };
	if (text_skip(&text, "(wrapper ")) {
		const size_t end = text_find(text, ") ");
		if (end == TEXT_NONE)
			return false;
		wrapper = text_until(text, end);
		text = text_from(text, end + 2);
	}
	const size_t open = text_find(text, " (");
	if (open == TEXT_NONE || !text_ends(text, ")")) {
		if (parts->runtime != RUNTIME_MONO || !is_stub(raw))
			return false;
		parts->tier = "stub";
		put(human, raw);
		return true;
	}
	const struct bytes head = text_until(text, open);
	const struct bytes list = text_between(text, open + 2, text.size - 1);
	const size_t colon = text_find(head, ":");
	if (colon == TEXT_NONE || colon == 0 || text_starts(text_from(head, colon), "::") ||
	    text_find(head, " [") != TEXT_NONE)
		return false;

	const struct bytes owner = text_until(head, colon);
	const struct bytes method = text_from(head, colon + 1);
	const struct clr_generics generics = { .of_type = clr_arguments(owner),
					       .of_method = clr_arguments(method) };
	parts->runtime = RUNTIME_MONO;
	parts->tier = wrapper.size ? "wrapper" : "jit";
	if (!put_clr_owner(human, owner))
		return false;
	sink_u8(human, '.');
	if (text_ends(method, ">") ? !put_clr_owner(human, method) : (put(human, method), false))
		return false;
	sink_u8(human, '(');
	if (!put_clr_parameters(&(struct clr_printer){ .human = human, .generics = &generics },
				list))
		return false;
	sink_u8(human, ')');
	if (wrapper.size) {
		sink_text(human, " [");
		put(human, wrapper);
		sink_u8(human, ']');
	}
	return true;
}
