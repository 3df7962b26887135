/* firefox.h - what the files of the Firefox Profiler's format share. Not for others.
 *
 * The processed profile format, version 70:
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
 * https://github.com/firefox-devtools/profiler/blob/main/src/types/profile.ts
 *
 * A table is an object with one array a column. Tables are shared by all threads: strings,
 * functions, frames and a tree of stacks, of which samples hold one number.
 */
#ifndef EXPORT_FIREFOX_H
#define EXPORT_FIREFOX_H

#include "base/idmap.h"
#include "export/functions.h"
#include "export/json.h"
#include "export/tracks.h"
#include "profile/level.h"

/* Different numbers, in the order in which they came. */
struct firefox_set {
	struct idmap found; /* index + 1 */
	VECTOR(uint32_t) items;
};

/* What a level's code is told apart by. */
struct firefox_subcategory {
	uint32_t runtime; /* strings of the profile */
	uint32_t tier;
	uint8_t level;   /* enum profile_level */
	uint32_t number; /* within the level, from 1: 0 is all else */
};

/* A symbol: the function that was called, whatever was inlined into it. */
struct firefox_symbol {
	uint64_t address; /* in its library */
	uint32_t lib;
	uint32_t name; /* string of the profile */
};

struct firefox_frame {
	uint64_t address; /* with a library */
	uint32_t lib;     /* index + 1; 0: none */
	uint32_t symbol;  /* index + 1; 0: none */
	uint32_t inline_depth;
	uint32_t subcategory; /* its number */
	uint8_t level;
};

struct firefox_node {
	uint32_t frame;
	uint32_t prefix; /* index + 1; 0: a root */
};

struct firefox {
	struct export_out *out;
	const struct export_view *view;
	struct export_functions functions;
	struct export_tracks tracks;
	struct firefox_set strings;   /* of the profile: what the shared array holds */
	struct firefox_set libs;      /* paths: strings */
	struct firefox_set resources; /* objects: strings */
	struct firefox_set sources;   /* files: strings */
	VECTOR(struct firefox_subcategory) subcategories;
	struct intern subcategory_keys;
	uint32_t subcategory_counts[PROFILE_LEVEL_COUNT];
	VECTOR(struct firefox_symbol) symbols;
	struct intern symbol_keys;
	VECTOR(struct firefox_frame) frames; /* by frame of the profile */
	VECTOR(struct firefox_node) nodes;
	struct idmap node_of;           /* by prefix and frame: index + 1 */
	VECTOR(uint32_t) node_of_stack; /* index + 1; 0: an empty stack */
	VECTOR(int) weighings;          /* by event; see firefox_threads.c */
	uint64_t zero_ns;               /* from which times count */
	uint64_t interval_ns;
};

/* Index of the value; INTERN_NONE without memory. */
uint32_t firefox_set_add(struct firefox_set *set, uint32_t value);
/* Of one that is there. */
uint32_t firefox_set_index(const struct firefox_set *set, uint32_t value);
void firefox_set_clear(struct firefox_set *set);

/* Each returns 0 or a negative status. */
int firefox_build(struct firefox *ff);
int firefox_put_meta(struct firefox *ff);
int firefox_put_libs(struct firefox *ff);
int firefox_put_shared(struct firefox *ff);
int firefox_put_threads(struct firefox *ff);
void firefox_clear(struct firefox *ff);

/* A table of `count` rows as `"name":{...}`. A column without a function is all null. */
struct firefox_column {
	const char *name;
	void (*put)(const struct firefox *ff, struct sink *out, uint32_t row);
};
int firefox_put_table(struct firefox *ff, const char *name, const struct firefox_column *columns,
		      size_t column_count, size_t count);

/* Milliseconds, exactly. */
void firefox_put_ms(struct sink *out, uint64_t ns);

/* A string of the profile: where it lies in the shared array. */
static inline void firefox_put_string(const struct firefox *ff, struct sink *out, uint32_t string)
{
	json_number(out, firefox_set_index(&ff->strings, string));
}

/* Code events: which thread shows them (firefox_markers.c). */
struct firefox_markers {
	uint32_t *first; /* by track: event index + 1 */
	uint32_t *next;  /* by event */
};
int firefox_markers_build(struct firefox_markers *markers, const struct firefox *ff);
int firefox_put_markers(struct firefox *ff, const struct firefox_markers *markers, uint32_t track);
void firefox_put_marker_schema(struct sink *out);
void firefox_markers_clear(struct firefox_markers *markers);

/* What markers of a kind of event are called, for the end of the array of strings; NULL past the
 * last kind.
 */
const char *firefox_marker_name(size_t kind);

/* The strings of the profile that markers need. 0 or STATUS_NO_MEMORY. */
int firefox_marker_strings(struct firefox *ff);

#endif
