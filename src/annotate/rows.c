#include "annotate/arrows.h"
#include "annotate/internal.h"

#include "base/search.h"
#include "base/status.h"

/* Of all versions together: about 80 bytes a row. */
enum { ROW_LIMIT = 4 << 20 };

/* The last row that begins at or before the offset: index + 1, or 0. */
static size_t row_before(const annotate_rows *rows, uint64_t offset)
{
	size_t count;
	SEARCH(count, rows->count, i, rows->items[i].offset <= offset);
	return count;
}

static struct annotate_row *row_at(const annotate_rows *rows, uint64_t offset)
{
	const size_t before = row_before(rows, offset);
	struct annotate_row *row = before ? &rows->items[before - 1] : NULL;
	return row && row->offset == offset ? row : NULL;
}

static enum annotate_row_kind stray_kind(const annotate_rows *rows, const struct annotate_hit *hit)
{
	if (!hit->has_offset)
		return ANNOTATE_ROW_NOWHERE;
	const size_t before = row_before(rows, hit->offset);
	const struct annotate_row *row = before ? &rows->items[before - 1] : NULL;
	return row && hit->offset - row->offset < row->size ? ANNOTATE_ROW_INSIDE
							    : ANNOTATE_ROW_BEYOND;
}

/* Samples at the start of a row are the row's; all others get rows of their own. */
static int add_hits(struct annotate_version *version)
{
	annotate_rows strays = { 0 };
	annotate_rows *rows = &version->rows;
	bool is_whole = true;
	for (size_t i = 0; is_whole && i < version->hits.count; i++) {
		const struct annotate_hit *hit = &version->hits.items[i];
		struct annotate_row *row = hit->has_offset ? row_at(rows, hit->offset) : NULL;
		if (row) {
			annotate_count_add(&row->count, &hit->count);
			continue;
		}
		row = vector_push(&strays);
		is_whole = row != NULL;
		if (!row)
			continue;
		row->kind = (uint8_t)stray_kind(rows, hit);
		row->offset = hit->has_offset ? hit->offset : UINT64_MAX;
		row->count = hit->count;
		row->callee = "";
	}
	if (!is_whole || !vector_reserve(rows, strays.count)) {
		vector_clear(&strays);
		return STATUS_NO_MEMORY;
	}
	/* From behind, so that each row moves once. */
	size_t from = rows->count;
	size_t stray = strays.count;
	size_t to = rows->count + strays.count;
	rows->count = to;
	while (stray) {
		const bool is_last =
		    from == 0 || rows->items[from - 1].offset <= strays.items[stray - 1].offset;
		rows->items[--to] = is_last ? strays.items[--stray] : rows->items[--from];
	}
	vector_clear(&strays);
	return 0;
}

static int find_targets(struct annotate_version *version, const struct annotate_inputs *inputs)
{
	annotate_rows *rows = &version->rows;
	const struct listing *listing = &version->listing;
	for (size_t i = 0; i < rows->count; i++) {
		struct annotate_row *row = &rows->items[i];
		if (!row->has_target || !row->is_direct)
			continue;
		const uint64_t offset = row->target - listing->start_avma;
		if (offset < listing->code.size) {
			struct annotate_row *target = row_at(rows, offset);
			if (!target)
				continue;
			row->target_row = (uint32_t)(target - rows->items) + 1;
			target->is_target |= row->flow != ANNOTATE_FLOW_CALL;
			continue;
		}
		if (inputs->from.target)
			row->callee = inputs->from.target(inputs->from.context, version->function,
							  row->target);
		if (!row->callee)
			row->callee = "";
	}
	return 0;
}

/* The last entry that is not behind the row. */
static void set_lines(struct annotate_version *version)
{
	const struct listing *listing = &version->listing;
	size_t line = 0;
	for (size_t i = 0; i < version->rows.count; i++) {
		struct annotate_row *row = &version->rows.items[i];
		while (line < listing->lines.count &&
		       listing->lines.items[line].offset <= row->offset)
			line++;
		/* Where samples are whose place is not known or not in the code, no line is. */
		if (row->kind != ANNOTATE_ROW_NOWHERE && row->kind != ANNOTATE_ROW_BEYOND)
			row->line = (uint32_t)line;
	}
}

static int name_files(struct annotate *doc, struct annotate_version *version)
{
	const struct listing *listing = &version->listing;
	if (!vector_reserve(&version->line_files, listing->lines.count))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < listing->lines.count; i++) {
		const struct listing_line *line = &listing->lines.items[i];
		uint32_t *id = vector_push(&version->line_files);
		*id = i && strcmp(line->file, listing->lines.items[i - 1].file) == 0
			  ? version->line_files.items[i - 1]
			  : annotate_file_id(doc, (struct bytes){ (const uint8_t *)line->file,
								  strlen(line->file) });
		if (*id == UINT32_MAX)
			return STATUS_NO_MEMORY;
		if (line->text && line->line &&
		    annotate_tell_line(doc, *id, line->line, line->text) < 0)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

int annotate_rows_build(struct annotate *doc, struct annotate_version *version,
			const struct annotate_inputs *inputs)
{
	const struct listing *listing = &version->listing;
	int got = name_files(doc, version);
	if (got < 0)
		return got;
	if (!listing->code.size) {
		version->no_code = listing->reason ? listing->reason : "its code was not kept";
		return 0;
	}
	if (doc->row_count >= ROW_LIMIT) {
		version->no_code = "that would be too much code at once";
		return 0;
	}
	got = annotate_decode(listing, inputs->att, &version->rows, &doc->texts);
	if (got == STATUS_UNSUPPORTED) {
		version->no_code = "code of this kind of machine cannot be disassembled";
		return 0;
	}
	if (got == 0)
		got = add_hits(version);
	doc->row_count += version->rows.count;
	if (got == 0)
		got = find_targets(version, inputs);
	if (got == 0)
		got = annotate_arrows(&version->rows, &version->lanes);
	set_lines(version);
	return got;
}
