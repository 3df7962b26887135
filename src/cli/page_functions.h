/* page_functions.h - the hottest functions of a page, by instruction and line.
 *
 *   struct page_functions functions = { .load = load, .profile = &profile, .most = 20 };
 *   got = page_functions_make(&functions);                      once the profile has its rows
 *   page.parts = functions.parts.items, functions.parts.count;
 *   page_functions_clear(&functions);
 *
 * One block a function: `json` is what `polyperf annotate --format json` writes of it, `source` the
 * lines around those that it names. The column `documents.function` of `main` has one of the
 * function's ids for each block `function-ID`.
 */
#ifndef CLI_PAGE_FUNCTIONS_H
#define CLI_PAGE_FUNCTIONS_H

#include "base/sink.h"
#include "page/page.h"

#include <argp.h>

struct load;

enum {
	PAGE_FUNCTIONS_DEFAULT = 30,
	PAGE_FUNCTIONS_MOST = 1000,
	PAGE_FUNCTION_BYTES = 4 << 20, /* of one document, before it is compressed */
	PAGE_FUNCTIONS_BYTES = 48 << 20,
};

struct page_document {
	char block[24];
	uint32_t function;
	struct sink json;
	struct sink source;
};

struct page_functions {
	struct load *load;
	const struct profile *profile;
	uint32_t most;
	VECTOR(struct page_document) documents;
	VECTOR(struct page_part) parts;
};

/* 0, or STATUS_NO_MEMORY. What is larger than the limits is left out. */
int page_functions_make(struct page_functions *functions);
void page_functions_clear(struct page_functions *functions);

/* The value of --functions. */
uint32_t page_functions_parse(const char *arg, struct argp_state *state);

#endif
