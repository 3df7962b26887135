/* choose.h - which function, file or line of a profile is meant by what a person typed.
 *
 *   struct annotate_choice choice = { 0 };
 *   const struct annotate_query query = { .text = "fib.js:12" };
 *   if (annotate_choose(&choice, &profile, event, &query) == 0)
 *           switch (choice.kind) ...
 *   annotate_choice_clear(&choice);
 *
 * In this order: the exact name of a function; FILE:LINE and FILE, where samples are of a file
 * whose path ends so; a name without its parameters; a name as the producer wrote it; a pattern
 * with * or ?, or a part of a name. The first two may mean several functions, all are taken; the
 * others must mean one, else the candidates are told. One thread.
 */
#ifndef ANNOTATE_CHOOSE_H
#define ANNOTATE_CHOOSE_H

#include "annotate/row.h"
#include "profile/profile.h"

enum annotate_choice_kind {
	ANNOTATE_NOTHING,    /* no sample is of what was asked for; candidates may be near */
	ANNOTATE_FUNCTIONS,  /* those of `candidates` */
	ANNOTATE_FILE,       /* and line, where it is not 0; candidates are all */
	ANNOTATE_CANDIDATES, /* more than one may be meant */
};

struct annotate_query {
	const char *text;    /* NULL: the functions with most samples */
	const char *objects; /* only of these: patterns as in fnmatch(3), with commas; or NULL */
	unsigned top;        /* how many without a text; 0: one */
};

/* All functions of one name in one object. */
struct annotate_candidate {
	uint32_t name; /* strings of the profile */
	uint32_t object;
	uint32_t first; /* into functions */
	uint32_t function_count;
	struct annotate_count count;     /* of its own code */
	struct annotate_count elsewhere; /* where it was inlined into others */
	bool is_unknown;
};

struct annotate_choice {
	enum annotate_choice_kind kind;
	VECTOR(struct annotate_candidate) candidates; /* most samples first */
	VECTOR(uint32_t) functions; /* ids of the profile, ascending in each candidate */
	const char *objects;        /* of the query */
	const char *file;           /* as typed, borrowed from the query */
	size_t file_size;
	uint32_t line;
};

/* Returns 0 or STATUS_NO_MEMORY; to be cleared in any case. */
int annotate_choose(struct annotate_choice *choice, const struct profile *profile, uint32_t event,
		    const struct annotate_query *query);
void annotate_choice_clear(struct annotate_choice *choice);

/* True where the file is the one asked for: all components of the text are its last. */
bool annotate_is_file(const struct annotate_choice *choice, struct bytes file);

#endif
