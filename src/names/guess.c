#include "names/names_internal.h"

struct program {
	const char *start; /* of the executable's own name */
	enum runtime runtime;
};

static const struct program PROGRAMS[] = {
	{ "node", RUNTIME_V8 },       { "deno", RUNTIME_V8 },        { "electron", RUNTIME_V8 },
	{ "d8", RUNTIME_V8 },         { "chrom", RUNTIME_V8 },       { "bun", RUNTIME_JSC },
	{ "jsc", RUNTIME_JSC },       { "java", RUNTIME_JVM },       { "jshell", RUNTIME_JVM },
	{ "dotnet", RUNTIME_DOTNET }, { "corerun", RUNTIME_DOTNET }, { "mono", RUNTIME_MONO },
	{ "php", RUNTIME_PHP },       { "beam", RUNTIME_ERLANG },    { "erl", RUNTIME_ERLANG },
	{ "python", RUNTIME_PYTHON }, { "pypy", RUNTIME_PYPY },      { "ruby", RUNTIME_RUBY },
	{ "luajit", RUNTIME_LUAJIT }, { "lli", RUNTIME_LLVM },       { "postgres", RUNTIME_LLVM },
	{ "julia", RUNTIME_JULIA },   { "guile", RUNTIME_GUILE },    { "wasmtime", RUNTIME_WASM },
};

/* "node-24", "python3.12", "php8.2", "luajit-2.1.0-beta3": the word, then no letter more.
 * Only "java" and "chrom" have siblings: javac, chrome, chromium.
 */
static enum runtime of_executable(struct bytes path)
{
	const size_t slash = text_last(path, '/');
	struct bytes name = slash == TEXT_NONE ? path : text_from(path, slash + 1);
	text_drop(&name, " (deleted)");
	for (size_t i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
		struct bytes rest = name;
		if (!text_skip(&rest, PROGRAMS[i].start))
			continue;
		const uint8_t next = rest.size ? rest.data[0] : '-';
		const bool ends = next == '-' || next == '.' || next == '_' || is_digit(next);
		if (ends || PROGRAMS[i].runtime == RUNTIME_JVM || text_is(name, "nodejs") ||
		    text_starts(name, "chrom"))
			return PROGRAMS[i].runtime;
	}
	return RUNTIME_UNKNOWN;
}

/* True if nearly every name of the runtime is marked as its own: then a file
 * without marks in such a program was written by something else in it (Numba in
 * Python, a Wasm engine in PHP).
 */
static bool marks_names(enum runtime runtime)
{
	switch (runtime) {
	case RUNTIME_V8:
	case RUNTIME_JSC:
	case RUNTIME_PHP:
	case RUNTIME_PYTHON:
	case RUNTIME_RUBY:
	case RUNTIME_LUAJIT:
	case RUNTIME_JULIA:
		return true;
	default:
		return false;
	}
}

enum runtime names_guess(const struct name_evidence *evidence, const struct bytes *names,
			 size_t count)
{
	if (evidence->is_v8_pad)
		return RUNTIME_V8;
	size_t votes[RUNTIME_COUNT] = { 0 };
	size_t known = 0;
	struct sink human = { 0 };
	for (size_t i = 0; i < count; i++) {
		struct name_parts parts;
		sink_reset(&human);
		names_split(names[i], RUNTIME_UNKNOWN, &parts, &human);
		if (parts.runtime == RUNTIME_JIT || parts.runtime == RUNTIME_UNKNOWN)
			continue;
		/* Wasm inside a JavaScript engine is that engine's work. */
		votes[parts.runtime]++;
		known++;
	}
	sink_clear(&human);

	enum runtime most = RUNTIME_UNKNOWN;
	for (int r = 0; r < RUNTIME_COUNT; r++)
		if (votes[r] > votes[most])
			most = (enum runtime)r;
	if (most != RUNTIME_UNKNOWN && votes[most] * 2 > known)
		return most;
	const enum runtime program = of_executable(evidence->executable);
	if (program == RUNTIME_UNKNOWN || (count >= 8 && marks_names(program)))
		return RUNTIME_JIT;
	return program;
}
