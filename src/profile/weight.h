/* weight.h - what samples stand for, in the unit of their event, added up.
 *
 *   row->weight = weight_sum(row->weight, sample->weight);
 *
 * A recording may claim any 64 bits as a sample's period. Weights stop at WEIGHT_MAX: a part is
 * never more than its whole, and all formats hold them, those with signed numbers as well.
 */
#ifndef PROFILE_WEIGHT_H
#define PROFILE_WEIGHT_H

#include <stdint.h>

#define WEIGHT_MAX ((uint64_t)INT64_MAX)

static inline uint64_t weight_sum(uint64_t left, uint64_t right)
{
	uint64_t sum;
	return __builtin_add_overflow(left, right, &sum) || sum > WEIGHT_MAX ? WEIGHT_MAX : sum;
}

#endif
