#include "page/page.h"

#include "base/status.h"
#include "page/app.h"
#include "page/tables.h"

/* Rows of the profile whose stacks differ by nothing that the page shows are one series. */
static uint32_t series_of(struct page_side *side, uint32_t row)
{
	while (side->series.count <= row)
		if (!vector_push(&side->series))
			return INTERN_NONE;
	uint32_t *known = &side->series.items[row];
	if (*known)
		return *known - 1;
	const struct profile_row *told = &side->profile->rows.items[row];
	side->tree.profile = side->profile;
	const uint32_t node = page_tree_node(&side->tree, told->stack);
	if (node == INTERN_NONE)
		return INTERN_NONE;
	const uint32_t series =
	    page_rows_series(&side->rows, &(struct page_key){ told->thread, told->event, node });
	*known = series + 1;
	return series;
}

int page_add(struct page_side *side, uint32_t row, const struct page_amount *amount)
{
	const uint32_t series = series_of(side, row);
	return series == INTERN_NONE ? STATUS_NO_MEMORY
				     : page_rows_add(&side->rows, series, amount);
}

void page_side_clear(struct page_side *side)
{
	page_tree_clear(&side->tree);
	page_rows_clear(&side->rows);
	vector_clear(&side->series);
}

/* All sides get buckets of one length. */
static int finish_rows(const struct page *page)
{
	unsigned shift = PAGE_FIRST_SHIFT;
	int got = 0;
	for (size_t i = 0; i < page->side_count; i++)
		if (page->sides[i].rows.shift > shift)
			shift = page->sides[i].rows.shift;
	for (size_t i = 0; got == 0 && i < page->side_count; i++) {
		got = page_rows_coarsen(&page->sides[i].rows, shift);
		page->sides[i].rows.shift = shift;
		if (got == 0)
			got = page_rows_sort(&page->sides[i].rows);
	}
	return got;
}

static bool is_first_of_block(const struct page *page, size_t part)
{
	for (size_t i = 0; i < part; i++)
		if (strcmp(page->parts[i].block, page->parts[part].block) == 0)
			return false;
	return true;
}

static int put_parts(struct page_block *block, const struct page *page, const char *name)
{
	int got = 0;
	for (size_t i = 0; block && got == 0 && i < page->part_count; i++)
		if (strcmp(page->parts[i].block, name) == 0)
			got = page->parts[i].put(page->parts[i].context, block);
	return got;
}

int page_write(struct sink *out, const struct page *page)
{
	int got = finish_rows(page);
	if (got < 0)
		return got;
	sink_put(out, page_app_head, page_app_head_size);
	struct page_block *main = page_block_open(out, "main");
	int put = page_tables_put(main, page);
	if (put == 0)
		put = put_parts(main, page, "main");
	got = page_block_close(main);
	for (size_t i = 0; got == 0 && i < page->part_count; i++) {
		const char *name = page->parts[i].block;
		if (strcmp(name, "main") == 0 || !is_first_of_block(page, i))
			continue;
		struct page_block *block = page_block_open(out, name);
		if (put == 0)
			put = put_parts(block, page, name);
		got = page_block_close(block);
	}
	sink_put(out, page_app_tail, page_app_tail_size);
	return got < 0 ? got : sink_failed(out) ? STATUS_NO_MEMORY : put;
}
