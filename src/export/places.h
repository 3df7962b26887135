/* places.h - where samples were, as tables: locations, functions, mappings and texts of a profile,
 * as pprof and OTLP have them.
 *
 *   struct places places;
 *   places_open(&places, view);
 *   const struct places_stack *stack = places_stack(&places, row->stack);
 *   ... places.locations, .mappings, .functions, .texts of all that were asked for ...
 *   got = places_failed(&places) ? STATUS_NO_MEMORY : 0;
 *   places_close(&places);
 *
 * All ids begin at 1; 0 is none, and the empty text. A location is one place in code with all
 * functions that are inlined there, so a frame that was inlined and those around it are one. Two
 * frames are never one location: code at one address may be of another function later. Texts are
 * UTF-8 without control characters, whatever the names hold. Memory grows with distinct things.
 * One thread.
 */
#ifndef EXPORT_PLACES_H
#define EXPORT_PLACES_H

#include "base/idmap.h"
#include "export/export.h"

/* Text ids. */
struct places_function {
	uint32_t name;
	uint32_t raw_name;
	uint32_t file;
};

/* A file, or another thing that addresses are in. */
struct places_mapping {
	uint32_t path;                      /* text */
	const struct export_object *object; /* NULL: not a mapped file */
	/* Of the addresses in it. Those of a file are offsets in it, so that they are the same in
	 * each process and run; others are as they ran. The end is exclusive.
	 */
	uint64_t start;
	uint64_t end;
	bool is_named; /* one of its functions at least has a name; and so on */
	bool has_files;
	bool has_lines;
	bool has_inlines;
};

struct places_location {
	uint32_t frame;   /* of the profile: the innermost; others by inlined_into */
	uint32_t mapping; /* 0: an interpreter ran it */
	uint64_t address; /* 0 likewise */
};

struct places {
	const struct export_view *view;
	struct intern texts;
	struct intern functions; /* keys are struct places_function: places_function_at() */
	VECTOR(struct places_location) locations; /* by id - 1 */
	VECTOR(struct places_mapping) mappings;   /* by id - 1 */
	VECTOR(uint32_t) stack;                   /* of places_stack() */
	/* Internal. */
	VECTOR(uint32_t) text_of_string; /* by string of the profile: id + 1 */
	VECTOR(uint32_t) location_of_frame;
	struct idmap mapping_of_path; /* by string, and whether it is a file */
	struct sink scratch;
	bool failed;
};

/* The program that most samples are of is the first mapping. */
void places_open(struct places *places, const struct export_view *view);
void places_close(struct places *places);

/* No memory: what the others returned is of no use. */
bool places_failed(const struct places *places);

/* The text of a string of the profile, or of any bytes. */
uint32_t places_text(struct places *places, uint32_t string);
uint32_t places_text_of(struct places *places, struct bytes text);
uint32_t places_text_cstr(struct places *places, const char *text); /* NULL: empty */

/* Fills places->stack with the locations of a stack of the profile, leaf first. */
void places_stack(struct places *places, uint32_t stack);

/* The function of a frame; it is made with the frame's location. */
uint32_t places_function(struct places *places, const struct profile_frame *frame);
struct places_function places_function_at(const struct places *places, uint32_t id);

/* The frame around an inlined one; NULL where it was not inlined. */
const struct profile_frame *places_around(const struct places *places,
					  const struct profile_frame *frame);

#endif
