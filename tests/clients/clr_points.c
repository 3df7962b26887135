/* clr_points.c - what our reader finds in portable PDBs: clr_points FILE...
 *
 * FILE is a PDB, or an assembly with one in it. tests/clr/Points.cs prints the same.
 */
#include "base/status.h"
#include "clr/image.h"
#include "clr/pdb.h"
#include "os/file.h"

#include <stdio.h>

enum { METHOD = 0x06000000 };

static uint32_t sum_of(struct bytes text)
{
	uint32_t sum = 2166136261;
	for (size_t i = 0; i < text.size; i++)
		sum = (sum ^ text.data[i]) * 16777619;
	return sum;
}

static void print_documents(const struct clr_pdb *pdb)
{
	struct sink out = { 0 };
	for (uint32_t i = 1; i <= clr_pdb_document_count(pdb); i++) {
		sink_reset(&out);
		const bool has_path = clr_pdb_document(pdb, i, &out);
		sink_u8(&out, '\0');
		printf("document %u %s\n", i, has_path ? (const char *)out.data : "?");
		sink_reset(&out);
		const int got = clr_pdb_source(pdb, i, &out);
		if (got == 0)
			printf("source %u %zu %08x\n", i, out.size, sum_of(sink_bytes(&out)));
		else if (got != STATUS_NOT_FOUND)
			printf("source %u: %s\n", i, status_text(got));
	}
	sink_clear(&out);
}

/* Each point must also be what a search for its offset finds. */
static void print_method(const struct clr_pdb *pdb, uint32_t token)
{
	const struct clr_line *lines;
	const size_t count = clr_pdb_lines(pdb, token, &lines);
	for (size_t i = 0; i < count; i++) {
		struct clr_line found;
		const struct clr_line *at = &lines[i];
		const bool is_found = clr_pdb_find(pdb, token, at->il_off, &found);
		if (is_found != (at->line != 0) || (is_found && found.line != at->line))
			printf("%08x %u is not found\n", token, at->il_off);
		printf("%08x %u %u %u:%u-%u:%u\n", token, at->il_off, at->document, at->line,
		       at->column, at->end_line, at->end_column);
	}
	const uint32_t kickoff = clr_pdb_kickoff(pdb, token);
	if (kickoff)
		printf("%08x kickoff %08x\n", token, kickoff);
}

static void print_pdb(const struct clr_pdb *pdb)
{
	uint8_t id[20];
	clr_pdb_id(pdb, id);
	printf("id ");
	for (size_t i = 0; i < sizeof(id); i++)
		printf("%02x", id[i]);
	printf("\n");
	print_documents(pdb);
	for (uint32_t i = 1; i <= clr_pdb_method_count(pdb); i++)
		print_method(pdb, METHOD + i);
}

static int open_pdb(struct clr_pdb **pdb, struct bytes file)
{
	const int result = clr_pdb_open(pdb, file);
	struct clr_image *image;
	struct clr_identity identity;
	if (result != STATUS_NOT_FORMAT || clr_image_open(&image, file) < 0)
		return result;
	clr_image_identity(image, &identity);
	const int embedded = clr_pdb_open_embedded(pdb, identity.embedded_pdb);
	clr_image_free(image);
	return embedded;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct os_file file;
		struct clr_pdb *pdb;
		int result = os_file_open(&file, argv[i], OS_FILE_REGULAR);
		if (result == 0) {
			result = open_pdb(&pdb, file.bytes);
			if (result == 0) {
				printf("file %s\n", argv[i]);
				print_pdb(pdb);
				clr_pdb_free(pdb);
			}
			os_file_close(&file);
		}
		if (result < 0) {
			printf("%s: %s\n", argv[i], status_text(result));
			return 1;
		}
	}
	return 0;
}
