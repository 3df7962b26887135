/* block.h - named columns of numbers, compressed, inside an HTML page.
 *
 *   struct page_block *block = page_block_open(&out, "code");
 *   page_block_u32(block, "code.size", sizes, count);
 *   got = page_block_close(block);
 *
 * A block is a <script> element of a type that no browser runs; its text is base64 of gzip of
 * columns, so nothing in it can end the element. The page decodes the block "main" when it starts,
 * others when they are asked for (app/data.js). One column after the other:
 *
 *   u32 kind         1, 2, 4: unsigned integers of so many bytes; 8: doubles; 0: UTF-8 text
 *   u32 name_size
 *   u32 size         in bytes
 *   u32 0
 *   name, then the values: little endian, each padded to a multiple of 8
 *
 * A block borrows its sink. Nothing fails before page_block_close(), which frees the block. A block
 * may be NULL (without memory); it is then not written, and closing it returns STATUS_NO_MEMORY.
 */
#ifndef PAGE_BLOCK_H
#define PAGE_BLOCK_H

#include "base/sink.h"

enum page_kind {
	PAGE_TEXT = 0,
	PAGE_U8 = 1,
	PAGE_U16 = 2,
	PAGE_U32 = 4,
	PAGE_F64 = 8,
};

struct page_block;

struct page_block *page_block_open(struct sink *out, const char *name);
void page_block_put(struct page_block *block, const char *name, enum page_kind kind,
		    struct bytes values);
int page_block_close(struct page_block *block);

void page_block_u8(struct page_block *block, const char *name, const uint8_t *values, size_t count);
void page_block_u16(struct page_block *block, const char *name, const uint16_t *values,
		    size_t count);
void page_block_u32(struct page_block *block, const char *name, const uint32_t *values,
		    size_t count);
void page_block_f64(struct page_block *block, const char *name, const double *values, size_t count);
/* JSON, or any other text. */
void page_block_text(struct page_block *block, const char *name, struct bytes text);

#endif
