/* page_diff.h - recordings of two sides as one page that shows how they differ. */
#ifndef CLI_PAGE_DIFF_H
#define CLI_PAGE_DIFF_H

#include "base/sink.h"
#include "cli/load_args.h"

struct page_diff {
	struct load_args *load;      /* but the input; of all recordings */
	const char *const *paths[2]; /* before, after */
	size_t counts[2];
};

/* Appends the page to `page`. Returns an exit_status; faults are printed. */
int page_diff_make(const struct page_diff *diff, struct sink *page);

/* Writes it to a file, or to standard output for "-". */
int page_diff_run(const struct page_diff *diff, const char *path);

#endif
