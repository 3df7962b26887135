#include "top/slice.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/status.h"

#include <stdlib.h>

/* Weight of one line of one cell. */
struct line {
	uint32_t cell;
	uint32_t file;
	uint32_t line;
	double weight;
};

struct slicer {
	struct live_cells *cells;
	struct intern *strings;
	const struct profile *profile;
	const struct live_slice_options *options;
	uint32_t *ids; /* by string of the profile: ours + 1 */
	VECTOR(struct line) lines;
	struct idmap line_of;  /* by cell, file and line: index + 1 */
	struct idmap last_row; /* by cell: the row that counted it + 1 */
};

static uint32_t own_string(struct slicer *s, uint32_t string)
{
	if (!s->ids[string]) {
		const uint32_t id =
		    intern_bytes(s->strings, intern_get_bytes(&s->profile->strings, string));
		s->ids[string] = id == INTERN_NONE ? 0 : id + 1;
	}
	return s->ids[string] ? s->ids[string] - 1 : INTERN_NONE;
}

static bool make_key(struct slicer *s, uint32_t thread, const struct profile_frame *frame,
		     struct live_key *key)
{
	const struct profile *p = s->profile;
	const struct profile_function *function = &p->functions.items[frame->function];
	const struct profile_thread *of = &p->threads.items[thread];
	uint32_t process = INTERN_NONE;
	if (s->options->process_name)
		process = s->options->process_name(s->options->context, of->pid);
	*key = (struct live_key){
		.symbol = function->is_unknown ? intern_text(s->strings, LIVE_UNKNOWN)
					       : own_string(s, function->name),
		.object = own_string(s, function->object),
		.runtime = own_string(s, function->runtime),
		.process = process == INTERN_NONE ? own_string(s, of->comm) : process,
	};
	return key->symbol != INTERN_NONE && key->object != INTERN_NONE &&
	       key->runtime != INTERN_NONE && key->process != INTERN_NONE;
}

/* Index + 1; 0 without memory. */
static uint32_t cell_of(struct slicer *s, uint32_t thread, const struct profile_frame *frame)
{
	struct live_key key;
	if (!make_key(s, thread, frame, &key))
		return 0;
	const size_t before = s->cells->items.count;
	struct live_cell *cell = live_cells_at(s->cells, &key);
	if (!cell)
		return 0;
	const uint32_t pid = s->profile->threads.items[thread].pid;
	if (s->cells->items.count > before) {
		cell->pid = pid;
		cell->is_unknown = s->profile->functions.items[frame->function].is_unknown;
	} else if (cell->pid != pid) {
		cell->pid = 0;
	}
	return (uint32_t)(cell - s->cells->items.items) + 1;
}

static int add_line(struct slicer *s, uint32_t cell, const struct profile_frame *frame,
		    double weight)
{
	if (!frame->line)
		return 0;
	const uint64_t key = hash_mix((uint64_t)cell << 32 | frame->file, frame->line);
	uint32_t *index = idmap_put(&s->line_of, key);
	if (!index)
		return STATUS_NO_MEMORY;
	if (!*index) {
		struct line *line = vector_push(&s->lines);
		if (!line)
			return STATUS_NO_MEMORY;
		*line = (struct line){ cell, frame->file, frame->line, 0 };
		*index = (uint32_t)s->lines.count;
	}
	s->lines.items[*index - 1].weight += weight;
	return 0;
}

static int add_own(struct slicer *s, const struct profile_row *row,
		   const struct profile_frame *frame)
{
	const double weight = (double)row->weight;
	const uint32_t id = cell_of(s, row->thread, frame);
	if (!id)
		return STATUS_NO_MEMORY;
	struct live_cell *cell = &s->cells->items.items[id - 1];
	cell->self += weight;
	cell->samples += (double)row->count;
	const uint32_t tier = own_string(s, s->profile->functions.items[frame->function].tier);
	if (tier == INTERN_NONE)
		return STATUS_NO_MEMORY;
	if (tier)
		live_cell_add_tier(cell, tier, weight);
	return add_line(s, id - 1, frame, weight);
}

/* Each function once a row, however often it is in the stack. */
static int add_callers(struct slicer *s, const struct profile_row *row, uint32_t row_number)
{
	const struct profile_stack *stack = &s->profile->stacks.items[row->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const uint32_t frame_id = s->profile->frame_ids.items[stack->first + i];
		const uint32_t id = cell_of(s, row->thread, &s->profile->frames.items[frame_id]);
		uint32_t *last = id ? idmap_put(&s->last_row, id) : NULL;
		if (!last)
			return STATUS_NO_MEMORY;
		if (*last != row_number + 1)
			s->cells->items.items[id - 1].total += (double)row->weight;
		*last = row_number + 1;
	}
	return 0;
}

static int add_row(struct slicer *s, uint32_t number)
{
	const struct profile_row *row = &s->profile->rows.items[number];
	const struct profile_stack *stack = &s->profile->stacks.items[row->stack];
	s->cells->weight += (double)row->weight;
	s->cells->samples += (double)row->count;
	if (!stack->depth)
		return 0;
	const struct profile_frame *leaf =
	    &s->profile->frames.items[s->profile->frame_ids.items[stack->first]];
	s->cells->trust[leaf->trust] += (double)row->count;
	const int got = add_own(s, row, leaf);
	return got < 0 || !s->options->with_callers ? got : add_callers(s, row, number);
}

static void choose_lines(struct slicer *s)
{
	for (size_t i = 0; i < s->lines.count; i++) {
		const struct line *line = &s->lines.items[i];
		struct live_cell *cell = &s->cells->items.items[line->cell];
		const uint32_t file = own_string(s, line->file);
		if (line->weight <= cell->line_weight || file == INTERN_NONE)
			continue;
		cell->file = file;
		cell->line = line->line;
		cell->line_weight = line->weight;
	}
}

/* The tier that it was seen in most stands for the interval. */
static void choose_tiers(struct live_cells *cells)
{
	for (size_t i = 0; i < cells->items.count; i++) {
		struct live_cell *cell = &cells->items.items[i];
		double most = 0;
		for (size_t k = 0; k < LIVE_TIERS && cell->tiers[k].name; k++) {
			if (cell->tiers[k].weight <= most)
				continue;
			most = cell->tiers[k].weight;
			cell->last_tier = cell->tiers[k].name;
		}
	}
}

int live_slice(struct live_cells *cells, struct intern *strings, const struct profile *profile,
	       const struct live_slice_options *options)
{
	struct slicer s = {
		.cells = cells,
		.strings = strings,
		.profile = profile,
		.options = options,
		.ids = calloc(profile->strings.texts.count + 1, sizeof(uint32_t)),
	};
	int got = s.ids ? 0 : STATUS_NO_MEMORY;
	for (uint32_t i = 0; got == 0 && i < profile->rows.count; i++)
		if (profile->rows.items[i].event == options->event)
			got = add_row(&s, i);
	if (got == 0) {
		choose_lines(&s);
		choose_tiers(cells);
	}
	vector_clear(&s.lines);
	idmap_clear(&s.line_of);
	idmap_clear(&s.last_row);
	free(s.ids);
	return got;
}
