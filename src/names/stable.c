#include "names/stable_internal.h"

enum { ADDRESS_DIGITS_LEAST = 6, HASH_DIGITS_LEAST = 8, HASH_DIGITS_MOST = 64 };

enum runtime runtime_find(const char *name)
{
	for (int i = 0; i < RUNTIME_COUNT; i++)
		if (strcmp(runtime_name((enum runtime)i), name) == 0)
			return (enum runtime)i;
	return RUNTIME_UNKNOWN;
}

size_t count_digits(struct bytes text, size_t at)
{
	size_t count = 0;
	while (at + count < text.size && is_digit(text.data[at + count]))
		count++;
	return count;
}

size_t count_hex(struct bytes text, size_t at)
{
	size_t count = 0;
	while (at + count < text.size && is_hex(text.data[at + count]))
		count++;
	return count;
}

void keep_number(struct folding *f, size_t at, size_t size)
{
	struct stable_numbers *numbers = f->numbers;
	if (numbers->count == STABLE_NUMBERS_KEPT)
		return;
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, f->text.data[at + i] - '0', &value))
			value = UINT64_MAX;
	numbers->items[numbers->count++] = value;
}

bool fold_numbered(struct folding *f, const char *mark, char separator)
{
	const struct bytes left = folding_left(f);
	if (!text_starts(left, mark))
		return false;
	const size_t first = strlen(mark);
	const size_t size = count_digits(left, first);
	size_t end = first + size;
	if (!size)
		return false;
	size_t more = 0;
	if (separator && end < left.size && left.data[end] == (uint8_t)separator)
		more = count_digits(left, end + 1);
	const size_t second = end + 1;
	if (more)
		end = second + more;
	if (!ends_word(left, end))
		return false;
	keep_number(f, f->at + first, size);
	if (more)
		keep_number(f, f->at + second, more);
	sink_text(f->key, mark);
	f->at += end;
	f->numbers->is_nameless = true;
	return true;
}

/* "0x7f5a20001228" in the name of something that was made while the program ran. */
static bool fold_address(struct folding *f)
{
	const struct bytes left = folding_left(f);
	if (!text_starts(left, "0x"))
		return false;
	const size_t digits = count_hex(left, 2);
	if (digits < ADDRESS_DIGITS_LEAST || !ends_word(left, 2 + digits))
		return false;
	sink_text(f->key, "0x");
	f->at += 2 + digits;
	return true;
}

/* "main.8f3a2c1d.js": a hash of what is in the file. */
static bool fold_file_hash(struct folding *f)
{
	const struct bytes left = folding_left(f);
	if (f->what != STABLE_BUILDS || (left.data[0] != '.' && left.data[0] != '-'))
		return false;
	const size_t digits = count_hex(left, 1);
	if (digits < HASH_DIGITS_LEAST || digits > HASH_DIGITS_MOST || digits + 1 >= left.size ||
	    left.data[digits + 1] != '.')
		return false;
	bool has_digit = false;
	bool has_letter = false;
	for (size_t i = 1; i <= digits; i++) {
		has_digit |= is_digit(left.data[i]);
		has_letter |= !is_digit(left.data[i]);
	}
	if (!has_digit || !has_letter)
		return false;
	f->at += 1 + digits;
	return true;
}

/* " #A9UDsN": JavaScriptCore's hash of the function's source. */
static bool fold_jsc(struct folding *f)
{
	enum { SIZE = 6 };
	const struct bytes left = folding_left(f);
	if (f->what != STABLE_BUILDS || !text_starts(left, " #") || left.size != 2 + SIZE)
		return false;
	for (size_t i = 2; i < left.size; i++)
		if (!is_word(left.data[i]) || left.data[i] >= 0x80)
			return false;
	f->at += left.size;
	return true;
}

/* Cuts ":2:15" or ":12" off the end of a script's function, also where a brace closes behind it
 * (PHP's closures); keeps the numbers. A file's name must be left. Returns what followed.
 */
static const char *cut_position(struct folding *f)
{
	struct bytes text = f->text;
	const bool has_brace = text_drop(&text, "}");
	struct bytes cut = text;
	if (!text_drop_number(&cut, ':'))
		return "";
	text_drop_number(&cut, ':');
	if (!cut.size)
		return "";
	const size_t size = count_digits(text, cut.size + 1);
	keep_number(f, cut.size + 1, size);
	if (cut.size + 1 + size < text.size)
		keep_number(f, cut.size + 2 + size, text.size - cut.size - 2 - size);
	f->text = cut;
	return has_brace ? "}" : "";
}

/* The file of "(anonymous) work.js" starts behind the last blank; all of "work.lua" is one. */
static void note_scope(struct folding *f, size_t start)
{
	struct stable_numbers *numbers = f->numbers;
	const struct bytes name = text_from(sink_bytes(f->key), start);
	const size_t blank = name.size ? text_last(name, ' ') : TEXT_NONE;
	numbers->scope = blank == TEXT_NONE ? 0 : blank + 1;
	numbers->is_nameless |= blank == TEXT_NONE;
}

static bool is_script(enum runtime runtime)
{
	return runtime == RUNTIME_V8 || runtime == RUNTIME_JSC || runtime == RUNTIME_PHP ||
	       runtime == RUNTIME_PYTHON || runtime == RUNTIME_PYPY || runtime == RUNTIME_RUBY ||
	       runtime == RUNTIME_PERL || runtime == RUNTIME_LUAJIT;
}

static stable_rule *rule_of(enum runtime runtime)
{
	static stable_rule *const RULES[RUNTIME_COUNT] = {
		[RUNTIME_UNKNOWN] = fold_native, [RUNTIME_NATIVE] = fold_native,
		[RUNTIME_KERNEL] = fold_native,  [RUNTIME_BPF] = fold_bpf,
		[RUNTIME_JSC] = fold_jsc,        [RUNTIME_JVM] = fold_jvm,
		[RUNTIME_DOTNET] = fold_clr,     [RUNTIME_MONO] = fold_clr,
		[RUNTIME_ERLANG] = fold_erlang,  [RUNTIME_LLVM] = fold_native,
		[RUNTIME_JULIA] = fold_julia,    [RUNTIME_WASM] = fold_wasm,
		[RUNTIME_JIT] = fold_native,
	};
	return (unsigned)runtime < RUNTIME_COUNT ? RULES[runtime] : NULL;
}

void names_stable(struct bytes name, enum runtime runtime, enum stable_for what, struct sink *key,
		  struct stable_numbers *numbers)
{
	struct stable_numbers unwanted;
	struct folding f = {
		.text = name, .what = what, .key = key, .numbers = numbers ? numbers : &unwanted
	};
	*f.numbers = (struct stable_numbers){ 0 };
	const size_t start = key->size;
	if (name.size > HUMAN_SIZE_MAX) {
		put(key, name);
		return;
	}
	const bool has_position = is_script(runtime) && what == STABLE_BUILDS;
	const char *rest = has_position ? cut_position(&f) : "";
	const bool is_position_cut = f.numbers->count > 0;
	stable_rule *own = rule_of(runtime);
	const bool is_native = runtime == RUNTIME_NATIVE || runtime == RUNTIME_KERNEL;
	while (f.at < f.text.size) {
		if ((own && own(&f)) || (!is_native && fold_address(&f)) ||
		    (is_script(runtime) && fold_file_hash(&f)))
			continue;
		sink_u8(key, f.text.data[f.at++]);
	}
	sink_text(key, rest);
	if (is_position_cut && !sink_failed(key))
		note_scope(&f, start);
	f.numbers->is_nameless |= what == STABLE_BUILDS && (text_starts(name, "(anonymous)") ||
							    text_starts(name, "{closure"));
}
