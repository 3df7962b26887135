#include "format/nettrace/clr_internal.h"

#include "base/status.h"

/* Numbers of events, as the manifest gives them. */
enum {
	BULK_TYPE = 15,
	METHOD_DETAILS = 72,
	METHOD_LOAD = 141,
	METHOD_UNLOAD = 142,
	METHOD_LOAD_VERBOSE = 143,
	METHOD_UNLOAD_VERBOSE = 144,
	MODULE_LOAD = 152,
	MODULE_UNLOAD = 153,
	IL_MAP = 190,

	RUNDOWN_METHOD_START = 141,
	RUNDOWN_METHOD_END = 142,
	RUNDOWN_METHOD_START_VERBOSE = 143,
	RUNDOWN_METHOD_END_VERBOSE = 144,
	RUNDOWN_IL_MAP_START = 149,
	RUNDOWN_IL_MAP_END = 150,
	RUNDOWN_MODULE_START = 153,
	RUNDOWN_MODULE_END = 154,

	PRIVATE_RICH_MAP = 189,
};

enum {
	METHOD_DYNAMIC = 0x1,
	METHOD_GENERIC = 0x2,
	METHOD_JITTED = 0x8,
	METHOD_TIER_SHIFT = 7,
	METHOD_TIER_MASK = 7,

	MODULE_DYNAMIC = 0x2,
	MODULE_READY_TO_RUN = 0x20,

	MAP_ENTRY_BYTES = sizeof(uint32_t),
	REPLACEMENT = 0xfffd,
};

static void put_utf8(uint32_t rune, struct sink *out)
{
	if (rune < 0x80) {
		sink_u8(out, (uint8_t)rune);
		return;
	}
	if (rune < 0x800) {
		sink_u8(out, (uint8_t)(0xc0 | rune >> 6));
	} else {
		if (rune < 0x10000) {
			sink_u8(out, (uint8_t)(0xe0 | rune >> 12));
		} else {
			sink_u8(out, (uint8_t)(0xf0 | rune >> 18));
			sink_u8(out, (uint8_t)(0x80 | (rune >> 12 & 0x3f)));
		}
		sink_u8(out, (uint8_t)(0x80 | (rune >> 6 & 0x3f)));
	}
	sink_u8(out, (uint8_t)(0x80 | (rune & 0x3f)));
}

void clr_text_put(struct clr_text text, struct sink *out)
{
	struct cursor c = nettrace_cursor(text.units);
	while (cursor_left(&c) >= sizeof(uint16_t)) {
		uint32_t rune = cursor_u16(&c);
		if (rune >= 0xd800 && rune < 0xe000) {
			struct cursor ahead = c;
			const uint32_t low = cursor_u16(&ahead);
			if (rune < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
				rune = 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00);
				c = ahead;
			} else {
				rune = REPLACEMENT;
			}
		}
		put_utf8(rune, out);
	}
}

/* Precompiled code has no tier of the JIT's. */
static const char *tier_of(uint32_t flags)
{
	static const char *const TIERS[METHOD_TIER_MASK + 1] = {
		"",
		"MinOptJitted",
		"Optimized",
		"QuickJitted",
		"OptimizedTier1",
		"OptimizedTier1OSR",
		"InstrumentedTier",
		"InstrumentedTierOptimized",
	};
	if (flags & CLR_METHOD_HELPER)
		return "";
	if (!(flags & METHOD_JITTED))
		return "PreJIT";
	return TIERS[flags >> METHOD_TIER_SHIFT & METHOD_TIER_MASK];
}

static void read_method(struct cursor *c, uint32_t version, bool has_names, struct clr_event *what)
{
	struct clr_event_method *method = &what->method;
	method->method_id = cursor_u64(c);
	method->module_id = cursor_u64(c);
	method->start_avma = cursor_u64(c);
	method->size = cursor_u32(c);
	method->token = cursor_u32(c);
	method->flags = cursor_u32(c);
	if (has_names) {
		method->owner = clr_text_take(c);
		method->name = clr_text_take(c);
		method->signature = clr_text_take(c);
	}
	if (version >= 1)
		cursor_u16(c); /* the runtime's number in its process */
	if (version >= 2)
		method->rejit_id = cursor_u64(c);
	method->tier = tier_of(method->flags);
	method->is_dynamic = method->flags & METHOD_DYNAMIC;
	method->is_generic = method->flags & METHOD_GENERIC;
	method->is_jitted = method->flags & METHOD_JITTED;
}

static void read_il_map(struct cursor *c, uint32_t version, struct clr_event *what)
{
	struct clr_event_il_map *map = &what->il_map;
	what->kind = CLR_EVENT_IL_MAP;
	map->method_id = cursor_u64(c);
	map->rejit_id = cursor_u64(c);
	cursor_u8(c); /* hot or cold: always hot */
	map->count = cursor_u16(c);
	map->il_offs = cursor_take(c, (size_t)map->count * MAP_ENTRY_BYTES);
	map->native_offs = cursor_take(c, (size_t)map->count * MAP_ENTRY_BYTES);
	cursor_u16(c); /* the runtime's number */
	if (version >= 1)
		map->il_version = cursor_u64(c);
}

bool clr_il_map_entry(const struct clr_event_il_map *map, uint32_t index, int32_t *il_off,
		      uint32_t *native_off)
{
	if (index >= map->count)
		return false;
	struct cursor il = nettrace_cursor(map->il_offs);
	struct cursor native = nettrace_cursor(map->native_offs);
	cursor_take(&il, (size_t)index * MAP_ENTRY_BYTES);
	cursor_take(&native, (size_t)index * MAP_ENTRY_BYTES);
	*il_off = (int32_t)cursor_u32(&il);
	*native_off = cursor_u32(&native);
	return !cursor_failed(&il) && !cursor_failed(&native);
}

static void read_module(struct cursor *c, uint32_t version, struct clr_event *what)
{
	struct clr_event_module *module = &what->module;
	what->kind = CLR_EVENT_MODULE;
	module->module_id = cursor_u64(c);
	module->assembly_id = cursor_u64(c);
	module->flags = cursor_u32(c);
	cursor_u32(c); /* reserved */
	module->il_path = clr_text_take(c);
	module->native_path = clr_text_take(c);
	if (version >= 1)
		cursor_u16(c); /* the runtime's number */
	if (version >= 2) {
		const struct bytes guid = cursor_take(c, sizeof(module->pdb_guid));
		if (guid.size)
			memcpy(module->pdb_guid, guid.data, guid.size);
		module->pdb_age = cursor_u32(c);
		module->pdb_path = clr_text_take(c);
	}
	module->is_dynamic = module->flags & MODULE_DYNAMIC;
	module->is_ready_to_run = module->flags & MODULE_READY_TO_RUN;
}

static void read_runtime(const struct nettrace_event *event, struct cursor *c,
			 struct clr_event *what)
{
	switch (event->id) {
	case METHOD_LOAD:
	case METHOD_LOAD_VERBOSE:
		what->kind = CLR_EVENT_METHOD;
		read_method(c, event->version, event->id == METHOD_LOAD_VERBOSE, what);
		break;
	case METHOD_UNLOAD:
	case METHOD_UNLOAD_VERBOSE:
		what->kind = CLR_EVENT_UNLOAD;
		read_method(c, event->version, event->id == METHOD_UNLOAD_VERBOSE, what);
		break;
	case IL_MAP:
		read_il_map(c, event->version, what);
		break;
	case MODULE_LOAD:
	case MODULE_UNLOAD:
		read_module(c, event->version, what);
		what->module.is_unload = event->id == MODULE_UNLOAD;
		break;
	case METHOD_DETAILS:
		clr_read_details(c, what);
		break;
	case BULK_TYPE:
		clr_read_types(c, what);
		break;
	default:
		break;
	}
}

static void read_rundown(const struct nettrace_event *event, struct cursor *c,
			 struct clr_event *what)
{
	what->is_rundown = true;
	switch (event->id) {
	case RUNDOWN_METHOD_START:
	case RUNDOWN_METHOD_END:
	case RUNDOWN_METHOD_START_VERBOSE:
	case RUNDOWN_METHOD_END_VERBOSE:
		what->kind = CLR_EVENT_METHOD;
		read_method(c, event->version, event->id >= RUNDOWN_METHOD_START_VERBOSE, what);
		break;
	case RUNDOWN_IL_MAP_START:
	case RUNDOWN_IL_MAP_END:
		read_il_map(c, event->version, what);
		break;
	case RUNDOWN_MODULE_START:
	case RUNDOWN_MODULE_END:
		read_module(c, event->version, what);
		break;
	default:
		break;
	}
}

int clr_event_read(const struct nettrace_event *event, uint32_t pointer_size,
		   struct clr_event *what)
{
	struct cursor c = nettrace_cursor(event->payload);
	*what = (struct clr_event){ 0 };
	switch (event->provider) {
	case NETTRACE_RUNTIME:
		read_runtime(event, &c, what);
		break;
	case NETTRACE_RUNDOWN:
		read_rundown(event, &c, what);
		break;
	case NETTRACE_PRIVATE:
		if (event->id == PRIVATE_RICH_MAP)
			clr_read_rich(&c, pointer_size, what);
		break;
	case NETTRACE_OTHER:
		break;
	}
	if (!cursor_failed(&c))
		return 0;
	*what = (struct clr_event){ 0 };
	return STATUS_CORRUPT;
}
