/* names.h - what a JIT symbol's name says: runtime, tier, and how people write it.
 *
 *   struct name_parts parts;
 *   struct sink human = { 0 };
 *   names_split(raw, RUNTIME_UNKNOWN, &parts, &human);
 *
 * Each runtime decorates its names (docs/formats/names.md): V8's "JS:*alpha
 * work.js:2:15", HotSpot's "LWork;alpha(II)I", .NET's "int32 [App]
 * Work::alpha(int32,int32)[OptimizedTier1OSR]", Erlang's "$work:alpha/2". The
 * human form drops tier marks and turns signatures into source spelling; the
 * tier becomes a word of its own.
 */
#ifndef NAMES_NAMES_H
#define NAMES_NAMES_H

#include "base/bytes.h"
#include "base/sink.h"

#include <stdbool.h>

#define RUNTIME_LIST(X)               \
	X(UNKNOWN, "")                \
	X(NATIVE, "native")           \
	X(KERNEL, "kernel")           \
	X(BPF, "bpf")                 \
	X(V8, "v8")                   \
	X(JSC, "jsc")                 \
	X(JVM, "jvm")                 \
	X(DOTNET, "dotnet")           \
	X(MONO, "mono")               \
	X(PHP, "php")                 \
	X(ERLANG, "erlang")           \
	X(PYTHON, "python")           \
	X(PYPY, "pypy")               \
	X(RUBY, "ruby")               \
	X(PERL, "perl")               \
	X(LUAJIT, "luajit")           \
	X(LLVM, "llvm")               \
	X(JULIA, "julia")             \
	X(GUILE, "guile")             \
	X(WASM, "wasm")               \
	X(INTERPRETER, "interpreter") \
	X(JIT, "jit")

enum runtime {
#define X(name, text) RUNTIME_##name,
	RUNTIME_LIST(X)
#undef X
	    RUNTIME_COUNT
};

/* A static word such as "v8"; "" for RUNTIME_UNKNOWN. */
const char *runtime_name(enum runtime runtime);

struct name_parts {
	enum runtime runtime;
	const char *tier; /* a static word ("turbofan", "tier1", "stub", ...) or "" */
	/* Where the function stands, borrowed from the raw name, uncut: "/home/me/work.js:2:15",
	 * "#A9UDsN" (a hash, from JSC); empty where the name does not say.
	 */
	struct bytes place;
	bool is_osr; /* entered by on-stack replacement, as far as the name says */
};

/* What makes a guess at the runtime better than the name alone. */
struct name_evidence {
	struct bytes executable; /* path of the main program, may be empty */
	bool is_jitdump;
	bool is_v8_pad;
};

/* The runtime of a whole dump or map, from its executable and a sample of its names. */
enum runtime names_guess(const struct name_evidence *evidence, const struct bytes *names,
			 size_t count);

/* Appends the human form of `raw` to `human` and fills *parts. `runtime` is what
 * is known of the dump or map it came from; RUNTIME_UNKNOWN looks at the name alone.
 */
void names_split(struct bytes raw, enum runtime runtime, struct name_parts *parts,
		 struct sink *human);

/* The same for a symbol of managed code in an ELF object that NativeAOT made of `program`, a path,
 * whose file name is that of the program's assembly.
 */
void names_split_aot(struct bytes raw, struct bytes program, struct name_parts *parts,
		     struct sink *human);

/* Appends the demangled form of a C++, Rust or D symbol, or the name itself: as perf
 * shows it, without parameters and without Rust's hash. `@plt` and `@@VERSION` stay; what
 * compilers put behind the mangled name of a clone (.cold, .part.0) goes.
 */
void names_demangle(const char *symbol, struct sink *human);

#endif
