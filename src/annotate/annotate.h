/* annotate.h - the samples of functions, by instruction and by source line.
 *
 *   struct annotate_choice choice = { 0 };
 *   annotate_choose(&choice, &profile, event, &(struct annotate_query){ .text = "fib" });
 *   struct annotate doc = { 0 };
 *   annotate_build(&doc, &profile, event, &choice, &inputs);
 *   annotate_write_text(&out, &doc, &options, &style);          write.h
 *   annotate_clear(&doc);
 *   annotate_choice_clear(&choice);
 *
 * A sample belongs to the function whose code ran: of the innermost frame, the outermost of those
 * it was inlined into. So a function's samples are those of `report --no-inline`, each is counted
 * at one offset of the code, and each at one line: that of the innermost frame.
 *
 * The document borrows the profile, the choice, and what the inputs give. One thread.
 */
#ifndef ANNOTATE_ANNOTATE_H
#define ANNOTATE_ANNOTATE_H

#include "annotate/choose.h"
#include "annotate/decode.h"
#include "base/sink.h"
#include "profile/listing.h"
#include "profile/profile.h"

struct annotate_inputs {
	struct listing_inputs from;
	bool att; /* AT&T's way of writing x86 instructions, not Intel's */
};

/* A file that lines are of. Texts come from the file or, line by line, from listings. */
struct annotate_source {
	struct bytes text; /* empty where it was not found */
	const char *found; /* NULL where it was not found */
	bool is_newer;
	VECTOR(size_t) starts; /* offset of each line */
	VECTOR(struct annotate_told_line) told;
};

struct annotate_told_line {
	uint32_t line;
	const char *text;
};

/* Samples of one line. */
struct annotate_line {
	uint32_t file; /* into sources; 0: not known */
	uint32_t line; /* 0: not known */
	struct annotate_count count;
	uint32_t first_split; /* into splits: a count a version of the function */
};

typedef VECTOR(struct annotate_line) annotate_lines;

/* One compilation of a function. */
struct annotate_version {
	uint32_t function; /* of the profile */
	struct annotate_count count;
	struct annotate_count inlined;    /* of these, in functions that were inlined into it */
	VECTOR(struct annotate_hit) hits; /* ascending; their sum is the count */
	annotate_lines lines;             /* ascending by name of file and line; likewise */
	struct listing listing;
	annotate_rows rows;          /* ascending offsets; likewise; empty where there is no code */
	VECTOR(uint32_t) line_files; /* of each of listing.lines: into sources */
	const char *no_code;         /* why there are no rows: a static sentence; else NULL */
	unsigned lanes;              /* how many of ANNOTATE_LANES have arrows, inner ones first */
};

/* A function whose code holds an inlined one. */
struct annotate_host {
	uint32_t function;
	struct annotate_count count;
};

struct annotate_function {
	uint32_t name; /* strings of the profile */
	uint32_t object;
	struct annotate_count count;
	VECTOR(struct annotate_version) versions; /* in the order in which they were compiled */
	annotate_lines lines;                     /* of all versions */
	VECTOR(struct annotate_count) splits;     /* of lines, versions.count each */
	/* Samples of this function where it was inlined into others; not in the count. */
	struct annotate_count elsewhere;
	annotate_lines elsewhere_lines;
	VECTOR(struct annotate_host) hosts; /* most samples first */
};

struct annotate {
	const struct profile *profile;
	uint32_t event;
	const struct annotate_choice *choice;
	struct annotate_count total;                /* of the event */
	VECTOR(struct annotate_function) functions; /* most samples first */
	/* Where a file was asked for: all its lines; the functions are those that have some. */
	annotate_lines file_lines;
	struct intern files;                    /* names of sources */
	VECTOR(struct annotate_source) sources; /* by id of `files` */
	struct sink texts;                      /* instructions */
	size_t row_count;                       /* of all versions */
};

/* Returns 0 or a negative status; to be cleared in any case. */
int annotate_build(struct annotate *doc, const struct profile *profile, uint32_t event,
		   const struct annotate_choice *choice, const struct annotate_inputs *inputs);
void annotate_clear(struct annotate *doc);

/* The version with most samples; the first of equal ones. Index into function->versions. */
size_t annotate_hottest(const struct annotate_function *function);

/* Is the code that the function was inlined into one of several versions of one function? */
bool annotate_host_is_version(const struct annotate *doc, const struct annotate_function *function,
			      size_t host);

/* A line without its end; false where nobody has it. `file` as in struct annotate_line. */
bool annotate_line_text(const struct annotate *doc, uint32_t file, uint32_t line,
			struct bytes *text);

/* The name of a file, "" for 0. */
struct bytes annotate_file_name(const struct annotate *doc, uint32_t file);

/* What stands behind the number: " sample" or " samples". */
const char *annotate_samples(const struct annotate_count *count);

/* Share of a whole in percent, 0 of nothing. Weights, as in a report. */
double annotate_percent(const struct annotate_count *part, const struct annotate_count *whole);

#endif
