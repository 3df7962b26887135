/* page.h - a profile as one HTML file that needs nothing else: flame graphs, tables, a timeline.
 *
 *   struct page_side side = { .name = "perf.data", .profile = &profile };
 *   page_add(&side, profile_add(&profile, &row), &(struct page_amount){ ... });    each sample
 *   got = page_write(&out, &(struct page){ .sides = &side, .side_count = 1 });
 *   page_side_clear(&side);
 *
 * The page is app/ with the profile in compressed columns (docs/page.md). Its size is bounded by
 * the distinct stacks, not by the samples. No name in it can become markup or script. With two
 * sides it shows how they differ. Borrows all it is given; one thread.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/sink.h"
#include "page/block.h"
#include "page/rows.h"
#include "page/tree.h"

/* One recording. */
struct page_side {
	bool is_after;    /* of two sides that are compared, it is of the second one */
	const char *name; /* of its file; any bytes */
	const struct profile *profile;
	struct page_tree tree;
	struct page_rows rows;
	page_ids series; /* by row of the profile */
};

/* A sample, or many alike, of a row of the profile, in any order. 0, or STATUS_NO_MEMORY. */
int page_add(struct page_side *side, uint32_t row, const struct page_amount *amount);
void page_side_clear(struct page_side *side);

/* What else the page shows: columns for the block of a name, by whoever has them. Ids in them
 * are those of the page, which for the first side are the profile's own.
 */
struct page_part {
	const char *block; /* "main": decoded when the page starts */
	void *context;
	/* 0, or STATUS_NO_MEMORY. */
	int (*put)(void *context, struct page_block *block);
};

struct page {
	struct page_side *sides; /* sorted by page_write() */
	size_t side_count;       /* several, where some are compared with others */
	const struct page_part *parts;
	size_t part_count;
	/* Which functions are one, in all recordings: a small number. NULL: those of equal name,
	 * object and runtime.
	 */
	uint32_t (*group)(void *context, size_t side, uint32_t function);
	void *group_context;
};

/* Appends the document. 0, or STATUS_NO_MEMORY. */
int page_write(struct sink *out, const struct page *page);

#endif
