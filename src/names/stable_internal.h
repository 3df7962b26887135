/* stable_internal.h - what the rules of stable.h share. Not for others than this folder.
 *
 * A rule looks at one place of a name. If its shape begins there, it writes what is left of it,
 * moves `at` behind it and returns true.
 */
#ifndef NAMES_STABLE_INTERNAL_H
#define NAMES_STABLE_INTERNAL_H

#include "names/names_internal.h"
#include "names/stable.h"

struct folding {
	struct bytes text;
	size_t at;
	enum stable_for what;
	struct sink *key;
	struct stable_numbers *numbers;
};

typedef bool stable_rule(struct folding *f);

/* Several in one file: each family of runtimes has its own. */
stable_rule fold_jvm, fold_clr, fold_native, fold_bpf, fold_julia, fold_erlang, fold_wasm;

static inline struct bytes folding_left(const struct folding *f)
{
	return text_from(f->text, f->at);
}

static inline bool is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool is_word(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c >= 0x80;
}

/* How many decimal (hexadecimal) digits follow at `at`. */
size_t count_digits(struct bytes text, size_t at);
size_t count_hex(struct bytes text, size_t at);

/* True where the text at `at` is no part of a longer word. */
static inline bool ends_word(struct bytes text, size_t at)
{
	return at >= text.size || !is_word(text.data[at]);
}

/* Keeps `size` digits at `at` as one of the numbers. */
void keep_number(struct folding *f, size_t at, size_t size);

/* "MARK12" or, with a separator, "MARK12_3": writes the mark and keeps the numbers. */
bool fold_numbered(struct folding *f, const char *mark, char separator);

#endif
