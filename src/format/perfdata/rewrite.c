#include "format/perfdata/rewrite.h"

enum {
	WORD = 8,
	BODY_LIMIT = PERFDATA_RECORD_LIMIT / WORD * WORD - PERFDATA_RECORD_HEADER_SIZE,
};

/* What of the old body is done. */
struct rewrite {
	struct sink *body;
	const uint8_t *at;
	const uint8_t *end;
	size_t fixed_bytes; /* that all but the chain's words will have */
};

static void copy_to(struct rewrite *r, const uint8_t *to)
{
	sink_put(r->body, r->at, (size_t)(to - r->at));
	r->at = to;
}

static void put_ip(struct rewrite *r, uint64_t type, uint64_t ip_avma)
{
	if (!(type & PERFDATA_SAMPLE_IP))
		return;
	copy_to(r, r->at + (type & PERFDATA_SAMPLE_IDENTIFIER ? WORD : 0));
	sink_u64(r->body, ip_avma);
	r->at += WORD;
}

static void put_chain(struct rewrite *r, const struct perfdata_sample *sample,
		      const struct perfdata_new_stack *stack)
{
	const size_t room = r->fixed_bytes < BODY_LIMIT ? (BODY_LIMIT - r->fixed_bytes) / WORD : 0;
	const size_t count = stack->chain_count < room ? stack->chain_count : room;
	copy_to(r, sample->chain - WORD);
	sink_u64(r->body, count);
	sink_put(r->body, stack->chain, count * WORD);
	r->at = sample->chain + sample->chain_count * WORD;
}

/* What is behind the word that says the stack's size: it, and how much of it could be copied. */
static size_t stack_bytes(const struct perfdata_sample *sample)
{
	const uint64_t bytes = sample->user_stack_wanted_bytes;
	return bytes ? bytes + WORD : 0;
}

/* No registers, and none of the stack: each a word. */
static void drop_stack(struct rewrite *r, const struct perfdata_sample *sample)
{
	if (sample->present & PERFDATA_SAMPLE_REGS_USER) {
		copy_to(r, sample->user_regs.data - WORD);
		sink_u64(r->body, 0);
		r->at = sample->user_regs.data + sample->user_regs.size;
	}
	copy_to(r, sample->user_stack.data - WORD);
	sink_u64(r->body, 0);
	r->at = sample->user_stack.data + stack_bytes(sample);
}

void perfdata_rewrite_sample(struct sink *body, const struct perfdata_record *record,
			     const struct perfdata_sample *sample,
			     const struct perfdata_new_stack *stack)
{
	struct rewrite r = { .body = body,
			     .at = record->body.data,
			     .end = record->body.data + record->body.size };
	const uint64_t type = sample->present;
	put_ip(&r, type, stack->ip_avma);
	if (type & PERFDATA_SAMPLE_CALLCHAIN) {
		const bool has_stack = type & PERFDATA_SAMPLE_STACK_USER;
		r.fixed_bytes = record->body.size - sample->chain_count * WORD;
		if (has_stack)
			r.fixed_bytes -= sample->user_regs.size + stack_bytes(sample);
		put_chain(&r, sample, stack);
		if (has_stack)
			drop_stack(&r, sample);
	}
	copy_to(&r, r.end);
}
