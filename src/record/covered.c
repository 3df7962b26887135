#include "record/covered.h"

#include "base/hash.h"

#include <stdlib.h>

enum { SLOTS_AT_FIRST = 64 };

static size_t slot_of(const struct covered *covered, uint64_t number)
{
	size_t at = hash_mix(number, 0) & (covered->slot_count - 1);
	while (covered->slots[at] && covered->pages.items[covered->slots[at] - 1].number != number)
		at = (at + 1) & (covered->slot_count - 1);
	return at;
}

static const struct covered_page *find_page(const struct covered *covered, uint64_t number)
{
	if (!covered->slot_count)
		return NULL;
	const uint32_t slot = covered->slots[slot_of(covered, number)];
	return slot ? &covered->pages.items[slot - 1] : NULL;
}

static bool grow(struct covered *covered)
{
	const size_t count = covered->slot_count ? covered->slot_count * 2 : SLOTS_AT_FIRST;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(covered->slots);
	covered->slots = slots;
	covered->slot_count = count;
	for (size_t i = 0; i < covered->pages.count; i++)
		slots[slot_of(covered, covered->pages.items[i].number)] = (uint32_t)i + 1;
	return true;
}

static struct covered_page *need_page(struct covered *covered, uint64_t number)
{
	if (covered->pages.count * 2 >= covered->slot_count && !grow(covered))
		return NULL;
	const size_t at = slot_of(covered, number);
	if (covered->slots[at])
		return &covered->pages.items[covered->slots[at] - 1];
	if (covered->pages.count >= COVERED_PAGE_LIMIT)
		return NULL;
	struct covered_page *page = vector_push(&covered->pages);
	if (!page)
		return NULL;
	page->number = number;
	covered->slots[at] = (uint32_t)covered->pages.count;
	return page;
}

/* The bits of one word of a page that lie in [from, to) of the page's bytes. */
static uint64_t mask_of(unsigned word, unsigned from, unsigned to)
{
	const unsigned start = word * 64;
	const unsigned low = from > start ? from - start : 0;
	const unsigned high = to < start + 64 ? to - start : 64;
	const uint64_t below_high = high == 64 ? UINT64_MAX : ((uint64_t)1 << high) - 1;
	return below_high & (UINT64_MAX << low);
}

/* The part of a range in its first page, taken off the range. Never empty. */
struct part {
	uint64_t number;
	unsigned from;
	unsigned to;
};

static struct part take_part(uint64_t *start_avma, uint64_t *size)
{
	const unsigned from = (unsigned)(*start_avma % COVERED_PAGE_BYTES);
	const unsigned room = COVERED_PAGE_BYTES - from;
	const unsigned taken = *size < room ? (unsigned)*size : room;
	const struct part part = { *start_avma / COVERED_PAGE_BYTES, from, from + taken };
	*start_avma += taken;
	*size -= taken;
	return part;
}

bool covered_meets(const struct covered *covered, uint64_t start_avma, uint64_t size)
{
	while (covered->slot_count && size) {
		const struct part part = take_part(&start_avma, &size);
		const struct covered_page *page = find_page(covered, part.number);
		for (unsigned i = part.from / 64; page && i * 64 < part.to; i++)
			if (page->bits[i] & mask_of(i, part.from, part.to))
				return true;
	}
	return false;
}

bool covered_add(struct covered *covered, uint64_t start_avma, uint64_t size)
{
	while (size) {
		const struct part part = take_part(&start_avma, &size);
		struct covered_page *page = need_page(covered, part.number);
		if (!page)
			return false;
		for (unsigned i = part.from / 64; i * 64 < part.to; i++)
			page->bits[i] |= mask_of(i, part.from, part.to);
	}
	return true;
}

bool covered_merge(struct covered *covered, const struct covered *other)
{
	for (size_t i = 0; i < other->pages.count; i++) {
		const struct covered_page *from = &other->pages.items[i];
		struct covered_page *page = need_page(covered, from->number);
		if (!page)
			return false;
		for (size_t word = 0; word < COVERED_PAGE_WORDS; word++)
			page->bits[word] |= from->bits[word];
	}
	return true;
}

void covered_clear(struct covered *covered)
{
	vector_clear(&covered->pages);
	free(covered->slots);
	*covered = (struct covered){ 0 };
}
