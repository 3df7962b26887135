/* places.c - what debuginfo_find() says of addresses, for symbolizer_test.py.
 *
 *   places OBJECT < addresses    hexadecimal, a line each
 *
 * For each a line of each scope, innermost first, "NAME<tab>FILE<tab>LINE<tab>COLUMN", the last
 * one without a name, then "= START END", or "= -" where nothing is known.
 */
#include "base/status.h"
#include "debuginfo/debuginfo.h"
#include "symbol/symbol_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_place(const struct debuginfo_place *place)
{
	const char *file = place->file;
	uint32_t line = place->line;
	uint32_t column = place->column;
	for (uint32_t i = place->scope_count; i-- > 0;) {
		const struct debuginfo_scope *scope = &place->scopes[i];
		printf("%s\t%s\t%" PRIu32 "\t%" PRIu32 "\n", scope->name, file, line, column);
		file = scope->call_file;
		line = scope->call_line;
		column = scope->call_column;
	}
	printf("\t%s\t%" PRIu32 "\t%" PRIu32 "\n", file, line, column);
	printf("= %" PRIx64 " %" PRIx64 "\n", place->start_svma, place->end_svma);
}

int main(int argc, char **argv)
{
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	struct debuginfo *info;
	static struct debuginfo_place place;
	char text[64];
	if (argc != 2)
		return 2;
	const int got = debuginfo_open(&info, &files, argv[1], (struct bytes){ 0 });
	if (got < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], status_text(got));
		return 1;
	}
	while (fgets(text, sizeof(text), stdin)) {
		if (debuginfo_find(info, strtoull(text, NULL, 16), &place))
			print_place(&place);
		else
			puts("= -");
	}
	debuginfo_close(info);
	return 0;
}
