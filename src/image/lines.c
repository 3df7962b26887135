/* .debug_line (DWARF 4, section 6.2). A function's rows are encoded when its last line has
 * come, before anybody knows where it will lie: only the operand of its DW_LNE_set_address is
 * filled in later. One sequence a function, one program a unit.
 */
#include "image/internal.h"

#include <stdlib.h>

enum {
	DW_LNS_copy = 1,
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNS_set_column = 5,
	DW_LNS_const_add_pc = 8,
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
	OPCODE_BASE = 13,
	/* JIT code steps further in addresses and lines than compilers' output; what a special
	 * opcode cannot say costs two bytes more.
	 */
	LINE_BASE = -4,
	LINE_RANGE = 10,
	MAX_SPECIAL_ADVANCE = (255 - OPCODE_BASE) / LINE_RANGE,
	SEQUENCE_SIZE = 11 + 6 + 3,
	UNIT_LINES_LIMIT = 1 << 28,
};

bool unit_file(struct image *image, uint32_t source, uint32_t *number)
{
	*number = 0;
	if (!source)
		return true;
	const uint32_t stamp = (uint32_t)image->units.count + 1;
	while (image->numbers.count <= source)
		if (!vector_push(&image->numbers))
			return false;
	if (image->numbers.items[source].unit != stamp) {
		uint32_t *file = vector_push(&image->unit_files);
		if (!file)
			return false;
		*file = source;
		image->numbers.items[source].unit = stamp;
		image->numbers.items[source].number = (uint32_t)image->unit_files.count;
	}
	*number = image->numbers.items[source].number;
	return true;
}

static int by_offset(const void *left, const void *right)
{
	const struct pending_line *a = left;
	const struct pending_line *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

_Static_assert(ROW_MAX_SIZE >= 4 * 6 + 2, "four opcodes with operands of 32 bits, two without");

struct row_state {
	uint32_t offset;
	uint32_t file;
	uint32_t line;
	uint32_t column;
};

/* Makes the row `to` out of the row `from`. */
static uint8_t *put_row(uint8_t *p, const struct row_state *from, const struct row_state *to)
{
	if (to->file != from->file) {
		*p++ = DW_LNS_set_file;
		p = put_uleb(p, to->file);
	}
	if (to->column != from->column) {
		*p++ = DW_LNS_set_column;
		p = put_uleb(p, to->column);
	}
	int64_t lines = (int64_t)to->line - from->line;
	uint32_t advance = to->offset - from->offset;
	if (lines < LINE_BASE || lines >= LINE_BASE + LINE_RANGE) {
		*p++ = DW_LNS_advance_line;
		p = put_sleb(p, lines);
		lines = 0;
	}
	const int64_t first = OPCODE_BASE + lines - LINE_BASE;
	if (advance > MAX_SPECIAL_ADVANCE && advance <= 2 * MAX_SPECIAL_ADVANCE) {
		*p++ = DW_LNS_const_add_pc;
		advance -= MAX_SPECIAL_ADVANCE;
	}
	int64_t special = first + (int64_t)LINE_RANGE * advance;
	if (special > 255) {
		*p++ = DW_LNS_advance_pc;
		p = put_uleb(p, advance);
		special = first;
	}
	*p++ = (uint8_t)special;
	return p;
}

/* The rows of the sorted lines; of several at one offset the last counts. Lines that change
 * nothing make no row.
 */
static uint8_t *put_rows(struct image *image, uint8_t *p, struct row_state *state)
{
	bool is_first = true;
	for (size_t i = 0; i < image->lines.count; i++) {
		const struct pending_line *line = &image->lines.items[i];
		if (i + 1 < image->lines.count && line[1].offset == line->offset)
			continue;
		struct row_state to = { line->offset, state->file, line->line, line->column };
		if (line->line)
			to.file = image->numbers.items[line->file].number;
		if (!is_first && to.file == state->file && to.line == state->line &&
		    to.column == state->column)
			continue;
		p = put_row(p, state, &to);
		*state = to;
		is_first = false;
	}
	return p;
}

/* The function's entry: where the first line says that it comes from. */
static void set_entry(struct image *image, struct described *d)
{
	for (size_t i = 0; i < image->lines.count && !d->line; i++) {
		const struct pending_line *line = &image->lines.items[i];
		d->file = line->line ? image->numbers.items[line->file].number : 0;
		d->line = line->line;
	}
	/* That line is the inlined function's own. */
	const struct scope *scopes = scopes_of(image, d);
	if (d->scope_count && scopes[0].offset == 0 && scopes[0].file) {
		d->file = scopes[0].file;
		d->line = scopes[0].line;
	}
}

static int put_sequence(struct image *image, struct described *d, const struct function *f)
{
	struct sink *out = &image->unit_lines;
	const size_t start = out->size;
	uint8_t *p = sink_reserve(out, image->lines.count * ROW_MAX_SIZE + SEQUENCE_SIZE);
	if (!p)
		return STATUS_NO_MEMORY;
	*p++ = 0;
	*p++ = 1 + sizeof(uint64_t);
	*p++ = DW_LNE_set_address;
	d->address_at = start + 3;
	memset(p, 0, sizeof(uint64_t));
	p += sizeof(uint64_t);
	struct row_state state = { .file = 1, .line = 1 };
	p = put_rows(image, p, &state);
	*p++ = DW_LNS_advance_pc;
	p = put_uleb(p, f->size - state.offset);
	*p++ = 0;
	*p++ = 1;
	*p++ = DW_LNE_end_sequence;
	out->size = (size_t)(p - out->data);
	return 0;
}

static int number_files(struct image *image)
{
	uint32_t last = 0;
	for (size_t i = 0; i < image->lines.count; i++) {
		const struct pending_line *line = &image->lines.items[i];
		uint32_t number;
		if (line->line && line->file != last && !unit_file(image, line->file, &number))
			return STATUS_NO_MEMORY;
		last = line->line ? line->file : last;
	}
	return 0;
}

static int close_function(struct image *image, struct described *d)
{
	const struct function *f = &image->functions.items[d->function];
	if (!image->lines_in_order)
		qsort(image->lines.items, image->lines.count, sizeof(image->lines.items[0]),
		      by_offset);
	int got = number_files(image);
	if (got == 0)
		got = scopes_close_function(image, d);
	if (got < 0)
		return got;
	set_entry(image, d);
	return image->lines.count ? put_sequence(image, d, f) : 0;
}

int lines_close_function(struct image *image)
{
	if (!image->lines.count && !image->pending_scopes.count)
		return 0;
	struct described d = { .address_at = SIZE_MAX,
			       .function = (uint32_t)image->functions.count - 1,
			       .first_scope = (uint32_t)image->scopes.count };
	int got = close_function(image, &d);
	struct described *slot = got == 0 ? vector_push(&image->described) : NULL;
	image->lines.count = 0;
	image->pending_scopes.count = 0;
	image->lines_in_order = image->scopes_in_order = true;
	if (!slot)
		return got < 0 ? got : STATUS_NO_MEMORY;
	*slot = d;
	image->unit.described_count++;
	if (image->unit.described_count < UNIT_FUNCTIONS &&
	    image->unit_lines.size < UNIT_LINES_LIMIT)
		return 0;
	return lines_close_unit(image);
}

static void put_header(struct image *image, struct sink *out)
{
	static const uint8_t OPERANDS[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	const size_t start = out->size;
	sink_u32(out, 0);
	sink_u16(out, 4);
	sink_u32(out, 0);
	sink_u8(out, 1); /* bytes of the smallest instruction */
	sink_u8(out, 1);
	sink_u8(out, 1);
	sink_u8(out, (uint8_t)LINE_BASE);
	sink_u8(out, LINE_RANGE);
	sink_u8(out, OPCODE_BASE);
	sink_put(out, OPERANDS, sizeof(OPERANDS));
	sink_u8(out, 0); /* no folders: paths are whole */
	for (size_t i = 0; i < image->unit_files.count; i++) {
		const struct bytes path =
		    intern_get_bytes(&image->sources, image->unit_files.items[i]);
		sink_put(out, path.data, path.size);
		sink_zeros(out, 4); /* the NUL; folder, time, size */
	}
	sink_u8(out, 0);
	sink_patch_u32(out, start + 6, (uint32_t)(out->size - start - 10));
	sink_patch_u32(out, start, (uint32_t)(out->size - start - 4 + image->unit_lines.size));
}

int lines_close_unit(struct image *image)
{
	if (!image->unit.described_count)
		return 0;
	struct sink *out = &image->contents[SECTION_DEBUG_LINE];
	struct unit *unit = vector_push(&image->units);
	if (!unit)
		return STATUS_NO_MEMORY;
	*unit = image->unit;
	unit->line_at = out->size;
	unit->name = image->unit_files.count ? image->unit_files.items[0] : 0;
	put_header(image, out);
	const size_t body = out->size;
	sink_put(out, image->unit_lines.data, image->unit_lines.size);
	for (uint32_t i = 0; i < unit->described_count; i++) {
		struct described *d = &image->described.items[unit->first_described + i];
		if (d->address_at != SIZE_MAX)
			d->address_at += body;
	}
	sink_reset(&image->unit_lines);
	image->unit_files.count = 0;
	image->unit = (struct unit){ .first_described = (uint32_t)image->described.count };
	return sink_status(out);
}

void lines_patch_addresses(struct image *image)
{
	struct sink *out = &image->contents[SECTION_DEBUG_LINE];
	for (size_t i = 0; i < image->described.count; i++) {
		const struct described *d = &image->described.items[i];
		if (d->address_at != SIZE_MAX)
			sink_patch_u64(out, d->address_at,
				       image->functions.items[d->function].file_off);
	}
}
