/* Finds the event streams of a recording, and fills the tables of their processes. */
#include "load/clr_internal.h"

#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CLOCK_MONOTONIC_ID = 1 };

/* One stream while it is read. */
struct stream {
	struct load *load;
	const char *name;
	struct clr_process *process;
	bool has_problem;
};

static void on_problem(void *context, const struct nettrace_problem *problem)
{
	struct stream *stream = context;
	if (stream->has_problem)
		return;
	stream->has_problem = true;
	load_add_note(stream->load, true, "%s: at byte %" PRIu64 ": %s", stream->name,
		      problem->offset, problem->what);
}

static int take_code(struct clr_process *p, const struct clr_event_method *told, uint64_t time_ns)
{
	struct clr_code *code = vector_push(&p->codes);
	if (!code)
		return STATUS_NO_MEMORY;
	*code =
	    (struct clr_code){ .start_avma = told->start_avma,
			       .size = told->size,
			       .time_ns = time_ns,
			       .method_id = told->method_id,
			       .version_id = told->rejit_id,
			       .module_id = told->module_id,
			       .token = told->is_dynamic ? 0 : told->token,
			       .is_jitted = told->is_jitted,
			       .is_helper = told->flags & CLR_METHOD_HELPER,
			       .tier = told->flags & CLR_METHOD_COLD ? "PreJit-cold" : told->tier,
			       .owner = told->owner,
			       .name = told->name,
			       .signature = told->signature };
	return 0;
}

static int take_unload(struct clr_process *p, const struct clr_event_method *told, uint64_t time_ns)
{
	struct clr_end *end = vector_push(&p->ends);
	if (!end)
		return STATUS_NO_MEMORY;
	*end = (struct clr_end){ .start_avma = told->start_avma,
				 .time_ns = time_ns,
				 .method_id = told->method_id };
	return 0;
}

static int take_map(struct clr_process *p, const struct clr_event *what, uint64_t time_ns)
{
	struct clr_map *map = vector_push(&p->maps);
	if (!map)
		return STATUS_NO_MEMORY;
	map->time_ns = time_ns;
	map->is_rich = what->kind == CLR_EVENT_RICH_MAP;
	if (map->is_rich) {
		map->rich = what->rich_map;
		map->method_id = what->rich_map.method_id;
		map->version_id = what->rich_map.rejit_id;
	} else {
		map->il = what->il_map;
		map->method_id = what->il_map.method_id;
		map->version_id = what->il_map.rejit_id;
	}
	return 0;
}

static int take_module(struct clr_process *p, const struct clr_event_module *told, uint64_t time_ns)
{
	struct clr_module *module = vector_push(&p->modules);
	if (!module)
		return STATUS_NO_MEMORY;
	*module = (struct clr_module){ .id = told->module_id,
				       .il_path = told->il_path,
				       .native_path = told->native_path,
				       .pdb_path = told->pdb_path,
				       .is_dynamic = told->is_dynamic,
				       .time_ns = time_ns };
	memcpy(module->pdb_guid, told->pdb_guid, sizeof(module->pdb_guid));
	return 0;
}

static int take_detail(struct clr_process *p, const struct clr_event_method_details *told,
		       uint64_t time_ns)
{
	struct clr_detail *detail = vector_push(&p->details);
	if (!detail)
		return STATUS_NO_MEMORY;
	*detail = (struct clr_detail){ told->method_id, told->type_id, time_ns, told->token };
	return 0;
}

static int take_types(struct clr_process *p, struct clr_event_types types, uint64_t time_ns)
{
	struct clr_type type;
	while (clr_type_next(&types, &type)) {
		struct clr_type_place *place = vector_push(&p->types);
		if (!place)
			return STATUS_NO_MEMORY;
		*place = (struct clr_type_place){ type.type_id, type.module_id, time_ns };
	}
	return 0;
}

static int take_event(struct clr_process *p, const struct clr_event *what, uint64_t told_ns)
{
	/* What was there at the end came at some time before it. */
	const uint64_t time_ns = what->is_rundown ? 0 : told_ns;
	switch (what->kind) {
	case CLR_EVENT_METHOD:
		return take_code(p, &what->method, time_ns);
	case CLR_EVENT_UNLOAD:
		return what->is_rundown ? 0 : take_unload(p, &what->method, time_ns);
	case CLR_EVENT_IL_MAP:
	case CLR_EVENT_RICH_MAP:
		return take_map(p, what, time_ns);
	case CLR_EVENT_MODULE:
		return what->module.is_unload ? 0 : take_module(p, &what->module, time_ns);
	case CLR_EVENT_METHOD_DETAILS:
		return take_detail(p, &what->details, time_ns);
	case CLR_EVENT_TYPES:
		return take_types(p, what->types, time_ns);
	default:
		return 0;
	}
}

static int keep_bytes(struct load *load, struct bytes *bytes)
{
	bytes->data = (const uint8_t *)arena_copy(&load->scratch, bytes->data, bytes->size);
	return bytes->data ? 0 : STATUS_NO_MEMORY;
}

/* What came in parts is good until the next one comes. */
static int keep_joined(struct load *load, struct clr_event_rich_map *map)
{
	const int got = keep_bytes(load, &map->inlines);
	return got < 0 ? got : keep_bytes(load, &map->mappings);
}

static int read_events(struct stream *stream, struct nettrace_reader *reader)
{
	struct clr_process *p = stream->process;
	const uint32_t pointer_size = nettrace_pointer_size(reader);
	struct nettrace_event event;
	struct clr_event what;
	struct clr_rich_join join = { 0 };
	int got = 0;
	while (got >= 0 && (got = nettrace_next(reader, &event)) > 0) {
		if (event.time_ns > p->last_ns)
			p->last_ns = event.time_ns;
		if (clr_event_read(&event, pointer_size, &what) < 0)
			continue;
		const bool is_part = what.kind == CLR_EVENT_RICH_PART;
		got = clr_rich_join_add(&join, &what);
		if (got == 0 && is_part && what.kind == CLR_EVENT_RICH_MAP)
			got = keep_joined(stream->load, &what.rich_map);
		if (got == 0)
			got = take_event(p, &what, event.time_ns);
	}
	clr_rich_join_clear(&join);
	return got < 0 ? got : 0;
}

/* Its stamps are those of CLOCK_MONOTONIC. */
static bool is_timed(const struct load *load)
{
	if (!perfdata_event_count(load->perf))
		return false;
	const struct perfdata_attr *attr = &perfdata_event(load->perf, 0)->attr;
	return (attr->flags & PERFDATA_ATTR_USE_CLOCKID) && attr->clockid == CLOCK_MONOTONIC_ID;
}

static int read_stream(struct load *load, const char *name, uint32_t pid, struct bytes bytes)
{
	struct stream stream = { .load = load, .name = name };
	const struct nettrace_options options = { .on_problem = on_problem, .context = &stream };
	struct nettrace_reader *reader;
	int got = nettrace_open(&reader, bytes, &options);
	if (got == STATUS_NO_MEMORY)
		return got;
	if (got < 0) {
		load_add_note(load, true, "%s: %s", name, status_text(got));
		return 0;
	}
	stream.process = clr_process_made(load, pid);
	if (stream.process) {
		stream.process->is_timed = is_timed(load);
		got = read_events(&stream, reader);
	}
	nettrace_free(reader);
	return stream.process ? got : STATUS_NO_MEMORY;
}

static bool ends_with(const char *name, const char *end)
{
	const size_t size = strlen(name);
	const size_t end_size = strlen(end);
	return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

int clr_read(struct load *load)
{
	int got = 0;
	for (size_t i = 0; load->bundle && got >= 0 && i < bundle_count(load->bundle); i++) {
		const struct bundle_member member = bundle_member(load->bundle, i);
		uint32_t pid;
		struct bytes bytes;
		const char *rest = load_member_of_process(member.name, &pid);
		if (!rest || strncmp(rest, "clr/", 4) != 0 || !ends_with(rest, ".nettrace"))
			continue;
		if (bundle_read(load->bundle, member.name, &bytes) < 0)
			load_add_note(load, true, "%s in the recording cannot be unpacked",
				      member.name);
		else
			got = read_stream(load, member.name, pid, bytes);
	}
	for (size_t i = 0; load->clr && got >= 0 && i < load->clr->processes.count; i++)
		got = clr_seal(&load->clr->processes.items[i]);
	return got;
}
