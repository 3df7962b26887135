#include "page/block.h"

#include "base/status.h"

#include <stdlib.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, PIECE = 48 * 1024 };
_Static_assert(PIECE % 3 == 0, "a piece of base64 without padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are little endian");

struct page_block {
	struct sink *out;
	z_stream stream;
	bool failed;
	uint8_t piece[PIECE]; /* compressed, not yet written */
};

static void put_base64(struct sink *out, const uint8_t *data, size_t size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *text = sink_reserve(out, (size + 2) / 3 * 4);
	for (size_t at = 0; text && at < size; at += 3, text += 4) {
		const size_t there = size - at < 3 ? size - at : 3;
		uint32_t bits = (uint32_t)data[at] << 16;
		if (there > 1)
			bits |= (uint32_t)data[at + 1] << 8;
		if (there > 2)
			bits |= data[at + 2];
		text[0] = (uint8_t)digits[bits >> 18];
		text[1] = (uint8_t)digits[bits >> 12 & 63];
		text[2] = there > 1 ? (uint8_t)digits[bits >> 6 & 63] : '=';
		text[3] = there > 2 ? (uint8_t)digits[bits & 63] : '=';
	}
}

struct page_block *page_block_open(struct sink *out, const char *name)
{
	struct page_block *block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	block->out = out;
	block->stream.next_out = block->piece;
	block->stream.avail_out = PIECE;
	/* Zlib ends what it could not begin without being asked. */
	block->failed = deflateInit2(&block->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
				     8, Z_DEFAULT_STRATEGY) != Z_OK;
	sink_text(out, "<script type=\"application/x-polyperf\" data-name=\"");
	sink_text(out, name);
	sink_text(out, "\">");
	return block;
}

static int pump(struct page_block *block, int flush)
{
	z_stream *z = &block->stream;
	int got;
	do {
		got = deflate(z, flush);
		if (z->avail_out == 0) {
			put_base64(block->out, block->piece, PIECE);
			z->next_out = block->piece;
			z->avail_out = PIECE;
		}
	} while (got == Z_OK && (flush == Z_FINISH || z->avail_in));
	return got;
}

static void put_bytes(struct page_block *block, const void *data, size_t size)
{
	const uint8_t *at = data;
	while (size && !block->failed) {
		const size_t part = size < 1 << 30 ? size : 1 << 30;
		/* zlib reads it, whatever its type says. */
		block->stream.next_in = (uint8_t *)(uintptr_t)at;
		block->stream.avail_in = (uInt)part;
		block->failed = pump(block, Z_NO_FLUSH) != Z_OK;
		at += part;
		size -= part;
	}
}

static void put_padded(struct page_block *block, const void *data, size_t size)
{
	static const uint8_t zeros[8];
	put_bytes(block, data, size);
	put_bytes(block, zeros, -size % 8);
}

void page_block_put(struct page_block *block, const char *name, enum page_kind kind,
		    struct bytes values)
{
	if (!block)
		return;
	if (values.size > UINT32_MAX) {
		block->failed = true;
		return;
	}
	const size_t name_size = strlen(name);
	const uint32_t head[4] = { kind, (uint32_t)name_size, (uint32_t)values.size, 0 };
	put_bytes(block, head, sizeof(head));
	put_padded(block, name, name_size);
	put_padded(block, values.data, values.size);
}

int page_block_close(struct page_block *block)
{
	if (!block)
		return STATUS_NO_MEMORY;
	if (!block->failed)
		block->failed = pump(block, Z_FINISH) != Z_STREAM_END;
	deflateEnd(&block->stream);
	put_base64(block->out, block->piece, PIECE - block->stream.avail_out);
	sink_text(block->out, "</script>\n");
	const bool failed = block->failed || sink_failed(block->out);
	free(block);
	return failed ? STATUS_NO_MEMORY : 0;
}

void page_block_u8(struct page_block *block, const char *name, const uint8_t *values, size_t count)
{
	page_block_put(block, name, PAGE_U8, (struct bytes){ values, count });
}

void page_block_u16(struct page_block *block, const char *name, const uint16_t *values,
		    size_t count)
{
	page_block_put(block, name, PAGE_U16,
		       (struct bytes){ (const uint8_t *)values, count * sizeof(*values) });
}

void page_block_u32(struct page_block *block, const char *name, const uint32_t *values,
		    size_t count)
{
	page_block_put(block, name, PAGE_U32,
		       (struct bytes){ (const uint8_t *)values, count * sizeof(*values) });
}

void page_block_f64(struct page_block *block, const char *name, const double *values, size_t count)
{
	page_block_put(block, name, PAGE_F64,
		       (struct bytes){ (const uint8_t *)values, count * sizeof(*values) });
}

void page_block_text(struct page_block *block, const char *name, struct bytes text)
{
	page_block_put(block, name, PAGE_TEXT, text);
}
