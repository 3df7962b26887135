/* The tables of the Firefox Profiler's format, made of the profile. */
#include "base/status.h"
#include "export/firefox.h"

uint32_t firefox_set_add(struct firefox_set *set, uint32_t value)
{
	uint32_t *slot = idmap_put(&set->found, value);
	if (!slot)
		return INTERN_NONE;
	if (!*slot) {
		uint32_t *item = vector_push(&set->items);
		if (!item)
			return INTERN_NONE;
		*item = value;
		*slot = (uint32_t)set->items.count;
	}
	return *slot - 1;
}

uint32_t firefox_set_index(const struct firefox_set *set, uint32_t value)
{
	return idmap_get(&set->found, value) - 1;
}

void firefox_set_clear(struct firefox_set *set)
{
	idmap_clear(&set->found);
	vector_clear(&set->items);
}

static int add_string(struct firefox *ff, uint32_t string)
{
	return firefox_set_add(&ff->strings, string) == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static int add_functions(struct firefox *ff)
{
	for (size_t i = 0; i < ff->functions.items.count; i++) {
		const struct export_function *function = &ff->functions.items.items[i];
		if (add_string(ff, function->name) < 0 || add_string(ff, function->object) < 0 ||
		    add_string(ff, function->file) < 0)
			return STATUS_NO_MEMORY;
		if (function->object &&
		    firefox_set_add(&ff->resources, function->object) == INTERN_NONE)
			return STATUS_NO_MEMORY;
		if (function->file && firefox_set_add(&ff->sources, function->file) == INTERN_NONE)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* Who interprets is a level of its own even where no tier was told. */
static enum profile_level level_of(const struct profile *profile, const struct profile_frame *frame)
{
	const enum profile_level level = profile_function_level(profile, frame->function);
	return level == PROFILE_LEVEL_COMPILED && frame->is_interpreted ? PROFILE_LEVEL_INTERPRETER
									: level;
}

/* The number of a subcategory; INTERN_NONE without memory. */
static uint32_t subcategory_of(struct firefox *ff, const struct profile_function *function,
			       enum profile_level level)
{
	const struct profile *profile = ff->view->profile;
	const uint32_t key[] = { level, function->runtime, function->tier };
	const char *runtime = profile_text(profile, function->runtime);
	if (!*runtime || (!function->tier && strcmp(runtime, profile_level_key(level)) == 0))
		return 0;
	const uint32_t id = intern_bytes(&ff->subcategory_keys,
					 (struct bytes){ (const uint8_t *)key, sizeof(key) });
	if (id == INTERN_NONE)
		return INTERN_NONE;
	if (id > ff->subcategories.count) {
		struct firefox_subcategory *made = vector_push(&ff->subcategories);
		if (!made)
			return INTERN_NONE;
		made->runtime = function->runtime;
		made->tier = function->tier;
		made->level = (uint8_t)level;
		made->number = ++ff->subcategory_counts[level];
	}
	return ff->subcategories.items[id - 1].number;
}

/* Index + 1 of a symbol; INTERN_NONE without memory. Code at one address may have been replaced. */
static uint32_t symbol_of(struct firefox *ff, const struct firefox_symbol *symbol)
{
	const uint64_t key[] = { symbol->address, (uint64_t)symbol->lib << 32 | symbol->name };
	const uint32_t id =
	    intern_bytes(&ff->symbol_keys, (struct bytes){ (const uint8_t *)key, sizeof(key) });
	if (id == INTERN_NONE || id <= ff->symbols.count)
		return id;
	struct firefox_symbol *made = vector_push(&ff->symbols);
	if (!made || add_string(ff, symbol->name) < 0)
		return INTERN_NONE;
	*made = *symbol;
	return id;
}

/* Numbers of JavaScript hold 53 bits; of a kernel's address the upper ones are all the same. */
static uint64_t address_of(const struct profile_frame *frame)
{
	const uint64_t kept = (UINT64_C(1) << 47) - 1;
	return frame->object_avma >> 63 ? frame->object_avma & kept : frame->object_avma;
}

/* Memory that nobody knows has addresses, but is no library that a reader could ask for. */
static bool has_place(const struct firefox *ff, const struct profile_frame *frame)
{
	if (frame->is_interpreted || !frame->object_path)
		return false;
	return !export_function(ff->view->profile, frame)->is_unknown || frame->is_kernel ||
	       export_object_of(ff->view->about, frame->object_path);
}

/* Where the code of a frame lies. `outer` has it: what was inlined has no address of its own. */
static int place(struct firefox *ff, const struct profile_frame *outer, struct firefox_frame *frame)
{
	if (!has_place(ff, outer))
		return 0;
	const uint32_t lib = firefox_set_add(&ff->libs, outer->object_path);
	if (lib == INTERN_NONE)
		return STATUS_NO_MEMORY;
	frame->lib = lib + 1;
	frame->address = address_of(outer);
	if (!outer->has_offset || outer->offset > frame->address)
		return 0;
	const struct firefox_symbol symbol = {
		.address = frame->address - outer->offset,
		.lib = lib,
		.name = export_function(ff->view->profile, outer)->name,
	};
	frame->symbol = symbol_of(ff, &symbol);
	return frame->symbol == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static int add_frame(struct firefox *ff, const struct profile_frame *from)
{
	const struct profile *profile = ff->view->profile;
	struct firefox_frame made = { .level = (uint8_t)level_of(profile, from) };
	made.subcategory = subcategory_of(ff, export_function(profile, from), made.level);
	if (made.subcategory == INTERN_NONE)
		return STATUS_NO_MEMORY;
	const struct profile_frame *outer = from;
	while (outer->inlined_into) {
		outer = &profile->frames.items[outer->inlined_into - 1];
		made.inline_depth++;
	}
	struct firefox_frame *frame = vector_push(&ff->frames);
	if (!frame || place(ff, outer, &made) < 0)
		return STATUS_NO_MEMORY;
	*frame = made;
	return 0;
}

/* Stacks that begin alike share what they begin with. */
static int add_stack(struct firefox *ff, const struct profile_stack *stack)
{
	uint32_t node = 0;
	for (uint32_t i = stack->depth; i-- > 0;) {
		const uint32_t frame = ff->view->profile->frame_ids.items[stack->first + i];
		uint32_t *slot = idmap_put(&ff->node_of, (uint64_t)node << 32 | frame);
		if (!slot)
			return STATUS_NO_MEMORY;
		if (!*slot) {
			struct firefox_node *made = vector_push(&ff->nodes);
			if (!made)
				return STATUS_NO_MEMORY;
			*made = (struct firefox_node){ .frame = frame, .prefix = node };
			*slot = (uint32_t)ff->nodes.count;
		}
		node = *slot;
	}
	uint32_t *of_stack = vector_push(&ff->node_of_stack);
	if (!of_stack)
		return STATUS_NO_MEMORY;
	*of_stack = node;
	return 0;
}

/* How far apart samples are, as it was asked for, or as they are in the busiest thread. */
static uint64_t interval_of(const struct firefox *ff)
{
	const struct export_view *view = ff->view;
	const struct export_track *most = NULL;
	for (size_t i = 0; i < ff->tracks.items.count; i++)
		if (!most || ff->tracks.items.items[i].count > most->count)
			most = &ff->tracks.items.items[i];
	if (!most)
		return 0;
	const struct export_rate rate = export_rate_of(view->about, most->event);
	if (rate.frequency)
		return 1000000000 / rate.frequency;
	if (export_is_time(view->profile, most->event))
		return rate.period ? rate.period : most->weight / most->count;
	return (view->profile->last_ns - view->profile->first_ns) / most->count;
}

static uint64_t zero_of(const struct export_view *view)
{
	uint64_t zero_ns = view->profile->first_ns;
	if (view->events && view->events->items.count &&
	    view->events->items.items[0].time_ns < zero_ns)
		zero_ns = view->events->items.items[0].time_ns;
	return zero_ns;
}

int firefox_build(struct firefox *ff)
{
	const struct profile *profile = ff->view->profile;
	int got = export_functions_build(&ff->functions, profile, true);
	if (got == 0)
		got = export_tracks_build(&ff->tracks, ff->view);
	if (got == 0)
		got = add_functions(ff);
	for (size_t i = 0; got == 0 && i < profile->frames.count; i++)
		got = add_frame(ff, &profile->frames.items[i]);
	for (size_t i = 0; got == 0 && i < profile->stacks.count; i++)
		got = add_stack(ff, &profile->stacks.items[i]);
	if (got == 0)
		got = firefox_marker_strings(ff);
	idmap_clear(&ff->node_of);
	const uint64_t interval_ns = got == 0 ? interval_of(ff) : 0;
	ff->interval_ns = interval_ns ? interval_ns : 1000000;
	ff->zero_ns = zero_of(ff->view);
	return got;
}

void firefox_clear(struct firefox *ff)
{
	export_functions_clear(&ff->functions);
	export_tracks_clear(&ff->tracks);
	firefox_set_clear(&ff->strings);
	firefox_set_clear(&ff->libs);
	firefox_set_clear(&ff->resources);
	firefox_set_clear(&ff->sources);
	vector_clear(&ff->subcategories);
	intern_clear(&ff->subcategory_keys);
	vector_clear(&ff->symbols);
	intern_clear(&ff->symbol_keys);
	vector_clear(&ff->frames);
	vector_clear(&ff->nodes);
	idmap_clear(&ff->node_of);
	vector_clear(&ff->node_of_stack);
	vector_clear(&ff->weighings);
}
