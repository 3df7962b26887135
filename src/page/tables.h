/* tables.h - the page's tables as columns: docs/page.md lists them. */
#ifndef PAGE_TABLES_H
#define PAGE_TABLES_H

#include "page/page.h"

/* All of both sides, one after the other. 0, or STATUS_NO_MEMORY. */
int page_tables_put(struct page_block *block, const struct page *page);

#endif
