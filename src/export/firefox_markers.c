/* What became of code over the run, as markers: compiled, unloaded, fell back. */
#include "base/status.h"
#include "export/firefox.h"

#include <stdlib.h>

/* How markers are shown. The viewer groups them by their names; those in the overview lie above the
 * graph of their thread.
 */
#define OVERVIEW "\"marker-chart\",\"marker-table\",\"timeline-overview\""
#define NO_OVERVIEW "\"marker-chart\",\"marker-table\""

static const struct {
	const char *name;
	const char *display;
	const char *label;
} kinds[] = {
	[PROFILE_EVENT_COMPILED] = { "Compiled", OVERVIEW,
				     "{marker.data.function} ({marker.data.tier})" },
	[PROFILE_EVENT_LOADED] = { "Code loaded", NO_OVERVIEW,
				   "{marker.data.function} ({marker.data.tier})" },
	[PROFILE_EVENT_MOVED] = { "Code moved", NO_OVERVIEW, "{marker.data.function}" },
	[PROFILE_EVENT_UNLOADED] = { "Code unloaded", NO_OVERVIEW,
				     "{marker.data.function} ({marker.data.tier})" },
	[PROFILE_EVENT_FELL_BACK] = { "Fell back", OVERVIEW,
				      "{marker.data.function} ({marker.data.from} to "
				      "{marker.data.tier})" },
};

static const char fields[] =
    "[{\"key\":\"function\",\"label\":\"Function\",\"format\":\"unique-string\"},"
    "{\"key\":\"tier\",\"label\":\"Tier\",\"format\":\"unique-string\"},"
    "{\"key\":\"from\",\"label\":\"From tier\",\"format\":\"unique-string\"},"
    "{\"key\":\"runtime\",\"label\":\"Runtime\",\"format\":\"unique-string\"},"
    "{\"key\":\"object\",\"label\":\"Object\",\"format\":\"unique-string\"},"
    "{\"key\":\"size\",\"label\":\"Size of the code\",\"format\":\"bytes\"},"
    "{\"key\":\"notBefore\",\"label\":\"Not before\",\"format\":\"time\"},"
    "{\"key\":\"known\",\"label\":\"Known from\",\"format\":\"string\"}]";

void firefox_put_marker_schema(struct sink *out)
{
	sink_text(out, "\"markerSchema\":[");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		sink_printf(
		    out,
		    "%s\n{\"name\":\"%s\",\"display\":[%s],\"tooltipLabel\":\"{marker.name}: "
		    "%s\",\"tableLabel\":\"%s\",\"chartLabel\":\"%s\",\"fields\":%s}",
		    i ? "," : "", profile_event_key((enum profile_event_kind)i), kinds[i].display,
		    kinds[i].label, kinds[i].label, kinds[i].label, fields);
	sink_text(out, "]");
}

int firefox_marker_strings(struct firefox *ff)
{
	const struct profile_events *events = ff->view->events;
	for (size_t i = 0; events && i < events->items.count; i++) {
		const struct profile_event *event = &events->items.items[i];
		const uint32_t strings[] = { event->name, event->tier, event->from_tier,
					     event->runtime, event->object };
		for (size_t s = 0; s < sizeof(strings) / sizeof(*strings); s++)
			if (firefox_set_add(&ff->strings, strings[s]) == INTERN_NONE)
				return STATUS_NO_MEMORY;
	}
	return 0;
}

const char *firefox_marker_name(size_t kind)
{
	return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind].name : NULL;
}

/* A thread that was renamed has several tracks: an event is in the last that began before it. */
struct beginnings {
	struct idmap main_of_pid;  /* track + 1: the process's own thread, or its first */
	struct idmap first_of_tid; /* track + 1, by pid and tid */
	uint32_t *next_of_tid;     /* by track: another of the thread, + 1 */
};

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* Tracks come in the order of threads: the later ones of a thread go to the front of its list. */
static int note_track(struct beginnings *b, const struct firefox *ff, uint32_t index)
{
	const struct export_track *track = &ff->tracks.items.items[index];
	const struct profile_thread *thread = &ff->view->profile->threads.items[track->thread];
	uint32_t *main = idmap_put(&b->main_of_pid, thread->pid);
	if (!main)
		return STATUS_NO_MEMORY;
	if (!*main ||
	    (thread->tid == thread->pid &&
	     ff->view->profile->threads.items[ff->tracks.items.items[*main - 1].thread].tid !=
		 thread->pid))
		*main = index + 1;
	uint32_t *first = idmap_put(&b->first_of_tid, key_of(thread->pid, thread->tid));
	if (!first)
		return STATUS_NO_MEMORY;
	/* Of several events the first has the markers. */
	if (*first && ff->tracks.items.items[*first - 1].thread == track->thread)
		return 0;
	b->next_of_tid[index] = *first;
	*first = index + 1;
	return 0;
}

/* The track that shows an event, + 1; 0: its process has none. */
static uint32_t track_of(const struct beginnings *b, const struct export_tracks *tracks,
			 const struct profile_event *event)
{
	uint32_t found =
	    event->tid ? idmap_get(&b->first_of_tid, key_of(event->pid, event->tid)) : 0;
	if (!found)
		return idmap_get(&b->main_of_pid, event->pid);
	while (tracks->items.items[found - 1].first_ns > event->time_ns &&
	       b->next_of_tid[found - 1])
		found = b->next_of_tid[found - 1];
	return found;
}

/* From the last on, so that each list is in the order of time. */
static void assign(struct firefox_markers *markers, const struct beginnings *b,
		   const struct firefox *ff)
{
	const struct profile_events *events = ff->view->events;
	for (size_t i = events->items.count; i-- > 0;) {
		const uint32_t track = track_of(b, &ff->tracks, &events->items.items[i]);
		if (!track)
			continue;
		markers->next[i] = markers->first[track - 1];
		markers->first[track - 1] = (uint32_t)i + 1;
	}
}

int firefox_markers_build(struct firefox_markers *markers, const struct firefox *ff)
{
	const struct profile_events *events = ff->view->events;
	const size_t count = ff->tracks.items.count;
	struct beginnings b = { 0 };
	int got = 0;
	if (!events || !events->items.count || !count)
		return 0;
	b.next_of_tid = calloc(count, sizeof(*b.next_of_tid));
	markers->first = calloc(count, sizeof(*markers->first));
	markers->next = calloc(events->items.count, sizeof(*markers->next));
	if (!b.next_of_tid || !markers->first || !markers->next)
		got = STATUS_NO_MEMORY;
	for (uint32_t i = 0; got == 0 && i < count; i++)
		got = note_track(&b, ff, i);
	if (got == 0)
		assign(markers, &b, ff);
	idmap_clear(&b.main_of_pid);
	idmap_clear(&b.first_of_tid);
	free(b.next_of_tid);
	return got;
}

void firefox_markers_clear(struct firefox_markers *markers)
{
	free(markers->first);
	free(markers->next);
	*markers = (struct firefox_markers){ 0 };
}

static uint64_t since_zero_ns(const struct firefox *ff, uint64_t time_ns)
{
	return time_ns > ff->zero_ns ? time_ns - ff->zero_ns : 0;
}

static void put_string_field(const struct firefox *ff, struct sink *out, const char *name,
			     uint32_t string)
{
	if (!string)
		return;
	sink_printf(out, ",\"%s\":", name);
	firefox_put_string(ff, out, string);
}

static void put_data(const struct firefox *ff, struct sink *out, const struct profile_event *event)
{
	sink_printf(out, "{\"type\":\"%s\",\"function\":",
		    profile_event_key((enum profile_event_kind)event->kind));
	firefox_put_string(ff, out, event->name);
	/* Labels name these: a tier that nobody told is an empty text there. */
	sink_text(out, ",\"tier\":");
	firefox_put_string(ff, out, event->tier);
	put_string_field(ff, out, "from", event->from_tier);
	put_string_field(ff, out, "runtime", event->runtime);
	put_string_field(ff, out, "object", event->object);
	if (event->size_bytes)
		sink_printf(out, ",\"size\":%" PRIu64, event->size_bytes);
	if (event->earliest_ns < event->time_ns) {
		sink_text(out, ",\"notBefore\":");
		firefox_put_ms(out, since_zero_ns(ff, event->earliest_ns));
	}
	sink_text(out, event->is_inferred ? ",\"known\":\"what else was told, or samples\"}"
					  : ",\"known\":\"the runtime\"}");
}

static void put_marker_name(const struct firefox *ff, struct sink *out,
			    const struct profile_event *event)
{
	json_number(out, ff->strings.items.count + event->kind);
}

static void put_start(const struct firefox *ff, struct sink *out, const struct profile_event *event)
{
	firefox_put_ms(out, since_zero_ns(ff, event->time_ns));
}

static void put_null(const struct firefox *ff, struct sink *out, const struct profile_event *event)
{
	(void)ff;
	(void)event;
	sink_text(out, "null");
}

static void put_instant(const struct firefox *ff, struct sink *out,
			const struct profile_event *event)
{
	(void)ff;
	(void)event;
	sink_u8(out, '0');
}

static void put_level(const struct firefox *ff, struct sink *out, const struct profile_event *event)
{
	const struct profile *profile = ff->view->profile;
	json_number(out, profile_level_of(profile_text(profile, event->runtime),
					  profile_text(profile, event->tier)));
}

int firefox_put_markers(struct firefox *ff, const struct firefox_markers *markers, uint32_t track)
{
	static const struct {
		const char *name;
		void (*put)(const struct firefox *ff, struct sink *out,
			    const struct profile_event *event);
	} columns[] = {
		{ "data", put_data },    { "name", put_marker_name }, { "startTime", put_start },
		{ "endTime", put_null }, { "phase", put_instant },    { "category", put_level },
	};
	struct sink *out = &ff->out->sink;
	size_t count = 0;
	int got = 0;
	sink_text(out, "\"markers\":{");
	for (size_t i = 0; got == 0 && i < sizeof(columns) / sizeof(*columns); i++) {
		bool is_later = false;
		count = 0;
		sink_printf(out, "\"%s\":[", columns[i].name);
		for (uint32_t at = markers->first ? markers->first[track] : 0; got == 0 && at;
		     at = markers->next[at - 1]) {
			json_next(out, &is_later);
			columns[i].put(ff, out, &ff->view->events->items.items[at - 1]);
			got = export_out_more(ff->out);
			count++;
		}
		sink_text(out, "],");
	}
	sink_printf(out, "\"length\":%zu}", count);
	return got;
}
