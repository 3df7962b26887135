#include "clr/pdb.h"

#include "base/search.h"
#include "base/status.h"
#include "clr/inflate.h"
#include "clr/pdb_internal.h"

#include <stdlib.h>

enum {
	ID_BYTES = 20,
	EMBEDDED = 0x4244504d, /* "MPDB" */
	EMBEDDED_LIMIT = 256 << 20,
	CACHE_BYTES = 64 << 20,
	PATH_BYTES = 1 << 15,
	METHOD = CLR_METHOD_DEF << 24, /* the table's part of a token */
	LAST_ROW = 0xffffff,
};

static const char WINDOWS_PDB[] = "Microsoft C/C++ ";

static uint32_t method_rows(const struct clr_pdb *pdb)
{
	return clr_row_count(&pdb->md, CLR_METHOD_DEBUG_INFORMATION);
}

static int make_cache(struct clr_pdb *pdb)
{
	struct pdb_cache *cache = calloc(1, sizeof(*cache));
	if (!cache)
		return STATUS_NO_MEMORY;
	pdb->cache = cache;
	arena_init(&cache->arena, CACHE_BYTES);
	cache->method_count = method_rows(pdb);
	if (cache->method_count)
		cache->methods = calloc(cache->method_count, sizeof(*cache->methods));
	return cache->method_count && !cache->methods ? STATUS_NO_MEMORY : 0;
}

static int read_file(struct clr_pdb *pdb, struct bytes file)
{
	const size_t size = sizeof(WINDOWS_PDB) - 1;
	if (file.size >= size && memcmp(file.data, WINDOWS_PDB, size) == 0)
		return STATUS_UNSUPPORTED;
	const int result = clr_metadata_open(&pdb->md, file);
	if (result < 0)
		return result;
	/* An assembly's metadata have no such stream. */
	if (pdb->md.pdb.size < ID_BYTES)
		return STATUS_NOT_FORMAT;
	return make_cache(pdb);
}

/* Takes over what an embedded one was inflated into. */
static int open_bytes(struct clr_pdb **pdb, struct bytes file, uint8_t *inflated)
{
	*pdb = NULL;
	struct clr_pdb *made = calloc(1, sizeof(*made));
	if (!made) {
		free(inflated);
		return STATUS_NO_MEMORY;
	}
	made->inflated = inflated;
	const int result = read_file(made, file);
	if (result < 0)
		clr_pdb_free(made);
	else
		*pdb = made;
	return result;
}

int clr_pdb_open(struct clr_pdb **pdb, struct bytes file)
{
	return open_bytes(pdb, file, NULL);
}

int clr_pdb_open_embedded(struct clr_pdb **pdb, struct bytes embedded)
{
	*pdb = NULL;
	struct cursor c = cursor_over(embedded);
	const uint32_t magic = cursor_u32(&c);
	const uint32_t size = cursor_u32(&c);
	const struct bytes deflated = cursor_take(&c, cursor_left(&c));
	if (magic != EMBEDDED)
		return STATUS_NOT_FORMAT;
	if (size > EMBEDDED_LIMIT)
		return STATUS_TOO_BIG;
	if (cursor_failed(&c) || size == 0 || !clr_inflate_can_fill(deflated, size))
		return STATUS_CORRUPT;
	uint8_t *inflated = malloc(size);
	if (!inflated)
		return STATUS_NO_MEMORY;
	const int result = clr_inflate(deflated, inflated, size);
	if (result < 0) {
		free(inflated);
		return result;
	}
	return open_bytes(pdb, (struct bytes){ inflated, size }, inflated);
}

void clr_pdb_free(struct clr_pdb *pdb)
{
	if (!pdb)
		return;
	if (pdb->cache) {
		arena_clear(&pdb->cache->arena);
		free(pdb->cache->methods);
		free(pdb->cache);
	}
	free(pdb->inflated);
	free(pdb);
}

void clr_pdb_id(const struct clr_pdb *pdb, uint8_t id[20])
{
	memcpy(id, pdb->md.pdb.data, ID_BYTES);
}

uint32_t clr_pdb_method_count(const struct clr_pdb *pdb)
{
	return method_rows(pdb);
}

static struct clr_line *new_lines(struct pdb_cache *cache, size_t count)
{
	struct clr_line *lines = arena_new(&cache->arena, struct clr_line, count);
	if (!lines && cache->arena.used) {
		arena_clear(&cache->arena);
		memset(cache->methods, 0, cache->method_count * sizeof(*cache->methods));
		lines = arena_new(&cache->arena, struct clr_line, count);
	}
	return lines;
}

/* Without memory it has no lines, and is tried again when it is asked for again. */
static void decode(const struct clr_pdb *pdb, uint32_t row)
{
	struct pdb_method *method = &pdb->cache->methods[row - 1];
	const struct bytes blob = clr_blob(&pdb->md, clr_get(&pdb->md, CLR_METHOD_DEBUG_INFORMATION,
							     row, CLR_DEBUG_SEQUENCE_POINTS));
	const uint32_t document =
	    clr_get(&pdb->md, CLR_METHOD_DEBUG_INFORMATION, row, CLR_DEBUG_DOCUMENT);
	const int64_t count =
	    blob.size ? pdb_count_points(blob, document, clr_row_count(&pdb->md, CLR_DOCUMENT)) : 0;
	struct clr_line *lines = NULL;
	if (count > 0) {
		lines = new_lines(pdb->cache, (size_t)count);
		if (!lines)
			return;
		pdb_decode_points(blob, document, lines);
	}
	*method = (struct pdb_method){ .lines = lines,
				       .count = lines ? (uint32_t)count : 0,
				       .is_known = true };
}

size_t clr_pdb_lines(const struct clr_pdb *pdb, uint32_t token, const struct clr_line **lines)
{
	const uint32_t row = token - METHOD; /* too large for a token of another table */
	*lines = NULL;
	if (row == 0 || row > pdb->cache->method_count)
		return 0;
	const struct pdb_method *method = &pdb->cache->methods[row - 1];
	if (!method->is_known)
		decode(pdb, row);
	*lines = method->lines;
	return method->count;
}

bool clr_pdb_find(const struct clr_pdb *pdb, uint32_t token, uint32_t il_off, struct clr_line *line)
{
	const struct clr_line *lines;
	const size_t line_count = clr_pdb_lines(pdb, token, &lines);
	size_t count;
	SEARCH(count, line_count, i, lines[i].il_off <= il_off);
	if (count == 0 || lines[count - 1].line == 0)
		return false;
	*line = lines[count - 1];
	return true;
}

uint32_t clr_pdb_document_count(const struct clr_pdb *pdb)
{
	return clr_row_count(&pdb->md, CLR_DOCUMENT);
}

/* Paths are kept as their parts, which many share: the separator, then a blob for each. */
bool clr_pdb_document(const struct clr_pdb *pdb, uint32_t document, struct sink *path)
{
	const uint32_t name = clr_get(&pdb->md, CLR_DOCUMENT, document, CLR_DOCUMENT_NAME);
	struct cursor c = cursor_over(clr_blob(&pdb->md, name));
	const uint8_t separator = cursor_u8(&c);
	const size_t before = path->size;
	bool is_first = true;
	while (cursor_left(&c)) {
		const uint32_t off = clr_compressed(&c);
		const struct bytes part = off ? clr_blob(&pdb->md, off) : (struct bytes){ 0 };
		if (!is_first && separator)
			sink_u8(path, separator);
		is_first = false;
		const size_t room = PATH_BYTES + before;
		if (cursor_failed(&c) || path->size > room || part.size > room - path->size) {
			cursor_fail(&c);
			break;
		}
		if (part.size)
			sink_put(path, part.data, part.size);
	}
	const bool is_whole = !cursor_failed(&c) && !sink_failed(path) && path->size > before;
	if (!is_whole)
		path->size = before;
	return is_whole;
}

/* The table is sorted by the first column. */
uint32_t clr_pdb_kickoff(const struct clr_pdb *pdb, uint32_t token)
{
	const uint32_t wanted = token - METHOD;
	const uint32_t row =
	    clr_first_row(&pdb->md, CLR_STATE_MACHINE_METHOD, CLR_STATE_MACHINE_MOVE_NEXT, wanted);
	if (!wanted ||
	    clr_get(&pdb->md, CLR_STATE_MACHINE_METHOD, row, CLR_STATE_MACHINE_MOVE_NEXT) != wanted)
		return 0;
	const uint32_t kickoff =
	    clr_get(&pdb->md, CLR_STATE_MACHINE_METHOD, row, CLR_STATE_MACHINE_KICKOFF);
	return kickoff && kickoff <= LAST_ROW ? METHOD + kickoff : 0;
}
