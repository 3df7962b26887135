/* html_out.h - the parts of an HTML document. All that is not ours is escaped here. */
#ifndef ANNOTATE_HTML_OUT_H
#define ANNOTATE_HTML_OUT_H

#include "annotate/write.h"

struct html {
	struct sink *out;
	const struct annotate *doc;
	const struct annotate_options *options;
	size_t function; /* the one being written, for names of places */
	size_t version;
};

/* The head up to the title's text, then up to the contents, then the end. */
void html_begin(const struct html *h);
void html_begin_body(const struct html *h);
void html_end(const struct html *h);

void html_bytes(const struct html *h, struct bytes text);
void html_text(const struct html *h, const char *text);
void html_string(const struct html *h, uint32_t string);
/* With tabs spread. */
void html_source(const struct html *h, struct bytes text, uint32_t column);

/* A cell with a bar; and one more with the samples. Empty for nothing. */
void html_percent(const struct html *h, const struct annotate_count *count,
		  const struct annotate_count *whole);
void html_counts(const struct html *h, const struct annotate_count *count,
		 const struct annotate_count *whole);

/* The table of a version's instructions. */
void html_code(const struct html *h, const struct annotate_function *function,
	       const struct annotate_version *version);

#endif
