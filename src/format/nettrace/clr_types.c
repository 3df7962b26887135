#include "format/nettrace/clr_internal.h"

enum {
	ID_BYTES = sizeof(uint64_t),
	/* Two ids, token, flags, a kind, an empty name, no arguments. */
	TYPE_MIN_BYTES = 2 * 8 + 2 * 4 + 1 + 2 + 4,
};

/* What a count of ids needs; the rest of the payload where the count is nonsense. */
static struct bytes take_ids(struct cursor *c, uint32_t count)
{
	if (!cursor_can_hold(c, count, ID_BYTES)) {
		cursor_fail(c);
		return (struct bytes){ 0 };
	}
	return cursor_take(c, (size_t)count * ID_BYTES);
}

void clr_read_details(struct cursor *c, struct clr_event *what)
{
	struct clr_event_method_details *details = &what->details;
	what->kind = CLR_EVENT_METHOD_DETAILS;
	details->method_id = cursor_u64(c);
	details->type_id = cursor_u64(c);
	details->token = cursor_u32(c);
	details->argument_count = cursor_u32(c);
	details->loader_module_id = cursor_u64(c);
	details->arguments = take_ids(c, details->argument_count);
}

void clr_read_types(struct cursor *c, struct clr_event *what)
{
	struct clr_event_types *types = &what->types;
	what->kind = CLR_EVENT_TYPES;
	types->count = cursor_u32(c);
	cursor_u16(c); /* the runtime's number in its process */
	if (!cursor_can_hold(c, types->count, TYPE_MIN_BYTES))
		cursor_fail(c);
	types->items = cursor_take(c, cursor_left(c));
}

bool clr_type_next(struct clr_event_types *types, struct clr_type *made)
{
	*made = (struct clr_type){ 0 };
	if (!types->count)
		return false;
	struct cursor c = nettrace_cursor(types->items);
	made->type_id = cursor_u64(&c);
	made->module_id = cursor_u64(&c);
	made->token = cursor_u32(&c);
	made->flags = cursor_u32(&c);
	cursor_u8(&c); /* the kind of element */
	made->name = clr_text_take(&c);
	made->argument_count = cursor_u32(&c);
	made->arguments = take_ids(&c, made->argument_count);
	types->items = (struct bytes){ c.pos, cursor_left(&c) };
	types->count--;
	if (!cursor_failed(&c))
		return true;
	types->count = 0;
	*made = (struct clr_type){ 0 };
	return false;
}
