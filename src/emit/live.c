#include "emit/live.h"

#include "emit/emit_internal.h"

#include <sys/mman.h>

enum {
	CAPACITY_MIN = 1024,
	/* Where the fields of records lie. */
	AT_TIME = 8,
	AT_LOAD_ADDRESS = 32,
	AT_LOAD_SIZE = 40,
	AT_MOVE_OLD = 32,
	AT_MOVE_NEW = 40,
	AT_MOVE_SIZE = 48,
	AT_UNLOAD_ADDRESS = 24,
	AT_METHOD_ID = 24,
};

static struct ppjit_live_entry *map_slots(size_t count)
{
	void *slots = mmap(NULL, count * sizeof(struct ppjit_live_entry), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return slots == MAP_FAILED ? NULL : slots;
}

static void unmap_slots(struct ppjit_live_entry *slots, size_t count)
{
	if (slots)
		(void)munmap(slots, count * sizeof(*slots));
}

void ppjit_live_init(struct ppjit_live *live)
{
	memset(live, 0, sizeof(*live));
}

void ppjit_live_clear(struct ppjit_live *live)
{
	unmap_slots(live->slots, live->capacity);
	ppjit_live_init(live);
}

static size_t home_of(const struct ppjit_live *live, uint64_t address)
{
	return (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (live->capacity - 1);
}

/* The slot of this address, or the free one where it would be. */
static size_t slot_of(const struct ppjit_live *live, uint64_t address, uint32_t kind)
{
	size_t at = home_of(live, address);
	while (live->slots[at].kind != PPJIT_LIVE_NONE &&
	       (live->slots[at].address != address || live->slots[at].kind != kind))
		at = (at + 1) & (live->capacity - 1);
	return at;
}

static bool make_room(struct ppjit_live *live)
{
	if (live->count * 2 < live->capacity)
		return true;
	const struct ppjit_live old = *live;
	const size_t capacity = old.capacity ? old.capacity * 2 : CAPACITY_MIN;
	struct ppjit_live_entry *slots = map_slots(capacity);
	if (!slots)
		return live->count + 1 < live->capacity;
	live->slots = slots;
	live->capacity = capacity;
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].kind != PPJIT_LIVE_NONE)
			slots[slot_of(live, old.slots[i].address, old.slots[i].kind)] =
			    old.slots[i];
	unmap_slots(old.slots, old.capacity);
	return true;
}

static void put(struct ppjit_live *live, const struct ppjit_live_entry *entry)
{
	if (!make_room(live)) {
		live->lost_count++;
		return;
	}
	struct ppjit_live_entry *slot = &live->slots[slot_of(live, entry->address, entry->kind)];
	if (slot->kind == PPJIT_LIVE_NONE)
		live->count++;
	else
		live->total_bytes -= slot->group_size;
	*slot = *entry;
	live->total_bytes += entry->group_size;
}

/* Takes an entry out and closes the gap, so that those behind it are still found. */
static bool take(struct ppjit_live *live, uint64_t address, uint32_t kind,
		 struct ppjit_live_entry *taken)
{
	if (!live->capacity)
		return false;
	size_t gap = slot_of(live, address, kind);
	if (live->slots[gap].kind == PPJIT_LIVE_NONE)
		return false;
	*taken = live->slots[gap];
	live->count--;
	live->total_bytes -= taken->group_size;
	const size_t mask = live->capacity - 1;
	for (size_t at = (gap + 1) & mask; live->slots[at].kind != PPJIT_LIVE_NONE;
	     at = (at + 1) & mask) {
		const size_t home = home_of(live, live->slots[at].address);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		live->slots[gap] = live->slots[at];
		gap = at;
	}
	live->slots[gap].kind = PPJIT_LIVE_NONE;
	return true;
}

struct group {
	uint64_t off; /* of the first record that belongs to the LOAD that will come */
	bool is_open;
};

static void move(struct ppjit_live *live, const uint8_t *record, uint64_t off)
{
	struct ppjit_live_entry entry;
	if (!take(live, ppjit_get_u64(record + AT_MOVE_OLD), PPJIT_LIVE_CODE, &entry))
		return;
	entry.address = ppjit_get_u64(record + AT_MOVE_NEW);
	const uint64_t size = ppjit_get_u64(record + AT_MOVE_SIZE);
	entry.size = size ? size : entry.size;
	entry.order = off;
	entry.time_ns = ppjit_get_u64(record + AT_TIME);
	put(live, &entry);
}

struct seen {
	const uint8_t *record;
	uint64_t off;
	uint32_t id;
	uint32_t total_size;
};

static void take_record(struct ppjit_live *live, const struct seen *seen, struct group *group)
{
	const uint8_t *record = seen->record;
	const uint64_t off = seen->off;
	const uint32_t total_size = seen->total_size;
	const uint64_t start = group->is_open ? group->off : off;
	struct ppjit_live_entry entry = {
		.group_off = start,
		.order = off,
		.time_ns = ppjit_get_u64(record + AT_TIME),
		.group_size = (uint32_t)(off + total_size - start),
	};
	group->is_open = false;
	switch (seen->id) {
	case JITDUMP_CODE_LOAD:
		entry.kind = PPJIT_LIVE_CODE;
		entry.address = ppjit_get_u64(record + AT_LOAD_ADDRESS);
		entry.size = ppjit_get_u64(record + AT_LOAD_SIZE);
		put(live, &entry);
		break;
	case JITDUMP_METHOD:
		entry.kind = PPJIT_LIVE_METHOD;
		entry.address = ppjit_get_u64(record + AT_METHOD_ID);
		put(live, &entry);
		break;
	case JITDUMP_CODE_MOVE:
		move(live, record, off);
		break;
	case JITDUMP_UNLOAD:
		(void)take(live, ppjit_get_u64(record + AT_UNLOAD_ADDRESS), PPJIT_LIVE_CODE,
			   &entry);
		break;
	case JITDUMP_PAD:
	case JITDUMP_CLOSE:
		break;
	default: /* DEBUG_INFO and what else speaks of the LOAD behind it */
		group->off = start;
		group->is_open = true;
		break;
	}
}

static bool is_whole(const struct seen *seen, uint64_t left)
{
	uint32_t least = JITDUMP_PREFIX_SIZE;
	if (seen->id == JITDUMP_CODE_LOAD)
		least = JITDUMP_CODE_LOAD_SIZE;
	else if (seen->id == JITDUMP_CODE_MOVE)
		least = JITDUMP_CODE_MOVE_SIZE;
	else if (seen->id == JITDUMP_UNLOAD)
		least = JITDUMP_UNLOAD_SIZE;
	else if (seen->id == JITDUMP_METHOD)
		least = JITDUMP_METHOD_SIZE;
	return seen->total_size >= least && seen->total_size <= left;
}

void ppjit_live_scan(struct ppjit_live *live, const uint8_t *base, uint64_t from, uint64_t to)
{
	struct group group = { 0 };
	struct seen seen = { .off = from };
	for (; to - seen.off >= JITDUMP_PREFIX_SIZE; seen.off += seen.total_size) {
		seen.record = base + seen.off;
		seen.id = ppjit_get_u32(seen.record);
		seen.total_size = ppjit_get_u32(seen.record + 4);
		if (!is_whole(&seen, to - seen.off))
			break;
		take_record(live, &seen, &group);
	}
}

static bool is_before(const struct ppjit_live_entry *a, const struct ppjit_live_entry *b,
		      bool by_address)
{
	if (!by_address)
		return a->order < b->order;
	return a->kind != b->kind ? a->kind < b->kind : a->address < b->address;
}

static void sift_down(struct ppjit_live_entry *heap, size_t at, size_t count, bool by_address)
{
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= count)
			return;
		if (child + 1 < count && is_before(&heap[child], &heap[child + 1], by_address))
			child++;
		if (!is_before(&heap[at], &heap[child], by_address))
			return;
		const struct ppjit_live_entry down = heap[at];
		heap[at] = heap[child];
		heap[child] = down;
		at = child;
	}
}

/* A heap sort, since qsort() may allocate. */
static void sort(struct ppjit_live_entry *entries, size_t count, bool by_address)
{
	for (size_t i = count / 2; i-- > 0;)
		sift_down(entries, i, count, by_address);
	for (size_t end = count; end-- > 1;) {
		const struct ppjit_live_entry last = entries[end];
		entries[end] = entries[0];
		entries[0] = last;
		sift_down(entries, 0, end, by_address);
	}
}

/* Moves all entries to the table's front: it is a list from then on, until it is rebuilt. */
static void compact(struct ppjit_live *live)
{
	size_t count = 0;
	for (size_t i = 0; i < live->capacity; i++)
		if (live->slots[i].kind != PPJIT_LIVE_NONE)
			live->slots[count++] = live->slots[i];
}

static void rebuild(struct ppjit_live *live)
{
	const struct ppjit_live old = *live;
	live->slots = NULL;
	live->capacity = 0;
	live->count = 0;
	live->total_bytes = 0;
	for (size_t i = 0; i < old.count; i++)
		if (old.slots[i].kind != PPJIT_LIVE_NONE)
			put(live, &old.slots[i]);
	unmap_slots(old.slots, old.capacity);
}

/* Of neighbours that overlap the older one is gone; the list is sorted by address. */
static void drop_covered(struct ppjit_live_entry *list, size_t count)
{
	struct ppjit_live_entry *kept = NULL;
	for (size_t i = 0; i < count; i++) {
		struct ppjit_live_entry *entry = &list[i];
		if (entry->kind != PPJIT_LIVE_CODE)
			continue;
		const bool overlaps = kept && entry->address - kept->address < kept->size;
		if (overlaps && kept->order > entry->order) {
			entry->kind = PPJIT_LIVE_NONE;
			continue;
		}
		if (overlaps)
			kept->kind = PPJIT_LIVE_NONE;
		kept = entry;
	}
}

void ppjit_live_prune(struct ppjit_live *live, uint64_t limit_bytes)
{
	if (!live->count)
		return;
	compact(live);
	sort(live->slots, live->count, true);
	drop_covered(live->slots, live->count);
	uint64_t total = 0;
	for (size_t i = 0; i < live->count; i++)
		if (live->slots[i].kind != PPJIT_LIVE_NONE)
			total += live->slots[i].group_size;
	if (total > limit_bytes) {
		sort(live->slots, live->count, false);
		for (size_t i = 0; i < live->count && total > limit_bytes; i++) {
			if (live->slots[i].kind == PPJIT_LIVE_NONE)
				continue;
			total -= live->slots[i].group_size;
			live->slots[i].kind = PPJIT_LIVE_NONE;
			live->lost_count++;
		}
	}
	rebuild(live);
}

void ppjit_live_order(struct ppjit_live *live)
{
	if (!live->count)
		return;
	compact(live);
	sort(live->slots, live->count, false);
}
