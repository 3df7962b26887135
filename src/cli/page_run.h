/* page_run.h - a recording as a page: what `report --html` and `open` share. */
#ifndef CLI_PAGE_RUN_H
#define CLI_PAGE_RUN_H

#include "base/sink.h"
#include "cli/load_args.h"

struct page_args {
	struct load_args *load;
	uint32_t functions; /* how many are in it by instruction and line */
};

/* Appends the page to `out`. Returns an exit_status; faults are printed. */
int page_run_make(const struct page_args *args, struct sink *out);

/* Writes it to a file, which has its name when it is whole, or to standard output for "-". */
int page_run_write(const struct sink *page, const char *path);

/* Both. */
int page_run(const struct page_args *args, const char *path);

#endif
