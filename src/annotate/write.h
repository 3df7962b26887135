/* write.h - annotated functions as text, JSON or HTML.
 *
 *   struct annotate_options options = { .context = 5 };
 *   struct annotate_style style = { .width = 120, .colour = true };
 *   annotate_write_text(&out, &doc, &options, &style);
 *
 * Names, notes and sources are escaped for where they go. The caller prints and clears the sink.
 */
#ifndef ANNOTATE_WRITE_H
#define ANNOTATE_WRITE_H

#include "annotate/annotate.h"

enum annotate_view {
	ANNOTATE_MIXED,    /* instructions, with the source line above each run of them */
	ANNOTATE_ASM,      /* instructions alone */
	ANNOTATE_SOURCE,   /* source lines alone */
	ANNOTATE_VERSIONS, /* source lines with a column a version */
};

struct annotate_options {
	enum annotate_view view;
	uint32_t version;     /* only this; 0: the one with most samples */
	bool all_versions;    /* one after the other */
	unsigned context;     /* lines or instructions around those that are shown */
	double percent_limit; /* less is not shown, save as context */
	bool raw_bytes;       /* the bytes of instructions */
};

/* A line of the text that has samples or leads somewhere, for who walks through it. */
struct annotate_mark {
	size_t line;         /* from 0 */
	uint64_t weight;     /* of its samples */
	uint32_t function;   /* of the profile: the version whose instruction it is */
	uint32_t row;        /* index into the version's rows + 1; 0: a source line */
	uint32_t target_row; /* where it jumps to in the same version, + 1; 0: nowhere there */
	const char *callee;  /* what it jumps to outside; "" */
};
typedef VECTOR(struct annotate_mark) annotate_marks;

struct annotate_style {
	unsigned width; /* of the terminal, to cut longer lines; 0: cuts nothing */
	bool colour;
	bool ascii;            /* jumps are drawn without Unicode's lines */
	annotate_marks *marks; /* gets a mark for each such line, in order; NULL: not wanted */
};

void annotate_write_text(struct sink *out, const struct annotate *doc,
			 const struct annotate_options *options,
			 const struct annotate_style *style);

/* docs/annotate.md tells the fields. The options say nothing here: all versions are in it. */
void annotate_write_json(struct sink *out, const struct annotate *doc);

/* One file that needs no other, and no script. */
void annotate_write_html(struct sink *out, const struct annotate *doc,
			 const struct annotate_options *options);

/* The version that the options ask for: index into function->versions; SIZE_MAX: none such. */
size_t annotate_version_asked(const struct annotate *doc, const struct annotate_function *function,
			      const struct annotate_options *options);

#endif
