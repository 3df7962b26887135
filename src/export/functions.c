#include "export/functions.h"

#include "base/idmap.h"
#include "base/status.h"

/* What reports take for one function. */
struct key {
	uint32_t name;
	uint32_t object;
	uint32_t runtime;
};

struct most {
	uint32_t file; /* string */
	uint32_t count;
};

struct build {
	const struct profile *profile;
	bool by_file;
	struct intern keys;           /* ids of keys, as their bytes */
	VECTOR(uint32_t) of_function; /* key, by function of the profile */
	VECTOR(struct most) most;     /* frames of one file, by key */
	struct idmap found;           /* by key and file: id + 1 */
};

static int find_keys(struct build *build)
{
	const struct profile *profile = build->profile;
	if (!vector_reserve(&build->of_function, profile->functions.count))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < profile->functions.count; i++) {
		const struct profile_function *function = &profile->functions.items[i];
		const struct key key = { function->name, function->object, function->runtime };
		uint32_t *id = vector_push(&build->of_function);
		if (!id)
			return STATUS_NO_MEMORY;
		*id = intern_bytes(&build->keys,
				   (struct bytes){ (const uint8_t *)&key, sizeof(key) });
		if (*id == INTERN_NONE)
			return STATUS_NO_MEMORY;
		while (build->most.count <= *id)
			if (!vector_push(&build->most))
				return STATUS_NO_MEMORY;
	}
	return 0;
}

static int find_files(struct build *build)
{
	struct idmap counts = { 0 };
	int got = 0;
	for (size_t i = 0; got == 0 && i < build->profile->frames.count; i++) {
		const struct profile_frame *frame = &build->profile->frames.items[i];
		const uint32_t key = build->of_function.items[frame->function];
		struct most *most = &build->most.items[key];
		if (!frame->file)
			continue;
		uint32_t *count = idmap_put(&counts, (uint64_t)key << 32 | frame->file);
		if (!count)
			got = STATUS_NO_MEMORY;
		else if (++*count > most->count)
			*most = (struct most){ frame->file, *count };
	}
	idmap_clear(&counts);
	return got;
}

static int add_frame(struct build *build, struct export_functions *functions, uint32_t id)
{
	const struct profile_frame *frame = &build->profile->frames.items[id];
	const uint32_t key = build->of_function.items[frame->function];
	const uint32_t file =
	    build->by_file && frame->file ? frame->file : build->most.items[key].file;
	uint32_t *of_frame = vector_push(&functions->of_frame);
	uint32_t *slot = idmap_put(&build->found, (uint64_t)key << 32 | file);
	if (!of_frame || !slot)
		return STATUS_NO_MEMORY;
	if (!*slot) {
		const struct profile_function *from =
		    &build->profile->functions.items[frame->function];
		struct export_function *function = vector_push(&functions->items);
		if (!function)
			return STATUS_NO_MEMORY;
		*function = (struct export_function){ .name = from->name,
						      .object = from->object,
						      .runtime = from->runtime,
						      .file = file,
						      .frame = id };
		*slot = (uint32_t)functions->items.count;
	}
	*of_frame = *slot - 1;
	struct export_function *function = &functions->items.items[*of_frame];
	if (frame->file == file && frame->line && (!function->line || frame->line < function->line))
		function->line = frame->line;
	return 0;
}

int export_functions_build(struct export_functions *functions, const struct profile *profile,
			   bool by_file)
{
	struct build build = { .profile = profile, .by_file = by_file };
	*functions = (struct export_functions){ 0 };
	int got = find_keys(&build);
	if (got == 0)
		got = find_files(&build);
	for (uint32_t i = 0; got == 0 && i < profile->frames.count; i++)
		got = add_frame(&build, functions, i);
	intern_clear(&build.keys);
	vector_clear(&build.of_function);
	vector_clear(&build.most);
	idmap_clear(&build.found);
	if (got < 0)
		export_functions_clear(functions);
	return got;
}

void export_functions_clear(struct export_functions *functions)
{
	vector_clear(&functions->items);
	vector_clear(&functions->of_frame);
}
