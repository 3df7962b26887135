/* chain.h - callchains as keys, and what they mean. */
#ifndef LOAD_CHAIN_H
#define LOAD_CHAIN_H

#include "base/hash.h"
#include "load/load_internal.h"

/* A sample's words, and whose they are. */
struct chain {
	const uint8_t *words;
	size_t count;
	uint32_t space;
	bool is_built;    /* the words lie in the cache, until the next chain_prepare() */
	size_t own_words; /* that many of the last were made here, not read */
	/* Behind them the frames of interpreters: see chain.c. */
	size_t stack_words;
	bool is_innermost; /* nothing but its first frame is wanted ... */
	bool is_short;     /* ... and that is where its first address leads */
	enum profile_end end;
	struct hash_wide hash;
};

/* What the words of a chain mean for some time. */
struct cached_chain {
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
	uint32_t id; /* counts all of them, from 1 */
	uint32_t stack;
	uint32_t next; /* the same words in another interval: index into `later` + 1 */
	bool is_early; /* its leaf was announced after its samples */
};

/* Makes the key, and asks the processor for the place where it will be looked up. */
int chain_prepare(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		  struct chain *chain);

/* Resolves the chain of a prepared sample, or finds that it was resolved before. */
int chain_find(struct load *load, const struct perfdata_sample *sample, const struct chain *chain,
	       struct cached_chain *found);

#endif
