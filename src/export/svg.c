/* A flame graph: one SVG file that needs no other. It is whole without its script, which adds zoom
 * and search: names are in <title>, which viewers show as tooltips. Stacks are joined by name as
 * FlameGraph's flamegraph.pl does it, with its widths: 1180 of 1200 pixels are all samples, and
 * what is narrower than a tenth of one is left out.
 */
#include "base/escape.h"
#include "base/status.h"
#include "export/export.h"
#include "export/flame.h"
#include "export/tree.h"
#include "profile/level.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	WIDTH = 1200,
	PAD = 10,
	LEVEL = 16, /* of boxes, with the gap */
	BOX = 15,
	TOP = 64,
	BOTTOM = 48,
	TITLE_LIMIT = 4096,
	HEADING_COLUMNS = 60,
	FEWEST_COLUMNS = 3,
	THIN = 4, /* pixels; such boxes have no edge, which would be all of them */
};

#define LEAST 0.1   /* pixels; a narrower box is left out */
#define COLUMN 7.23 /* pixels that a character takes */
#define INDENT 3    /* of names in boxes */

struct graph {
	struct export_out *out;
	const struct export_view *view;
	struct export_tree tree;
	struct sink heading;
	VECTOR(uint64_t) starts; /* by depth: where the next box begins */
	double scale;            /* pixels a unit of weight */
	uint32_t levels;
	uint64_t left_out_count;
	uint64_t left_out; /* weight */
	bool is_used[PROFILE_LEVEL_COUNT];
};

/* As it is shown everywhere; characters that XML has not become U+FFFD, which is as long. */
static void put_label(struct sink *out, const struct export_view *view, struct bytes name,
		      const struct profile_frame *frame)
{
	const size_t start = out->size;
	(void)view;
	(void)frame;
	escape_terminal(out, name);
	if (out->size == start)
		sink_text(out, "[no name]");
	if (sink_failed(out))
		return;
	for (size_t i = start; i + 2 < out->size; i++)
		if (out->data[i] == 0xef && out->data[i + 1] == 0xbf && out->data[i + 2] >= 0xbe)
			out->data[i + 2] = 0xbd;
}

static bool is_continued(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The text's first `size` bytes or fewer: no character is cut in two. */
static struct bytes first_of(struct bytes text, size_t size)
{
	if (size >= text.size)
		return text;
	while (size && is_continued(text.data[size]))
		size--;
	return (struct bytes){ text.data, size };
}

/* Far Eastern characters and pictures take two columns; valid UTF-8 comes in. */
static unsigned columns_of(const uint8_t *at)
{
	static const struct {
		uint32_t from;
		uint32_t to;
	} wide[] = { { 0x1100, 0x1160 },   { 0x2e80, 0xa4d0 },  { 0xac00, 0xd7a4 },
		     { 0xf900, 0xfb00 },   { 0xfe30, 0xfe70 },  { 0xff00, 0xff61 },
		     { 0x1f300, 0x1fa00 }, { 0x20000, 0x40000 } };
	uint32_t point = at[0];
	if (at[0] >= 0xf0)
		point =
		    (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
	else if (at[0] >= 0xe0)
		point = (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (point >= wide[i].from && point < wide[i].to)
			return 2;
	return 1;
}

/* As much of it as fits, and two dots where that is not all. */
static void put_fitting(struct sink *out, struct bytes text, unsigned room)
{
	unsigned used = 0;
	size_t fits = 0; /* bytes that leave room for dots */
	if (room < FEWEST_COLUMNS)
		return;
	for (size_t i = 0; i < text.size; i++) {
		if (is_continued(text.data[i]))
			continue;
		if (used <= room - 2)
			fits = i;
		used += columns_of(text.data + i);
		if (used > room) {
			escape_html(out, first_of(text, fits));
			sink_text(out, "..");
			return;
		}
	}
	escape_html(out, text);
}

static void put_time(struct sink *out, uint64_t time_ns)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;
	while (i < 3 && (double)time_ns < units[i].unit)
		i++;
	sink_printf(out, i < 3 ? "%.3f %s" : "%.0f %s", (double)time_ns / units[i].unit,
		    units[i].name);
}

static void put_event(const struct graph *graph)
{
	const struct profile *profile = graph->view->profile;
	const struct bytes name =
	    intern_get_bytes(&profile->strings, profile->events.items[graph->view->event]);
	escape_html(&graph->out->sink, first_of(name, TITLE_LIMIT));
}

/* "12 samples", "1.200 s", "3,000 cycles" */
static void put_weight(const struct graph *graph, uint64_t weight)
{
	const struct profile *profile = graph->view->profile;
	struct sink *out = &graph->out->sink;
	const uint32_t event = graph->view->event;
	if (graph->view->options->weigh && export_is_time(profile, event)) {
		put_time(out, weight);
		return;
	}
	sink_grouped(out, weight);
	sink_u8(out, ' ');
	if (graph->view->options->weigh)
		put_event(graph);
	else
		sink_text(out, weight == 1 ? "sample" : "samples");
}

static struct bytes label_of(const struct graph *graph, uint32_t id)
{
	if (id == 0)
		return (struct bytes){ (const uint8_t *)"all", 3 };
	return intern_get_bytes(&graph->tree.labels, graph->tree.nodes.items[id].label);
}

static enum profile_level level_of(const struct graph *graph, uint32_t frame)
{
	const struct profile *profile = graph->view->profile;
	return profile_function_level(profile, profile->frames.items[frame].function);
}

/* Where a box begins, in weight; the next one of its depth follows it, its first child lies upon
 * its start.
 */
static uint64_t place(struct graph *graph, uint32_t id)
{
	const struct export_node *node = &graph->tree.nodes.items[id];
	const uint64_t start = graph->starts.items[node->depth];
	graph->starts.items[node->depth] = start + node->total;
	graph->starts.items[node->depth + 1] = start;
	return start;
}

static bool is_left_out(const struct graph *graph, uint32_t id)
{
	return (double)graph->tree.nodes.items[id].total * graph->scale < LEAST;
}

/* Finds out what will be drawn. 0 or STATUS_NO_MEMORY. */
static int measure(struct graph *graph)
{
	const struct export_node *nodes = graph->tree.nodes.items;
	uint32_t deepest = 0;
	graph->scale = nodes[0].total ? (WIDTH - 2 * PAD) / (double)nodes[0].total : 0;
	uint32_t id = 0;
	do {
		const struct export_node *node = &nodes[id];
		if (id && is_left_out(graph, id)) {
			graph->left_out_count++;
			graph->left_out += node->total;
			id = export_tree_skip(&graph->tree, id);
			continue;
		}
		deepest = node->depth > deepest ? node->depth : deepest;
		if (node->frame)
			graph->is_used[level_of(graph, node->frame - 1)] = true;
		id = export_tree_next(&graph->tree, id);
	} while (id != EXPORT_TREE_END);
	graph->levels = deepest + 1;
	/* And of children that are left out, and theirs. */
	for (uint32_t i = 0; i < graph->levels + 2; i++)
		if (!vector_push(&graph->starts))
			return STATUS_NO_MEMORY;
	return 0;
}

/* What is more to be told of the code: "turbofan, v8, [jit], inlined". */
static void put_code(const struct graph *graph, uint32_t id)
{
	const struct profile *profile = graph->view->profile;
	const struct profile_frame *frame = &profile->frames.items[id];
	const struct profile_function *function = export_function(profile, frame);
	const uint32_t texts[] = { function->tier, function->runtime, function->object };
	struct sink *out = &graph->out->sink;
	const char *separator = "\n";
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!texts[i])
			continue;
		sink_text(out, separator);
		escape_html(out,
			    first_of(intern_get_bytes(&profile->strings, texts[i]), TITLE_LIMIT));
		separator = ", ";
	}
	if (frame->inlined_into)
		sink_printf(out, "%sinlined", separator);
}

static void put_title(const struct graph *graph, uint32_t id)
{
	const struct export_node *node = &graph->tree.nodes.items[id];
	const uint64_t all = graph->tree.nodes.items[0].total;
	struct sink *out = &graph->out->sink;
	const struct bytes label = label_of(graph, id);
	const struct bytes shown = first_of(label, TITLE_LIMIT);
	sink_text(out, "<title>");
	escape_html(out, shown);
	sink_text(out, shown.size < label.size ? "... (" : " (");
	put_weight(graph, node->total);
	if (id)
		sink_printf(out, ", %.2f%%)", all ? 100 * (double)node->total / (double)all : 0.0);
	else
		sink_text(out, ", 100%)");
	if (node->frame)
		put_code(graph, node->frame - 1);
	sink_text(out, "</title>");
}

static void put_box(struct graph *graph, uint32_t id)
{
	const struct export_node *node = &graph->tree.nodes.items[id];
	const double x = PAD + (double)place(graph, id) * graph->scale;
	const double width =
	    graph->tree.nodes.items[0].total ? (double)node->total * graph->scale : WIDTH - 2 * PAD;
	const uint32_t from_top =
	    graph->view->options->icicle ? node->depth : graph->levels - 1 - node->depth;
	const uint64_t y = TOP + (uint64_t)from_top * LEVEL;
	struct sink *out = &graph->out->sink;
	const double room = (width - 2 * INDENT) / COLUMN;
	sink_printf(out, "<g class=\"%s%s\">",
		    node->frame ? profile_level_key(level_of(graph, node->frame - 1)) : "all",
		    width < THIN ? " thin" : "");
	put_title(graph, id);
	/* Digits enough for zooming into the narrowest box. */
	sink_printf(out,
		    "<rect x=\"%.5f\" y=\"%" PRIu64 "\" width=\"%.5f\" height=\"%d\" rx=\"1\"/>"
		    "<text x=\"%.2f\" y=\"%" PRIu64 "\">",
		    x, y, width, BOX, x + INDENT, y + 11);
	put_fitting(out, label_of(graph, id), room > 0 ? (unsigned)room : 0);
	sink_text(out, "</text></g>\n");
}

static int put_boxes(struct graph *graph)
{
	uint32_t id = 0;
	int got;
	sink_text(&graph->out->sink, "<g id=\"boxes\">\n");
	do {
		if (id && is_left_out(graph, id)) {
			(void)place(graph, id);
			id = export_tree_skip(&graph->tree, id);
		} else {
			put_box(graph, id);
			id = export_tree_next(&graph->tree, id);
		}
		got = export_out_more(graph->out);
	} while (got == 0 && id != EXPORT_TREE_END);
	sink_text(&graph->out->sink, "</g>\n");
	return got;
}

/* What the colours are of. */
static void put_legend(const struct graph *graph, uint64_t y)
{
	struct sink *out = &graph->out->sink;
	unsigned x = PAD;
	sink_text(out, "<g id=\"legend\">\n");
	for (int level = 0; level < PROFILE_LEVEL_COUNT; level++) {
		if (!graph->is_used[level])
			continue;
		const char *text = profile_level_text((enum profile_level)level);
		sink_printf(
		    out,
		    "<g class=\"%s\"><rect x=\"%u\" y=\"%" PRIu64
		    "\" width=\"12\" height=\"12\"/><text class=\"dim\" x=\"%u\" y=\"%" PRIu64
		    "\">%s</text></g>\n",
		    profile_level_key((enum profile_level)level), x, y - 10, x + 17, y, text);
		x += 17 + (unsigned)((double)strlen(text) * COLUMN) + 20;
	}
	sink_text(out, "</g>\n");
}

static void put_file(struct sink *out, const char *element, const unsigned char *data, size_t size)
{
	sink_printf(out, "<%s><![CDATA[\n", element);
	sink_put(out, data, size);
	sink_printf(out, "]]></%s>\n", element);
}

/* "140 samples of cpu-clock, from functions to their callers" */
static void put_summary(const struct graph *graph)
{
	const struct profile *profile = graph->view->profile;
	struct sink *out = &graph->out->sink;
	put_weight(graph, graph->tree.nodes.items[0].total);
	if (!graph->view->options->weigh || export_is_time(profile, graph->view->event)) {
		sink_text(out, " of ");
		put_event(graph);
	}
	if (graph->view->options->reverse)
		sink_text(out, ", from functions to their callers");
}

/* The bar comes last: what scrolls goes under it. */
static void put_bar(const struct graph *graph)
{
	struct sink *out = &graph->out->sink;
	sink_printf(out,
		    "<g id=\"bar\"><rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n"
		    "<text id=\"heading\" x=\"%d\" y=\"24\">",
		    WIDTH, TOP - 8, WIDTH / 2);
	put_fitting(out, sink_bytes(&graph->heading), HEADING_COLUMNS);
	sink_printf(out, "</text>\n<text id=\"summary\" class=\"dim\" x=\"%d\" y=\"48\">", PAD);
	put_summary(graph);
	sink_printf(
	    out,
	    "</text>\n<text id=\"unzoom\" class=\"hidden\" x=\"%d\" y=\"24\">show all</text>\n"
	    "<text id=\"matched\" x=\"%d\" y=\"48\"></text></g>\n",
	    PAD, WIDTH - PAD);
}

static void put_foot(const struct graph *graph, uint64_t top)
{
	struct sink *out = &graph->out->sink;
	put_legend(graph, top + 18);
	sink_printf(out, "<text id=\"details\" x=\"%d\" y=\"%" PRIu64 "\"></text>\n", PAD,
		    top + 38);
	if (!graph->left_out_count)
		return;
	sink_printf(out, "<text id=\"left-out\" class=\"dim\" x=\"%d\" y=\"%" PRIu64 "\">", PAD,
		    top + 38);
	sink_grouped(out, graph->left_out_count);
	sink_text(out, graph->left_out_count == 1 ? " function is" : " functions are");
	sink_text(out, " too narrow to be drawn, of ");
	put_weight(graph, graph->left_out);
	sink_text(out, "</text>\n");
}

static int draw(struct graph *graph)
{
	struct sink *out = &graph->out->sink;
	const uint64_t foot = TOP + (uint64_t)graph->levels * LEVEL;
	sink_printf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu64
		    "\" viewBox=\"0 0 %d %" PRIu64 "\">\n",
		    WIDTH, foot + BOTTOM, WIDTH, foot + BOTTOM);
	sink_text(out, "<title>");
	escape_html(out, first_of(sink_bytes(&graph->heading), TITLE_LIMIT));
	sink_text(out, "</title>\n");
	put_file(out, "style", flame_style, flame_style_size);
	sink_printf(out, "<rect class=\"paper\" width=\"%d\" height=\"100%%\"/>\n", WIDTH);
	const int got = put_boxes(graph);
	if (got < 0)
		return got;
	put_foot(graph, foot);
	put_bar(graph);
	put_file(out, "script", flame_script, flame_script_size);
	sink_text(out, "</svg>\n");
	return 0;
}

static int write_svg(struct export_out *out, const struct export_view *view)
{
	struct graph graph = { .out = out, .view = view };
	const char *title = *view->options->title   ? view->options->title
			    : view->options->icicle ? "Icicle graph"
						    : "Flame graph";
	put_label(&graph.heading, view, (struct bytes){ (const uint8_t *)title, strlen(title) },
		  NULL);
	int got = sink_failed(&graph.heading) ? STATUS_NO_MEMORY : 0;
	if (got == 0)
		got = export_tree_build(&graph.tree, view, put_label);
	if (got == 0)
		got = measure(&graph);
	if (got == 0)
		got = draw(&graph);
	sink_clear(&graph.heading);
	vector_clear(&graph.starts);
	export_tree_clear(&graph.tree);
	return got;
}

const struct export_format export_svg = {
	.name = "svg",
	.extensions = ".svg",
	.what = "a flame graph for browsers, with zoom and search",
	.choices = EXPORT_TITLE | EXPORT_WEIGHT | EXPORT_THREADS | EXPORT_REVERSE | EXPORT_ICICLE,
	.write = write_svg,
};
