/* speedscope's own format: frames once, then for each thread (and event) its samples in the order
 * of time, each the whole stack.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 *
 * The viewer takes two frames for the same where they have one index, so a frame here is a function
 * as reports show it.
 */
#include "base/status.h"
#include "export/export.h"
#include "export/functions.h"
#include "export/json.h"
#include "export/tracks.h"

struct writing {
	struct export_out *out;
	const struct export_view *view;
	const struct export_functions *functions;
	bool is_later;
};

static void put_frame(struct sink *out, const struct profile *profile,
		      const struct export_function *function)
{
	const struct bytes file =
	    intern_get_bytes(&profile->strings, function->file ? function->file : function->object);
	sink_text(out, "{\"name\":");
	json_string(out, intern_get_bytes(&profile->strings, function->name));
	/* Importers of the viewer itself give the object where there is no source. */
	if (file.size) {
		sink_text(out, ",\"file\":");
		json_string(out, file);
	}
	if (function->line)
		sink_printf(out, ",\"line\":%" PRIu32, function->line);
	sink_text(out, "}");
}

static int put_frames(struct writing *w)
{
	int got = 0;
	sink_text(&w->out->sink, "\"shared\":{\"frames\":[\n");
	for (size_t i = 0; got == 0 && i < w->functions->items.count; i++) {
		if (i)
			sink_text(&w->out->sink, ",\n");
		put_frame(&w->out->sink, w->view->profile, &w->functions->items.items[i]);
		got = export_out_more(w->out);
	}
	sink_text(&w->out->sink, "]}");
	return got;
}

static int put_stack(void *context, const struct export_sample *sample)
{
	struct writing *w = context;
	struct sink *out = &w->out->sink;
	const struct profile *profile = w->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	json_next(out, &w->is_later);
	for (uint32_t i = stack->depth; i-- > 0;) {
		const uint32_t frame = profile->frame_ids.items[stack->first + i];
		sink_u8(out, i + 1 == stack->depth ? '[' : ',');
		json_number(out, w->functions->of_frame.items[frame]);
	}
	sink_text(out, stack->depth ? "]" : "[]");
	return export_out_more(w->out);
}

static int put_weight(void *context, const struct export_sample *sample)
{
	struct writing *w = context;
	json_next(&w->out->sink, &w->is_later);
	json_number(&w->out->sink, sample->period);
	return export_out_more(w->out);
}

/* "comm PID/TID", and the event where there are several. */
static void put_name(struct writing *w, const struct export_track *track, bool has_events)
{
	const struct profile *profile = w->view->profile;
	const struct profile_thread *thread = &profile->threads.items[track->thread];
	struct sink *out = &w->out->sink;
	sink_u8(out, '"');
	escape_json(out, intern_get_bytes(&profile->strings, thread->comm));
	sink_printf(out, " %" PRIu32 "/%" PRIu32, thread->pid, thread->tid);
	if (has_events) {
		sink_u8(out, ' ');
		escape_json(
		    out, intern_get_bytes(&profile->strings, profile->events.items[track->event]));
	}
	sink_u8(out, '"');
}

static int put_track(struct writing *w, const struct export_track *track, bool has_events)
{
	struct sink *out = &w->out->sink;
	sink_text(out, "{\"type\":\"sampled\",\"name\":");
	put_name(w, track, has_events);
	sink_printf(
	    out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
	    export_is_time(w->view->profile, track->event) ? "nanoseconds" : "none", track->weight);
	w->is_later = false;
	int got = export_track_each(track, w->view, put_stack, w);
	if (got < 0)
		return got;
	sink_text(out, "],\n\"weights\":[");
	w->is_later = false;
	got = export_track_each(track, w->view, put_weight, w);
	sink_text(out, "]}");
	return got;
}

static size_t heaviest(const struct export_tracks *tracks)
{
	size_t most = 0;
	for (size_t i = 1; i < tracks->items.count; i++)
		if (tracks->items.items[i].weight > tracks->items.items[most].weight)
			most = i;
	return most;
}

static int put_all(struct writing *w, const struct export_tracks *tracks)
{
	struct sink *out = &w->out->sink;
	sink_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		       "\"exporter\":\"polyperf " POLYPERF_VERSION "\",");
	if (*w->view->options->title) {
		sink_text(out, "\"name\":");
		json_text(out, w->view->options->title);
		sink_u8(out, ',');
	}
	sink_printf(out, "\"activeProfileIndex\":%zu,\n", heaviest(tracks));
	int got = put_frames(w);
	sink_text(out, ",\n\"profiles\":[");
	for (size_t i = 0; got == 0 && i < tracks->items.count; i++) {
		sink_text(out, i ? ",\n" : "\n");
		got = put_track(w, &tracks->items.items[i], tracks->has_events);
	}
	sink_text(out, "]}\n");
	return got;
}

static int write_speedscope(struct export_out *out, const struct export_view *view)
{
	struct export_functions functions = { 0 };
	struct export_tracks tracks = { 0 };
	struct writing writing = { .out = out, .view = view, .functions = &functions };
	int got = export_functions_build(&functions, view->profile, false);
	if (got == 0)
		got = export_tracks_build(&tracks, view);
	if (got == 0)
		got = put_all(&writing, &tracks);
	export_tracks_clear(&tracks);
	export_functions_clear(&functions);
	return got;
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.extensions = ".speedscope.json",
	.what = "samples by thread, in the order of time, for speedscope",
	.choices = EXPORT_TITLE,
	.has_events = true,
	.takes_samples = true,
	.write = write_speedscope,
};
