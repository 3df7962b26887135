#include "export/tracks.h"

#include "base/idmap.h"
#include "base/status.h"
#include "profile/weight.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct export_track *a = left;
	const struct export_track *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static int add_row(struct export_tracks *tracks, struct idmap *found, const struct profile_row *row)
{
	uint32_t *slot = idmap_put(found, (uint64_t)row->thread << 32 | row->event);
	if (!slot)
		return STATUS_NO_MEMORY;
	if (!*slot) {
		struct export_track *track = vector_push(&tracks->items);
		if (!track)
			return STATUS_NO_MEMORY;
		track->thread = row->thread;
		track->event = row->event;
		*slot = (uint32_t)tracks->items.count;
	}
	struct export_track *track = &tracks->items.items[*slot - 1];
	track->count += row->count;
	track->weight = weight_sum(track->weight, row->weight);
	return 0;
}

static int note_first(void *context, const struct export_sample *sample)
{
	*(uint64_t *)context = sample->time_ns;
	return 1;
}

int export_tracks_build(struct export_tracks *tracks, const struct export_view *view)
{
	struct idmap found = { 0 };
	int got = 0;
	*tracks = (struct export_tracks){ 0 };
	for (size_t i = 0; got == 0 && i < view->profile->rows.count; i++)
		if (export_has_event(view, view->profile->rows.items[i].event))
			got = add_row(tracks, &found, &view->profile->rows.items[i]);
	idmap_clear(&found);
	for (size_t i = 0; got == 0 && i < tracks->items.count; i++) {
		struct export_track *track = &tracks->items.items[i];
		got = export_track_each(track, view, note_first, &track->first_ns);
		got = got > 0 ? 0 : got;
	}
	if (got < 0) {
		export_tracks_clear(tracks);
		return got;
	}
	for (size_t i = 1; i < tracks->items.count; i++)
		tracks->has_events |= tracks->items.items[i].event != tracks->items.items[0].event;
	if (tracks->items.count)
		qsort(tracks->items.items, tracks->items.count, sizeof(*tracks->items.items),
		      compare);
	return 0;
}

void export_tracks_clear(struct export_tracks *tracks)
{
	vector_clear(&tracks->items);
}

struct of_track {
	const struct export_track *track;
	int (*visit)(void *context, const struct export_sample *sample);
	void *context;
};

static int of_event(void *context, const struct export_sample *sample)
{
	const struct of_track *of = context;
	return sample->event == of->track->event ? of->visit(of->context, sample) : 0;
}

int export_track_each(const struct export_track *track, const struct export_view *view,
		      int (*visit)(void *context, const struct export_sample *sample),
		      void *context)
{
	struct of_track of = { track, visit, context };
	return export_samples_each(view->samples, track->thread, of_event, &of);
}
