#include "load/order.h"

#include "base/arena.h"
#include "base/status.h"
#include "base/vector.h"

#include <stdlib.h>

struct item {
	uint64_t time_ns;
	struct perfdata_record record;
};

struct order {
	struct perfdata *perf;
	int (*give)(void *context, const struct perfdata_record *record);
	void *context;
	VECTOR(struct item) items; /* what waits */
	VECTOR(struct item) spare; /* for merging */
	/* Copies of records that do not stay: */
	struct arena copies;
	uint64_t limit_ns;  /* latest time up to the round before */
	uint64_t latest_ns; /* latest time seen */
};

struct order *order_new(struct perfdata *perf,
			int (*give)(void *context, const struct perfdata_record *record),
			void *context)
{
	struct order *order = calloc(1, sizeof(*order));
	if (order) {
		order->perf = perf;
		order->give = give;
		order->context = context;
	}
	return order;
}

void order_free(struct order *order)
{
	if (!order)
		return;
	vector_clear(&order->items);
	vector_clear(&order->spare);
	arena_clear(&order->copies);
	free(order);
}

int order_put_at(struct order *order, const struct perfdata_record *record, uint64_t time_ns)
{
	struct item *item = vector_push(&order->items);
	if (!item)
		return STATUS_NO_MEMORY;
	item->time_ns = time_ns;
	item->record = *record;
	if (item->time_ns > order->latest_ns)
		order->latest_ns = item->time_ns;
	if (record->stable)
		return 0;
	uint8_t *copy = arena_alloc(&order->copies, record->body.size, 1, sizeof(uint64_t));
	if (!copy)
		return STATUS_NO_MEMORY;
	memcpy(copy, record->body.data, record->body.size);
	item->record.body.data = copy;
	return 0;
}

int order_put(struct order *order, const struct perfdata_record *record)
{
	return order_put_at(order, record, perfdata_record_time_ns(order->perf, record));
}

/* Where the run that starts at `at` stops ascending. */
static size_t run_end(const struct item *items, size_t at, size_t count)
{
	while (at + 1 < count && items[at].time_ns <= items[at + 1].time_ns)
		at++;
	return at + 1;
}

static void merge(const struct item *from, size_t middle, size_t end, struct item *to)
{
	size_t a = 0;
	size_t b = middle;
	for (size_t i = 0; i < end; i++) {
		const bool take_a = b >= end || (a < middle && from[a].time_ns <= from[b].time_ns);
		to[i] = from[take_a ? a++ : b++];
	}
}

/* Each ring's part ascends already, so merging neighbouring runs needs few passes. */
static int sort(struct order *order)
{
	const size_t count = order->items.count;
	if (run_end(order->items.items, 0, count) >= count)
		return 0;
	order->spare.count = 0;
	if (!vector_reserve(&order->spare, count))
		return STATUS_NO_MEMORY;
	struct item *from = order->items.items;
	struct item *to = order->spare.items;
	bool is_sorted = false;
	while (!is_sorted) {
		is_sorted = true;
		for (size_t at = 0; at < count;) {
			const size_t middle = run_end(from, at, count);
			const size_t end = middle < count ? run_end(from, middle, count) : middle;
			merge(from + at, middle - at, end - at, to + at);
			is_sorted &= at == 0 && end == count;
			at = end;
		}
		struct item *swap = from;
		from = to;
		to = swap;
	}
	if (from != order->items.items)
		memcpy(order->items.items, from, count * sizeof(*from));
	return 0;
}

static int give_up_to(struct order *order, uint64_t limit_ns)
{
	const int got = sort(order);
	if (got < 0)
		return got;
	struct item *items = order->items.items;
	size_t at = 0;
	while (at < order->items.count && items[at].time_ns <= limit_ns) {
		const int result = order->give(order->context, &items[at++].record);
		if (result)
			return result;
	}
	order->items.count -= at;
	if (order->items.count)
		memmove(items, items + at, order->items.count * sizeof(*items));
	return 0;
}

/* A copy that still waits moves to the arena of the next round. */
static int keep_waiting(struct order *order)
{
	struct arena kept = { 0 };
	for (size_t i = 0; i < order->items.count; i++) {
		struct perfdata_record *record = &order->items.items[i].record;
		if (record->stable)
			continue;
		uint8_t *copy = arena_alloc(&kept, record->body.size, 1, sizeof(uint64_t));
		if (!copy) {
			arena_clear(&kept);
			return STATUS_NO_MEMORY;
		}
		memcpy(copy, record->body.data, record->body.size);
		record->body.data = copy;
	}
	arena_clear(&order->copies);
	order->copies = kept;
	return 0;
}

int order_round(struct order *order)
{
	int got = give_up_to(order, order->limit_ns);
	if (got == 0)
		got = keep_waiting(order);
	order->limit_ns = order->latest_ns;
	return got;
}

int order_flush(struct order *order)
{
	return give_up_to(order, UINT64_MAX);
}
