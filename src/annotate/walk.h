/* walk.h - source lines that are to be shown: those with samples, and some around them. */
#ifndef ANNOTATE_WALK_H
#define ANNOTATE_WALK_H

#include "annotate/write.h"

struct walk_line {
	uint32_t number;                  /* 0: not known */
	const struct annotate_line *line; /* NULL: no samples */
	bool has_text;
	struct bytes text;
};

struct walk {
	const struct annotate *doc;
	const struct annotate_options *options;
	const annotate_lines *lines;
	const struct annotate_count *whole; /* of which the percent limit is meant */
	uint32_t only_line;                 /* and its context; 0: all */
	void *context;
	void (*file)(void *context, uint32_t file);
	void (*gap)(void *context); /* lines are left out */
	void (*line)(void *context, const struct walk_line *line);
};

void annotate_walk_lines(const struct walk *walk);

#endif
