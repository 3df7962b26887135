/* Callgrind's profile format, as callgrind_annotate and KCachegrind read it: what functions cost by
 * themselves, by source line, and what they cost together with what they called.
 *
 * The format: valgrind.org/docs/manual/cl-format.html.
 *
 * Threads are functions, too, by their names: every other one has a caller then, and what is
 * inclusive of it is what its callers say, which is how callgrind_annotate sums it up. A function
 * that calls itself, directly or through others, is in a stack several times, and must count once:
 * the call to its outermost frame has the cost, other calls to it have none. So KCachegrind finds
 * the same of a cycle, into which it does not look.
 */
#include "base/escape.h"
#include "base/idmap.h"
#include "base/status.h"
#include "export/about.h"
#include "export/export.h"
#include "export/functions.h"
#include "profile/weight.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

enum { NOBODY = 0xffffffff };

/* Where a cost is: of a line of a function by itself, or of its calls to another one. */
struct place {
	uint32_t function;
	uint32_t file; /* string */
	uint32_t line;
	uint32_t callee; /* NOBODY: it is its own */
};

struct cost {
	struct place place;
	uint64_t weight;
	uint64_t samples;
	uint64_t calls; /* that were seen */
};

/* Names are written once, and then their numbers. */
struct names {
	VECTOR(bool) told;
};

struct graph {
	struct export_out *out;
	const struct export_view *view;
	struct export_functions functions; /* and behind them threads, by name */
	struct idmap threads;              /* function + 1 by name */
	struct intern places;              /* as their bytes; a cost has its place's id - 1 */
	VECTOR(struct cost) costs;
	VECTOR(uint32_t) order;    /* of costs */
	VECTOR(uint32_t) last_row; /* that a function was in, + 1 */
	struct names objects;
	struct names files;
	struct names names;
	uint64_t weight;
	uint64_t samples;
};

static struct cost *cost_at(struct graph *graph, const struct place *place)
{
	const uint32_t id =
	    intern_bytes(&graph->places, (struct bytes){ (const uint8_t *)place, sizeof(*place) });
	if (id == INTERN_NONE)
		return NULL;
	if (id <= graph->costs.count)
		return &graph->costs.items[id - 1];
	struct cost *cost = vector_push(&graph->costs);
	if (cost)
		cost->place = *place;
	return cost;
}

/* NOBODY without memory. */
static uint32_t thread_function(struct graph *graph, uint32_t thread)
{
	const struct profile *profile = graph->view->profile;
	const uint32_t comm = profile->threads.items[thread].comm;
	uint32_t *slot = idmap_put(&graph->threads, comm);
	if (!slot)
		return NOBODY;
	if (*slot)
		return *slot - 1;
	struct export_function *function = vector_push(&graph->functions.items);
	if (!function)
		return NOBODY;
	*function = (struct export_function){ .name = comm, .frame = NOBODY };
	*slot = (uint32_t)graph->functions.items.count;
	return *slot - 1;
}

static bool is_thread(const struct graph *graph, uint32_t function)
{
	return graph->functions.items.items[function].frame == NOBODY;
}

/* The first time that a row comes to a function. */
static bool is_outermost(struct graph *graph, uint32_t function, uint32_t row)
{
	uint32_t *last = &graph->last_row.items[function];
	const bool is_first = *last != row + 1;
	*last = row + 1;
	return is_first;
}

static bool add_cost(struct graph *graph, const struct place *place, const struct profile_row *row,
		     bool counts)
{
	struct cost *cost = cost_at(graph, place);
	if (!cost)
		return false;
	if (place->callee != NOBODY)
		cost->calls += row->count;
	if (counts) {
		cost->weight = weight_sum(cost->weight, row->weight);
		cost->samples += row->count;
	}
	return true;
}

static bool add_row(struct graph *graph, uint32_t index)
{
	const struct profile *profile = graph->view->profile;
	const struct profile_row *row = &profile->rows.items[index];
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	struct place at = { .function = thread_function(graph, row->thread) };
	if (at.function == NOBODY)
		return false;
	for (uint32_t i = stack->depth; i-- > 0;) {
		const uint32_t id = profile->frame_ids.items[stack->first + i];
		const struct profile_frame *frame = &profile->frames.items[id];
		at.callee = graph->functions.of_frame.items[id];
		const bool counts = is_outermost(graph, at.callee, index);
		if (!add_cost(graph, &at, row, counts))
			return false;
		at = (struct place){ at.callee, frame->file, frame->line, NOBODY };
		if (!at.file)
			at.file = graph->functions.items.items[at.function].file;
	}
	at.callee = NOBODY;
	graph->weight = weight_sum(graph->weight, row->weight);
	graph->samples += row->count;
	return add_cost(graph, &at, row, true);
}

/* By function, its own file first; then by file, line, and callee. */
static int by_place(const void *left, const void *right, void *context)
{
	const struct graph *graph = context;
	const struct place *a = &graph->costs.items[*(const uint32_t *)left].place;
	const struct place *b = &graph->costs.items[*(const uint32_t *)right].place;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	const uint32_t own = graph->functions.items.items[a->function].file;
	if ((a->file == own) != (b->file == own))
		return a->file == own ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	/* What is its own goes first: NOBODY + 1 is 0. */
	return (a->callee + 1 > b->callee + 1) - (a->callee + 1 < b->callee + 1);
}

static int gather(struct graph *graph)
{
	const struct profile *profile = graph->view->profile;
	const int got = export_functions_build(&graph->functions, profile, false);
	if (got < 0)
		return got;
	for (size_t i = 0; i < graph->functions.items.count; i++)
		if (!vector_push(&graph->last_row))
			return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < profile->rows.count; i++)
		if (export_has_event(graph->view, profile->rows.items[i].event) &&
		    !add_row(graph, i))
			return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < graph->costs.count; i++) {
		uint32_t *slot = vector_push(&graph->order);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = i;
	}
	if (graph->order.count)
		qsort_r(graph->order.items, graph->order.count, sizeof(uint32_t), by_place, graph);
	return 0;
}

/* A name ends with its line; readers take blanks at its start away. */
static void put_text(struct sink *out, struct bytes text, const char *none)
{
	size_t start = 0;
	while (start < text.size && text.data[start] == ' ')
		start++;
	if (start == text.size)
		sink_text(out, none);
	else
		escape_terminal(out, (struct bytes){ text.data + start, text.size - start });
}

/* "fl=(3) name", and "fl=(3)" from then on. */
static void put_name(struct sink *out, struct names *names, uint32_t id, struct bytes text,
		     const char *none)
{
	while (names->told.count <= id)
		if (!vector_push(&names->told)) {
			out->failed = true;
			return;
		}
	sink_printf(out, "(%" PRIu32 ")", id + 1);
	if (!names->told.items[id]) {
		sink_u8(out, ' ');
		put_text(out, text, none);
	}
	names->told.items[id] = true;
	sink_u8(out, '\n');
}

static void put_object(struct graph *graph, const char *key, uint32_t function)
{
	const struct export_function *f = &graph->functions.items.items[function];
	/* Strings and what stands for them are numbered from 0 on: the last is the threads'. */
	sink_text(&graph->out->sink, key);
	if (is_thread(graph, function))
		put_name(&graph->out->sink, &graph->objects,
			 (uint32_t)graph->view->profile->strings.texts.count + 1,
			 (struct bytes){ 0 }, "[thread]");
	else
		put_name(&graph->out->sink, &graph->objects, f->object,
			 intern_get_bytes(&graph->view->profile->strings, f->object), "???");
}

static void put_file(struct graph *graph, const char *key, uint32_t function, uint32_t file)
{
	sink_text(&graph->out->sink, key);
	if (is_thread(graph, function))
		put_name(&graph->out->sink, &graph->files,
			 (uint32_t)graph->view->profile->strings.texts.count + 1,
			 (struct bytes){ 0 }, "[thread]");
	else
		put_name(&graph->out->sink, &graph->files, file,
			 intern_get_bytes(&graph->view->profile->strings, file), "???");
}

static void put_function(struct graph *graph, const char *key, uint32_t function)
{
	const struct bytes name = intern_get_bytes(&graph->view->profile->strings,
						   graph->functions.items.items[function].name);
	sink_text(&graph->out->sink, key);
	put_name(&graph->out->sink, &graph->names, function, name, "[no name]");
}

static void put_cost(struct graph *graph, const struct cost *cost)
{
	struct sink *out = &graph->out->sink;
	if (cost->place.callee != NOBODY) {
		const struct export_function *callee =
		    &graph->functions.items.items[cost->place.callee];
		put_object(graph, "cob=", cost->place.callee);
		put_file(graph, "cfi=", cost->place.callee, callee->file);
		put_function(graph, "cfn=", cost->place.callee);
		sink_printf(out, "calls=%" PRIu64 " %" PRIu32 "\n", cost->calls, callee->line);
	}
	sink_printf(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", cost->place.line, cost->weight,
		    cost->samples);
}

static int put_costs(struct graph *graph)
{
	struct place last = { .function = NOBODY };
	int got = 0;
	for (size_t i = 0; got == 0 && i < graph->order.count; i++) {
		const struct cost *cost = &graph->costs.items[graph->order.items[i]];
		const struct place *place = &cost->place;
		const uint32_t own = graph->functions.items.items[place->function].file;
		if (place->function != last.function) {
			sink_u8(&graph->out->sink, '\n');
			put_object(graph, "ob=", place->function);
			put_file(graph, "fl=", place->function, own);
			put_function(graph, "fn=", place->function);
			last.file = own;
		}
		/* Lines of what was inlined, where that is not told apart. */
		if (place->file != last.file)
			put_file(graph, "fi=", place->function, place->file);
		last = *place;
		put_cost(graph, cost);
		got = export_out_more(graph->out);
	}
	return got;
}

/* "Cpu_ns" of clocks, else the event as a word: "Cycles_u". */
static void put_event(struct sink *out, const struct export_view *view)
{
	const struct profile *profile = view->profile;
	const struct bytes name =
	    intern_get_bytes(&profile->strings, profile->events.items[view->event]);
	const size_t start = out->size;
	if (export_is_time(profile, view->event)) {
		sink_text(out, "Cpu_ns");
		return;
	}
	for (size_t i = 0; i < name.size; i++)
		sink_u8(out, isalnum(name.data[i]) && name.data[i] < 0x80
				 ? (uint8_t)(i ? name.data[i] : toupper(name.data[i]))
				 : '_');
	if (out->size == start)
		sink_text(out, "Weight");
}

static void put_head(const struct graph *graph)
{
	struct sink *out = &graph->out->sink;
	const struct export_about *about = graph->view->about;
	const char *title = graph->view->options->title;
	sink_text(out,
		  "# callgrind format\nversion: 1\ncreator: polyperf " POLYPERF_VERSION "\ncmd:");
	for (size_t i = 0; i < about->command.count; i++) {
		const char *word = about->command.items[i];
		sink_u8(out, ' ');
		escape_terminal(out, (struct bytes){ (const uint8_t *)word, strlen(word) });
	}
	sink_text(out, about->command.count ? "\n" : " (not known)\n");
	if (*title) {
		sink_text(out, "desc: Title: ");
		escape_terminal(out, (struct bytes){ (const uint8_t *)title, strlen(title) });
		sink_u8(out, '\n');
	}
	sink_text(out, "positions: line\nevents: ");
	put_event(out, graph->view);
	sink_printf(out, " Samples\nsummary: %" PRIu64 " %" PRIu64 "\n", graph->weight,
		    graph->samples);
}

static int write_callgrind(struct export_out *out, const struct export_view *view)
{
	struct graph graph = { .out = out, .view = view };
	int got = gather(&graph);
	if (got == 0) {
		put_head(&graph);
		got = put_costs(&graph);
		sink_printf(&out->sink, "\ntotals: %" PRIu64 " %" PRIu64 "\n", graph.weight,
			    graph.samples);
	}
	export_functions_clear(&graph.functions);
	idmap_clear(&graph.threads);
	intern_clear(&graph.places);
	vector_clear(&graph.costs);
	vector_clear(&graph.order);
	vector_clear(&graph.last_row);
	vector_clear(&graph.objects.told);
	vector_clear(&graph.files.told);
	vector_clear(&graph.names.told);
	return got;
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.extensions = ".callgrind .callgrind.out",
	.what = "functions, lines and calls, for KCachegrind, callgrind_annotate",
	.choices = EXPORT_TITLE,
	.write = write_callgrind,
};
