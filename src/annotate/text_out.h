/* text_out.h - lines of text that know how wide they are.
 *
 * Texts are escaped, tabs of sources spread, and what goes beyond the width is cut.
 */
#ifndef ANNOTATE_TEXT_OUT_H
#define ANNOTATE_TEXT_OUT_H

#include "annotate/write.h"

enum text_ink {
	TEXT_PLAIN,
	TEXT_HOT,  /* at least 5 percent, as perf has it */
	TEXT_WARM, /* at least half a percent */
	TEXT_TITLE,
	TEXT_SOURCE,
	TEXT_QUIET,
};

struct text_out {
	struct sink *out;
	const struct annotate *doc;
	const struct annotate_options *options;
	const struct annotate_style *style;
	size_t column; /* of the line that is being made */
	size_t line;   /* its number, from 0 */
	struct sink scratch;
};

/* A text of ours: not escaped. */
void text_put(struct text_out *t, enum text_ink ink, const char *text);
void text_put_bytes(struct text_out *t, enum text_ink ink, struct bytes text);
void text_printf(struct text_out *t, enum text_ink ink, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a C string that is not ours. */
void text_put_text(struct text_out *t, enum text_ink ink, const char *text);
/* A line of a source file: tabs go to the next multiple of eight. As text_put_excerpt(). */
void text_put_source(struct text_out *t, struct bytes text, uint32_t column);
void text_put_string(struct text_out *t, enum text_ink ink, uint32_t string);
/* Blanks up to a column. */
void text_pad(struct text_out *t, size_t column);
void text_end_line(struct text_out *t);

/* Tells of the line that is being made, where the style wants to know; its line is filled in. */
void text_mark(struct text_out *t, const struct annotate_mark *mark);

/* "  12.34%      123  ", blank for nothing. */
void text_put_count(struct text_out *t, const struct annotate_count *count,
		    const struct annotate_count *whole);
enum { TEXT_COUNT_WIDTH = 19 };

enum text_ink text_heat(double percent);

/* A character that draws one cell of an arrow. */
const char *text_cell(uint8_t cell, bool ascii);

/* What is said in the place of an instruction, of samples that are at none; "" of others. */
const char *text_stray(enum annotate_row_kind kind);

/* A source line with its tabs spread; for all writers. Of one that is longer than people write, as
 * of minified scripts, what is around the column (from 1; 0: not known) between dots.
 */
void text_put_excerpt(struct sink *out, struct bytes text, uint32_t column);

/* The writers' parts. */
void text_code(struct text_out *t, const struct annotate_function *function,
	       const struct annotate_version *version);
void text_lines(struct text_out *t, const annotate_lines *lines, const struct annotate_count *whole,
		uint32_t only_line);
void text_by_version(struct text_out *t, const struct annotate_function *function);

#endif
