#include "export/functions.h"

#include "base/idmap.h"
#include "base/status.h"

/* What reports take for one function. */
struct key {
	uint32_t name;
	uint32_t object;
	uint32_t runtime;
};

struct build {
	const struct profile *profile;
	struct intern keys;           /* ids of keys, as their bytes */
	VECTOR(uint32_t) of_function; /* key, by function of the profile */
	VECTOR(uint32_t) file_of_key; /* string; INTERN_NONE: there are several */
	struct idmap found;           /* by key and file: id + 1 */
};

static int find_keys(struct build *build)
{
	const struct profile *profile = build->profile;
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
		while (build->file_of_key.count <= *id)
			if (!vector_push(&build->file_of_key))
				return STATUS_NO_MEMORY;
	}
	return 0;
}

static void find_files(struct build *build)
{
	for (size_t i = 0; i < build->profile->frames.count; i++) {
		const struct profile_frame *frame = &build->profile->frames.items[i];
		const uint32_t key = build->of_function.items[frame->function];
		uint32_t *file = &build->file_of_key.items[key];
		if (!frame->file || *file == frame->file)
			continue;
		*file = *file ? (uint32_t)INTERN_NONE : frame->file;
	}
}

static uint32_t file_of(const struct build *build, const struct profile_frame *frame, uint32_t key)
{
	const uint32_t only = build->file_of_key.items[key];
	return frame->file || only == INTERN_NONE ? frame->file : only;
}

static int add_frame(struct build *build, struct export_functions *functions, uint32_t id)
{
	const struct profile_frame *frame = &build->profile->frames.items[id];
	const uint32_t key = build->of_function.items[frame->function];
	const uint32_t file = file_of(build, frame, key);
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
	if (frame->file && frame->line && (!function->line || frame->line < function->line))
		function->line = frame->line;
	return 0;
}

int export_functions_build(struct export_functions *functions, const struct profile *profile)
{
	struct build build = { .profile = profile };
	*functions = (struct export_functions){ 0 };
	int got = find_keys(&build);
	if (got == 0)
		find_files(&build);
	for (uint32_t i = 0; got == 0 && i < profile->frames.count; i++)
		got = add_frame(&build, functions, i);
	intern_clear(&build.keys);
	vector_clear(&build.of_function);
	vector_clear(&build.file_of_key);
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
