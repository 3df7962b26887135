#include "names/clr.h"

static const char *drop_tier(struct bytes *text)
{
	static const struct {
		const char *mark;
		const char *tier;
	} TIERS[] = {
		{ "[PreJIT]", "prejit" },
		{ "[PreJit-cold]", "prejit" },
		{ "[QuickJitted]", "quick" },
		{ "[Optimized]", "optimized" },
		{ "[OptimizedTier1]", "tier1" },
		{ "[OptimizedTier1OSR]", "osr" },
		{ "[MinOptJitted]", "minopt" },
		{ "[InstrumentedTier]", "instrumented" },
		{ "[InstrumentedTier0]", "instrumented" },
		{ "[InstrumentedTierOptimized]", "instrumented" },
		{ "[Unknown]", "" },
	};
	for (size_t i = 0; i < sizeof(TIERS) / sizeof(TIERS[0]); i++)
		if (text_drop(text, TIERS[i].mark))
			return TIERS[i].tier;
	return NULL;
}

/* "stub<17> AllocateTemporaryEntryPoints<PRECODE_FIXUP>": the number is the count of
 * stubs so far and says nothing.
 */
static bool split_stub(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (!text_skip(&text, "stub"))
		return false;
	if (text_skip(&text, "<") && !(text_skip_number(&text) && text_skip(&text, ">")))
		return false;
	if (!text_skip(&text, " ") || !text_ends(text, ">"))
		return false;
	parts->runtime = RUNTIME_DOTNET;
	parts->tier = "stub";
	put_clr_stub(human, text);
	return true;
}

/* Where the type begins in "RETURN [Assembly] Type": behind the last bracket outside
 * of brackets that a space follows.
 */
static size_t owner_at(struct bytes head)
{
	size_t at = TEXT_NONE;
	int depth = 0;
	for (size_t i = 0; i + 1 < head.size; i++) {
		if (head.data[i] == '[' || head.data[i] == '(')
			depth++;
		if ((head.data[i] == ']' || head.data[i] == ')') && depth > 0)
			depth--;
		if (head.data[i] == ']' && depth == 0 && head.data[i + 1] == ' ')
			at = i + 2;
	}
	return at;
}

/* "void" of "instance void [App] ". */
static struct bytes returned(struct bytes before)
{
	text_drop(&before, " ");
	text_skip(&before, "instance ");
	const size_t open = text_match_back(before, '[', ']');
	before.size = open == TEXT_NONE ? 0 : open;
	text_drop(&before, " ");
	return before;
}

/* Instantiating stubs carry the address of each type in a comment behind it. */
static struct bytes without_comments(struct bytes list, uint8_t *buffer)
{
	if (text_find(list, " /*") == TEXT_NONE)
		return list;
	size_t size = 0;
	for (size_t at = 0; at < list.size;) {
		const struct bytes rest = text_from(list, at);
		const size_t end = text_starts(rest, " /*") ? text_find(rest, "*/") : TEXT_NONE;
		if (end == TEXT_NONE)
			buffer[size++] = list.data[at++];
		else
			at += end + 2;
	}
	return (struct bytes){ .data = buffer, .size = size };
}

/* "instance void [App] Ns.Type`1[System.__Canon]::Name(int32)[QuickJitted]" */
bool split_dotnet(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	if (split_stub(raw, parts, human))
		return true;
	struct bytes text = raw;
	const char *tier = drop_tier(&text);
	if (!text_ends(text, ")"))
		return false;
	const size_t open = text_match_back(text, '(', ')');
	if (open == TEXT_NONE)
		return false;
	const struct bytes head = text_until(text, open);
	uint8_t buffer[NAME_SIZE_MAX];
	const struct bytes list =
	    without_comments(text_between(text, open + 1, text.size - 1), buffer);
	const size_t colons = text_find(head, "::");
	if (colons == TEXT_NONE)
		return false;
	const size_t start = owner_at(text_until(head, colons));
	if (start == TEXT_NONE)
		return false;

	const struct clr_method method = {
		.owner = text_between(head, start, colons),
		.name = text_from(head, colons + 2),
		.parameters = list,
		.returns = returned(text_until(head, start)),
		.has_parameters = true,
	};
	parts->runtime = RUNTIME_DOTNET;
	parts->tier = tier ? tier : "";
	parts->is_osr = tier && strcmp(tier, "osr") == 0;
	if (text_is(method.owner, "dynamicClass") && text_starts(method.name, "IL_STUB"))
		parts->tier = "stub";
	return put_clr_method(human, &method);
}
