/* symbol_fuzz.c - an ELF image, or the text of kallsyms.
 *
 * The image ends at a page that cannot be read, so that a read past its end is seen in
 * libelf too, which no sanitizer watches. Every path opens as the image itself: so it
 * is its own debug file.
 */
#include "symbol/symbol.h"

#include <stdlib.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct guarded {
	struct bytes bytes;
	void *pages;
	size_t pages_size;
};

static bool guard(struct guarded *g, const uint8_t *data, size_t size)
{
	enum { PAGE = 4096 };
	const size_t whole = (size + PAGE - 1) / PAGE * PAGE;
	g->pages_size = whole + PAGE;
	g->pages =
	    mmap(NULL, g->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->pages == MAP_FAILED)
		return false;
	uint8_t *start = (uint8_t *)g->pages + (whole - size);
	if (size)
		memcpy(start, data, size);
	/* Not writable either: libelf must leave the image alone. */
	require(mprotect(g->pages, whole ? whole : PAGE, PROT_READ) == 0);
	require(mprotect((uint8_t *)g->pages + whole, PAGE, PROT_NONE) == 0);
	g->bytes = (struct bytes){ .data = start, .size = size };
	return true;
}

static bool open_image(void *context, const char *path, struct bytes *bytes)
{
	const struct guarded *g = context;
	require(path[0] != '\0');
	*bytes = g->bytes;
	return true;
}

static void close_image(void *context, struct bytes bytes)
{
	const struct guarded *g = context;
	require(bytes.data == g->bytes.data && bytes.size == g->bytes.size);
}

static size_t look_up(const struct symbol_table *table, uint64_t svma)
{
	struct symbol symbol;
	if (!symbol_find(table, svma, &symbol))
		return 0;
	require(svma >= symbol.start_svma && svma - symbol.start_svma < symbol.size);
	return strlen(symbol.name) + strlen(symbol_module(table, svma));
}

static void use(const struct symbol_table *table, struct bytes input)
{
	size_t sum = symbol_count(table);
	for (uint64_t off = 0; off < input.size; off += 13) {
		uint64_t svma;
		if (symbol_file_to_svma(table, off, &svma))
			sum += look_up(table, svma);
	}
	/* Any eight bytes may be an address of a symbol. */
	for (size_t at = 0; at + 8 <= input.size && at < 4096; at += 4) {
		uint64_t svma;
		memcpy(&svma, input.data + at, 8);
		sum += look_up(table, svma) + look_up(table, svma - 1) +
		       look_up(table, svma & 0xffffffff);
	}
	require(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guarded g;
	if (!guard(&g, data, size))
		return 0;
	struct symbol_files files = { .context = &g, .open = open_image, .close = close_image };
	struct symbol_table *table;
	if (symbol_table_elf(&table, &files, "/bin/program", (struct bytes){ 0 }) == 0) {
		use(table, g.bytes);
		symbol_table_free(table);
	}
	const struct bytes build_id = symbol_build_id(g.bytes);
	require(build_id.size <= size);
	if (build_id.size && symbol_table_elf(&table, &files, "program", build_id) == 0)
		symbol_table_free(table);
	if (symbol_table_image(&table, g.bytes) == 0) {
		use(table, g.bytes);
		symbol_table_free(table);
	}
	if (symbol_table_kallsyms(&table, g.bytes) == 0) {
		use(table, g.bytes);
		symbol_table_free(table);
	}
	munmap(g.pages, g.pages_size);
	return 0;
}
