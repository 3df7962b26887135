/* lookup.c - names file offsets of an ELF object, for perf_names.py.
 *
 *   lookup OBJECT < offsets     hexadecimal, a line each; a name or [unknown] each
 *   lookup --demangle OBJECT    the same, demangled
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
	for (size_t i = 0; i < table->entry_count; i++) {
		const struct symbol_entry *entry = &table->entries[i];
		uint64_t off;
		if (entry->name && svma_to_file(table, entry->start_svma, &off))
			printf("%" PRIx64 " %" PRIx64 "\n", off,
			       off + (entry->end_svma - entry->start_svma));
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

static void print_names(const struct symbol_table *table, bool demangle)
{
	char line[64];
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t svma;
		struct symbol symbol;
		if (symbol_file_to_svma(table, strtoull(line, NULL, 16), &svma) &&
		    symbol_find(table, svma, &symbol))
			print_name(symbol.name, demangle);
		else
			puts("[unknown]");
	}
}

int main(int argc, char **argv)
{
	const bool starts = argc == 3 && strcmp(argv[1], "--starts") == 0;
	const bool demangle = argc == 3 && strcmp(argv[1], "--demangle") == 0;
	if (argc != 2 && !starts && !demangle)
		return 2;
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	struct symbol_table *table;
	const int status = symbol_table_elf(&table, &files, argv[argc - 1], (struct bytes){ 0 });
	if (status < 0) {
		fprintf(stderr, "%s: %s\n", argv[argc - 1], status_text(status));
		return 1;
	}
	if (starts)
		print_starts(table);
	else
		print_names(table, demangle);
	symbol_table_free(table);
	return 0;
}
