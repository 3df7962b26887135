/* Prints what a stream holds, one line an event, for the comparison with other readers. */
#include "format/nettrace/clr_event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void on_problem(void *context, const struct nettrace_problem *problem)
{
	(void)context;
	printf("problem %" PRIu64 " %" PRIu64 " %s\n", problem->offset, problem->skipped_bytes,
	       problem->what);
}

static void put_text(struct sink *out, struct clr_text text)
{
	sink_u8(out, '\t');
	clr_text_put(text, out);
}

static void put_method(struct sink *out, const struct clr_event *what)
{
	const struct clr_event_method *method = &what->method;
	sink_printf(out, "%s\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%x\t%x\t%x\t%" PRIx64 "\t%s",
		    what->kind == CLR_EVENT_UNLOAD ? "unload" : "method", method->method_id,
		    method->module_id, method->start_avma, method->size, method->token,
		    method->flags, method->rejit_id, method->tier);
	put_text(out, method->owner);
	put_text(out, method->name);
	put_text(out, method->signature);
}

static void put_il_map(struct sink *out, const struct clr_event_il_map *map)
{
	int32_t il_off;
	uint32_t native_off;
	sink_printf(out, "map\t%" PRIx64 "\t%" PRIx64 "\t%u\t", map->method_id, map->rejit_id,
		    map->count);
	for (uint32_t i = 0; clr_il_map_entry(map, i, &il_off, &native_off); i++)
		sink_printf(out, "%s%d:%x", i ? " " : "", il_off, native_off);
}

static void put_rich_map(struct sink *out, const struct clr_event_rich_map *map)
{
	struct clr_rich_inline node;
	struct clr_rich_mapping mapping;
	uint32_t *parents = calloc(map->inline_count + 1, sizeof(*parents));
	if (!parents)
		abort();
	clr_rich_parents(map, parents);
	sink_printf(out, "rich\t%" PRIx64 "\t%" PRIx64 "\t%u\t%u\t", map->method_id, map->rejit_id,
		    map->inline_count, map->mapping_count);
	for (uint32_t i = 0; clr_rich_inline(map, i, &node); i++)
		sink_printf(out, "%s%" PRIx64 "@%d<%d", i ? " " : "", node.method_id,
			    (int)node.il_off, (int)parents[i]);
	sink_u8(out, '\t');
	for (uint32_t i = 0; clr_rich_mapping(map, i, &mapping); i++)
		sink_printf(out, "%s%d:%x:%u:%x", i ? " " : "", mapping.il_off, mapping.native_off,
			    mapping.inlinee, mapping.source);
	free(parents);
}

static void put_module(struct sink *out, const struct clr_event_module *module)
{
	sink_printf(out, "module\t%" PRIx64 "\t%d\t%u\t", module->module_id, module->is_unload,
		    module->pdb_age);
	for (size_t i = 0; i < sizeof(module->pdb_guid); i++)
		sink_printf(out, "%02x", module->pdb_guid[i]);
	put_text(out, module->il_path);
	put_text(out, module->pdb_path);
}

static void put_types(struct sink *out, struct clr_event_types types)
{
	struct clr_type type;
	sink_printf(out, "types\t%u\t", types.count);
	while (clr_type_next(&types, &type)) {
		sink_printf(out, "%" PRIx64 "/%" PRIx64 "/%x/%u/", type.type_id, type.module_id,
			    type.token, type.argument_count);
		clr_text_put(type.name, out);
		sink_u8(out, ' ');
	}
}

static void put_event(struct sink *out, const struct nettrace_event *event,
		      const struct clr_event *what)
{
	sink_printf(out, "event\t%d\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%zu\n", event->provider,
		    event->id, event->version, event->time_ns, event->thread_id,
		    event->payload.size);
	if (what->kind != CLR_EVENT_OTHER)
		sink_printf(out, "%s", what->is_rundown ? "rundown " : "");
	switch (what->kind) {
	case CLR_EVENT_METHOD:
	case CLR_EVENT_UNLOAD:
		put_method(out, what);
		break;
	case CLR_EVENT_IL_MAP:
		put_il_map(out, &what->il_map);
		break;
	case CLR_EVENT_RICH_MAP:
		put_rich_map(out, &what->rich_map);
		break;
	case CLR_EVENT_MODULE:
		put_module(out, &what->module);
		break;
	case CLR_EVENT_METHOD_DETAILS:
		sink_printf(out, "details\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%x\t%u",
			    what->details.method_id, what->details.type_id,
			    what->details.loader_module_id, what->details.token,
			    what->details.argument_count);
		break;
	case CLR_EVENT_TYPES:
		put_types(out, what->types);
		break;
	case CLR_EVENT_RICH_PART:
	case CLR_EVENT_OTHER:
		return;
	}
	sink_u8(out, '\n');
}

int main(int argc, char **argv)
{
	struct stat status;
	const int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	const bool is_quiet = argc > 2;
	if (fd < 0 || fstat(fd, &status) < 0)
		return 2;
	const size_t size = (size_t)status.st_size;
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return 2;
	const struct nettrace_options options = { .on_problem = on_problem };
	struct nettrace_reader *reader;
	struct nettrace_event event;
	struct clr_rich_join join = { 0 };
	struct sink out = { 0 };
	uint64_t count = 0;
	int got = nettrace_open(&reader, (struct bytes){ data, size }, &options);
	if (got == 0)
		printf("stream\t%u\t%u\t%u\t%" PRIu64 "\n", nettrace_version(reader),
		       nettrace_pid(reader), nettrace_pointer_size(reader),
		       nettrace_start_ns(reader));
	while (got >= 0 && (got = nettrace_next(reader, &event)) > 0) {
		struct clr_event what;
		const int read = clr_event_read(&event, nettrace_pointer_size(reader), &what);
		count++;
		if (read < 0)
			printf("problem %" PRIu64 " payload\n", event.offset);
		if (clr_rich_join_add(&join, &what) < 0)
			abort();
		if (is_quiet)
			continue;
		sink_reset(&out);
		put_event(&out, &event, &what);
		fwrite(out.data, 1, out.size, stdout);
	}
	printf("end\t%d\t%" PRIu64 "\t%d\t%" PRIu64 "\n", got, count,
	       got == 0 && nettrace_is_whole(reader), reader ? nettrace_lost_events(reader) : 0);
	clr_rich_join_clear(&join);
	sink_clear(&out);
	nettrace_free(reader);
	munmap(data, size);
	return got < 0;
}
