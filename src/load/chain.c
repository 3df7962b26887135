/* A sample's callchain becomes a stack of the profile. Chains repeat, so each
 * distinct one (address space and words) is resolved once for as long as all
 * its frames stay what they are.
 *
 * The frames that an interpreter's walk found are words behind the chain's own: two
 * of the stack (STACK_*), then three a frame, as they were written.
 */
#include "load/chain.h"

#include "base/hash.h"
#include "base/status.h"
#include "load/dumped.h"
#include "load/merge.h"
#include "names/names.h"
#include "os/random.h"

#include <stdlib.h>

enum { WORD = sizeof(uint64_t), CHAIN_LIMIT = 8192, UNWIND_LIMIT = 512 };

/* Among the words that are made here: the next is one of interpreted.h, about the address behind
 * it. The value is one that the kernel has no use for.
 */
#define MARK_INTERPRETED ((uint64_t)-4000)

enum { STACK_WORDS = 2, FRAME_WORDS = sizeof(struct walk_frame) / WORD };
/* The first word of a stack is its runtime's number above its pid; of the second: */
enum { STACK_LANGUAGE_SHIFT = 16, STACK_END_SHIFT = 24, STACK_BARE_SHIFT = 32 };

/* A chain is known by two hashes of its words and its address space, not by the
 * words: to look at them again would double what a sample touches.
 */
struct chain_slot {
	struct hash_wide hash;
	struct cached_chain chain; /* id 0: free */
};

struct chain_cache {
	struct chain_slot *slots;
	size_t slot_count;
	size_t used;
	VECTOR(struct cached_chain) later;
	uint32_t last_id;
	uint64_t seed;
	/* Of the chain being resolved: */
	merge_units units;
	VECTOR(uint32_t) frame_ids;
	VECTOR(uint8_t) built; /* words of a chain that the sample had none of */
};

static uint64_t word_at(const uint8_t *words, size_t index)
{
	uint64_t word;
	memcpy(&word, words + index * WORD, WORD);
	return word;
}

static void put_word(uint8_t *words, size_t index, uint64_t word)
{
	memcpy(words + index * WORD, &word, WORD);
}

static struct chain_slot *slot_of(const struct chain_cache *cache, struct hash_wide hash)
{
	size_t at = hash.low & (cache->slot_count - 1);
	for (; cache->slots[at].chain.id; at = (at + 1) & (cache->slot_count - 1))
		if (cache->slots[at].hash.low == hash.low &&
		    cache->slots[at].hash.high == hash.high)
			break;
	return &cache->slots[at];
}

static bool grow(struct chain_cache *cache)
{
	if (cache->used * 2 < cache->slot_count)
		return true;
	struct chain_cache wider = { .slot_count =
					 cache->slot_count ? cache->slot_count * 2 : 4096 };
	wider.slots = calloc(wider.slot_count, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < cache->slot_count; i++)
		if (cache->slots[i].chain.id)
			*slot_of(&wider, cache->slots[i].hash) = cache->slots[i];
	free(cache->slots);
	cache->slots = wider.slots;
	cache->slot_count = wider.slot_count;
	return true;
}

/* The mode that a context mark switches to; false for guests and what is no code of ours. */
static bool context_is_ours(uint64_t mark, bool *is_kernel)
{
	*is_kernel = mark == PERFDATA_CONTEXT_KERNEL;
	return mark == PERFDATA_CONTEXT_KERNEL || mark == PERFDATA_CONTEXT_USER ||
	       mark == PERFDATA_CONTEXT_USER_DEFERRED;
}

/* What was inlined at an address comes before what it was inlined into. */
static bool push_frames(struct load *load, uint32_t frame)
{
	for (;;) {
		uint32_t *id = vector_push(&load->chains->frame_ids);
		if (!id)
			return false;
		*id = frame;
		const uint32_t outer = load->profile->frames.items[frame].inlined_into;
		if (!outer)
			return true;
		frame = outer - 1;
	}
}

/* Narrows what the chain holds for, and puts the frame behind the others. */
static bool push_unit(struct load *load, const struct resolved *resolved, bool is_kernel,
		      struct cached_chain *made)
{
	struct merge_unit *unit = vector_push(&load->chains->units);
	if (!unit)
		return false;
	*unit = (struct merge_unit){ .frame = resolved->frame, .is_kernel = is_kernel };
	if (resolved->valid_from_ns > made->valid_from_ns)
		made->valid_from_ns = resolved->valid_from_ns;
	if (resolved->valid_to_ns < made->valid_to_ns)
		made->valid_to_ns = resolved->valid_to_ns;
	return true;
}

/* The native part of the words. */
static int resolve_native(struct load *load, const struct perfdata_sample *sample,
			  const struct chain *chain, struct cached_chain *made)
{
	struct address a = { .pid = sample->pid, .time_ns = sample->time_ns };
	bool is_ours = true;
	bool is_first = true;
	a.is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	for (size_t i = 0; i < chain->count; i++) {
		a.avma = word_at(chain->words, i);
		a.interpreted = 0;
		if (a.avma == MARK_INTERPRETED && i >= chain->count - chain->own_words) {
			a.interpreted = word_at(chain->words, ++i);
			a.avma = word_at(chain->words, ++i);
		}
		if (a.avma >= PERFDATA_CONTEXT_MAX) {
			is_ours = context_is_ours(a.avma, &a.is_kernel);
			is_first = true;
			continue;
		}
		if (!is_ours)
			continue;
		/* The first of each mode is where it was interrupted, the others return there. */
		a.is_return = !is_first;
		a.space = a.is_kernel ? UINT32_MAX : chain->space;
		is_first = false;
		struct resolved frame;
		const int got = load_resolve(load, &a, &frame);
		if (got < 0 || !push_unit(load, &frame, a.is_kernel, made))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

static void read_stack(const uint8_t *words, struct stacks_item *item)
{
	const uint64_t place = word_at(words, 0);
	const uint64_t about = word_at(words, 1);
	*item = (struct stacks_item){
		.pid = (uint32_t)place,
		.runtime = (uint32_t)(place >> 32),
		.frame_count = (uint16_t)about,
		.language = (uint8_t)(about >> STACK_LANGUAGE_SHIFT),
		.end = (uint8_t)(about >> STACK_END_SHIFT),
		.is_bare = about >> STACK_BARE_SHIFT & 1,
		/* Built words are aligned. */
		.frames = (const void *)(words + (size_t)STACK_WORDS * WORD),
	};
}

static int merge_stacks(struct load *load, const struct perfdata_sample *sample,
			const struct chain *chain)
{
	const struct merge_native native = {
		.space = chain->space,
		.time_ns = sample->time_ns,
		.is_whole = chain->end == PROFILE_END_WHOLE,
		.is_cut = chain->end != PROFILE_END_NOT_DUMPED && chain->end != PROFILE_END_WHOLE,
	};
	for (size_t at = 0; at < chain->stack_words;) {
		struct stacks_item item;
		read_stack(chain->words + (chain->count + at) * WORD, &item);
		const int got = merge_stack(load, &item, &native, &load->chains->units);
		if (got < 0)
			return got;
		at += STACK_WORDS + (size_t)FRAME_WORDS * item.frame_count;
	}
	return 0;
}

/* Code that a runtime made, or ran in an interpreter. */
static bool is_of_runtime(const struct load *load, const struct merge_unit *unit)
{
	const struct profile *profile = load->profile;
	const struct profile_frame *frame = &profile->frames.items[unit->frame];
	const struct profile_function *function = &profile->functions.items[frame->function];
	const char *runtime = profile_text(profile, function->runtime);
	return !unit->is_kernel && !function->is_builtin &&
	       (frame->is_jit || (*runtime && strcmp(runtime, runtime_name(RUNTIME_NATIVE)) != 0));
}

/* Stacks of programs without a runtime stay what they are. */
static void leave_native_out(const struct load *load, merge_units *units)
{
	size_t kept = 0;
	for (size_t i = 0; i < units->count; i++)
		if (is_of_runtime(load, &units->items[i]))
			units->items[kept++] = units->items[i];
	if (kept)
		units->count = kept;
}

static int resolve_words(struct load *load, const struct perfdata_sample *sample,
			 const struct chain *chain, struct cached_chain *made)
{
	struct chain_cache *cache = load->chains;
	cache->frame_ids.count = 0;
	cache->units.count = 0;
	int got = resolve_native(load, sample, chain, made);
	if (got == 0)
		got = merge_stacks(load, sample, chain);
	if (got < 0)
		return got;
	if (load->options.no_native)
		leave_native_out(load, &cache->units);
	const size_t count = chain->is_innermost && cache->units.count ? 1 : cache->units.count;
	for (size_t i = 0; i < count; i++)
		if (!push_frames(load, cache->units.items[i].frame))
			return STATUS_NO_MEMORY;
	made->stack = profile_add_ended_stack(load->profile, cache->frame_ids.items,
					      (uint32_t)cache->frame_ids.count, chain->end);
	made->is_early =
	    cache->frame_ids.count &&
	    load->profile->frames.items[cache->frame_ids.items[0]].trust == PROFILE_EARLY;
	return made->stack == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static int add_chain(struct load *load, const struct perfdata_sample *sample,
		     const struct chain *chain, struct chain_slot *slot, struct cached_chain *made)
{
	struct chain_cache *cache = load->chains;
	*made = (struct cached_chain){ .valid_to_ns = UINT64_MAX };
	const int got = resolve_words(load, sample, chain, made);
	if (got < 0)
		return got;
	made->id = ++cache->last_id;
	if (!slot->chain.id) {
		*slot = (struct chain_slot){ .hash = chain->hash, .chain = *made };
		cache->used++;
		return 0;
	}
	struct cached_chain *later = vector_push(&cache->later);
	if (!later)
		return STATUS_NO_MEMORY;
	made->next = slot->chain.next;
	*later = *made;
	slot->chain.next = (uint32_t)cache->later.count;
	return 0;
}

static bool has_user_part(const uint8_t *words, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (word_at(words, i) == PERFDATA_CONTEXT_USER)
			return true;
	return false;
}

/* How many words of a chain lead to where the sample was; 0: it does not say. */
static size_t words_to_first(const uint8_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(words, i) < PERFDATA_CONTEXT_MAX)
			return i + 1;
	return 0;
}

static size_t words_of(const struct stacks_found *stacks)
{
	size_t count = 0;
	for (size_t i = 0; i < stacks->count; i++)
		count += STACK_WORDS + (size_t)FRAME_WORDS * stacks->items[i].frame_count;
	return count;
}

static void put_stacks(uint8_t *words, const struct stacks_found *stacks, struct chain *chain)
{
	size_t at = chain->count;
	for (size_t i = 0; i < stacks->count; i++) {
		const struct stacks_item *item = &stacks->items[i];
		put_word(words, at++, (uint64_t)item->runtime << 32 | item->pid);
		put_word(words, at++,
			 item->frame_count | (uint64_t)item->language << STACK_LANGUAGE_SHIFT |
			     (uint64_t)item->end << STACK_END_SHIFT |
			     (uint64_t)item->is_bare << STACK_BARE_SHIFT);
		if (item->frame_count)
			memcpy(words + at * WORD, item->frames,
			       item->frame_count * sizeof(*item->frames));
		at += (size_t)FRAME_WORDS * item->frame_count;
	}
	chain->stack_words = at - chain->count;
}

/* A sample without a chain, or whose user stack was dumped rather than walked,
 * still says where it was. Frames of interpreters come behind what it has.
 */
static bool build_words(struct load *load, const struct perfdata_sample *sample,
			const struct stacks_found *stacks, struct chain *chain)
{
	struct chain_cache *cache = load->chains;
	size_t count = chain->count;
	cache->built.count = 0;
	if (!vector_reserve(&cache->built,
			    (count + 3 + (size_t)3 * UNWIND_LIMIT + words_of(stacks)) * WORD))
		return false;
	uint8_t *words = cache->built.items;
	if (count)
		memcpy(words, chain->words, count * WORD);
	const bool is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	uint64_t avmas[UNWIND_LIMIT];
	uint64_t about[UNWIND_LIMIT];
	struct unwound addresses = { .avmas = avmas,
				     .words = about,
				     .limit = chain->is_short ? 1 : UNWIND_LIMIT };
	const size_t unwound =
	    has_user_part(words, count) ? 0 : load_unwound_words(load, sample, &addresses);
	if (!count && (is_kernel || !unwound)) {
		put_word(words, count++,
			 is_kernel ? PERFDATA_CONTEXT_KERNEL : PERFDATA_CONTEXT_USER);
		put_word(words, count++, sample->ip_avma);
	}
	if (unwound)
		put_word(words, count++, PERFDATA_CONTEXT_USER);
	const size_t first = count;
	/* What would be a mark is no address, and ends the stack. */
	for (size_t i = 0; i < unwound && avmas[i] < PERFDATA_CONTEXT_MAX; i++) {
		if (about[i]) {
			put_word(words, count++, MARK_INTERPRETED);
			put_word(words, count++, about[i]);
		}
		put_word(words, count++, avmas[i]);
	}
	chain->end = addresses.end;
	chain->own_words = count - first;
	chain->words = words;
	chain->is_built = true;
	chain->count = count;
	put_stacks(words, stacks, chain);
	return true;
}

static bool holds(const struct cached_chain *chain, uint64_t time_ns)
{
	return time_ns >= chain->valid_from_ns && time_ns < chain->valid_to_ns;
}

static struct chain_cache *make_cache(void)
{
	struct chain_cache *cache = calloc(1, sizeof(*cache));
	if (cache)
		cache->seed = os_random_u64();
	return cache;
}

int chain_prepare(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		  struct chain *chain)
{
	if (!load->chains)
		load->chains = make_cache();
	struct chain_cache *cache = load->chains;
	if (!cache || !grow(cache))
		return STATUS_NO_MEMORY;
	*chain = (struct chain){ .words = sample->chain,
				 .count = sample->chain_count,
				 .space = space,
				 .is_innermost = load->options.innermost };
	if (chain->count > CHAIN_LIMIT)
		chain->count = CHAIN_LIMIT;
	struct stacks_found stacks;
	const bool has_stacks =
	    stacks_take(load, sample, &stacks) || dumped_take(load, sample, space, &stacks);
	/* Which of an interpreter's frames is innermost is found from all of the stack. */
	chain->is_short = chain->is_innermost && !has_stacks && !load->options.no_native;
	if (chain->is_short)
		chain->count = words_to_first(chain->words, chain->count);
	const bool has_more = sample->user_regs_abi && !chain->is_short;
	if ((!chain->count || has_more || has_stacks) && !build_words(load, sample, &stacks, chain))
		return STATUS_NO_MEMORY;
	const uint64_t kind = (uint64_t)chain->stack_words << 40 | (uint64_t)chain->end << 32;
	chain->hash = hash_wide(chain->words, (chain->count + chain->stack_words) * WORD,
				cache->seed + space + kind);
	__builtin_prefetch(&cache->slots[chain->hash.low & (cache->slot_count - 1)]);
	return 0;
}

int chain_find(struct load *load, const struct perfdata_sample *sample, const struct chain *chain,
	       struct cached_chain *found)
{
	struct chain_cache *cache = load->chains;
	if (!grow(cache))
		return STATUS_NO_MEMORY;
	struct chain_slot *slot = slot_of(cache, chain->hash);
	const struct cached_chain *known = slot->chain.id ? &slot->chain : NULL;
	while (known) {
		if (holds(known, sample->time_ns)) {
			*found = *known;
			return 0;
		}
		known = known->next ? &cache->later.items[known->next - 1] : NULL;
	}
	return add_chain(load, sample, chain, slot, found);
}

int load_chain(struct load *load, const struct perfdata_sample *sample, uint32_t space,
	       uint32_t *stack)
{
	struct chain chain;
	struct cached_chain found;
	int got = chain_prepare(load, sample, space, &chain);
	if (got == 0)
		got = chain_find(load, sample, &chain, &found);
	if (got < 0)
		return got;
	*stack = found.stack;
	if (found.is_early)
		load_count_early(load, found.stack, sample->time_ns);
	return 0;
}

void load_chains_free(struct load *load)
{
	if (!load->chains)
		return;
	vector_clear(&load->chains->later);
	vector_clear(&load->chains->units);
	vector_clear(&load->chains->frame_ids);
	vector_clear(&load->chains->built);
	free(load->chains->slots);
	free(load->chains);
	load->chains = NULL;
}
