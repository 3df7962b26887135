/* The rows of a unit's line program.
 *
 * Its file names are taken from libdw. Its rows are not: dwarf_getsrclines() puts those of all
 * sequences in one order, so that the rows of a function that the linker threw away, which begin at
 * address 0, lie among those of the code that is there.
 */
#include "debuginfo/internal.h"

#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>

/* What the program's head says. */
struct program {
	struct cursor code;
	uint8_t step_bytes; /* of an instruction */
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *lengths; /* of the standard opcodes, from 1: how many numbers follow */
	uint8_t address_size;
};

/* Rows from the first of a stretch of code up to its end. */
struct sequence {
	uint64_t start_svma;
	size_t first;
	size_t count;
};

struct line_state {
	uint64_t svma;
	uint64_t file;
	uint64_t line;
	uint64_t column;
};

/* A row as the program tells it. */
struct told_row {
	uint64_t svma;
	uint32_t file;
	uint32_t line;
	uint32_t column;
	bool is_end;
};

struct lines {
	struct program program;
	const struct span_table *code;
	VECTOR(struct told_row) rows;
	VECTOR(struct sequence) sequences;
	size_t first; /* row of the sequence under way */
	bool no_memory;
};

static bool read_head(struct program *p, const struct range_reader *r, struct cursor c)
{
	uint64_t size = cursor_u32(&c);
	const bool is_wide = size == UINT32_MAX;
	if (is_wide)
		size = cursor_u64(&c);
	c = cursor_sub(&c, size < cursor_left(&c) ? (size_t)size : cursor_left(&c));
	const uint16_t version = cursor_u16(&c);
	p->address_size = r->address_size;
	if (version >= 5) {
		p->address_size = cursor_u8(&c);
		(void)cursor_u8(&c);
	}
	const uint64_t head_size = is_wide ? cursor_u64(&c) : cursor_u32(&c);
	if (cursor_failed(&c) || version < 2 || version > 5 || head_size > cursor_left(&c))
		return false;
	struct cursor head = cursor_sub(&c, (size_t)head_size);
	p->code = c;
	p->step_bytes = cursor_u8(&head);
	if (version >= 4)
		(void)cursor_u8(&head); /* operations an instruction: for machines of old */
	(void)cursor_u8(&head);         /* whether rows are statements at first */
	p->line_base = (int8_t)cursor_u8(&head);
	p->line_range = cursor_u8(&head);
	p->opcode_base = cursor_u8(&head);
	p->lengths = cursor_take(&head, p->opcode_base ? p->opcode_base - 1u : 0).data;
	return !cursor_failed(&head) && p->line_range && p->opcode_base;
}

static uint32_t narrowed(uint64_t value)
{
	return value <= INT32_MAX ? (uint32_t)value : 0;
}

static void put_row(struct lines *lines, const struct line_state *state, bool is_end)
{
	struct told_row *row = vector_push(&lines->rows);
	if (!row) {
		lines->no_memory = true;
		return;
	}
	*row = (struct told_row){ .svma = state->svma,
				  .file = narrowed(state->file),
				  .line = narrowed(state->line),
				  .column = narrowed(state->column),
				  .is_end = is_end };
}

static void end_sequence(struct lines *lines, const struct line_state *state)
{
	put_row(lines, state, true);
	if (lines->no_memory)
		return;
	const uint64_t start_svma = lines->rows.items[lines->first].svma;
	if (!span_find(lines->code, start_svma) || lines->rows.count - lines->first < 2) {
		lines->rows.count = lines->first;
		return;
	}
	struct sequence *sequence = vector_push(&lines->sequences);
	if (!sequence) {
		lines->no_memory = true;
		return;
	}
	*sequence = (struct sequence){ start_svma, lines->first, lines->rows.count - lines->first };
	lines->first = lines->rows.count;
}

static const struct line_state START = { .file = 1, .line = 1 };

static void run_extended(struct lines *lines, struct line_state *state)
{
	const uint64_t size = cursor_uleb(&lines->program.code);
	if (size > cursor_left(&lines->program.code)) {
		cursor_fail(&lines->program.code);
		return;
	}
	struct cursor c = cursor_sub(&lines->program.code, (size_t)size);
	switch (cursor_u8(&c)) {
	case DW_LNE_end_sequence:
		end_sequence(lines, state);
		*state = START;
		break;
	case DW_LNE_set_address:
		state->svma = lines->program.address_size == 4 ? cursor_u32(&c) : cursor_u64(&c);
		break;
	default:
		break;
	}
}

static void run_standard(struct lines *lines, struct line_state *state, uint8_t opcode)
{
	struct program *p = &lines->program;
	switch (opcode) {
	case DW_LNS_copy:
		put_row(lines, state, false);
		break;
	case DW_LNS_advance_pc:
		state->svma += cursor_uleb(&p->code) * p->step_bytes;
		break;
	case DW_LNS_advance_line:
		state->line += (uint64_t)cursor_sleb(&p->code);
		break;
	case DW_LNS_set_file:
		state->file = cursor_uleb(&p->code);
		break;
	case DW_LNS_set_column:
		state->column = cursor_uleb(&p->code);
		break;
	case DW_LNS_const_add_pc:
		state->svma += (uint64_t)(255 - p->opcode_base) / p->line_range * p->step_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		state->svma += cursor_u16(&p->code);
		break;
	default:
		for (unsigned i = 0; i < p->lengths[opcode - 1]; i++)
			(void)cursor_uleb(&p->code);
	}
}

static void run(struct lines *lines)
{
	struct program *p = &lines->program;
	struct line_state state = START;
	while (cursor_left(&p->code) && !lines->no_memory) {
		const uint8_t opcode = cursor_u8(&p->code);
		if (opcode >= p->opcode_base) {
			const unsigned step = (unsigned)opcode - p->opcode_base;
			state.svma += (uint64_t)step / p->line_range * p->step_bytes;
			state.line +=
			    (uint64_t)(int64_t)(p->line_base + (int)(step % p->line_range));
			put_row(lines, &state, false);
		} else if (opcode) {
			run_standard(lines, &state, opcode);
		} else {
			run_extended(lines, &state);
		}
	}
}

const char *unit_path(struct debuginfo *info, struct unit *unit, const char *file)
{
	const size_t size = strlen(unit->folder);
	if (!file)
		return "";
	if (file[0] == '/' || !size ||
	    (strncmp(file, unit->folder, size) == 0 && file[size] == '/'))
		return file;
	struct sink path = { 0 };
	sink_text(&path, unit->folder);
	sink_text(&path, "/");
	sink_text(&path, file);
	const uint32_t id =
	    sink_failed(&path) ? INTERN_NONE : intern_bytes(&info->paths, sink_bytes(&path));
	sink_clear(&path);
	return id == INTERN_NONE ? file : intern_get(&info->paths, id);
}

static int by_start(const void *left, const void *right)
{
	const struct sequence *a = left;
	const struct sequence *b = right;
	if (a->start_svma != b->start_svma)
		return a->start_svma < b->start_svma ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Of rows at one address the last one tells. Rows that go back are damage. */
static void keep_row(struct unit *unit, const struct told_row *told, const char *path)
{
	struct line_row *last = unit->rows.count ? &unit->rows.items[unit->rows.count - 1] : NULL;
	if (last && told->svma < last->svma)
		return;
	struct line_row *row = last && told->svma == last->svma ? last : vector_push(&unit->rows);
	if (!row)
		return; /* there is room for all */
	*row = (struct line_row){ .svma = told->svma };
	if (told->is_end)
		return;
	row->file = path;
	row->line = told->line;
	row->column = told->column;
}

static bool keep_rows(struct debuginfo *info, struct unit *unit, const struct lines *lines)
{
	uint32_t last_file = UINT32_MAX;
	const char *path = "";
	if (!vector_reserve(&unit->rows, lines->rows.count))
		return false;
	for (size_t i = 0; i < lines->sequences.count; i++) {
		const struct sequence *sequence = &lines->sequences.items[i];
		for (size_t k = 0; k < sequence->count; k++) {
			const struct told_row *told = &lines->rows.items[sequence->first + k];
			/* Mostly it is that of the row before. */
			if (told->file != last_file && unit->files)
				path = unit_path(
				    info, unit, dwarf_filesrc(unit->files, told->file, NULL, NULL));
			last_file = told->file;
			keep_row(unit, told, path);
		}
	}
	return true;
}

bool unit_read_lines(struct debuginfo *info, struct unit *unit, const struct range_reader *reader)
{
	struct lines lines = { .code = &info->code };
	const struct bytes section = info->object->line;
	uint64_t offset;
	if (!range_reader_offset(reader, &unit->die, DW_AT_stmt_list, &offset) ||
	    offset >= section.size)
		return true;
	struct cursor c =
	    cursor_over((struct bytes){ section.data + offset, section.size - (size_t)offset });
	c.swap = info->object->swap;
	if (!read_head(&lines.program, reader, c))
		return true;
	run(&lines);
	if (lines.sequences.count)
		qsort(lines.sequences.items, lines.sequences.count, sizeof(*lines.sequences.items),
		      by_start);
	const bool done = !lines.no_memory && keep_rows(info, unit, &lines);
	vector_clear(&lines.rows);
	vector_clear(&lines.sequences);
	return done;
}

const struct line_row *unit_row(const struct unit *unit, uint64_t svma)
{
	size_t count;
	SEARCH(count, unit->rows.count, i, unit->rows.items[i].svma <= svma);
	return count ? &unit->rows.items[count - 1] : NULL;
}
