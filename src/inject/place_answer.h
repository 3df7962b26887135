/* place_answer.h - places that were looked up, and until when what was found holds.
 *
 *   struct place_answer *answer = &answers[place_answer_slot(place) & (COUNT - 1)];
 *   if (!place_answer_holds(answer, place)) {
 *           load_owner_at(load, place, &owner);
 *           *answer = place_answer_of(place, &owner);
 *   }
 *
 * An array of them remembers the places of samples, which come again and again: a new one
 * takes the slot of an old one. Zeroed memory holds for no place.
 */
#ifndef INJECT_PLACE_ANSWER_H
#define INJECT_PLACE_ANSWER_H

#include "base/hash.h"
#include "load/code.h"

struct place_answer {
	uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: of no place */
	uint32_t pid;
	bool is_return;
};

static inline uint64_t place_answer_slot(const struct load_place *place)
{
	return hash_mix(place->avma, ((uint64_t)place->pid << 1) | place->is_return);
}

static inline bool place_answer_holds(const struct place_answer *answer,
				      const struct load_place *place)
{
	return answer->avma == place->avma && answer->pid == place->pid &&
	       answer->is_return == place->is_return && place->time_ns >= answer->valid_from_ns &&
	       place->time_ns < answer->valid_to_ns;
}

static inline struct place_answer place_answer_of(const struct load_place *place,
						  const struct load_owner *owner)
{
	return (struct place_answer){ .avma = place->avma,
				      .valid_from_ns = owner->valid_from_ns,
				      .valid_to_ns = owner->valid_to_ns,
				      .pid = place->pid,
				      .is_return = place->is_return };
}

#endif
