#include "names/names_internal.h"

/* Ahead-of-time names in a JIT: LLVM keeps those of the module that it compiles. */
bool split_llvm(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	if (!text_starts(raw, "_Z") && !text_starts(raw, "_R") && parts->runtime != RUNTIME_LLVM)
		return false;
	char symbol[1024];
	if (raw.size >= sizeof(symbol) || memchr(raw.data, '\0', raw.size))
		return false;
	memcpy(symbol, raw.data, raw.size);
	symbol[raw.size] = '\0';
	if (parts->runtime == RUNTIME_UNKNOWN)
		parts->runtime = RUNTIME_JIT;
	if (parts->runtime == RUNTIME_LLVM)
		parts->tier = "jit";
	names_demangle(symbol, human);
	return true;
}

/* "julia_getindex_3": kind, function, number of the specialisation. */
bool split_julia(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	static const struct {
		const char *prefix;
		const char *tier;
	} KINDS[] = {
		{ "julia_", "specialized" }, { "japi1_", "generic" },     { "japi3_", "generic" },
		{ "jfptr_", "wrapper" },     { "jlcapi_", "wrapper" },    { "gfptrjl_", "wrapper" },
		{ "jlplt_", "stub" },        { "jlsys_", "specialized" },
	};
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		struct bytes text = raw;
		if (!text_skip(&text, KINDS[i].prefix) || !text_drop_number(&text, '_') ||
		    !text.size)
			continue;
		parts->runtime = RUNTIME_JULIA;
		parts->tier = KINDS[i].tier;
		put(human, text);
		return true;
	}
	return false;
}

/* "wasm[0]::function[3]::alpha" (wasmtime). */
bool split_wasm(struct bytes raw, struct name_parts *parts, struct sink *human)
{
	struct bytes text = raw;
	if (!text_skip(&text, "wasm[") || !text_skip_number(&text) || !text_skip(&text, "]::"))
		return false;
	parts->runtime = RUNTIME_WASM;
	parts->tier = "cranelift";
	struct bytes function = text;
	if (text_skip(&function, "function[") && text_skip_number(&function) &&
	    text_skip(&function, "]::") && function.size)
		text = function;
	put(human, text);
	return true;
}
