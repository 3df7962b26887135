#include "timeline/internal.h"

/* The last nanosecond would need an interval that ends behind it. */
static const uint64_t last_ns = UINT64_MAX - 1;

static struct query query_for(const struct timeline *tl, uint64_t avma, uint64_t time_ns)
{
	return (struct query){ .tl = tl,
			       .avma = avma,
			       .time_ns = time_ns < last_ns ? time_ns : last_ns,
			       .valid_from_ns = 0,
			       .valid_to_ns = UINT64_MAX };
}

static uint32_t space_of(struct query *q, uint32_t pid)
{
	return q->tl->is_sealed ? space_at(q, pid) : SPACE_NONE;
}

static void hit_code(const struct code_answer *code, const struct owners *owners,
		     struct timeline_hit *hit)
{
	static const enum timeline_trust trusts[] = {
		[CODE_NONE] = TRUST_UNKNOWN, [CODE_LIVE] = TRUST_EXACT,  [CODE_NEAR] = TRUST_EARLY,
		[CODE_FAR] = TRUST_EARLY,    [CODE_STALE] = TRUST_STALE,
	};
	hit->trust = trusts[code->standing];
	hit->layer = LAYER_CODE;
	hit->object = code->object;
	hit->start_avma = code->start_avma;
	hit->size = code->end_avma - code->start_avma;
	hit->early_ns = code->early_ns;
	hit->was_unloaded = code->was_unloaded;
	if (code->standing == CODE_LIVE && owners->count) {
		hit->trust = TRUST_AMBIGUOUS;
		hit->other_count = owners->count;
	}
}

/* Ranks what the layers say; *owners belongs to a hit in LAYER_CODE. */
static void find_in(struct query *q, uint32_t space, struct timeline_hit *hit,
		    struct owners *owners)
{
	*hit = (struct timeline_hit){ .trust = TRUST_UNKNOWN, .layer = LAYER_NONE };
	if (space == SPACE_NONE)
		return;
	struct code_answer code;
	code_find(q, space, &code, owners);
	const bool is_sure = code.standing == CODE_LIVE || code.standing == CODE_NEAR;
	if (!is_sure && untimed_find(q, space, hit))
		return;
	if (code.standing != CODE_NONE)
		hit_code(&code, owners, hit);
	else
		mapping_find(q, space, hit);
}

static void set_validity(const struct query *q, struct timeline_hit *hit)
{
	hit->valid_from_ns = q->valid_from_ns;
	hit->valid_to_ns = q->valid_to_ns;
}

void timeline_find(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
		   struct timeline_hit *hit)
{
	struct query q = query_for(tl, avma, time_ns);
	struct owners owners;
	find_in(&q, space_of(&q, pid), hit, &owners);
	set_validity(&q, hit);
}

bool timeline_find_mapping(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
			   struct timeline_hit *hit)
{
	struct query q = query_for(tl, avma, time_ns);
	*hit = (struct timeline_hit){ .trust = TRUST_UNKNOWN, .layer = LAYER_NONE };
	const bool found = mapping_find(&q, space_of(&q, pid), hit);
	set_validity(&q, hit);
	return found;
}

/* NOLINTNEXTLINE(readability-function-size): a find and one index more. */
bool timeline_other(const struct timeline *tl, uint32_t pid, uint64_t avma, uint64_t time_ns,
		    uint32_t index, uint32_t *object)
{
	struct query q = query_for(tl, avma, time_ns);
	const uint32_t space = space_of(&q, pid);
	struct timeline_hit hit;
	struct owners owners;
	find_in(&q, space, &hit, &owners);
	if (hit.trust != TRUST_AMBIGUOUS)
		return false;
	if (hit.layer == LAYER_MAP)
		untimed_owners(&q, space, &owners);
	if (index >= owners.count)
		return false;
	*object = owners.objects[index];
	return true;
}

uint32_t timeline_space(const struct timeline *tl, uint32_t pid, uint64_t time_ns,
			uint64_t *valid_from_ns, uint64_t *valid_to_ns)
{
	struct query q = query_for(tl, 0, time_ns);
	const uint32_t space = space_of(&q, pid);
	if (valid_from_ns)
		*valid_from_ns = q.valid_from_ns;
	if (valid_to_ns)
		*valid_to_ns = q.valid_to_ns;
	/* 0 is shared by all processes of which nothing is known. */
	return space == SPACE_NONE ? 0 : space + 1;
}
