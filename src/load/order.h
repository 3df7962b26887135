/* order.h - records in time order, by rounds.
 *
 * perf drains its rings one after the other and then writes FINISHED_ROUND. What
 * a round holds of one ring may be older than what it holds of another, but a
 * ring drained twice since has given all that is older than the latest time of
 * the first of these rounds:
 *
 *      round 1      round 2      round 3
 *   A  1 2 3   |    6 7     |    9
 *   B  2 4 5   |    6 8     |    9
 *                   after this one: all up to 5 can go out
 *
 * Memory holds what two rounds hold; a file without rounds is held as references
 * (or, where it was compressed, as copies) until its end.
 */
#ifndef LOAD_ORDER_H
#define LOAD_ORDER_H

#include "format/perfdata/records.h"

struct order;

/* NULL without memory. `give` gets each record once; non-zero from it ends and is returned. */
struct order *order_new(struct perfdata *perf,
			int (*give)(void *context, const struct perfdata_record *record),
			void *context);
int order_put(struct order *order, const struct perfdata_record *record);
/* For one that belongs elsewhere than its own time says. Of equal times what was put first comes
 * first.
 */
int order_put_at(struct order *order, const struct perfdata_record *record, uint64_t time_ns);
int order_round(struct order *order);
int order_flush(struct order *order);
void order_free(struct order *order);

#endif
