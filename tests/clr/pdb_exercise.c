#include "clr/pdb_exercise.h"

#include "base/status.h"

#include <stdlib.h>

/* A hostile file may name one large thing again and again. */
enum { METHOD = 0x06000000, POINTS = 200000, METHODS = 5000, DOCUMENTS = 200 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static uint32_t at_most(uint32_t count, uint32_t limit)
{
	return count < limit ? count : limit;
}

static void check_line(const struct clr_pdb *pdb, uint32_t token, struct clr_line at)
{
	struct clr_line found;
	require(at.document > 0 && at.document <= clr_pdb_document_count(pdb));
	require(at.end_line >= at.line);
	const bool is_found = clr_pdb_find(pdb, token, at.il_off, &found);
	require(is_found == (at.line != 0));
	require(!is_found || memcmp(&found, &at, sizeof(at)) == 0);
}

static size_t check_method(const struct clr_pdb *pdb, uint32_t token)
{
	const struct clr_line *lines;
	const size_t count = clr_pdb_lines(pdb, token, &lines);
	for (size_t i = 0; i < count; i++) {
		require(i == 0 || lines[i].il_off > lines[i - 1].il_off);
		check_line(pdb, token, lines[i]);
	}
	const uint32_t kickoff = clr_pdb_kickoff(pdb, token);
	require(kickoff == 0 || kickoff >> 24 == METHOD >> 24);
	return count;
}

static void check_document(const struct clr_pdb *pdb, uint32_t document)
{
	struct sink out = { 0 };
	sink_text(&out, "kept");
	const bool has_path = clr_pdb_document(pdb, document, &out);
	require(has_path == (out.size > 4));
	const size_t before = out.size;
	const int got = clr_pdb_source(pdb, document, &out);
	require(got == 0 || out.size == before);
	require(memcmp(out.data, "kept", 4) == 0);
	sink_clear(&out);
}

size_t pdb_exercise(const struct clr_pdb *pdb)
{
	uint8_t id[20];
	size_t count = 0;
	clr_pdb_id(pdb, id);
	const uint32_t methods = at_most(clr_pdb_method_count(pdb), METHODS);
	for (uint32_t i = 0; i <= methods + 1 && count < POINTS; i++)
		count += check_method(pdb, METHOD + i);
	const uint32_t documents = at_most(clr_pdb_document_count(pdb), DOCUMENTS);
	for (uint32_t i = 0; i <= documents + 1; i++)
		check_document(pdb, i);
	return count;
}

size_t pdb_exercise_bytes(struct bytes file)
{
	struct clr_pdb *pdb;
	int got = clr_pdb_open(&pdb, file);
	if (got == STATUS_NOT_FORMAT)
		got = clr_pdb_open_embedded(&pdb, file);
	require((got == 0) == (pdb != NULL));
	const size_t count = pdb ? pdb_exercise(pdb) : 0;
	clr_pdb_free(pdb);
	return count;
}
