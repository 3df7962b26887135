/* Any bytes as a stream of events, and its events decoded: everything borrowed lies in the file. */
#include "format/nettrace/clr_event.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	struct bytes file;
	uint64_t end;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void note_problem(void *context, const struct nettrace_problem *problem)
{
	struct told *told = context;
	require(problem->what && problem->offset >= told->end);
	told->end = problem->offset + problem->skipped_bytes;
	require(told->end <= told->file.size);
}

static void check_text(struct clr_text text, struct sink *out)
{
	sink_reset(out);
	clr_text_put(text, out);
	/* A unit of two bytes becomes three at most. */
	require(out->size <= text.units.size / 2 * 3);
}

static void check_rich(const struct clr_event_rich_map *map)
{
	struct clr_rich_inline node;
	struct clr_rich_mapping mapping;
	uint32_t *parents = malloc((map->inline_count + 1) * sizeof(*parents));
	require(parents != NULL);
	clr_rich_parents(map, parents);
	for (uint32_t i = 0; i < map->inline_count; i++) {
		uint32_t steps = 0;
		require(clr_rich_inline(map, i, &node));
		for (uint32_t at = i; parents[at] != UINT32_MAX && steps < 100; at = parents[at])
			require(parents[at] < map->inline_count && ++steps < map->inline_count);
	}
	for (uint32_t i = 0; i < map->mapping_count; i++)
		require(clr_rich_mapping(map, i, &mapping));
	require(!clr_rich_inline(map, map->inline_count, &node));
	require(!clr_rich_mapping(map, map->mapping_count, &mapping));
	free(parents);
}

static void check_il_map(const struct clr_event_il_map *map)
{
	int32_t il_off;
	uint32_t native_off;
	for (uint32_t i = 0; i < map->count; i++)
		require(clr_il_map_entry(map, i, &il_off, &native_off));
	require(!clr_il_map_entry(map, map->count, &il_off, &native_off));
}

static void check_what(const struct clr_event *what, struct sink *out)
{
	struct clr_event_types types = what->types;
	struct clr_type type;
	switch (what->kind) {
	case CLR_EVENT_METHOD:
	case CLR_EVENT_UNLOAD:
		require(what->method.tier != NULL);
		check_text(what->method.owner, out);
		check_text(what->method.name, out);
		check_text(what->method.signature, out);
		break;
	case CLR_EVENT_IL_MAP:
		check_il_map(&what->il_map);
		break;
	case CLR_EVENT_RICH_MAP:
		check_rich(&what->rich_map);
		break;
	case CLR_EVENT_MODULE:
		check_text(what->module.il_path, out);
		check_text(what->module.native_path, out);
		check_text(what->module.pdb_path, out);
		break;
	case CLR_EVENT_METHOD_DETAILS:
		require(what->details.arguments.size == what->details.argument_count * 8ULL);
		break;
	case CLR_EVENT_TYPES:
		while (clr_type_next(&types, &type))
			check_text(type.name, out);
		break;
	case CLR_EVENT_RICH_PART:
		abort();
	case CLR_EVENT_OTHER:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told told = { .file = { data, size } };
	const struct nettrace_options options = { note_problem, &told };
	struct nettrace_reader *reader;
	struct nettrace_event event;
	struct clr_rich_join join = { 0 };
	struct clr_event what;
	struct sink out = { 0 };
	uint64_t last = 0;
	int got = nettrace_open(&reader, told.file, &options);
	require(got <= 0 && (got == 0) == (reader != NULL));
	while (got >= 0 && (got = nettrace_next(reader, &event)) > 0) {
		require(event.offset > last && event.offset < size);
		last = event.offset;
		require(!event.payload.size ||
			(event.payload.data > data &&
			 event.payload.size <= (size_t)(data + size - event.payload.data)));
		clr_event_read(&event, nettrace_pointer_size(reader), &what);
		got = clr_rich_join_add(&join, &what);
		check_what(&what, &out);
	}
	require(got <= 0);
	clr_rich_join_clear(&join);
	sink_clear(&out);
	nettrace_free(reader);
	return 0;
}
