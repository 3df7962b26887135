#include "inject/images.h"

#include "base/idmap.h"
#include "base/status.h"
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"
#include "inject/lines.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK_BYTES = 512 }; /* of st_blocks, by POSIX */

/* Nobody's function is larger: a line that claims more is no function. */
static const uint64_t SIZE_LIMIT = UINT64_C(1) << 32;

/* All codes of a process, as a list through next[]. */
struct group {
	uint32_t pid;
	uint32_t first; /* index + 1 */
	uint32_t last;
	uint32_t last_mapping; /* into build.mappings: index + 1 */
	bool has_unwinding;
};

/* Of a process whose image has tables for unwinding. */
struct mapping {
	uint64_t start_avma;
	uint64_t size;
	uint32_t before; /* another one of the process: index + 1 */
};

struct build {
	struct images *images;
	struct load *load;
	const struct images_options *options;
	VECTOR(struct group) groups;
	struct idmap group_of_pid;
	VECTOR(struct mapping) mappings;
	uint32_t *next; /* by code: index + 1 */
	struct sink name;
	struct arena names; /* of the image being built */
};

uint16_t images_machine(const struct perfdata *perf)
{
	static const struct {
		const char *arch;
		uint16_t machine;
	} machines[] = {
		{ "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 }, { "s390x", EM_S390 },
		{ "ppc64le", EM_PPC64 }, { "riscv64", EM_RISCV },   { "loongarch64", 258 },
	};
	const char *arch = perfdata_feature_text(perf, PERFDATA_FEATURE_ARCH);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (strcmp(machines[i].arch, arch) == 0)
			return machines[i].machine;
	return EM_X86_64;
}

static struct group *group_of(struct build *build, uint32_t pid)
{
	uint32_t *slot = idmap_put(&build->group_of_pid, pid);
	if (!slot)
		return NULL;
	if (!*slot) {
		struct group *group = vector_push(&build->groups);
		if (!group)
			return NULL;
		group->pid = pid;
		*slot = (uint32_t)build->groups.count;
	}
	return &build->groups.items[*slot - 1];
}

static int add_to_group(struct build *build, uint32_t index, uint32_t pid)
{
	struct group *group = group_of(build, pid);
	if (!group)
		return STATUS_NO_MEMORY;
	if (group->last)
		build->next[group->last - 1] = index + 1;
	else
		group->first = index + 1;
	group->last = index + 1;
	if (!group->has_unwinding) {
		struct jitdump_unwinding_info info;
		group->has_unwinding = load_code_unwinding(build->load, index, &info);
	}
	return 0;
}

/* Lists what is to be in images, by process. */
static int sort_out(struct build *build)
{
	const uint32_t count = load_code_count(build->load);
	build->next = calloc(count ? count : 1, sizeof(*build->next));
	if (!build->next || !vector_reserve(&build->images->codes, count))
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		struct load_code code;
		struct images_code *slot = vector_push(&build->images->codes);
		if (!slot || load_code(build->load, i, &code) < 0)
			return STATUS_NO_MEMORY;
		*slot = (struct images_code){ .start_avma = code.start_avma,
					      .end_avma = code.start_avma + code.size,
					      .time_ns = code.time_ns,
					      .image = IMAGES_NONE,
					      .unwind_map = IMAGES_NONE,
					      .pid = code.pid };
		/* perf finds BPF programs by the recording's own features. */
		const bool is_code = code.pid != LOAD_KERNEL_PID && code.size &&
				     code.size <= SIZE_LIMIT && slot->end_avma > slot->start_avma;
		const bool is_wanted = !build->options->wanted || build->options->wanted[i];
		if (is_code && is_wanted && !code.is_repeat && add_to_group(build, i, code.pid) < 0)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

static int name_of(struct build *build, const struct load_code *code, struct bytes *name)
{
	*name = code->name;
	if (!build->options->human_names)
		return 0;
	struct name_parts parts;
	sink_reset(&build->name);
	names_split(code->name, code->runtime, &parts, &build->name);
	uint8_t *copy =
	    sink_failed(&build->name) ? NULL : arena_alloc(&build->names, build->name.size, 1, 1);
	if (!copy)
		return STATUS_NO_MEMORY;
	memcpy(copy, build->name.data, build->name.size);
	*name = (struct bytes){ copy, build->name.size };
	return 0;
}

static int put_inlines(struct lines *lines, struct jitdump_about *inlines)
{
	struct jitdump_inline scope;
	int got = 0;
	while (got == 0 && jitdump_inline_next(inlines, &scope) > 0) {
		const uint32_t file = lines_source(lines, scope.call_file);
		if (file == UINT32_MAX)
			return STATUS_NO_MEMORY;
		got = image_inline(lines->image,
				   &(struct image_inline){ .offset = scope.offset,
							   .size = scope.size,
							   .depth = scope.depth,
							   .name = scope.name,
							   .call_file = file,
							   .call_line = scope.call_line });
	}
	return got;
}

static int add_function(struct build *build, struct image *image, struct lines *lines,
			uint32_t index)
{
	struct load_code code;
	struct image_function function;
	int got = load_code(build->load, index, &code);
	if (got == 0)
		got = name_of(build, &code, &function.name);
	if (got < 0)
		return got;
	function.start_avma = code.start_avma;
	function.size = code.size;
	function.code = code.code;
	got = image_function(image, &function);
	struct jitdump_debug_walk walk;
	if (got == 0 && load_code_lines(build->load, index, &walk))
		got = lines_put(lines, &walk, &code);
	struct jitdump_about inlines;
	if (got == 0 && load_code_inlines(build->load, index, &inlines))
		got = put_inlines(lines, &inlines);
	struct jitdump_unwinding_info info;
	if (got == 0 && load_code_unwinding(build->load, index, &info))
		got = image_unwinding(image, info.unwinding, info.eh_frame_hdr_size);
	return got;
}

static int take_mapping(struct build *build, const struct perfdata_mmap *map)
{
	const uint32_t index = idmap_get(&build->group_of_pid, map->pid);
	struct group *group = index ? &build->groups.items[index - 1] : NULL;
	if (!group || !group->has_unwinding)
		return 0;
	struct mapping *mapping = vector_push(&build->mappings);
	if (!mapping)
		return STATUS_NO_MEMORY;
	*mapping = (struct mapping){ map->start_avma, map->size, group->last_mapping };
	group->last_mapping = (uint32_t)build->mappings.count;
	return 0;
}

/* One walk over the recording for all its processes. */
static int take_mappings(struct build *build)
{
	struct perfdata *perf = load_recording(build->load);
	struct perfdata_record record;
	struct perfdata_mmap map;
	int got = 0;
	perfdata_rewind(perf);
	while (got == 0 && load_next(build->load, &record, "mappings") > 0)
		if ((record.type == PERFDATA_MMAP || record.type == PERFDATA_MMAP2) &&
		    perfdata_decode_mmap(perf, &record, &map) == 0)
			got = take_mapping(build, &map);
	return got;
}

/* Tables for unwinding must not come to lie where the process has anything else. */
static int avoid_mappings(const struct build *build, struct image *image, const struct group *group)
{
	int got = 0;
	for (uint32_t i = group->last_mapping; got == 0 && i;
	     i = build->mappings.items[i - 1].before) {
		const struct mapping *mapping = &build->mappings.items[i - 1];
		got = image_avoid(image, mapping->start_avma, mapping->size);
	}
	return got;
}

static const char *program_of(const struct build *build, uint32_t pid)
{
	const char *path = load_program_of(build->load, pid);
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int images_store(struct images *images, struct image *image, struct image_store *store,
		 const struct images_stored *what, struct images_image *item)
{
	const struct bytes build_id = image_build_id(image);
	int fd;
	item->pid = what->pid;
	int got = image_store_begin(store, &fd);
	if (got == 0)
		got = image_write(image, fd);
	struct stat file;
	if (got == 0 && fstat(fd, &file) == 0)
		images->bytes += (uint64_t)file.st_blocks * BLOCK_BYTES;
	if (got == 0)
		got = image_store_commit(store, what->pid, what->program, build_id, &item->path);
	if (got == 0)
		memcpy(item->build_id, build_id.data, sizeof(item->build_id));
	return got;
}

/* perf takes the lowest mapping of a path for the place of the tables: each map has a path that
 * only its own code shares.
 */
static int take_unwind_maps(struct build *build, const struct image *image,
			    struct images_image *item)
{
	struct images *images = build->images;
	item->first_unwind_map = (uint32_t)images->unwind_maps.count;
	item->unwind_map_count = (uint32_t)image_unwind_map_count(image);
	int got = 0;
	for (uint32_t i = 0; got == 0 && i < item->unwind_map_count; i++) {
		struct images_unwind_map *map = vector_push(&images->unwind_maps);
		if (!map)
			return STATUS_NO_MEMORY;
		map->map = image_unwind_map(image, i);
		got = image_store_alias(build->options->store, i + 1, &map->path);
	}
	return got;
}

static void take_places(struct build *build, const struct image *image, const struct group *group,
			const struct images_image *item)
{
	struct images *images = build->images;
	uint32_t function = 0;
	for (uint32_t i = group->first; i; i = build->next[i - 1], function++) {
		struct images_code *code = &images->codes.items[i - 1];
		const size_t map = image_unwind_map_of(image, function);
		code->image = (uint32_t)(item - images->items.items);
		code->file_off = image_file_off(image, function);
		code->end_avma = code->start_avma + image_function_size(image, function);
		if (map != SIZE_MAX)
			code->unwind_map = item->first_unwind_map + (uint32_t)map;
	}
}

static int keep_image(struct build *build, struct image *image, const struct group *group)
{
	struct images_image *item = vector_push(&build->images->items);
	if (!item)
		return STATUS_NO_MEMORY;
	const struct images_stored what = { group->pid, program_of(build, group->pid) };
	int got = images_store(build->images, image, build->options->store, &what, item);
	if (got == 0)
		got = take_unwind_maps(build, image, item);
	if (got == 0)
		take_places(build, image, group, item);
	return got;
}

static int build_one(struct build *build, const struct group *group)
{
	struct image *image;
	const struct image_options options = {
		.elf_machine = images_machine(load_recording(build->load)),
		.producer = build->options->producer,
		.has_unwind_maps = build->options->has_stacks,
	};
	int got = image_new(&image, &options);
	if (got < 0)
		return got;
	struct lines lines = { .image = image, .last_source = UINT32_MAX };
	for (uint32_t i = group->first; got == 0 && i; i = build->next[i - 1])
		got = add_function(build, image, &lines, i - 1);
	if (got == 0)
		got = avoid_mappings(build, image, group);
	if (got == 0)
		got = image_finish(image);
	if (got == 0)
		got = keep_image(build, image, group);
	lines_clear(&lines);
	image_free(image);
	arena_clear(&build->names);
	return got;
}

int images_build(struct images *images, struct load *load, const struct images_options *options)
{
	struct build build = { .images = images, .load = load, .options = options };
	int got = sort_out(&build);
	if (got == 0 && options->has_stacks)
		got = take_mappings(&build);
	for (size_t i = 0; got == 0 && i < build.groups.count; i++)
		got = build_one(&build, &build.groups.items[i]);
	vector_clear(&build.groups);
	idmap_clear(&build.group_of_pid);
	vector_clear(&build.mappings);
	sink_clear(&build.name);
	free(build.next);
	return got;
}

void images_clear(struct images *images)
{
	vector_clear(&images->codes);
	vector_clear(&images->items);
	vector_clear(&images->unwind_maps);
}
