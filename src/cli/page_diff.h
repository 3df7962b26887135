/* page_diff.h - two recordings as one page that shows how they differ. */
#ifndef CLI_PAGE_DIFF_H
#define CLI_PAGE_DIFF_H

#include "base/sink.h"
#include "cli/load_args.h"

/* Appends the page to `page`. `args`: of both. Returns an exit_status; faults are printed. */
int page_diff_make(struct load_args args[2], struct sink *page);

/* Writes it to a file, or to standard output for "-". */
int page_diff(struct load_args args[2], const char *path);

#endif
