/* Folded stacks: "comm;outermost;...;leaf WEIGHT", one line a distinct stack, as FlameGraph,
 * speedscope, inferno and async-profiler read them.
 */
#include "base/escape.h"
#include "base/status.h"
#include "export/export.h"
#include "export/tree.h"
#include "profile/level.h"

#include <ctype.h>
#include <inttypes.h>

/* What FlameGraph's palettes go by: interpreted, inlined, JIT-compiled, kernel. */
static const char *suffix(const struct profile *profile, const struct profile_frame *frame)
{
	if (frame->is_interpreted ||
	    (frame->is_jit &&
	     profile_function_level(profile, frame->function) == PROFILE_LEVEL_INTERPRETER))
		return "_[0]";
	if (frame->inlined_into)
		return "_[i]";
	if (frame->is_jit)
		return "_[j]";
	return frame->is_kernel ? "_[k]" : "";
}

/* "kind_[j]" is no name: readers take the end away, and colour by it. */
static void keep_from_kind(struct sink *out, size_t start)
{
	uint8_t *end = out->data + out->size;
	if (out->size - start >= 4 && memcmp(end - 4, "_[", 2) == 0 && end[-1] == ']') {
		end[-3] = '(';
		end[-1] = ')';
	}
}

/* "sum of 12" is no name: in "sum of 12 3" readers see two counts. */
static void keep_from_count(struct sink *out, size_t start)
{
	size_t at = out->size;
	while (at > start && (isdigit(out->data[at - 1]) || out->data[at - 1] == '.'))
		at--;
	if (at > start && at < out->size && out->data[at - 1] == ' ')
		out->data[at - 1] = '_';
}

/* A name as one field: what would be a separator becomes what people read as the same. */
static void put_field(struct sink *out, const struct export_view *view, struct bytes name,
		      const struct profile_frame *frame)
{
	const size_t start = out->size;
	escape_terminal(out, name);
	if (out->size == start)
		sink_text(out, "[no name]");
	if (sink_failed(out))
		return;
	for (size_t i = start; i < out->size; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
	keep_from_kind(out, start);
	keep_from_count(out, start);
	if (frame && view->options->kinds)
		sink_text(out, suffix(view->profile, frame));
}

static void put_path(struct sink *out, const struct export_tree *tree, uint32_t *path,
		     uint32_t node)
{
	uint32_t depth = 0;
	for (; node; node = tree->nodes.items[node].parent)
		path[depth++] = node;
	while (depth) {
		const struct export_node *at = &tree->nodes.items[path[--depth]];
		const struct bytes label = intern_get_bytes(&tree->labels, at->label);
		sink_put(out, label.data, label.size);
		if (depth)
			sink_u8(out, ';');
	}
}

static int put_lines(struct export_out *out, const struct export_tree *tree)
{
	VECTOR(uint32_t) path = { 0 };
	int got = 0;
	for (uint32_t id = 0; got == 0 && (id = export_tree_next(tree, id)) != EXPORT_TREE_END;) {
		const struct export_node *node = &tree->nodes.items[id];
		if (!node->self)
			continue;
		if (!vector_reserve(&path, node->depth)) {
			got = STATUS_NO_MEMORY;
			break;
		}
		put_path(&out->sink, tree, path.items, id);
		sink_printf(&out->sink, " %" PRIu64 "\n", node->self);
		got = export_out_more(out);
	}
	vector_clear(&path);
	return got;
}

static int write_folded(struct export_out *out, const struct export_view *view)
{
	struct export_tree tree = { 0 };
	int got = export_tree_build(&tree, view, put_field);
	if (got == 0)
		got = put_lines(out, &tree);
	export_tree_clear(&tree);
	return got;
}

const struct export_format export_folded = {
	.name = "folded",
	.extensions = ".folded .collapsed",
	.what = "one line a stack, for flamegraph.pl, inferno, speedscope",
	.choices = EXPORT_KINDS | EXPORT_WEIGHT | EXPORT_THREADS | EXPORT_REVERSE,
	.write = write_folded,
};
