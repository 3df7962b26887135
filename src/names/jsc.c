#include "names/names_internal.h"

/* "JSC-KIND: TEXT". Functions carry a hash of their source behind a '#'. */
struct kind {
	const char *kind;
	const char *tier;
	bool is_function;
};

static const struct kind KINDS[] = {
	{ "Baseline", "baseline", true },
	{ "DFG", "dfg", true },
	{ "FTL", "ftl", true },
	{ "LLInt", "llint", true },
	{ "WasmBBQ", "bbq", true },
	{ "WasmOMG", "omg", true },
	{ "WasmIPInt", "ipint", true },
	{ "LLIntThunk", "llint", false },
	{ "InlineCache", "ic", false },
	{ "YarrJIT", "regexp", false },
	{ "ExtraCTIThunk", "thunk", false },
	{ "Thunk", "thunk", false },
	{ "WasmThunk", "thunk", false },
	{ "FTLThunk", "thunk", false },
	{ "DFGThunk", "thunk", false },
	{ "DFGOSRExit", "thunk", false },
	{ "DFGOSREntry", "thunk", false },
};

enum { HASH_SIZE = 6 };

static bool is_hash(struct bytes text)
{
	if (text.size != 1 + HASH_SIZE || text.data[0] != '#')
		return false;
	for (size_t i = 1; i < text.size; i++) {
		const uint8_t c = text.data[i];
		const uint8_t lower = c | 0x20;
		if (!is_digit(c) && (lower < 'a' || lower > 'z'))
			return false;
	}
	return true;
}

/* The hash is all that tells two functions of one name apart, so it stays, behind the name. */
static void split_function(struct bytes text, struct name_parts *parts, struct sink *human)
{
	struct bytes name = text;
	if (text.size > HASH_SIZE && is_hash(text_from(text, text.size - 1 - HASH_SIZE))) {
		name.size -= 1 + HASH_SIZE;
		parts->place = text_from(text, name.size);
	}
	if (text_skip(&name, ".wasm-function[") && text_drop(&name, "]")) {
		parts->runtime = RUNTIME_WASM;
		parts->place = text_from(text, text.size);
		put(human, name);
		return;
	}
	if (!name.size)
		sink_text(human, "(anonymous)");
	else if (name.data[0] == '/')
		put_place(human, name);
	else
		put(human, name);
	if (parts->place.size) {
		sink_u8(human, ' ');
		put(human, parts->place);
	}
}

bool split_jsc(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (!text_skip(&text, "JSC-"))
		return false;
	const size_t colon = text_find(text, ": ");
	if (colon == TEXT_NONE)
		return false;
	const struct bytes kind = text_until(text, colon);
	text = text_from(text, colon + 2);

	parts->runtime = RUNTIME_JSC;
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		if (!text_is(kind, KINDS[i].kind))
			continue;
		parts->tier = KINDS[i].tier;
		if (KINDS[i].is_function) {
			split_function(text, parts, human);
			return true;
		}
		break;
	}
	put(human, text_is(text, "unspecified") ? kind : text);
	return true;
}
