/* rewrite.h - a sample with other callers.
 *
 *   struct perfdata_new_stack stack = { .ip_avma = ip, .chain = words, .chain_count = count };
 *   perfdata_rewrite_sample(&body, &record, &sample, &stack);
 *
 * All other fields stay as they are, byte by byte. Where the event's samples have a chain, the
 * piece of user stack goes, for readers would put what they unwind from it behind the chain: the
 * sample then says that the kernel could copy nothing. One thread.
 */
#ifndef FORMAT_PERFDATA_REWRITE_H
#define FORMAT_PERFDATA_REWRITE_H

#include "base/sink.h"
#include "format/perfdata/records.h"

struct perfdata_new_stack {
	uint64_t ip_avma;
	const uint64_t *chain; /* with context marks; unused where samples have no chain */
	size_t chain_count;    /* cut at its end where a record cannot hold that many */
};

/* Appends the record's body. `sample` is what the record was decoded to, of a recording of the
 * host's byte order.
 */
void perfdata_rewrite_sample(struct sink *body, const struct perfdata_record *record,
			     const struct perfdata_sample *sample,
			     const struct perfdata_new_stack *stack);

#endif
