/* Folded stacks: "comm;outermost;...;leaf WEIGHT", one line a distinct stack, as FlameGraph,
 * speedscope, inferno and async-profiler read them.
 */
#include "base/escape.h"
#include "base/status.h"
#include "export/export.h"

#include <inttypes.h>

/* What FlameGraph's palettes go by: interpreted, inlined, JIT-compiled, kernel. */
static const char *kind(const struct profile_frame *frame)
{
	if (frame->is_interpreted)
		return "_[0]";
	if (frame->inlined_into)
		return "_[i]";
	if (frame->is_jit)
		return "_[j]";
	return frame->is_kernel ? "_[k]" : "";
}

/* A name as one field: the separators become what people read as the same. */
static void put_field(struct sink *out, struct sink *scratch, struct bytes name)
{
	sink_reset(scratch);
	escape_terminal(scratch, name);
	for (size_t i = 0; i < scratch->size; i++)
		if (scratch->data[i] == ';')
			scratch->data[i] = ':';
	sink_put(out, scratch->data, scratch->size);
}

static void put_row(struct sink *out, struct sink *scratch, const struct export_view *view,
		    const struct profile_row *row)
{
	const struct profile *profile = view->profile;
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	put_field(out, scratch,
		  intern_get_bytes(&profile->strings, profile->threads.items[row->thread].comm));
	for (uint32_t i = stack->depth; i-- > 0;) {
		const uint32_t id = profile->frame_ids.items[stack->first + i];
		const struct profile_frame *frame = &profile->frames.items[id];
		sink_u8(out, ';');
		put_field(out, scratch, export_name(profile, frame));
		if (view->options->kinds)
			sink_text(out, kind(frame));
	}
	sink_printf(out, " %" PRIu64 "\n", row->count);
}

static int write_folded(struct export_out *out, const struct export_view *view)
{
	struct sink scratch = { 0 };
	int got = 0;
	for (size_t i = 0; got == 0 && i < view->profile->rows.count; i++) {
		const struct profile_row *row = &view->profile->rows.items[i];
		if (!export_has_event(view, row->event))
			continue;
		put_row(&out->sink, &scratch, view, row);
		got = export_out_more(out);
	}
	if (got == 0 && sink_failed(&scratch))
		got = STATUS_NO_MEMORY;
	sink_clear(&scratch);
	return got;
}

const struct export_format export_folded = {
	.name = "folded",
	.extensions = ".folded .collapsed",
	.what = "one line a stack, for flamegraph.pl, inferno, speedscope",
	.write = write_folded,
};
