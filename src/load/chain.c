/* A sample's callchain becomes a stack of the profile. Chains repeat, so each
 * distinct one (address space and words) is resolved once for as long as all
 * its frames stay what they are.
 */
#include "load/load_internal.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

enum { WORD = sizeof(uint64_t), CHAIN_LIMIT = 8192 };

struct cached_chain {
	const uint8_t *words;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
	uint32_t count;
	uint32_t space;
	uint32_t stack;
	uint32_t next; /* the same words in another interval: index + 1 */
	bool is_early; /* its leaf was announced after its samples */
};

/* Samples of one chain, thread and event. The profile's rows are made from these at
 * the end: one place to touch a sample, where a row takes three.
 */
struct tally {
	uint32_t chain; /* index + 1; 0: free */
	uint32_t thread;
	uint32_t event;
	uint64_t count;
	uint64_t weight;
};

struct chain_slot {
	uint32_t tag;  /* high half of the hash */
	uint32_t item; /* index + 1; 0: free */
};

struct chain_cache {
	struct arena words;
	VECTOR(struct cached_chain) items;
	struct chain_slot *slots;
	size_t slot_count;
	size_t used;
	struct tally *tallies;
	size_t tally_slots;
	size_t tally_count;
	VECTOR(uint32_t) frame_ids; /* of the chain being resolved */
	VECTOR(uint8_t) built;      /* words of a chain that the sample had none of */
};

/* Words as the sample has them, and whose they are. */
struct chain {
	const uint8_t *words;
	size_t count;
	uint32_t space;
	uint64_t hash;
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

static bool grow(struct chain_cache *cache)
{
	if (cache->used * 2 < cache->slot_count)
		return true;
	const size_t count = cache->slot_count ? cache->slot_count * 2 : 4096;
	struct chain_slot *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < cache->slot_count; i++) {
		if (!cache->slots[i].item)
			continue;
		const struct cached_chain *item = &cache->items.items[cache->slots[i].item - 1];
		size_t at = hash_bytes(item->words, item->count * WORD, item->space) & (count - 1);
		while (slots[at].item)
			at = (at + 1) & (count - 1);
		slots[at] = cache->slots[i];
	}
	free(cache->slots);
	cache->slots = slots;
	cache->slot_count = count;
	return true;
}

static struct chain_slot *slot_of(const struct chain_cache *cache, const struct chain *chain)
{
	const uint32_t tag = (uint32_t)(chain->hash >> 32);
	size_t at = chain->hash & (cache->slot_count - 1);
	for (; cache->slots[at].item; at = (at + 1) & (cache->slot_count - 1)) {
		if (cache->slots[at].tag != tag)
			continue;
		const struct cached_chain *item = &cache->items.items[cache->slots[at].item - 1];
		if (item->count == chain->count && item->space == chain->space &&
		    memcmp(item->words, chain->words, chain->count * WORD) == 0)
			break;
	}
	return &cache->slots[at];
}

/* The mode that a context mark switches to; false for guests and what is no code of ours. */
static bool context_is_ours(uint64_t mark, bool *is_kernel)
{
	*is_kernel = mark == PERFDATA_CONTEXT_KERNEL;
	return mark == PERFDATA_CONTEXT_KERNEL || mark == PERFDATA_CONTEXT_USER ||
	       mark == PERFDATA_CONTEXT_USER_DEFERRED;
}

static int resolve_words(struct load *load, const struct perfdata_sample *sample,
			 struct cached_chain *made)
{
	struct chain_cache *cache = load->chains;
	struct address a = { .pid = sample->pid, .time_ns = sample->time_ns };
	bool is_ours = true;
	bool is_first = true;
	a.is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	cache->frame_ids.count = 0;
	for (size_t i = 0; i < made->count; i++) {
		a.avma = word_at(made->words, i);
		if (a.avma >= PERFDATA_CONTEXT_MAX) {
			is_ours = context_is_ours(a.avma, &a.is_kernel);
			is_first = true;
			continue;
		}
		if (!is_ours)
			continue;
		/* The first of each mode is where it was interrupted, the others return there. */
		a.is_return = !is_first;
		a.space = a.is_kernel ? UINT32_MAX : made->space;
		is_first = false;
		struct resolved frame;
		const int got = load_resolve(load, &a, &frame);
		uint32_t *id = got == 0 ? vector_push(&cache->frame_ids) : NULL;
		if (!id)
			return STATUS_NO_MEMORY;
		*id = frame.frame;
		if (frame.valid_from_ns > made->valid_from_ns)
			made->valid_from_ns = frame.valid_from_ns;
		if (frame.valid_to_ns < made->valid_to_ns)
			made->valid_to_ns = frame.valid_to_ns;
	}
	made->stack = profile_add_stack(load->profile, cache->frame_ids.items,
					(uint32_t)cache->frame_ids.count);
	made->is_early =
	    cache->frame_ids.count &&
	    load->profile->frames.items[cache->frame_ids.items[0]].trust == PROFILE_EARLY;
	return made->stack == INTERN_NONE ? STATUS_NO_MEMORY : 0;
}

static int add_chain(struct load *load, const struct perfdata_sample *sample,
		     const struct chain *chain, struct chain_slot *slot, uint32_t *item_id)
{
	struct chain_cache *cache = load->chains;
	struct cached_chain made = { .count = (uint32_t)chain->count,
				     .space = chain->space,
				     .valid_to_ns = UINT64_MAX,
				     .next = slot->item };
	if (slot->item) {
		made.words = cache->items.items[slot->item - 1].words;
	} else {
		uint8_t *copy = arena_new(&cache->words, uint8_t, chain->count * WORD);
		if (!copy)
			return STATUS_NO_MEMORY;
		memcpy(copy, chain->words, chain->count * WORD);
		made.words = copy;
	}
	const int got = resolve_words(load, sample, &made);
	if (got < 0)
		return got;
	struct cached_chain *item = vector_push(&cache->items);
	if (!item)
		return STATUS_NO_MEMORY;
	*item = made;
	cache->used += slot->item == 0;
	*slot = (struct chain_slot){ .tag = (uint32_t)(chain->hash >> 32),
				     .item = (uint32_t)cache->items.count };
	*item_id = slot->item - 1;
	return 0;
}

/* x86-64 and arm64 number their registers in perf's own order (asm/perf_regs.h). */
static bool user_pc(const struct load *load, const struct perfdata_sample *sample, uint64_t *pc)
{
	const unsigned number = load->is_arm64 ? 32 : 8;
	const uint64_t mask = sample->user_regs_mask;
	if (!sample->user_regs_abi || !(mask >> number & 1))
		return false;
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(load->perf);
	const uint64_t before = mask & (((uint64_t)1 << number) - 1);
	(void)cursor_take(&c, (size_t)__builtin_popcountll(before) * WORD);
	*pc = cursor_u64(&c);
	return !cursor_failed(&c);
}

static bool has_user_part(const uint8_t *words, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (word_at(words, i) == PERFDATA_CONTEXT_USER)
			return true;
	return false;
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
	if (!vector_reserve(&cache->built, (count + 4) * WORD))
		return false;
	uint8_t *words = cache->built.items;
	if (count)
		memcpy(words, chain->words, count * WORD);
	const bool is_kernel = sample->cpumode == PERFDATA_CPUMODE_KERNEL;
	if (!count) {
		put_word(words, count++,
			 is_kernel ? PERFDATA_CONTEXT_KERNEL : PERFDATA_CONTEXT_USER);
		put_word(words, count++, sample->ip_avma);
	}
	uint64_t pc;
	if (!has_user_part(words, count) && user_pc(load, sample, &pc)) {
		put_word(words, count++, PERFDATA_CONTEXT_USER);
		put_word(words, count++, pc);
	}
	chain->words = words;
	chain->count = count;
	return true;
}

static int find_item(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		     uint32_t *item_id)
{
	if (!load->chains)
		load->chains = calloc(1, sizeof(*load->chains));
	struct chain_cache *cache = load->chains;
	if (!cache || !grow(cache))
		return STATUS_NO_MEMORY;
	struct chain chain = { .words = sample->chain,
			       .count = sample->chain_count,
			       .space = space };
	if (chain.count > CHAIN_LIMIT)
		chain.count = CHAIN_LIMIT;
	if ((!chain.count || sample->user_regs_abi) && !build_words(load, sample, &chain))
		return STATUS_NO_MEMORY;
	chain.hash = hash_bytes(chain.words, chain.count * WORD, space);

	struct chain_slot *slot = slot_of(cache, &chain);
	for (uint32_t i = slot->item; i; i = cache->items.items[i - 1].next) {
		const struct cached_chain *item = &cache->items.items[i - 1];
		if (sample->time_ns >= item->valid_from_ns && sample->time_ns < item->valid_to_ns) {
			*item_id = i - 1;
			return 0;
		}
	}
	return add_chain(load, sample, &chain, slot, item_id);
}

int load_chain(struct load *load, const struct perfdata_sample *sample, uint32_t space,
	       uint32_t *stack)
{
	uint32_t id;
	const int got = find_item(load, sample, space, &id);
	if (got < 0)
		return got;
	const struct cached_chain *item = &load->chains->items.items[id];
	*stack = item->stack;
	if (item->is_early)
		load_count_early(load, item->stack, sample->time_ns);
	return 0;
}

static struct tally *tally_of(const struct chain_cache *cache, const struct tally *key)
{
	const size_t mask = cache->tally_slots - 1;
	size_t at = hash_mix(((uint64_t)key->chain << 32) | key->thread, key->event) & mask;
	for (; cache->tallies[at].chain; at = (at + 1) & mask) {
		const struct tally *t = &cache->tallies[at];
		if (t->chain == key->chain && t->thread == key->thread && t->event == key->event)
			break;
	}
	return &cache->tallies[at];
}

static bool grow_tallies(struct chain_cache *cache)
{
	if (cache->tally_count * 2 < cache->tally_slots)
		return true;
	struct chain_cache wider = { .tally_slots =
					 cache->tally_slots ? cache->tally_slots * 2 : 1024 };
	wider.tallies = calloc(wider.tally_slots, sizeof(*wider.tallies));
	if (!wider.tallies)
		return false;
	for (size_t i = 0; i < cache->tally_slots; i++)
		if (cache->tallies[i].chain)
			*tally_of(&wider, &cache->tallies[i]) = cache->tallies[i];
	free(cache->tallies);
	cache->tallies = wider.tallies;
	cache->tally_slots = wider.tally_slots;
	return true;
}

int load_chain_add(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		   uint32_t thread)
{
	uint32_t id;
	const int got = find_item(load, sample, space, &id);
	if (got < 0)
		return got;
	struct chain_cache *cache = load->chains;
	if (!grow_tallies(cache))
		return STATUS_NO_MEMORY;
	const struct tally key = { .chain = id + 1,
				   .thread = thread,
				   .event = (uint32_t)sample->event };
	struct tally *tally = tally_of(cache, &key);
	if (!tally->chain) {
		*tally = key;
		cache->tally_count++;
	}
	tally->count++;
	tally->weight += sample->period;
	if (cache->items.items[id].is_early)
		load_count_early(load, cache->items.items[id].stack, sample->time_ns);
	return 0;
}

int load_chains_to_rows(struct load *load)
{
	const struct chain_cache *cache = load->chains;
	for (size_t i = 0; cache && i < cache->tally_slots; i++) {
		const struct tally *tally = &cache->tallies[i];
		if (!tally->chain)
			continue;
		const struct profile_row row = {
			.thread = tally->thread,
			.event = tally->event,
			.stack = cache->items.items[tally->chain - 1].stack,
			.count = tally->count,
			.weight = tally->weight,
		};
		if (profile_add(load->profile, &row) == INTERN_NONE)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

void load_chains_free(struct load *load)
{
	if (!load->chains)
		return;
	arena_clear(&load->chains->words);
	vector_clear(&load->chains->items);
	vector_clear(&load->chains->frame_ids);
	vector_clear(&load->chains->built);
	free(load->chains->slots);
	free(load->chains->tallies);
	free(load->chains);
	load->chains = NULL;
}
