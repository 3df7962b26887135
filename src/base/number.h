/* number.h - numbers in text, read without a locale, signs, blanks or surprises.
 *
 *   uint64_t start;
 *   const size_t length = number_read(line, 16, &start);
 *   if (!length)
 *           ...                                  no digit, or too large
 *   line = (struct bytes){ line.data + length, line.size - length };
 *
 * Not strtoul(): that skips blanks, takes "-1" and "0x", and saturates.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/bytes.h"

/* Reads digits of `base` (2 to 16; either case) from the start of `text` up to the
 * first other byte. Returns how many, or 0, with *value as it was, where there is
 * none or the number does not fit.
 */
size_t number_read(struct bytes text, unsigned base, uint64_t *value);

/* The whole text must be the number; "0x" before hexadecimal digits is not taken. */
bool number_parse(struct bytes text, unsigned base, uint64_t *value);

/* The same for a decimal C string. */
bool number_parse_text(const char *text, uint64_t *value);

/* A decimal number at the start of a C string, such as a process id: returns what
 * follows it, or NULL, with *value as it was, where there is none or it does not fit.
 */
const char *number_skip_u32(const char *text, uint32_t *value);

#endif
