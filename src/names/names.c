#include "names/names_internal.h"

const char *runtime_name(enum runtime runtime)
{
	switch (runtime) {
#define X(name, text)        \
	case RUNTIME_##name: \
		return text;
		RUNTIME_LIST(X)
#undef X
	case RUNTIME_COUNT:
		break;
	}
	return "";
}

static name_splitter *splitter_of(enum runtime runtime)
{
	static name_splitter *const SPLITTERS[RUNTIME_COUNT] = {
		[RUNTIME_V8] = split_v8,         [RUNTIME_JSC] = split_jsc,
		[RUNTIME_JVM] = split_jvm,       [RUNTIME_DOTNET] = split_dotnet,
		[RUNTIME_MONO] = split_mono,     [RUNTIME_PHP] = split_php,
		[RUNTIME_ERLANG] = split_erlang, [RUNTIME_PYTHON] = split_python,
		[RUNTIME_PYPY] = split_pypy,     [RUNTIME_RUBY] = split_ruby,
		[RUNTIME_LUAJIT] = split_luajit, [RUNTIME_LLVM] = split_llvm,
		[RUNTIME_JULIA] = split_julia,   [RUNTIME_WASM] = split_wasm,
	};
	return (unsigned)runtime < RUNTIME_COUNT ? SPLITTERS[runtime] : NULL;
}

/* Runs one splitter; takes back what it wrote if the name is not of its shapes, if nothing
 * is left of it, or if it grew far beyond what signatures and demangling need.
 */
static bool try_split(name_splitter *split, struct bytes raw, struct name_parts *parts,
		      struct sink *human)
{
	const size_t size = human->size;
	const struct name_parts before = *parts;
	if (split(raw, parts, human) && human->size > size && human->size - size <= HUMAN_SIZE_MAX)
		return true;
	human->size = size;
	*parts = before;
	return false;
}

void names_split(struct bytes raw, enum runtime runtime, struct name_parts *parts,
		 struct sink *human)
{
	/* From the shape that nothing else has to the one that says least. */
	static name_splitter *const BY_SHAPE[] = {
		split_v8,     split_jsc,  split_python, split_ruby, split_luajit,
		split_php,    split_wasm, split_dotnet, split_mono, split_jvm,
		split_erlang, split_pypy, split_julia,  split_llvm,
	};
	*parts = (struct name_parts){ .runtime = runtime, .tier = "" };
	const bool is_jit =
	    runtime != RUNTIME_NATIVE && runtime != RUNTIME_KERNEL && runtime != RUNTIME_BPF;
	if (is_jit && raw.size && raw.size <= NAME_SIZE_MAX) {
		name_splitter *known = splitter_of(runtime);
		if (known && try_split(known, raw, parts, human))
			return;
		for (size_t i = 0; i < sizeof(BY_SHAPE) / sizeof(BY_SHAPE[0]); i++)
			if (try_split(BY_SHAPE[i], raw, parts, human))
				return;
	}
	if (runtime == RUNTIME_UNKNOWN)
		parts->runtime = RUNTIME_JIT;
	put(human, raw);
}
