#include "load/merge.h"

#include "base/status.h"
#include "load/evaluator.h"
#include "load/naming.h"
#include "load/walked.h"

#include <stdio.h>
#include <stdlib.h>

/* Kept while a profile is filled. */
struct merge_cache {
	VECTOR(uint8_t) roles;   /* by function: 0 is not looked at; else see role_of() */
	struct idmap explained;  /* by (frame, reason): frame + 1 */
	struct idmap with_lines; /* by (frame, frame of an interpreter): frame + 1 */
	merge_units merged;
};

#define NO_FRAME UINT32_MAX

/* More are of no slot that there is. */
enum { MAX_EVALUATORS = WALK_MAX_EVALUATORS };

enum { LANGUAGE_SHIFT = 4, ROLE_MASK = (1 << LANGUAGE_SHIFT) - 1 };

struct work {
	struct load *load;
	struct merge_cache *cache;
	const struct stacks_item *item;
	const struct merge_native *native;
	const merge_units *units;
	uint32_t ends[WALK_MAX_FRAMES + 2]; /* of each group: behind its last frame */
	ptrdiff_t group_count;
	ptrdiff_t next_group; /* of the next evaluator; below 0: it has none */
	size_t evaluators;
	size_t entered; /* index + 1: the last EVALUATOR_ENTERED that no evaluator followed */
	uint32_t told[MAX_EVALUATORS]; /* functions that a slot said interpret */
	size_t told_count;
	/* What interprets may have no symbol: so much from this frame's address on. */
	struct profile_frame told_code;
	uint32_t told_bytes; /* 0: none is told of */
	size_t tail;         /* where what starts programs begins, outside of all evaluators */
};

/* The outermost of what was inlined at an address: whose code it is. */
static const struct profile_frame *frame_around(const struct work *work, size_t index)
{
	const struct profile_frame *frames = work->load->profile->frames.items;
	const struct profile_frame *frame = &frames[work->units->items[index].frame];
	while (frame->inlined_into)
		frame = &frames[frame->inlined_into - 1];
	return frame;
}

static const struct profile_function *function_at(const struct work *work, size_t index)
{
	return &work->load->profile->functions.items[frame_around(work, index)->function];
}

static uint8_t look_up_role(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_function *function = &profile->functions.items[frame->function];
	enum walk_language language;
	const enum evaluator_role role =
	    frame->is_jit
		? evaluator_role_of_code(profile_text(profile, function->runtime), &language)
		: evaluator_role(profile_text(profile, function->raw_name), &language);
	return (uint8_t)(((unsigned)role + 1) | (unsigned)language << LANGUAGE_SHIFT);
}

/* The same function, or a part of it: compilers put that behind a dot. */
static bool is_part_of(const struct profile *profile, uint32_t part, uint32_t whole)
{
	const struct profile_function *of = &profile->functions.items[part];
	const struct profile_function *function = &profile->functions.items[whole];
	const char *name = profile_text(profile, function->raw_name);
	const size_t size = strlen(name);
	return part == whole || (of->object == function->object && !of->is_unknown &&
				 strncmp(profile_text(profile, of->raw_name), name, size) == 0 &&
				 profile_text(profile, of->raw_name)[size] == '.');
}

static bool was_told(const struct work *work, const struct profile_frame *frame)
{
	for (size_t i = 0; i < work->told_count; i++)
		if (is_part_of(work->load->profile, frame->function, work->told[i]))
			return true;
	return work->told_bytes && frame->object_path == work->told_code.object_path &&
	       frame->object_avma - work->told_code.object_avma < work->told_bytes;
}

/* What the code at an address is for the interpreter. */
static enum evaluator_role role_of(const struct work *work, size_t index)
{
	const struct profile_frame *frame = frame_around(work, index);
	uint8_t *known = &work->cache->roles.items[frame->function];
	if (work->units->items[index].is_kernel)
		return EVALUATOR_NONE;
	if (!frame->is_jit && was_told(work, frame))
		return EVALUATOR_ACTIVATION;
	if (!*known)
		*known = look_up_role(work->load->profile, frame);
	const enum evaluator_role role = (enum evaluator_role)((*known & ROLE_MASK) - 1);
	const bool is_ours = *known >> LANGUAGE_SHIFT == work->item->language;
	return is_ours || role == EVALUATOR_START ? role : EVALUATOR_NONE;
}

static bool make_room_for_roles(const struct work *work)
{
	struct merge_cache *cache = work->cache;
	const size_t functions = work->load->profile->functions.count;
	if (cache->roles.count >= functions)
		return true;
	if (!vector_reserve(&cache->roles, functions - cache->roles.count))
		return false;
	memset(cache->roles.items + cache->roles.count, 0, functions - cache->roles.count);
	cache->roles.count = functions;
	return true;
}

static void find_groups(struct work *work)
{
	const struct stacks_item *item = work->item;
	if (item->is_bare)
		work->ends[work->group_count++] = 0;
	for (uint32_t i = 0; i < item->frame_count; i++)
		if (item->frames[i].flags & WALK_FRAME_ENTRY || i + 1 == item->frame_count)
			work->ends[work->group_count++] = i + 1;
}

static uint32_t begin_of(const struct work *work, ptrdiff_t group)
{
	return group ? work->ends[group - 1] : 0;
}

static bool has_frames(const struct work *work, ptrdiff_t group)
{
	return group >= 0 && group < work->group_count && work->ends[group] > begin_of(work, group);
}

static void find_evaluators(struct work *work)
{
	work->tail = work->units->count;
	for (size_t i = 0; i < work->units->count; i++) {
		const enum evaluator_role role = role_of(work, i);
		if (role == EVALUATOR_START && work->tail > i)
			work->tail = i;
		else if (role == EVALUATOR_ACTIVATION || role == EVALUATOR_COMPILED) {
			work->evaluators++;
			work->tail = work->units->count;
		}
	}
}

/* The group of the innermost evaluator. Both whole, they are aligned at the root; PHP links a frame
 * before it enters what will run it.
 */
static ptrdiff_t first_group(const struct work *work)
{
	const ptrdiff_t more = work->group_count - (ptrdiff_t)work->evaluators;
	const bool is_whole = !work->native->is_cut && work->item->end == WALK_END_ROOT;
	if (!is_whole || !work->evaluators)
		return 0;
	if (more == 1)
		return work->item->is_bare || work->item->language == WALK_PHP;
	return more == -1 ? more : 0;
}

static bool put(const struct work *work, uint32_t frame, bool is_kernel)
{
	struct merge_unit *unit = vector_push(&work->cache->merged);
	if (unit)
		*unit = (struct merge_unit){ .frame = frame, .is_kernel = is_kernel };
	return unit != NULL;
}

static bool put_units(const struct work *work, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!put(work, work->units->items[i].frame, work->units->items[i].is_kernel))
			return false;
	return true;
}

/* The same frame with a reason; INTERN_NONE without memory. */
static uint32_t explained(const struct work *work, uint32_t frame, const char *reason)
{
	struct load *load = work->load;
	const uint32_t text = profile_intern(load, reason);
	uint32_t *known = text == INTERN_NONE
			      ? NULL
			      : idmap_put(&work->cache->explained, (uint64_t)frame << 32 | text);
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		struct profile_frame copy = load->profile->frames.items[frame];
		uint32_t id;
		copy.reason = text;
		if (load_put_frame(load, &copy, load->frame_load_ns.items[frame], &id) < 0)
			return INTERN_NONE;
		*known = id + 1;
	}
	return *known - 1;
}

/* A frame for the beginning of a C function. */
static int native_frame(const struct work *work, uint64_t avma, uint32_t *id)
{
	const struct address address = { .pid = work->item->pid,
					 .space = work->native->space,
					 .time_ns = work->native->time_ns,
					 .avma = avma };
	struct resolved resolved;
	const int got = load_resolve(work->load, &address, &resolved);
	*id = resolved.frame;
	return got;
}

/* What the walk told of evaluators. Those without a symbol and a size cannot be told from their
 * neighbours.
 */
static int find_told(struct work *work)
{
	uint32_t index = 0;
	struct stacks_evaluator evaluator;
	if (work->item->language != WALK_SLOT && work->item->language != WALK_LUAJIT)
		return 0;
	while (work->told_count < MAX_EVALUATORS &&
	       stacks_evaluator(work->load, work->item, &index, &evaluator)) {
		uint32_t id;
		if (native_frame(work, evaluator.avma, &id) < 0)
			return STATUS_NO_MEMORY;
		const struct profile *profile = work->load->profile;
		while (profile->frames.items[id].inlined_into)
			id = profile->frames.items[id].inlined_into - 1;
		const uint32_t function = profile->frames.items[id].function;
		if (evaluator.bytes) {
			work->told_code = profile->frames.items[id];
			work->told_bytes = evaluator.bytes;
		} else if (!profile->functions.items[function].is_unknown)
			work->told[work->told_count++] = function;
	}
	return 0;
}

/* Functions in C without a name are on the native stack under the one that they have there. */
static bool put_frame(const struct work *work, uint32_t index, bool has_native)
{
	const struct walk_frame *frame = &work->item->frames[index];
	const struct frames_code *code = stacks_code(work->load, work->item, frame);
	const bool is_nameless = code && code->kind == WALK_CODE_NATIVE && !*code->name;
	uint32_t id;
	if (is_nameless && (has_native || !frame->code_avma))
		return true;
	const int got = is_nameless ? native_frame(work, frame->code_avma, &id)
				    : walked_frame(work->load, work->item, frame, &id);
	if (got < 0)
		return false;
	if (index + 1 == work->item->frame_count && work->item->end != WALK_END_ROOT) {
		char reason[128];
		(void)snprintf(reason, sizeof(reason), "its callers are not known: %s",
			       frames_end_text(work->item->end));
		id = explained(work, id, reason);
	}
	return id != INTERN_NONE && put(work, id, false);
}

/* But for the frame `known`, which is there already; NO_FRAME: none is. */
static bool put_group(const struct work *work, ptrdiff_t group, uint32_t known, bool has_native)
{
	for (uint32_t i = begin_of(work, group); i < work->ends[group]; i++)
		if (i != known && !put_frame(work, i, has_native))
			return false;
	return true;
}

static bool put_without_group(const struct work *work, size_t index, ptrdiff_t group)
{
	const bool is_unlinked = group < 0 || (group == 0 && work->item->is_bare);
	char reason[128];
	(void)snprintf(reason, sizeof(reason), "no frame of the interpreter: %s",
		       is_unlinked                        ? "none is linked, as yet or any more"
		       : work->item->end == WALK_END_ROOT ? "another one runs here"
							  : frames_end_text(work->item->end));
	const uint32_t id = explained(work, work->units->items[index].frame, reason);
	return id != INTERN_NONE && put(work, id, false);
}

/* Does the name of compiled code, which may say more, tell of the same function? */
static bool is_name_of(const char *compiled, const char *name)
{
	const size_t size = strlen(name);
	return size && strncmp(compiled, name, size) == 0 &&
	       (!compiled[size] || compiled[size] == ' ');
}

/* A trace is named by where it begins: "alpha work.lua:3", or "main work.lua:12" outside of
 * functions.
 */
static bool is_name_of_trace(const char *compiled, const struct frames_code *code)
{
	const char *slash = strrchr(code->file, '/');
	const char *file = slash ? slash + 1 : code->file;
	const size_t size = strlen(compiled);
	const size_t length = strlen(code->name);
	if (code->kind == WALK_CODE_TOPLEVEL)
		return strncmp(compiled, "main ", 5) == 0 && *file &&
		       strncmp(compiled + 5, file, strlen(file)) == 0 &&
		       compiled[5 + strlen(file)] == ':';
	return length && size >= length && strcmp(compiled + size - length, code->name) == 0 &&
	       (size == length || compiled[size - length - 1] == ' ');
}

static bool is_function_of(const char *compiled, const struct frames_code *code)
{
	const size_t owner = strlen(code->owner);
	if (code->language == WALK_LUAJIT)
		return is_name_of_trace(compiled, code);
	if (owner && strncmp(compiled, code->owner, owner) == 0 &&
	    strncmp(compiled + owner, "::", 2) == 0)
		compiled += owner + 2;
	return is_name_of(compiled, code->name);
}

static bool is_function(const struct work *work, size_t index, uint32_t frame)
{
	static const enum runtime RUNTIMES[WALK_LANGUAGE_COUNT] = {
		[WALK_PHP] = RUNTIME_PHP,
		[WALK_RUBY] = RUNTIME_RUBY,
		[WALK_LUAJIT] = RUNTIME_LUAJIT,
	};
	const struct frames_code *code =
	    stacks_code(work->load, work->item, &work->item->frames[frame]);
	const char *name = profile_text(work->load->profile, function_at(work, index)->name);
	if (!code || !work->load->options.raw_names)
		return code && is_function_of(name, code);
	/* Shown is what the runtime calls it. */
	struct name_parts parts;
	struct sink human = { 0 };
	names_split((struct bytes){ (const uint8_t *)name, strlen(name) }, RUNTIMES[code->language],
		    &parts, &human);
	sink_u8(&human, 0);
	const bool is_it = !sink_failed(&human) && is_function_of((const char *)human.data, code);
	sink_clear(&human);
	return is_it;
}

/* Compiled code that has called something: it has left the line where frames have it. */
static int with_line(const struct work *work, size_t index, uint32_t frame, uint32_t *id)
{
	struct load *load = work->load;
	*id = work->units->items[index].frame;
	const struct profile_frame *compiled = &load->profile->frames.items[*id];
	if (!load->options.lines || compiled->line || compiled->inlined_into || index == 0 ||
	    work->units->items[index - 1].is_kernel)
		return 0;
	uint32_t told;
	const int got = walked_frame(load, work->item, &work->item->frames[frame], &told);
	uint32_t *known =
	    got < 0 ? NULL : idmap_put(&work->cache->with_lines, (uint64_t)*id << 32 | told);
	if (!known)
		return STATUS_NO_MEMORY;
	if (!*known) {
		struct profile_frame copy = load->profile->frames.items[*id];
		copy.file = load->profile->frames.items[told].file;
		copy.line = load->profile->frames.items[told].line;
		if (load_put_frame(load, &copy, load->frame_load_ns.items[*id], id) < 0)
			return STATUS_NO_MEMORY;
		*known = *id + 1;
	}
	*id = *known - 1;
	return 0;
}

/* Where a group has a function of the language itself first. */
static uint32_t first_own(const struct work *work, ptrdiff_t group)
{
	uint32_t first = begin_of(work, group);
	while (first + 1 < work->ends[group] && work->item->frames[first].flags & WALK_FRAME_NATIVE)
		first++;
	return first;
}

/* Compiled code stands for the first frame of a group, where that is its function. */
static bool put_compiled(const struct work *work, size_t index, ptrdiff_t group)
{
	const uint32_t first = first_own(work, group);
	uint32_t id = work->units->items[index].frame;
	const bool is_same = is_function(work, index, first);
	if (is_same && with_line(work, index, first, &id) < 0)
		return false;
	return put(work, id, false) && put_group(work, group, is_same ? first : NO_FRAME, true);
}

/* What runs one activation, innermost first, and what it is for. */
struct activation {
	size_t first;
	size_t evaluator; /* the last one */
	size_t compiled;  /* index + 1; 0: none */
};

static bool is_unknown(const struct work *work, size_t index)
{
	return !work->units->items[index].is_kernel && function_at(work, index)->is_unknown;
}

/* False where there is none at `first`: then `evaluator` is behind the parts of one. */
static bool find_activation(const struct work *work, size_t first, struct activation *found)
{
	const size_t count = work->units->count;
	size_t at = first;
	*found = (struct activation){ .first = first };
	for (; at < count; at++) {
		const enum evaluator_role role = role_of(work, at);
		if (role == EVALUATOR_COMPILED || (role == EVALUATOR_ENTERED && !found->compiled))
			found->compiled = at + 1;
		else if (role != EVALUATOR_PART && !(found->compiled && is_unknown(work, at)))
			break;
		if (role == EVALUATOR_COMPILED)
			break;
	}
	found->evaluator = at;
	return at < count && (role_of(work, at) == EVALUATOR_ACTIVATION ||
			      role_of(work, at) == EVALUATOR_COMPILED);
}

static bool put_activation(struct work *work, const struct activation *a)
{
	const ptrdiff_t group = work->next_group++;
	work->entered = 0;
	if (!has_frames(work, group)) {
		if (a->compiled)
			return put_units(work, a->first, a->evaluator + 1);
		return put_units(work, a->first, a->evaluator) &&
		       put_without_group(work, a->evaluator, group);
	}
	if (work->load->options.native_frames)
		return put_units(work, a->first, a->evaluator + 1) &&
		       put_group(work, group, NO_FRAME, true);
	return a->compiled ? put_compiled(work, a->compiled - 1, group)
			   : put_group(work, group, NO_FRAME, true);
}

/* Groups that no evaluator is there for. */
static bool put_rest(struct work *work)
{
	const ptrdiff_t first = work->next_group > 0 ? work->next_group : 0;
	const size_t before = work->cache->merged.count;
	for (ptrdiff_t group = first; group < work->group_count; group++) {
		uint32_t known = NO_FRAME;
		if (group == first && work->entered && has_frames(work, group) &&
		    is_function(work, work->entered - 1, first_own(work, group)))
			known = first_own(work, group);
		if (!put_group(work, group, known, false))
			return false;
	}
	if (!work->evaluators || !work->native->is_whole || work->cache->merged.count == before)
		return true;
	struct merge_unit *unit = &work->cache->merged.items[before];
	unit->frame = explained(work, unit->frame, "what interprets it is not on the native stack");
	return unit->frame != INTERN_NONE;
}

/* Parts whose evaluator is not on the native stack: it was not recorded, or cut. */
static bool are_hidden(const struct work *work, const struct activation *a)
{
	return a->evaluator > a->first && !a->compiled && a->evaluator == work->tail &&
	       !work->load->options.native_frames && work->next_group >= 0 &&
	       work->next_group < work->group_count;
}

/* Callers by frame pointers, in code that has none, are any words: what is nobody's memory is none.
 */
static bool is_no_caller(const struct work *work, size_t index)
{
	const struct profile *profile = work->load->profile;
	const struct profile_frame *frame = frame_around(work, index);
	return index > 0 && !work->units->items[index].is_kernel && work->item->frame_count &&
	       !work->load->options.native_frames && frame->trust == PROFILE_UNKNOWN &&
	       strcmp(profile_text(profile, frame->object_path), "[unknown]") == 0;
}

static bool merge(struct work *work)
{
	const size_t count = work->units->count;
	for (size_t i = 0; i < count;) {
		struct activation a;
		if (i == work->tail && !put_rest(work))
			return false;
		if (find_activation(work, i, &a)) {
			if (!put_activation(work, &a))
				return false;
			i = a.evaluator + 1;
			/* The frames say more than a trampoline that was made for one of them. */
			if (i < count && role_of(work, i) == EVALUATOR_TRAMPOLINE &&
			    has_frames(work, work->next_group - 1) &&
			    !work->load->options.native_frames)
				i++;
		} else if (is_no_caller(work, i)) {
			i++;
		} else if (are_hidden(work, &a)) {
			i = a.evaluator;
		} else if (!put_units(work, i, i + 1)) {
			return false;
		} else {
			if (role_of(work, i) == EVALUATOR_ENTERED)
				work->entered = i + 1;
			i++;
		}
	}
	return work->tail < count || put_rest(work);
}

int merge_stack(struct load *load, const struct stacks_item *item,
		const struct merge_native *native, merge_units *units)
{
	if (!load->merge)
		load->merge = calloc(1, sizeof(*load->merge));
	struct merge_cache *cache = load->merge;
	struct work work = {
		.load = load, .cache = cache, .item = item, .native = native, .units = units
	};
	if (!cache || find_told(&work) < 0 || !make_room_for_roles(&work))
		return STATUS_NO_MEMORY;
	find_groups(&work);
	find_evaluators(&work);
	work.next_group = first_group(&work);
	cache->merged.count = 0;
	if (!merge(&work))
		return STATUS_NO_MEMORY;
	const merge_units swap = *units;
	*units = cache->merged;
	cache->merged.items = swap.items;
	cache->merged.count = swap.count;
	cache->merged.capacity = swap.capacity;
	return 0;
}

void merge_free(struct load *load)
{
	walked_free(load);
	if (!load->merge)
		return;
	vector_clear(&load->merge->roles);
	vector_clear(&load->merge->merged);
	idmap_clear(&load->merge->explained);
	idmap_clear(&load->merge->with_lines);
	free(load->merge);
	load->merge = NULL;
}
