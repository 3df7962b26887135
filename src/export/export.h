/* export.h - a profile in the formats of other tools.
 *
 *   struct export_out out = { .write = put_into_file, .context = &file };
 *   struct export_view view = { &profile, event, samples, &options, &about };
 *   const struct export_format *format = export_format_of_path("a.folded");
 *   int got = export_run(format, &out, &view);
 *   export_out_clear(&out);
 *
 * A format is one struct in one file, named in EXPORT_FORMAT_LIST. It reads the profile, whose rows
 * are the samples summed up, and, where it shows them in time, the samples themselves (samples.h).
 * What it writes goes on in pieces: memory does not grow with samples. Names are escaped for where
 * they go. One thread.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/sink.h"
#include "export/about.h"
#include "profile/events.h"
#include "profile/profile.h"

struct export_samples;

/* In the order in which help lists them. */
#define EXPORT_FORMAT_LIST(X) \
	X(folded)             \
	X(svg)                \
	X(html)               \
	X(pprof)              \
	X(otlp)               \
	X(jfr)                \
	X(speedscope)         \
	X(firefox)            \
	X(chrome)             \
	X(chrome_gz)          \
	X(callgrind)

struct export_options {
	const char *title; /* "": none */
	bool kinds;        /* names end in what the code is, as in FlameGraph's palettes */
	bool weigh;        /* by the event's unit, not by samples */
	bool threads;      /* threads of one name apart, by their ids */
	bool reverse;      /* from functions to those that called them */
	bool icicle;       /* from the top down */
};

/* Which of these a format heeds. */
enum export_choice {
	EXPORT_TITLE = 1 << 0,
	EXPORT_KINDS = 1 << 1,
	EXPORT_WEIGHT = 1 << 2,
	EXPORT_THREADS = 1 << 3,
	EXPORT_REVERSE = 1 << 4,
	EXPORT_ICICLE = 1 << 5,
};

enum { EXPORT_ALL_EVENTS = 0xffffffff };

struct export_view {
	const struct profile *profile; /* with rows */
	uint32_t event; /* of the profile, or EXPORT_ALL_EVENTS where the format has_events */
	const struct export_samples *samples; /* NULL where the format takes none */
	const struct export_options *options;
	const struct export_about *about;    /* never NULL; all of it may be unknown */
	const struct profile_events *events; /* of code; NULL where the format takes none */
};

/* Where an export goes. Writers append to `sink` and call export_out_more() between two things; the
 * rest is done for them.
 */
struct export_out {
	struct sink sink;
	/* Takes bytes away; 0 or a negative status, which ends the export. */
	int (*write)(void *context, const void *data, size_t size);
	void *context;
	int status; /* internal: of the first write that failed */
};

/* Hands on what has gathered where it is much. 0, or the status that ends the export. */
int export_out_more(struct export_out *out);
void export_out_clear(struct export_out *out);

struct export_format {
	const char *name;       /* "folded", as --format takes it */
	const char *extensions; /* ".folded .collapsed": those by which a file's name tells it */
	const char *what;       /* one line in lower case, for help */
	unsigned choices;       /* enum export_choice, or-ed */
	bool is_gzipped;        /* the writer writes plain, export_run() packs */
	bool is_binary;         /* not to be put on a terminal */
	bool has_events;        /* one file holds several events */
	bool takes_samples;     /* view->samples is filled */
	bool takes_events;      /* and view->events is, too; only with samples */
	bool is_experimental;   /* may change; only with --experimental */
	bool is_page;           /* made of the recording, not by `write`, which is NULL */
	/* 0 or a negative status; a failure of the sink is looked for by the caller. */
	int (*write)(struct export_out *out, const struct export_view *view);
};

#define X(name) extern const struct export_format export_##name;
EXPORT_FORMAT_LIST(X)
#undef X

/* The format at `index` of the list; NULL past its end. */
const struct export_format *export_format_at(size_t index);

/* By its name, or by how the path ends; NULL where there is none such. The longest ending wins. */
const struct export_format *export_format_find(const char *name);
const struct export_format *export_format_of_path(const char *path);

/* Writes it all. 0 or a negative status. */
int export_run(const struct export_format *format, struct export_out *out,
	       const struct export_view *view);

/* What weights of an event are: nanoseconds of the software clocks, else counts of the event. */
bool export_is_time(const struct profile *profile, uint32_t event);

/* True for rows and samples that the view shows. */
static inline bool export_has_event(const struct export_view *view, uint32_t event)
{
	return view->event == EXPORT_ALL_EVENTS || view->event == event;
}

static inline const struct profile_function *export_function(const struct profile *profile,
							     const struct profile_frame *frame)
{
	return &profile->functions.items[frame->function];
}

/* The name of a frame's function, as reports print it. */
static inline struct bytes export_name(const struct profile *profile,
				       const struct profile_frame *frame)
{
	return intern_get_bytes(&profile->strings, export_function(profile, frame)->name);
}

#endif
