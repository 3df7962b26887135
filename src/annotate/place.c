#include "annotate/place.h"

#include "base/search.h"

/* The first note that does not lie before the offset. */
static size_t first_note(const struct listing *listing, uint64_t offset)
{
	size_t count;
	SEARCH(count, listing->notes.count, i, listing->notes.items[i].offset < offset);
	return count;
}

struct place_notes place_notes(const struct listing *listing, const struct annotate_row *row)
{
	if (!row->size)
		return (struct place_notes){ 0, 0 };
	const size_t first = first_note(listing, row->offset);
	const size_t end = first_note(listing, row->offset + row->size);
	return (struct place_notes){ first, end > first ? end : first };
}

struct place_notes place_last_notes(const struct annotate_version *version)
{
	uint64_t end = 0;
	for (size_t i = version->rows.count; i-- && !end;)
		if (version->rows.items[i].size)
			end = version->rows.items[i].offset + version->rows.items[i].size;
	const size_t first = first_note(&version->listing, end);
	return (struct place_notes){ first, version->listing.notes.count };
}

int32_t place_bytecode(const struct listing *listing, uint64_t offset)
{
	size_t count;
	SEARCH(count, listing->bytecodes.count, i, listing->bytecodes.items[i].offset <= offset);
	return count ? listing->bytecodes.items[count - 1].bytecode : -1;
}

size_t place_scopes(const struct listing *listing, uint32_t scope, uint32_t chain[PLACE_DEPTH])
{
	size_t count = 0;
	for (; scope && scope <= listing->scopes.count && count < PLACE_DEPTH;
	     scope = listing->scopes.items[scope - 1].around)
		chain[count++] = scope;
	for (size_t i = 0; i < count / 2; i++) {
		const uint32_t other = chain[i];
		chain[i] = chain[count - 1 - i];
		chain[count - 1 - i] = other;
	}
	return count;
}

void place_change(const struct listing *listing, uint32_t from, uint32_t to,
		  struct place_change *change)
{
	uint32_t old[PLACE_DEPTH];
	uint32_t new[PLACE_DEPTH];
	const size_t old_depth = place_scopes(listing, from, old);
	const size_t new_depth = place_scopes(listing, to, new);
	size_t same = 0;
	while (same < old_depth && same < new_depth && old[same] == new[same])
		same++;
	*change = (struct place_change){ .entered_count = new_depth - same, .depth = same };
	memcpy(change->entered, new + same, change->entered_count * sizeof(*new));
	change->is_back = new_depth == same && old_depth > same;
	change->back_in = new_depth ? new[new_depth - 1] : 0;
}

const struct listing_line *place_line(const struct annotate_version *version,
				      const struct annotate_row *row, uint32_t *file)
{
	if (!row->line)
		return NULL;
	*file = version->line_files.items[row->line - 1];
	return &version->listing.lines.items[row->line - 1];
}

struct bytes place_text(const struct annotate *doc, const struct annotate_row *row)
{
	if (!row->text_size)
		return (struct bytes){ 0 };
	return (struct bytes){ doc->texts.data + row->text, row->text_size };
}

void place_add_context(bool *shown, size_t count, size_t context)
{
	size_t after = 0; /* how many more are shown behind the last that was wanted */
	size_t done = 0;  /* all before is marked */
	for (size_t i = 0; i < count; i++) {
		const bool is_wanted = shown[i];
		shown[i] = is_wanted || after;
		after = is_wanted ? context : after ? after - 1 : 0;
		if (!is_wanted)
			continue;
		for (size_t j = i > context + done ? i - context : done; j < i; j++)
			shown[j] = true;
		done = i + 1;
	}
}
