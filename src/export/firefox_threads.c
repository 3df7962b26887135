/* The threads: their samples, one column after the other. */
#include "export/firefox.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* What a track's samples weigh where they are not alike. */
enum weighing {
	WEIGH_ALIKE,
	WEIGH_TIME,
	WEIGH_COUNT,
};

struct column {
	struct firefox *ff;
	uint64_t last_ns;
	uint64_t index;
	bool is_later;
};

static int put_stack(void *context, const struct export_sample *sample)
{
	struct column *column = context;
	struct sink *out = &column->ff->out->sink;
	const uint32_t node = column->ff->node_of_stack.items[sample->stack];
	json_next(out, &column->is_later);
	if (node)
		json_number(out, node - 1);
	else
		sink_text(out, "null");
	return export_out_more(column->ff->out);
}

/* Ascending, as readers search in it. A recording without times gets the interval it was made with.
 */
static int put_time(void *context, const struct export_sample *sample)
{
	struct column *column = context;
	const struct firefox *ff = column->ff;
	uint64_t time_ns = sample->time_ns > ff->zero_ns ? sample->time_ns - ff->zero_ns : 0;
	if (!ff->view->profile->last_ns)
		time_ns = column->index++ * ff->interval_ns;
	if (time_ns > column->last_ns)
		column->last_ns = time_ns;
	json_next(&ff->out->sink, &column->is_later);
	firefox_put_ms(&ff->out->sink, column->last_ns);
	return export_out_more(ff->out);
}

static int put_period(void *context, const struct export_sample *sample)
{
	struct column *column = context;
	json_next(&column->ff->out->sink, &column->is_later);
	json_number(&column->ff->out->sink, sample->period);
	return export_out_more(column->ff->out);
}

static int put_period_ms(void *context, const struct export_sample *sample)
{
	struct column *column = context;
	json_next(&column->ff->out->sink, &column->is_later);
	firefox_put_ms(&column->ff->out->sink, sample->period);
	return export_out_more(column->ff->out);
}

static int put_column(struct firefox *ff, const struct export_track *track, const char *name,
		      int (*put)(void *context, const struct export_sample *sample))
{
	struct column column = { .ff = ff };
	sink_printf(&ff->out->sink, "\"%s\":[", name);
	const int got = export_track_each(track, ff->view, put, &column);
	sink_text(&ff->out->sink, "],\n");
	return got;
}

/* Are all samples of an event worth the same? Then they are counted. */
static enum weighing find_weighing(const struct firefox *ff, uint32_t event)
{
	const struct profile *profile = ff->view->profile;
	uint64_t period = 0;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		if (row->event != event || !row->count)
			continue;
		if (!period)
			period = row->weight / row->count;
		if (row->weight != period * row->count)
			return export_is_time(profile, event) ? WEIGH_TIME : WEIGH_COUNT;
	}
	return WEIGH_ALIKE;
}

/* Once for all threads, of which there may be as many as rows. False without memory. */
static bool find_weighings(struct firefox *ff)
{
	while (ff->weighings.count < ff->view->profile->events.count) {
		const enum weighing found = find_weighing(ff, (uint32_t)ff->weighings.count);
		int *weighing = vector_push(&ff->weighings);
		if (!weighing)
			return false;
		*weighing = (int)found;
	}
	return true;
}

static int put_samples(struct firefox *ff, const struct export_track *track)
{
	struct sink *out = &ff->out->sink;
	if (!find_weighings(ff))
		return STATUS_NO_MEMORY;
	const enum weighing weighing = (enum weighing)ff->weighings.items[track->event];
	sink_text(out, "\"samples\":{");
	int got = put_column(ff, track, "stack", put_stack);
	if (got == 0)
		got = put_column(ff, track, "time", put_time);
	if (got == 0 && weighing != WEIGH_ALIKE)
		got = put_column(ff, track, "weight",
				 weighing == WEIGH_TIME ? put_period_ms : put_period);
	else
		sink_text(out, "\"weight\":null,");
	/* Of a clock a sample's period is the time that the thread ran since the one before. */
	if (got == 0 && export_is_time(ff->view->profile, track->event))
		got = put_column(ff, track, "threadCPUDelta", put_period);
	sink_printf(out, "\"weightType\":\"%s\",\"length\":%" PRIu64 "}",
		    weighing == WEIGH_TIME ? "tracing-ms" : "samples", track->count);
	return got;
}

/* The track that stands for its process: of the thread that has its number, the one with most
 * samples. A viewer takes one only.
 */
static bool is_main(const struct firefox *ff, size_t index)
{
	const struct profile *profile = ff->view->profile;
	const struct export_track *track = &ff->tracks.items.items[index];
	const struct profile_thread *thread = &profile->threads.items[track->thread];
	if (thread->pid != thread->tid)
		return false;
	for (size_t i = 0; i < ff->tracks.items.count; i++) {
		const struct export_track *other = &ff->tracks.items.items[i];
		const struct profile_thread *of = &profile->threads.items[other->thread];
		if (i == index || of->pid != thread->pid || of->tid != thread->tid)
			continue;
		if (other->count > track->count || (other->count == track->count && i < index))
			return false;
	}
	return true;
}

static void put_name(const struct firefox *ff, struct sink *out, const struct export_track *track)
{
	const struct profile *profile = ff->view->profile;
	sink_u8(out, '"');
	escape_json(
	    out, intern_get_bytes(&profile->strings, profile->threads.items[track->thread].comm));
	if (ff->tracks.has_events) {
		sink_text(out, " (");
		escape_json(
		    out, intern_get_bytes(&profile->strings, profile->events.items[track->event]));
		sink_u8(out, ')');
	}
	sink_u8(out, '"');
}

static void put_process_name(const struct firefox *ff, struct sink *out, uint32_t thread)
{
	const struct profile *profile = ff->view->profile;
	const char *path = export_program_of(ff->view->about, profile->threads.items[thread].pid);
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	if (*base)
		json_text(out, base);
	else
		json_string(
		    out, intern_get_bytes(&profile->strings, profile->threads.items[thread].comm));
}

static void put_since_or(const struct firefox *ff, struct sink *out, uint64_t time_ns,
			 const char *none)
{
	if (time_ns)
		firefox_put_ms(out, time_ns > ff->zero_ns ? time_ns - ff->zero_ns : 0);
	else
		sink_text(out, none);
}

/* Of the thread, or of the process, which is the thread that has its number. */
static void put_life(const struct firefox *ff, const struct export_track *track, bool is_process)
{
	struct sink *out = &ff->out->sink;
	const struct profile_thread *thread = &ff->view->profile->threads.items[track->thread];
	const struct export_life life = export_life_of(
	    ff->view->about, thread->pid, is_process ? thread->pid : thread->tid, track->first_ns);
	sink_text(out, is_process ? "\"processStartupTime\":" : "\"registerTime\":");
	put_since_or(ff, out, life.begins_ns, "0");
	sink_text(out, is_process ? ",\"processShutdownTime\":" : ",\"unregisterTime\":");
	put_since_or(ff, out, life.ends_ns, "null");
	sink_u8(out, ',');
}

static int put_thread(struct firefox *ff, size_t index, const struct firefox_markers *markers)
{
	struct sink *out = &ff->out->sink;
	const struct export_track *track = &ff->tracks.items.items[index];
	const struct profile_thread *thread = &ff->view->profile->threads.items[track->thread];
	sink_text(out, "{\"name\":");
	put_name(ff, out, track);
	sink_text(out, ",\"processName\":");
	put_process_name(ff, out, track->thread);
	sink_printf(out,
		    ",\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32 ",\"isMainThread\":%s,"
		    "\"processType\":\"default\",\"pausedRanges\":[],\n",
		    thread->pid, thread->tid, is_main(ff, index) ? "true" : "false");
	put_life(ff, track, true);
	put_life(ff, track, false);
	int got = put_samples(ff, track);
	sink_text(out, ",\n");
	if (got == 0)
		got = firefox_put_markers(ff, markers, (uint32_t)index);
	sink_text(out, "}");
	return got;
}

int firefox_put_threads(struct firefox *ff)
{
	struct firefox_markers markers = { 0 };
	int got = firefox_markers_build(&markers, ff);
	sink_text(&ff->out->sink, "\"threads\":[");
	for (size_t i = 0; got == 0 && i < ff->tracks.items.count; i++) {
		sink_text(&ff->out->sink, i ? ",\n" : "\n");
		got = put_thread(ff, i, &markers);
	}
	sink_text(&ff->out->sink, "]");
	firefox_markers_clear(&markers);
	return got;
}
