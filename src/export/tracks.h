/* tracks.h - what formats show in time: one row of samples a thread and event.
 *
 *   struct export_tracks tracks = { 0 };
 *   export_tracks_build(&tracks, view);
 *   for (size_t i = 0; i < tracks.items.count; i++)
 *           export_track_each(&tracks.items.items[i], view, visit, context);
 *   export_tracks_clear(&tracks);
 *
 * In the order in which threads appear, then events. One thread.
 */
#ifndef EXPORT_TRACKS_H
#define EXPORT_TRACKS_H

#include "export/export.h"
#include "export/samples.h"

struct export_track {
	uint32_t thread; /* ids of the profile */
	uint32_t event;
	uint64_t count; /* of its samples */
	uint64_t weight;
	uint64_t first_ns; /* of its first sample; 0: not known */
};

struct export_tracks {
	VECTOR(struct export_track) items;
	bool has_events; /* several */
};

/* 0 or a negative status, with nothing left to clear. */
int export_tracks_build(struct export_tracks *tracks, const struct export_view *view);
void export_tracks_clear(struct export_tracks *tracks);

/* Calls `visit` for each of its samples; what it returns other than 0 ends the walk and is
 * returned.
 */
int export_track_each(const struct export_track *track, const struct export_view *view,
		      int (*visit)(void *context, const struct export_sample *sample),
		      void *context);

#endif
