#include "format/nettrace/clr_internal.h"

#include "base/status.h"

enum {
	PART_LAST = (int)0x80000000,
	INLINE_BYTES = 3 * 4, /* beside the method's id, of a pointer's size */
	MAPPING_BYTES = 3 * 4 + 1,
	/* Parts of several methods overlap only where threads take turns. */
	PENDING_MAX = 64,
	/* The JIT gives up long before. */
	JOINED_MAX_BYTES = 64 << 20,
};

/* The two counts, and what they count. */
static bool read_map(struct bytes data, struct clr_event_rich_map *map)
{
	struct cursor c = nettrace_cursor(data);
	const size_t inline_size = INLINE_BYTES + map->pointer_size;
	map->inline_count = cursor_u32(&c);
	map->mapping_count = cursor_u32(&c);
	if (!cursor_can_hold(&c, map->inline_count, inline_size))
		return false;
	map->inlines = cursor_take(&c, map->inline_count * inline_size);
	if (!cursor_can_hold(&c, map->mapping_count, MAPPING_BYTES))
		return false;
	map->mappings = cursor_take(&c, (size_t)map->mapping_count * MAPPING_BYTES);
	return !cursor_failed(&c);
}

void clr_read_rich(struct cursor *c, uint32_t pointer_size, struct clr_event *what)
{
	struct clr_event_rich_part part = { .pointer_size = pointer_size };
	cursor_u16(c); /* the runtime's number in its process */
	part.method_id = cursor_u64(c);
	part.rejit_id = cursor_u64(c);
	cursor_u64(c); /* the version of its IL */
	const uint32_t number = cursor_u32(c);
	part.data = cursor_take(c, cursor_u32(c));
	part.is_last = number & (uint32_t)PART_LAST;
	part.index = number & ~(uint32_t)PART_LAST;
	if (cursor_failed(c))
		return;
	if (part.index || !part.is_last) {
		what->kind = CLR_EVENT_RICH_PART;
		what->rich_part = part;
		return;
	}
	what->kind = CLR_EVENT_RICH_MAP;
	what->rich_map = (struct clr_event_rich_map){
		.method_id = part.method_id,
		.rejit_id = part.rejit_id,
		.pointer_size = pointer_size,
	};
	if (!read_map(part.data, &what->rich_map))
		cursor_fail(c);
}

bool clr_rich_inline(const struct clr_event_rich_map *map, uint32_t index,
		     struct clr_rich_inline *made)
{
	if (index >= map->inline_count)
		return false;
	struct cursor c = nettrace_cursor(map->inlines);
	cursor_take(&c, index * (size_t)(INLINE_BYTES + map->pointer_size));
	made->method_id = clr_pointer(&c, map->pointer_size);
	made->il_off = cursor_u32(&c);
	made->child = cursor_u32(&c);
	made->sibling = cursor_u32(&c);
	return !cursor_failed(&c);
}

bool clr_rich_mapping(const struct clr_event_rich_map *map, uint32_t index,
		      struct clr_rich_mapping *made)
{
	if (index >= map->mapping_count)
		return false;
	struct cursor c = nettrace_cursor(map->mappings);
	cursor_take(&c, (size_t)index * MAPPING_BYTES);
	made->il_off = (int32_t)cursor_u32(&c);
	made->inlinee = cursor_u32(&c);
	made->native_off = cursor_u32(&c);
	made->source = cursor_u8(&c);
	return !cursor_failed(&c);
}

/* True where `to` is there and was not come to before. */
static bool step(const struct clr_event_rich_map *map, uint32_t *parents, uint32_t to,
		 uint32_t parent)
{
	if (!to || to >= map->inline_count || parents[to] != UINT32_MAX)
		return false;
	parents[to] = parent;
	return true;
}

/* Down to the callee, else to the sibling, else up: every step down or aside comes to a new node.
 */
void clr_rich_parents(const struct clr_event_rich_map *map, uint32_t *parents)
{
	for (uint32_t i = 0; i < map->inline_count; i++)
		parents[i] = UINT32_MAX;
	uint32_t at = 0;
	bool is_done = false; /* with what hangs below */
	struct clr_rich_inline node;
	while (clr_rich_inline(map, at, &node)) {
		if (!is_done && step(map, parents, node.child, at)) {
			at = node.child;
		} else if (!at) {
			return;
		} else if (step(map, parents, node.sibling, parents[at])) {
			at = node.sibling;
			is_done = false;
		} else {
			at = parents[at];
			is_done = true;
		}
	}
}

static void drop_pending(struct clr_rich_join *join, size_t index)
{
	sink_clear(&join->pending.items[index].data);
	join->pending.count--;
	memmove(&join->pending.items[index], &join->pending.items[index + 1],
		(join->pending.count - index) * sizeof(*join->pending.items));
}

/* Where the part belongs; the count where nothing waits for it. */
static size_t find_pending(const struct clr_rich_join *join, const struct clr_event_rich_part *part)
{
	size_t i = 0;
	while (i < join->pending.count && (join->pending.items[i].method_id != part->method_id ||
					   join->pending.items[i].rejit_id != part->rejit_id))
		i++;
	return i;
}

static struct clr_rich_pending *pending_of(struct clr_rich_join *join,
					   const struct clr_event_rich_part *part)
{
	size_t at = find_pending(join, part);
	if (at < join->pending.count && join->pending.items[at].next_index != part->index) {
		drop_pending(join, at);
		at = join->pending.count;
	}
	if (at < join->pending.count || part->index)
		return at < join->pending.count ? &join->pending.items[at] : NULL;
	if (join->pending.count == PENDING_MAX)
		drop_pending(join, 0);
	struct clr_rich_pending *made = vector_push(&join->pending);
	if (made) {
		made->method_id = part->method_id;
		made->rejit_id = part->rejit_id;
	}
	return made;
}

int clr_rich_join_add(struct clr_rich_join *join, struct clr_event *what)
{
	if (what->kind != CLR_EVENT_RICH_PART)
		return 0;
	const struct clr_event_rich_part part = what->rich_part;
	what->kind = CLR_EVENT_OTHER;
	struct clr_rich_pending *pending = pending_of(join, &part);
	if (!pending)
		return part.index ? 0 : STATUS_NO_MEMORY;
	const size_t at = (size_t)(pending - join->pending.items);
	const bool is_too_big = part.data.size > JOINED_MAX_BYTES - pending->data.size;
	pending->next_index++;
	if (!is_too_big)
		sink_put(&pending->data, part.data.data, part.data.size);
	if (is_too_big || sink_failed(&pending->data)) {
		drop_pending(join, at);
		return is_too_big ? 0 : STATUS_NO_MEMORY;
	}
	if (!part.is_last)
		return 0;
	sink_clear(&join->joined);
	join->joined = pending->data;
	pending->data = (struct sink){ 0 };
	drop_pending(join, at);
	what->rich_map = (struct clr_event_rich_map){
		.method_id = part.method_id,
		.rejit_id = part.rejit_id,
		.pointer_size = part.pointer_size,
	};
	if (read_map(sink_bytes(&join->joined), &what->rich_map))
		what->kind = CLR_EVENT_RICH_MAP;
	return 0;
}

void clr_rich_join_clear(struct clr_rich_join *join)
{
	while (join->pending.count)
		drop_pending(join, join->pending.count - 1);
	vector_clear(&join->pending);
	sink_clear(&join->joined);
}
