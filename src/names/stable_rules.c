#include "names/stable_internal.h"

/* "Main$$Lambda$14/0x00007f5a20001228", and ".0x..." in dumps, "+0x..." in newer ones, "/1234" of
 * JDK 8: a hidden class. The name in front of it stays, but for the lambda's number.
 */
static bool fold_hidden(struct folding *f)
{
	struct bytes left = folding_left(f);
	const size_t whole = left.size;
	if (text_skip(&left, "$$Lambda")) {
		if (text_starts(left, "$") && count_digits(left, 1))
			left = text_from(left, 1 + count_digits(left, 1));
		if (left.size && is_word(left.data[0]))
			return false;
		sink_text(f->key, "$$Lambda");
		f->at += whole - left.size;
		return true;
	}
	const uint8_t c = left.data[0];
	if (c != '/' && c != '.' && c != '+')
		return false;
	const bool is_hex = text_starts(text_from(left, 1), "0x");
	const size_t digits = is_hex ? count_hex(left, 3) : c == '/' ? count_digits(left, 1) : 0;
	if (!digits || !ends_word(left, (is_hex ? 3 : 1) + digits))
		return false;
	f->at += (is_hex ? 3 : 1) + digits;
	return true;
}

/* Classes that frameworks make: words of letters and digits behind a mark, new in each run. */
static bool fold_made_class(struct folding *f)
{
	static const char *const MARKS[] = { "$ByteBuddy$", "$HibernateProxy$", "$MockitoMock$",
					     "_$$_jvst",    "ByCGLIB$$",        "BySpringCGLIB$$",
					     "ByGuice$$" };
	const struct bytes left = folding_left(f);
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
		if (!text_starts(left, MARKS[i]))
			continue;
		size_t end = strlen(MARKS[i]);
		const size_t start = end;
		while (end < left.size && is_word(left.data[end]) && left.data[end] < 0x80)
			end++;
		if (end == start)
			continue;
		sink_text(f->key, MARKS[i]);
		f->at += end;
		return true;
	}
	return false;
}

/* What a JVM numbers in the order in which it is needed. */
static bool fold_counter(struct folding *f)
{
	static const char *const MARKS[] = { "$Proxy", "jdk.proxy", "GeneratedMethodAccessor",
					     "GeneratedConstructorAccessor",
					     "GeneratedSerializationConstructorAccessor" };
	const struct bytes left = folding_left(f);
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
		if (!text_starts(left, MARKS[i]))
			continue;
		const size_t start = strlen(MARKS[i]);
		const size_t digits = count_digits(left, start);
		if (!digits || !ends_word(left, start + digits))
			continue;
		sink_text(f->key, MARKS[i]);
		f->at += start + digits;
		return true;
	}
	return false;
}

/* javac's, Kotlin's and Scala's numbers: "Main$1.run()", "lambda$main$0", "access$000". */
bool fold_jvm(struct folding *f)
{
	if (fold_hidden(f) || fold_made_class(f) || fold_counter(f))
		return true;
	return f->what == STABLE_BUILDS && fold_numbered(f, "$", '\0');
}

/* "dynamicClass.lambda_method12(...)", "dynamicClass.Regex7_TryFindNextPossibleStartingPosition":
 * methods that were emitted at run time, numbered in that order.
 */
static bool fold_emitted(struct folding *f)
{
	static const char *const MARKS[] = { "lambda_method", "Regex" };
	const struct bytes left = folding_left(f);
	if (f->at == 0 || !text_starts(f->text, "dynamicClass."))
		return false;
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
		const size_t start = strlen(MARKS[i]);
		const size_t digits = text_starts(left, MARKS[i]) ? count_digits(left, start) : 0;
		if (!digits)
			continue;
		sink_text(f->key, MARKS[i]);
		f->at += start + digits;
		return true;
	}
	return false;
}

/* "C.Run.lambda(int) #1_0", "C.FooAsync #5": the latter has a name beside its number. */
static bool fold_body(struct folding *f)
{
	if (!fold_numbered(f, "#", '_'))
		return false;
	f->numbers->is_nameless = text_find(f->text, ".lambda") != TEXT_NONE;
	return true;
}

/* What the C# compiler numbers (clr_made.c), also in names that were left as they are. */
bool fold_clr(struct folding *f)
{
	if (fold_emitted(f))
		return true;
	if (f->what != STABLE_BUILDS)
		return false;
	return fold_body(f) || fold_numbered(f, "DisplayClass", '_') ||
	       fold_numbered(f, ">b__", '_') || fold_numbered(f, ">d__", '\0') ||
	       fold_numbered(f, "<>c__", '\0') || fold_numbered(f, "AnonymousType", '\0');
}

/* ".constprop.0", ".isra.1", ".cold", ".llvm.123": a compiler's copy of a function, or a part. */
static bool fold_clone(struct folding *f)
{
	static const char *const WORDS[] = { "constprop", "isra", "part",    "cold",
					     "lto_priv",  "llvm", "clone",   "localalias",
					     "__uniq",    "warm", "unlikely" };
	struct bytes left = folding_left(f);
	if (!text_skip(&left, "."))
		return false;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		const size_t size = strlen(WORDS[i]);
		if (!text_starts(left, WORDS[i]) || !ends_word(left, size))
			continue;
		size_t end = f->at + 1 + size;
		const size_t digits = end < f->text.size && f->text.data[end] == '.'
					  ? count_digits(f->text, end + 1)
					  : 0;
		f->at = digits ? end + 1 + digits : end;
		return true;
	}
	/* "count.5": one of several local names. */
	const size_t digits = count_digits(left, 0);
	if (!digits || digits != left.size)
		return false;
	keep_number(f, f->at + 1, digits);
	f->at = f->text.size;
	return true;
}

/* "::h0123456789abcdef" of Rust, where the demangler left it. */
static bool fold_rust_hash(struct folding *f)
{
	enum { SIZE = 16 };
	const struct bytes left = folding_left(f);
	if (!text_starts(left, "::h") || left.size < 3 + SIZE || count_hex(left, 3) != SIZE)
		return false;
	f->at += 3 + SIZE;
	return true;
}

/* "memcpy@@GLIBC_2.14"; "memcpy@plt" stays. */
static bool fold_symbol_version(struct folding *f)
{
	struct bytes left = folding_left(f);
	if (f->at == 0 || !text_skip(&left, "@") || text_is(left, "plt"))
		return false;
	text_skip(&left, "@");
	for (size_t i = 0; i < left.size; i++)
		if (!is_word(left.data[i]) && left.data[i] != '.' && left.data[i] != '-')
			return false;
	f->at = f->text.size;
	return true;
}

/* Of C, C++, Rust and what LLVM compiled at run time: nothing of it differs between runs. */
bool fold_native(struct folding *f)
{
	if (f->what != STABLE_BUILDS)
		return false;
	return fold_clone(f) || fold_rust_hash(f) || fold_symbol_version(f) ||
	       fold_numbered(f, ")#", '\0') || fold_numbered(f, "{closure#", '\0') ||
	       fold_numbered(f, "$_", '\0') || fold_numbered(f, ".func", '.');
}

/* "bpf_prog_6deef7357e7b4530_name": the tag is a hash of the program. */
bool fold_bpf(struct folding *f)
{
	enum { TAG_SIZE = 16 };
	static const char MARK[] = "bpf_prog_";
	const size_t start = strlen(MARK);
	if (f->what != STABLE_BUILDS || f->at || !text_starts(f->text, MARK) ||
	    count_hex(f->text, start) < TAG_SIZE)
		return false;
	sink_text(f->key, MARK);
	f->at = start + TAG_SIZE;
	if (f->at < f->text.size && f->text.data[f->at] == '_')
		f->at++;
	return true;
}

/* "#foo#12": a method of a closure or of keywords. */
bool fold_julia(struct folding *f)
{
	return f->what == STABLE_BUILDS && fold_numbered(f, "#", '\0');
}

/* "work:'-main/0-fun-1-'/1": a fun in a function. */
bool fold_erlang(struct folding *f)
{
	return f->what == STABLE_BUILDS && fold_numbered(f, "-fun-", '\0');
}

/* "wasm-function[12]": a function without a name. */
bool fold_wasm(struct folding *f)
{
	return f->what == STABLE_BUILDS && fold_numbered(f, "function[", '\0');
}
