#include "names/names_internal.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

/* A few dozen bytes of mangled name can stand for gigabytes. The callback leaves
 * the demangler by longjmp when the text grows past the limit; the demanglers run
 * this way keep their state on the stack, so nothing is lost.
 */
enum { MAX_SYMBOL_SIZE = 2048, MAX_BACKREFS = 10 };

struct output {
	struct sink *human;
	size_t start;
	jmp_buf full;
};

static void take(const char *text, size_t size, void *opaque)
{
	struct output *out = opaque;
	if (size > HUMAN_SIZE_MAX - (out->human->size - out->start) || sink_failed(out->human))
		longjmp(out->full, 1);
	sink_put(out->human, text, size);
}

typedef int demangler(const char *, int, demangle_callbackref, void *);

static bool run(demangler *demangle, const char *symbol, struct sink *human)
{
	struct output out = { .human = human, .start = human->size };
	/* Read after longjmp: must not live in a register that it restores. */
	volatile bool done = false;
	if (setjmp(out.full) == 0)
		done = demangle(symbol, DMGL_NO_OPTS, take, &out) != 0;
	if (!done)
		human->size = out.start;
	return done;
}

static size_t count_of(const char *text, char c)
{
	size_t count = 0;
	for (; *text; text++)
		count += *text == c;
	return count;
}

/* Rust's demangler holds heap memory while it prints a punycode identifier, and D's
 * builds its text on the heap: there the growth is bounded beforehand, by the number
 * of back references, each of which can at most double the text.
 */
static bool has_punycode(const char *symbol)
{
	for (const char *p = strchr(symbol, 'u'); p; p = strchr(p + 1, 'u'))
		if (is_digit((uint8_t)p[1]) || p[1] == '_')
			return true;
	return false;
}

static bool demangle_rust(const char *symbol, struct sink *human)
{
	if (has_punycode(symbol) && count_of(symbol, 'B') > MAX_BACKREFS)
		return false;
	return run(rust_demangle_callback, symbol, human);
}

static bool demangle_d(const char *symbol, struct sink *human)
{
	if (count_of(symbol, 'Q') > MAX_BACKREFS)
		return false;
	char *text = dlang_demangle(symbol, DMGL_NO_OPTS);
	if (!text)
		return false;
	sink_text(human, text);
	free(text);
	return true;
}

static bool demangle_base(const char *symbol, struct sink *human)
{
	if (symbol[0] != '_')
		return false;
	if (symbol[1] == 'R')
		return demangle_rust(symbol, human);
	if (symbol[1] == 'Z')
		/* Rust's old scheme borrows the shape of C++ names and ends in a hash. */
		return demangle_rust(symbol, human) ||
		       run(cplus_demangle_v3_callback, symbol, human);
	if (symbol[1] == 'D' && (is_digit((uint8_t)symbol[2]) || strcmp(symbol, "_Dmain") == 0))
		return demangle_d(symbol, human);
	return false;
}

void names_demangle(const char *symbol, struct sink *human)
{
	const size_t size = strlen(symbol);
	const size_t base_size = strcspn(symbol, "@");
	char base[MAX_SYMBOL_SIZE];
	if (base_size < sizeof(base) && !sink_failed(human)) {
		memcpy(base, symbol, base_size);
		base[base_size] = '\0';
		if (demangle_base(base, human)) {
			sink_put(human, symbol + base_size, size - base_size);
			return;
		}
	}
	sink_put(human, symbol, size);
}
