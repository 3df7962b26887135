#include "load/clr_stream.h"

#include <string.h>

enum {
	KIND_LOAD = 1,
	KIND_RUNDOWN,
	KIND_UNLOAD,
	KIND_MODULE,
	KIND_IL_MAP,
	KIND_RICH,
	KIND_DETAILS,
	KIND_TYPES,

	TAG_NULL = 1,
	TAG_BEGIN = 5,
	TAG_END = 6,
	THREAD = 7,
};

static const struct {
	const char *provider;
	uint32_t id;
	uint32_t version;
} KINDS[] = {
	[KIND_LOAD] = { "Microsoft-Windows-DotNETRuntime", 143, 2 },
	[KIND_RUNDOWN] = { "Microsoft-Windows-DotNETRuntimeRundown", 144, 2 },
	[KIND_UNLOAD] = { "Microsoft-Windows-DotNETRuntime", 144, 2 },
	[KIND_MODULE] = { "Microsoft-Windows-DotNETRuntime", 152, 2 },
	[KIND_IL_MAP] = { "Microsoft-Windows-DotNETRuntime", 190, 1 },
	[KIND_RICH] = { "Microsoft-Windows-DotNETRuntimePrivate", 189, 0 },
	[KIND_DETAILS] = { "Microsoft-Windows-DotNETRuntime", 72, 0 },
	[KIND_TYPES] = { "Microsoft-Windows-DotNETRuntime", 15, 0 },
};

static void put_utf16(struct sink *out, const char *text)
{
	for (; text && *text; text++)
		sink_u16(out, (uint8_t)*text);
	sink_u16(out, 0);
}

static void begin_object(struct sink *out, const char *name, uint32_t version)
{
	sink_u8(out, TAG_BEGIN);
	sink_u8(out, TAG_BEGIN);
	sink_u8(out, TAG_NULL);
	sink_u32(out, version);
	sink_u32(out, version);
	sink_u32(out, (uint32_t)strlen(name));
	sink_text(out, name);
	sink_u8(out, TAG_END);
}

/* A block's header, as it is in front of events and metadata; returns where its size is told. */
static size_t begin_block(struct sink *out, const char *name)
{
	begin_object(out, name, 2);
	const size_t size_at = out->size;
	sink_u32(out, 0);
	sink_zeros(out, -out->size % 4);
	sink_u16(out, 20);
	sink_u16(out, 0); /* not compressed */
	sink_zeros(out, 16);
	return size_at;
}

static void end_block(struct sink *out, size_t size_at)
{
	const size_t start = (size_at + 4 + 3) / 4 * 4;
	sink_patch_u32(out, size_at, (uint32_t)(out->size - start));
	sink_u8(out, TAG_END);
}

/* An event's header and payload, which is cleared. */
static void put_blob(struct sink *out, uint32_t kind, uint64_t time_ns, struct sink *payload)
{
	sink_u32(out, (uint32_t)payload->size + 76);
	sink_u32(out, kind);
	sink_u32(out, 0);
	sink_u64(out, THREAD);
	sink_u64(out, THREAD);
	sink_u32(out, 0);
	sink_u32(out, 0);
	sink_u64(out, time_ns);
	sink_zeros(out, 32);
	sink_u32(out, (uint32_t)payload->size);
	sink_put(out, payload->data, payload->size);
	sink_zeros(out, -out->size % 4);
	sink_clear(payload);
}

static void put_event(struct sink *out, uint32_t kind, uint64_t time_ns, struct sink *payload)
{
	const size_t size_at = begin_block(out, "EventBlock");
	put_blob(out, kind, time_ns, payload);
	end_block(out, size_at);
}

void clr_stream_begin(struct sink *out, uint32_t pid)
{
	sink_text(out, "Nettrace");
	sink_u32(out, 20);
	sink_text(out, "!FastSerialization.1");
	begin_object(out, "Trace", 4);
	sink_zeros(out, 16);
	sink_u64(out, 1);
	sink_u64(out, 1000000000);
	sink_u32(out, 8);
	sink_u32(out, pid);
	sink_u32(out, 1);
	sink_u32(out, 1000000);
	sink_u8(out, TAG_END);
	const size_t size_at = begin_block(out, "MetadataBlock");
	for (uint32_t i = 1; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		struct sink payload = { 0 };
		sink_u32(&payload, i);
		put_utf16(&payload, KINDS[i].provider);
		sink_u32(&payload, KINDS[i].id);
		put_utf16(&payload, "");
		sink_u64(&payload, 0);
		sink_u32(&payload, KINDS[i].version);
		sink_u32(&payload, 5);
		sink_u32(&payload, 0);
		put_blob(out, 0, 1, &payload);
	}
	end_block(out, size_at);
}

void clr_stream_end(struct sink *out)
{
	sink_u8(out, TAG_NULL);
}

void clr_stream_method(struct sink *out, const struct clr_stream_method *method)
{
	struct sink payload = { 0 };
	sink_u64(&payload, method->method_id);
	sink_u64(&payload, method->module_id);
	sink_u64(&payload, method->start_avma);
	sink_u32(&payload, method->size);
	sink_u32(&payload, method->token);
	sink_u32(&payload, method->flags);
	put_utf16(&payload, method->owner);
	put_utf16(&payload, method->name);
	put_utf16(&payload, method->signature);
	sink_u16(&payload, 0);
	sink_u64(&payload, method->version_id);
	put_event(out,
		  method->is_unload    ? KIND_UNLOAD
		  : method->is_rundown ? KIND_RUNDOWN
				       : KIND_LOAD,
		  method->time_ns, &payload);
}

void clr_stream_module(struct sink *out, const struct clr_stream_module *module)
{
	static const uint8_t no_guid[16];
	struct sink payload = { 0 };
	sink_u64(&payload, module->module_id);
	sink_u64(&payload, 1);
	sink_u32(&payload, 0);
	sink_u32(&payload, 0);
	put_utf16(&payload, module->path);
	put_utf16(&payload, "");
	sink_u16(&payload, 0);
	sink_put(&payload, module->pdb_guid ? module->pdb_guid : no_guid, sizeof(no_guid));
	sink_u32(&payload, 1);
	put_utf16(&payload, module->pdb_path);
	sink_zeros(&payload, 16);
	sink_u32(&payload, 0);
	put_utf16(&payload, "");
	put_event(out, KIND_MODULE, module->time_ns, &payload);
}

void clr_stream_il_map(struct sink *out, const struct clr_stream_method *method,
		       const struct clr_stream_pair *pairs, uint16_t count)
{
	struct sink payload = { 0 };
	sink_u64(&payload, method->method_id);
	sink_u64(&payload, method->version_id);
	sink_u8(&payload, 0);
	sink_u16(&payload, count);
	for (uint16_t i = 0; i < count; i++)
		sink_u32(&payload, (uint32_t)pairs[i].il_off);
	for (uint16_t i = 0; i < count; i++)
		sink_u32(&payload, pairs[i].native_off);
	sink_u16(&payload, 0);
	sink_u64(&payload, 0);
	put_event(out, KIND_IL_MAP, method->time_ns, &payload);
}

void clr_stream_rich(struct sink *out, const struct clr_stream_method *method,
		     const struct clr_stream_rich *rich)
{
	struct sink data = { 0 };
	sink_u32(&data, rich->node_count);
	sink_u32(&data, rich->mapping_count);
	for (uint32_t i = 0; i < rich->node_count; i++) {
		sink_u64(&data, rich->nodes[i].method_id);
		sink_u32(&data, 0x12345678); /* as .NET leaves it */
		sink_u32(&data, rich->nodes[i].child);
		sink_u32(&data, rich->nodes[i].sibling);
	}
	for (uint32_t i = 0; i < rich->mapping_count; i++) {
		sink_u32(&data, (uint32_t)rich->mappings[i].il_off);
		sink_u32(&data, rich->mappings[i].node);
		sink_u32(&data, rich->mappings[i].native_off);
		sink_u8(&data, 2);
	}
	struct sink payload = { 0 };
	sink_u16(&payload, 0);
	sink_u64(&payload, method->method_id);
	sink_u64(&payload, method->version_id);
	sink_u64(&payload, 0);
	sink_u32(&payload, 0x80000000);
	sink_u32(&payload, (uint32_t)data.size);
	sink_put(&payload, data.data, data.size);
	sink_clear(&data);
	put_event(out, KIND_RICH, method->time_ns, &payload);
}

void clr_stream_details(struct sink *out, uint64_t method_id, uint64_t type_id, uint32_t token)
{
	struct sink payload = { 0 };
	sink_u64(&payload, method_id);
	sink_u64(&payload, type_id);
	sink_u32(&payload, token);
	sink_u32(&payload, 0);
	sink_u64(&payload, 0);
	put_event(out, KIND_DETAILS, 1, &payload);
}

void clr_stream_type(struct sink *out, uint64_t type_id, uint64_t module_id)
{
	struct sink payload = { 0 };
	sink_u32(&payload, 1);
	sink_u16(&payload, 0);
	sink_u64(&payload, type_id);
	sink_u64(&payload, module_id);
	sink_u32(&payload, 0x02000001);
	sink_u32(&payload, 0);
	sink_u8(&payload, 0x12);
	put_utf16(&payload, "");
	sink_u32(&payload, 0);
	put_event(out, KIND_TYPES, 1, &payload);
}
