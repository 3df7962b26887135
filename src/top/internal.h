/* internal.h - what the files of live.h share. */
#ifndef TOP_INTERNAL_H
#define TOP_INTERNAL_H

#include "annotate/write.h"
#include "base/sink.h"
#include "load/kept.h"
#include "load/load.h"
#include "top/live.h"
#include "top/usage.h"

enum { LIVE_NOTES = 64 };

struct live {
	struct live_options options;
	struct record_intervals intervals;
	struct load_kept *kept;
	struct live_windows windows;
	struct live_usage usage;
	struct live_state state;
	struct idmap process_names; /* of the interval: by pid, string id + 1 */
	VECTOR(char *) notes;       /* owned */
	uint64_t asked_interval_ns;
	uint64_t last_cost_ns;
	/* The function that is looked into. */
	char *symbol; /* owned; NULL: none */
	char *object; /* likewise, as a pattern that means itself */
	uint32_t pid;
	enum annotate_view view;
	unsigned width;
	bool is_ascii;
	struct sink text;
	struct live_detail detail;
};

/* detail.c: makes the text from the samples of the whole window. */
void live_make_detail(struct live *live, const struct record_interval *interval);

/* What a load shall do in any case. */
struct load_options live_load_options(const struct live *live,
				      const struct record_interval *interval);
void live_take_notes(struct live *live, const struct load *load);

#endif
