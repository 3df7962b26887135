#include "names/names_internal.h"

/* Tags in front of the first colon. JavaScript tags are followed by a tier mark,
 * the function's name and its place; the others by one word.
 */
struct tag {
	const char *tag;
	const char *tier; /* NULL: a JavaScript function, its mark says */
	const char *unnamed;
};

static const struct tag TAGS[] = {
	{ "JS:", NULL, "(anonymous)" },
	{ "LazyCompile:", NULL, "(anonymous)" },
	{ "Function:", NULL, "(anonymous)" },
	{ "Eval:", NULL, "(eval)" },
	{ "Script:", NULL, "(script)" },
	{ "Builtin:", "builtin", "" },
	{ "BytecodeHandler:", "bytecode", "" },
	{ "RegExp:", "regexp", "" },
	{ "Stub:", "stub", "" },
	{ "Handler:", "stub", "" },
	{ "LoadIC:", "stub", "" },
	{ "KeyedLoadIC:", "stub", "" },
	{ "StoreIC:", "stub", "" },
	{ "KeyedStoreIC:", "stub", "" },
	{ "CallIC:", "stub", "" },
	{ "Callback:", "stub", "" },
};

/* [o]MARK[']: "o" was entered by on-stack replacement, "'" is specialised to its
 * context; both are versions of the same tier.
 */
static const char *skip_mark(struct bytes *text, bool *is_osr)
{
	static const struct {
		char mark;
		const char *tier;
	} MARKS[] = {
		{ '~', "ignition" }, { '^', "sparkplug" }, { '+', "maglev" }, { '*', "turbofan" }
	};
	const size_t at = text->size > 1 && text->data[0] == 'o' ? 1 : 0;
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
		if (at >= text->size || text->data[at] != (uint8_t)MARKS[i].mark)
			continue;
		*is_osr = at != 0;
		*text = text_from(*text, at + 1);
		text_skip(text, "'");
		return MARKS[i].tier;
	}
	return "";
}

/* "alpha-1-turbofan": name, index in the module, compiler. */
static const char *drop_wasm_tier(struct bytes *text)
{
	static const char *const TIERS[] = { "turbofan", "liftoff", "interpreter" };
	for (size_t i = 0; i < sizeof(TIERS) / sizeof(TIERS[0]); i++) {
		struct bytes left = *text;
		if (!text_drop(&left, TIERS[i]) || !text_drop(&left, "-") ||
		    !text_drop_number(&left, '-'))
			continue;
		*text = left;
		return TIERS[i];
	}
	return NULL;
}

static void split_function(struct bytes text, const char *unnamed, struct name_parts *parts,
			   struct sink *human)
{
	parts->tier = skip_mark(&text, &parts->is_osr);
	const char *wasm_tier = *parts->tier ? NULL : drop_wasm_tier(&text);
	if (wasm_tier) {
		parts->runtime = RUNTIME_WASM;
		parts->tier = wasm_tier;
		put(human, text);
		return;
	}
	struct bytes name;
	cut_place(text, &name, &parts->place);
	if (name.size)
		put(human, name);
	else
		sink_text(human, unnamed);
	if (parts->place.size) {
		sink_u8(human, ' ');
		put_place(human, parts->place);
	}
}

bool split_v8(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	for (size_t i = 0; i < sizeof(TAGS) / sizeof(TAGS[0]); i++) {
		struct bytes text = raw;
		if (!text_skip(&text, TAGS[i].tag))
			continue;
		parts->runtime = RUNTIME_V8;
		if (!TAGS[i].tier) {
			split_function(text, TAGS[i].unnamed, parts, human);
			return true;
		}
		parts->tier = TAGS[i].tier;
		const bool is_pattern = text_is(text_of(parts->tier), "regexp");
		if (is_pattern)
			sink_u8(human, '/');
		put(human, text);
		if (is_pattern)
			sink_u8(human, '/');
		if (text_is(text_of(parts->tier), "bytecode"))
			sink_text(human, " handler");
		return true;
	}
	return false;
}
