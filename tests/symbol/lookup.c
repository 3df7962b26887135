/* lookup.c - names file offsets of an ELF object, for perf_names.py.
 *
 *   lookup OBJECT < offsets     hexadecimal, a line each; a name or [unknown] each
 *   lookup --demangle OBJECT    the same, demangled
 *   lookup --kallsyms TEXT      addresses of the kernel instead of offsets
 *   lookup --starts OBJECT      "start end" as file offsets of each function
 */
#include "base/status.h"
#include "names/names.h"
#include "symbol/table_internal.h"
#include "symbol_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool svma_to_file(const struct symbol_table *table, uint64_t svma, uint64_t *file_off)
{
	for (size_t i = 0; i < table->loads.count; i++) {
		const struct symbol_load *load = &table->loads.items[i];
		*file_off = load->file_off + (svma - load->svma);
		if (svma >= load->svma && svma - load->svma < load->size)
			return true;
	}
	return false;
}

static void print_starts(const struct symbol_table *table)
{
	for (size_t i = 0; i < table->span_count; i++) {
		const struct symbol_span *span = &table->spans[i];
		uint64_t off;
		if (span->name && span->svma == span->start_svma &&
		    svma_to_file(table, span->start_svma, &off))
			printf("%" PRIx64 " %" PRIx64 "\n", off, off + span->size);
	}
}

static void print_name(const char *name, bool demangle)
{
	struct sink human = { 0 };
	if (demangle)
		names_demangle(name, &human);
	else
		sink_text(&human, name);
	printf("%.*s\n", (int)human.size, (const char *)human.data);
	sink_clear(&human);
}

static void print_names(const struct symbol_table *table, bool demangle, bool is_kernel)
{
	char line[64];
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t svma = strtoull(line, NULL, 16);
		struct symbol symbol;
		if ((is_kernel || symbol_file_to_svma(table, svma, &svma)) &&
		    symbol_find(table, svma, &symbol))
			print_name(symbol.name, demangle);
		else
			puts("[unknown]");
	}
}

static int read_table(struct symbol_table **table, const char *path, bool is_kernel)
{
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	if (!is_kernel)
		return symbol_table_file(table, &files, path, (struct bytes){ 0 });
	/* /proc/kallsyms has no size: it cannot be mapped. */
	struct sink text = { 0 };
	FILE *in = fopen(path, "re");
	uint8_t *room;
	size_t got = 0;
	do {
		room = in ? sink_reserve(&text, 1 << 16) : NULL;
		got = room ? fread(room, 1, 1 << 16, in) : 0;
		text.size -= room ? (1 << 16) - got : 0;
	} while (got);
	if (in)
		fclose(in);
	const int status = symbol_table_kallsyms(table, sink_bytes(&text));
	sink_clear(&text);
	return status;
}

static bool has_mode(int argc, char **argv, const char *mode)
{
	return argc == 3 && strcmp(argv[1], mode) == 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	const bool is_kernel = has_mode(argc, argv, "--kallsyms");
	struct symbol_table *table;
	const int status = read_table(&table, argv[argc - 1], is_kernel);
	if (status < 0) {
		fprintf(stderr, "%s: %s\n", argv[argc - 1], status_text(status));
		return 1;
	}
	if (has_mode(argc, argv, "--starts"))
		print_starts(table);
	else
		print_names(table, has_mode(argc, argv, "--demangle"), is_kernel);
	symbol_table_free(table);
	return 0;
}
