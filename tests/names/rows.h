/* rows.h - tables of raw names and what they must become.
 *
 *   static const struct row ROWS[] = { { "JS:*alpha /a/b.js:2:15", RUNTIME_V8, "turbofan",
 *                                        "alpha b.js:2:15", "/a/b.js:2:15" } };
 *   CHECK(ROWS, RUNTIME_V8);
 */
#ifndef TESTS_NAMES_ROWS_H
#define TESTS_NAMES_ROWS_H

#include "names/names.h"
#include "test.h"

#include <stdlib.h>

struct row {
	const char *raw;
	enum runtime runtime;
	const char *tier;
	const char *human;
	const char *place; /* NULL: none */
};

static inline void check_row(const struct row *row, enum runtime known)
{
	struct name_parts parts;
	struct sink human = { 0 };
	/* Without a NUL behind it, so that ASan sees a read past the end. */
	const size_t size = strlen(row->raw);
	uint8_t *raw = malloc(size ? size : 1);
	assert_non_null(raw);
	memcpy(raw, row->raw, size);
	names_split((struct bytes){ raw, size }, known, &parts, &human);
	sink_u8(&human, '\0');
	assert_string_equal((const char *)human.data, row->human);
	assert_string_equal(parts.tier, row->tier);
	assert_string_equal(runtime_name(parts.runtime), runtime_name(row->runtime));
	const char *place = row->place ? row->place : "";
	assert_int_equal(parts.place.size, strlen(place));
	if (parts.place.size)
		assert_memory_equal(parts.place.data, place, parts.place.size);
	sink_clear(&human);
	free(raw);
}

/* Splits every truncation of the name and every change of a byte of it. */
static inline void check_damaged(const char *raw, enum runtime known)
{
	const size_t size = strlen(raw);
	for (size_t i = 0; i < size * 2; i++) {
		const size_t left = i < size ? i : size;
		uint8_t *copy = malloc(left ? left : 1);
		assert_non_null(copy);
		memcpy(copy, raw, left);
		if (i >= size)
			copy[i - size] ^= (uint8_t)(1 << (i & 7));
		struct name_parts parts;
		struct sink human = { 0 };
		names_split((struct bytes){ copy, left }, known, &parts, &human);
		assert_false(sink_failed(&human));
		assert_non_null(parts.tier);
		assert_true(left == 0 || human.size > 0);
		sink_clear(&human);
		free(copy);
	}
}

/* With the runtime known, and from the shape of the name alone. */
static inline void check_rows(const struct row *rows, size_t count, enum runtime known)
{
	for (size_t i = 0; i < count; i++) {
		check_row(&rows[i], known);
		check_row(&rows[i], RUNTIME_UNKNOWN);
		check_damaged(rows[i].raw, known);
		check_damaged(rows[i].raw, RUNTIME_UNKNOWN);
	}
}

/* Names that say nothing of their runtime: only where it is known. */
static inline void check_known_rows(const struct row *rows, size_t count, enum runtime known)
{
	for (size_t i = 0; i < count; i++) {
		check_row(&rows[i], known);
		check_damaged(rows[i].raw, known);
	}
}

#define CHECK(rows, known) check_rows((rows), sizeof(rows) / sizeof((rows)[0]), (known))
#define CHECK_KNOWN(rows, known) check_known_rows((rows), sizeof(rows) / sizeof((rows)[0]), (known))

#endif
