/* A sample's callchain becomes a stack of the profile. Chains repeat, so each
 * distinct one (address space and words) is resolved once for as long as all
 * its frames stay what they are.
 */
#include "load/chain.h"

#include "base/hash.h"
#include "base/status.h"
#include "os/random.h"

#include <stdlib.h>

enum { WORD = sizeof(uint64_t), CHAIN_LIMIT = 8192, UNWIND_LIMIT = 512 };

/* Among the words that are made here: the next is one of interpreted.h, about the address behind
 * it. The value is one that the kernel has no use for.
 */
#define MARK_INTERPRETED ((uint64_t)-4000)

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
	VECTOR(uint32_t) frame_ids; /* of the chain being resolved */
	VECTOR(uint8_t) built;      /* words of a chain that the sample had none of */
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

static int resolve_words(struct load *load, const struct perfdata_sample *sample,
			 const struct chain *chain, struct cached_chain *made)
{
	struct chain_cache *cache = load->chains;
	struct address a = { .pid = sample->pid, .time_ns = sample->time_ns };
	bool is_ours = true;
	bool is_first = true;
	a.is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	cache->frame_ids.count = 0;
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
		if (got < 0 || !push_frames(load, frame.frame))
			return STATUS_NO_MEMORY;
		if (frame.valid_from_ns > made->valid_from_ns)
			made->valid_from_ns = frame.valid_from_ns;
		if (frame.valid_to_ns < made->valid_to_ns)
			made->valid_to_ns = frame.valid_to_ns;
	}
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

/* A sample without a chain, or whose user stack was dumped rather than walked,
 * still says where it was.
 */
static bool build_words(struct load *load, const struct perfdata_sample *sample,
			struct chain *chain)
{
	struct chain_cache *cache = load->chains;
	size_t count = chain->count;
	cache->built.count = 0;
	if (!vector_reserve(&cache->built, (count + 3 + (size_t)3 * UNWIND_LIMIT) * WORD))
		return false;
	uint8_t *words = cache->built.items;
	if (count)
		memcpy(words, chain->words, count * WORD);
	const bool is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	uint64_t avmas[UNWIND_LIMIT];
	uint64_t about[UNWIND_LIMIT];
	struct unwound addresses = { .avmas = avmas,
				     .words = about,
				     .limit = load->options.innermost ? 1 : UNWIND_LIMIT };
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
	*chain =
	    (struct chain){ .words = sample->chain, .count = sample->chain_count, .space = space };
	if (chain->count > CHAIN_LIMIT)
		chain->count = CHAIN_LIMIT;
	const bool is_innermost = load->options.innermost;
	if (is_innermost)
		chain->count = words_to_first(chain->words, chain->count);
	const bool has_more = sample->user_regs_abi && !is_innermost;
	if ((!chain->count || has_more) && !build_words(load, sample, chain))
		return STATUS_NO_MEMORY;
	chain->hash = hash_wide(chain->words, chain->count * WORD,
				cache->seed + space + ((uint64_t)chain->end << 32));
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
	vector_clear(&load->chains->frame_ids);
	vector_clear(&load->chains->built);
	free(load->chains->slots);
	free(load->chains);
	load->chains = NULL;
}
