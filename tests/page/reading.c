#include "page/reading.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void decode_base64(struct bytes text, struct sink *out)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	unsigned count = 0;
	assert_int_equal(text.size % 4, 0);
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == '=' && i + 2 >= text.size)
			continue;
		const char *digit = memchr(digits, text.data[i], 64);
		assert_non_null(digit);
		bits = bits << 6 | (uint32_t)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			sink_u8(out, (uint8_t)(bits >> count));
		}
	}
}

static void unpack(struct bytes packed, struct sink *out)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)packed.data,
		       .avail_in = (uInt)packed.size };
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	int got = Z_OK;
	while (got == Z_OK) {
		uint8_t piece[4096];
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		got = inflate(&z, Z_NO_FLUSH);
		sink_put(out, piece, sizeof(piece) - z.avail_out);
	}
	assert_int_equal(got, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
}

static void read_columns(struct page_reading *reading)
{
	const struct bytes data = sink_bytes(&reading->data);
	for (size_t at = 0; at < data.size;) {
		uint32_t head[4];
		assert_true(data.size - at >= sizeof(head));
		memcpy(head, data.data + at, sizeof(head));
		at += sizeof(head);
		struct page_column *column = vector_push(&reading->columns);
		assert_non_null(column);
		column->kind = head[0];
		column->name = (const char *)data.data + at;
		column->name_size = head[1];
		at += (head[1] + 7u) / 8 * 8;
		assert_true(at <= data.size && head[2] <= data.size - at);
		column->values = (struct bytes){ data.data + at, head[2] };
		at += (head[2] + 7ul) / 8 * 8;
		assert_true(at <= data.size);
	}
}

void page_read(struct page_reading *reading, struct bytes page, const char *block)
{
	char begin[128];
	struct sink packed = { 0 };
	const int size =
	    snprintf(begin, sizeof(begin),
		     "<script type=\"application/x-polyperf\" data-name=\"%s\">", block);
	const uint8_t *found = memmem(page.data, page.size, begin, (size_t)size);
	assert_non_null(found);
	const uint8_t *start = found + size;
	const uint8_t *end = memchr(start, '<', (size_t)(page.data + page.size - start));
	assert_non_null(end);
	assert_memory_equal(end, "</script>", 9);
	decode_base64((struct bytes){ start, (size_t)(end - start) }, &packed);
	unpack(sink_bytes(&packed), &reading->data);
	assert_false(sink_failed(&packed) || sink_failed(&reading->data));
	sink_clear(&packed);
	read_columns(reading);
}

void page_reading_clear(struct page_reading *reading)
{
	sink_clear(&reading->data);
	vector_clear(&reading->columns);
}

const struct page_column *page_column(const struct page_reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->columns.count; i++) {
		const struct page_column *column = &reading->columns.items[i];
		if (column->name_size == strlen(name) &&
		    memcmp(column->name, name, column->name_size) == 0)
			return column;
	}
	fail_msg("the page has no column %s", name);
	return NULL;
}

size_t page_column_count(const struct page_column *column)
{
	return column->values.size / (column->kind ? column->kind : 1);
}

double page_value(const struct page_column *column, size_t index)
{
	double real;
	uint64_t whole = 0;
	assert_true(index < page_column_count(column));
	const uint8_t *at = column->values.data + index * column->kind;
	if (column->kind == PAGE_F64) {
		memcpy(&real, at, sizeof(real));
		return real;
	}
	memcpy(&whole, at, column->kind);
	return (double)whole;
}

struct bytes page_string(const struct page_reading *reading, size_t id)
{
	const struct page_column *ends = page_column(reading, "strings.end");
	if (id == 0)
		return (struct bytes){ 0 };
	const size_t start = id > 1 ? (size_t)page_value(ends, id - 2) : 0;
	const size_t end = (size_t)page_value(ends, id - 1);
	const struct bytes all = page_column(reading, "strings.bytes")->values;
	assert_true(start <= end && end <= all.size);
	return (struct bytes){ all.data + start, end - start };
}
