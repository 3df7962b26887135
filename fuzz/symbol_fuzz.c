/* symbol_fuzz.c - an ELF image, or the text of kallsyms.
 *
 * The image ends at a page that cannot be read, so that a read past its end is seen in
 * libelf too, which no sanitizer watches. Every path opens as the image itself: so it
 * is its own debug file.
 */
#include "guarded.h"
#include "symbol/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	if (symbol_table_file(&table, &files, "/bin/program", (struct bytes){ 0 }) == 0) {
		use(table, g.bytes);
		symbol_table_free(table);
	}
	const struct bytes build_id = symbol_build_id(g.bytes);
	require(build_id.size <= size);
	if (build_id.size && symbol_table_file(&table, &files, "program", build_id) == 0)
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
