/* reading.h - reads the blocks of a page, as app/data.js does.
 *
 *   struct page_reading reading = { 0 };
 *   page_read(&reading, sink_bytes(&page), "main");
 *   const struct page_column *column = page_column(&reading, "rows.count");
 *   page_value(column, 0);
 *   page_reading_clear(&reading);
 *
 * Each call asserts on what fails.
 */
#ifndef TESTS_PAGE_READING_H
#define TESTS_PAGE_READING_H

#include "base/sink.h"
#include "base/vector.h"
#include "page/block.h"

struct page_column {
	const char *name;
	size_t name_size;
	enum page_kind kind;
	struct bytes values;
};

struct page_reading {
	struct sink data; /* unpacked */
	VECTOR(struct page_column) columns;
};

/* Asserts that the page has the block, and nothing but base64 in it. */
void page_read(struct page_reading *reading, struct bytes page, const char *block);
void page_reading_clear(struct page_reading *reading);

/* Asserts that it is there. */
const struct page_column *page_column(const struct page_reading *reading, const char *name);
size_t page_column_count(const struct page_column *column);
double page_value(const struct page_column *column, size_t index);
/* A string by its number. */
struct bytes page_string(const struct page_reading *reading, size_t id);

#endif
