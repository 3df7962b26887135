/* belief.h - what stock perf believes to be where, in one process: which code, or what else.
 *
 *   struct belief *b = belief_new();
 *   belief_put(&b, start, end, code);       an mmap event that leads to code
 *   belief_cut(&b, start, end);             any other mmap event
 *   code = belief_at(b, avma, &start, &end);
 *   struct belief *child = belief_share(b); a fork
 *   belief_free(b);
 *
 * perf keeps the mappings of a process as ranges that do not overlap: a new one cuts
 * what it covers out of those before it, and what is left of them stays (maps__fixup_overlappings
 * in its machine.c). A fork copies them. Kept are ranges of injected code, by its number, and of
 * what else the caller tells apart, by numbers from BELIEF_OTHER on; elsewhere perf knows what the
 * recording's own events say.
 *
 * What two of them share is copied only where one of them is changed. One thread.
 */
#ifndef INJECT_BELIEF_H
#define INJECT_BELIEF_H

#include <stdbool.h>
#include <stdint.h>

enum { BELIEF_NONE = 0xffffffff, BELIEF_OTHER = 0x80000000 };

struct belief;

struct belief *belief_new(void); /* NULL without memory */
void belief_free(struct belief *belief);
struct belief *belief_share(struct belief *belief);

/* Each returns 0 or STATUS_NO_MEMORY. *belief becomes another one where it was shared. */
int belief_put(struct belief **belief, uint64_t start_avma, uint64_t end_avma, uint32_t code);
int belief_cut(struct belief **belief, uint64_t start_avma, uint64_t end_avma);

/* The code there, and the range that is left of it; BELIEF_NONE, and the gap, where there is none.
 */
uint32_t belief_at(const struct belief *belief, uint64_t avma, uint64_t *start_avma,
		   uint64_t *end_avma);

/* Is any code in the range? Ranges of what is no code do not count. */
bool belief_has_code(const struct belief *belief, uint64_t start_avma, uint64_t end_avma);

#endif
