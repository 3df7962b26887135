#include "naive.h"

#include <string.h>

/* One object in a replay: what it was loaded as, and what has become of it. */
struct entry {
	const struct naive_op *load;
	int home; /* the space that loaded it */
	bool ended;
	bool by_unload;
	uint64_t possible_ns; /* by then it had ended for sure */
};

struct state {
	struct entry entries[NAIVE_OPS * 4];
	int count;
};

static bool covers(const struct naive_op *op, uint64_t avma)
{
	return op->start <= avma && avma < op->end;
}

static bool overlap(const struct naive_op *a, const struct naive_op *b)
{
	return a->start < b->end && b->start < a->end;
}

void naive_add(struct naive *n, const struct naive_op *op)
{
	/* Stable by time: behind all that are not later. */
	int at = n->op_count++;
	for (; at > 0 && n->ops[at - 1].time_ns > op->time_ns; at--)
		n->ops[at] = n->ops[at - 1];
	n->ops[at] = *op;
}

/* ---- spaces ---- */

static int last_space(const struct naive *n, uint32_t pid)
{
	for (int s = n->space_count - 1; s >= 0; s--) {
		if (n->spaces[s].pid == pid)
			return s;
	}
	return -1;
}

static int new_space(struct naive *n, uint32_t pid, int parent, uint64_t begin_ns)
{
	n->spaces[n->space_count] =
	    (struct naive_space){ .pid = pid, .parent = parent, .begin_ns = begin_ns };
	return n->space_count++;
}

static int need_space(struct naive *n, uint32_t pid)
{
	const int space = last_space(n, pid);
	return space >= 0 ? space : new_space(n, pid, -1, 0);
}

static bool is_timeless(const struct naive_op *op)
{
	return op->kind == NAIVE_UNTIMED ||
	       (!op->time_ns && (op->kind == NAIVE_LOAD || op->kind == NAIVE_UNLOAD));
}

/* Has this space exited by op i, by an exit at or after its begin in the log? */
static bool has_exited(const struct naive *n, int space, int i)
{
	for (int k = 0; k < i; k++) {
		if (n->ops[k].kind == NAIVE_EXIT && n->ops[k].space == space)
			return true;
	}
	return false;
}

static void give_space(struct naive *n, int i)
{
	struct naive_op *op = &n->ops[i];
	op->space = -1;
	if (is_timeless(op))
		return;
	if (op->kind == NAIVE_FORK) {
		const int parent = need_space(n, op->parent_pid);
		new_space(n, op->pid, parent, op->time_ns);
		return;
	}
	op->space = need_space(n, op->pid);
	if (op->kind == NAIVE_EXEC || (op->kind == NAIVE_MAP && has_exited(n, op->space, i)))
		op->space = new_space(n, op->pid, -1, op->time_ns);
}

static void give_timeless_space(struct naive *n, struct naive_op *op)
{
	if (op->kind == NAIVE_UNTIMED && op->time_ns) {
		op->space = naive_space(n, op->pid, op->time_ns);
		return;
	}
	op->space = -1;
	for (int k = 0; k < n->op_count && op->space < 0; k++) {
		const struct naive_op *other = &n->ops[k];
		if (other->pid == op->pid && other->time_ns &&
		    (other->kind == NAIVE_LOAD || other->kind == NAIVE_UNLOAD))
			op->space = other->space;
	}
	if (op->space < 0)
		op->space = need_space(n, op->pid);
}

static void give_end(struct naive *n, struct naive_op *op)
{
	if (op->size) {
		op->end = op->start + op->size;
		return;
	}
	op->end = op->start + 4096;
	for (int k = 0; k < n->op_count; k++) {
		const struct naive_op *other = &n->ops[k];
		if (other->kind == op->kind && other->space == op->space &&
		    other->start > op->start && other->start < op->end)
			op->end = other->start;
	}
}

void naive_seal(struct naive *n)
{
	for (int i = 0; i < n->op_count; i++)
		give_space(n, i);
	/* Whoever is never announced lives from time 0. */
	for (int i = 0; i < n->op_count; i++) {
		if (is_timeless(&n->ops[i]))
			need_space(n, n->ops[i].pid);
	}
	for (int i = 0; i < n->op_count; i++) {
		if (is_timeless(&n->ops[i]))
			give_timeless_space(n, &n->ops[i]);
	}
	for (int i = 0; i < n->op_count; i++)
		give_end(n, &n->ops[i]);
}

int naive_space(const struct naive *n, uint32_t pid, uint64_t time_ns)
{
	int found = -1;
	for (int s = 0; s < n->space_count; s++) {
		if (n->spaces[s].pid == pid && (found < 0 || n->spaces[s].begin_ns <= time_ns))
			found = s;
	}
	return found;
}

/* ---- timed code ---- */

static void replay_op(struct state *state, const struct naive_op *op, int space)
{
	for (int e = 0; e < state->count; e++) {
		struct entry *old = &state->entries[e];
		if (old->ended)
			continue;
		if (op->kind == NAIVE_UNLOAD && old->load->start == op->start) {
			old->ended = old->by_unload = true;
			old->possible_ns = op->time_ns;
		}
		if (op->kind == NAIVE_LOAD && overlap(old->load, op)) {
			old->ended = true;
			old->possible_ns = op->latest_ns;
		}
	}
	if (op->kind == NAIVE_LOAD)
		state->entries[state->count++] = (struct entry){ .load = op, .home = space };
}

/* What the space holds at a time, oldest first. */
static void replay(const struct naive *n, int space, uint64_t time_ns, struct state *state)
{
	const struct naive_space *s = &n->spaces[space];
	state->count = 0;
	if (s->parent >= 0)
		replay(n, s->parent, s->begin_ns, state);
	for (int i = 0; i < n->op_count; i++) {
		const struct naive_op *op = &n->ops[i];
		if (op->space == space && op->time_ns <= time_ns &&
		    (op->kind == NAIVE_LOAD || op->kind == NAIVE_UNLOAD))
			replay_op(state, op, space);
	}
}

static int last_over(const struct state *state, uint64_t avma, int below)
{
	for (int e = below - 1; e >= 0; e--) {
		if (covers(state->entries[e].load, avma))
			return e;
	}
	return -1;
}

static const struct naive_op *next_load(const struct naive *n, int space, uint64_t avma,
					uint64_t time_ns)
{
	for (int i = 0; i < n->op_count; i++) {
		const struct naive_op *op = &n->ops[i];
		if (op->kind == NAIVE_LOAD && op->space == space && op->time_ns > time_ns &&
		    covers(op, avma))
			return op;
	}
	return NULL;
}

static void add_other(struct naive_answer *answer, uint32_t object)
{
	for (uint32_t i = 0; i < answer->hit.other_count; i++) {
		if (answer->others[i] == object)
			return;
	}
	answer->others[answer->hit.other_count++] = object;
}

/* Who else may be at the address, when `live` is thought to be? */
static void find_others(const struct naive *n, int space, uint64_t avma, uint64_t time_ns,
			struct naive_answer *answer)
{
	struct state state;
	replay(n, space, time_ns, &state);
	const int live = last_over(&state, avma, state.count);
	const struct naive_op *load = state.entries[live].load;
	if (state.entries[live].home == space) {
		const int before = last_over(&state, avma, live);
		if (before >= 0 && time_ns < load->latest_ns &&
		    time_ns < state.entries[before].possible_ns &&
		    state.entries[before].load->object != load->object)
			add_other(answer, state.entries[before].load->object);
	} else {
		find_others(n, n->spaces[space].parent, avma, n->spaces[space].begin_ns, answer);
	}
	const struct naive_op *next = next_load(n, space, avma, time_ns);
	if (!next || next->earliest_ns > time_ns || next->object == load->object)
		return;
	struct state final;
	replay(n, space, UINT64_MAX, &final);
	for (int e = 0; e < final.count; e++) {
		if (final.entries[e].load == load && !final.entries[e].by_unload)
			add_other(answer, next->object);
	}
}

/* The load that follows so closely that it counts, seen from a space at a time. */
static const struct naive_op *find_near(const struct naive *n, int space, uint64_t avma,
					uint64_t time_ns, uint64_t *early_ns)
{
	struct state state;
	replay(n, space, time_ns, &state);
	const int last = last_over(&state, avma, state.count);
	if (last >= 0 && !state.entries[last].ended)
		return NULL;
	const struct naive_op *next = next_load(n, space, avma, time_ns);
	if (next && (next->time_ns <= time_ns + n->skew_ns || next->earliest_ns <= time_ns)) {
		*early_ns = next->time_ns - time_ns;
		return next;
	}
	if (last >= 0 && state.entries[last].home == space)
		return NULL;
	const struct naive_space *s = &n->spaces[space];
	if (s->parent < 0)
		return NULL;
	next = find_near(n, s->parent, avma, s->begin_ns, early_ns);
	for (int i = 0; next && i < n->op_count; i++) {
		const struct naive_op *op = &n->ops[i];
		if (op->space != space || op->time_ns > time_ns)
			continue;
		if ((op->kind == NAIVE_LOAD && overlap(op, next)) ||
		    (op->kind == NAIVE_UNLOAD && op->start == next->start))
			return NULL;
	}
	return next;
}

static void fill_code(struct timeline_hit *hit, enum timeline_trust trust,
		      const struct naive_op *load)
{
	hit->trust = trust;
	hit->layer = LAYER_CODE;
	hit->object = load->object;
	hit->start_avma = load->start;
	hit->size = load->end - load->start;
}

/* ---- the other layers ---- */

static bool find_untimed(const struct naive *n, int space, uint64_t avma,
			 struct naive_answer *answer)
{
	const struct naive_op *owners[NAIVE_OPS];
	int count = 0;
	for (int i = 0; i < n->op_count; i++) {
		const struct naive_op *op = &n->ops[i];
		if (op->kind == NAIVE_UNTIMED && op->space == space && covers(op, avma))
			owners[count++] = op;
	}
	if (!count)
		return n->spaces[space].parent >= 0 &&
		       find_untimed(n, n->spaces[space].parent, avma, answer);
	/* file_off holds the position in which it was added. */
	for (int i = 1; i < count; i++) {
		for (int k = i; k > 0 && owners[k]->file_off < owners[k - 1]->file_off; k--) {
			const struct naive_op *swapped = owners[k];
			owners[k] = owners[k - 1];
			owners[k - 1] = swapped;
		}
	}
	const struct naive_op *top = owners[count - 1];
	for (int i = 0; i < count; i++) {
		if (owners[i]->object != top->object)
			add_other(answer, owners[i]->object);
	}
	fill_code(&answer->hit, answer->hit.other_count ? TRUST_AMBIGUOUS : TRUST_UNTIMED, top);
	answer->hit.layer = LAYER_MAP;
	return true;
}

static bool find_mapping(const struct naive *n, int space, uint64_t avma, uint64_t time_ns,
			 struct timeline_hit *hit)
{
	for (int i = n->op_count - 1; i >= 0; i--) {
		const struct naive_op *op = &n->ops[i];
		if (op->kind != NAIVE_MAP || op->space != space || op->time_ns > time_ns ||
		    !covers(op, avma))
			continue;
		fill_code(hit, TRUST_EXACT, op);
		hit->layer = LAYER_MAPPING;
		hit->file_off = op->file_off;
		return true;
	}
	const struct naive_space *s = &n->spaces[space];
	return s->parent >= 0 && find_mapping(n, s->parent, avma, s->begin_ns, hit);
}

bool naive_find_mapping(const struct naive *n, uint32_t pid, uint64_t avma, uint64_t time_ns,
			struct timeline_hit *hit)
{
	*hit = (struct timeline_hit){ .trust = TRUST_UNKNOWN };
	const int space = naive_space(n, pid, time_ns);
	return space >= 0 && find_mapping(n, space, avma, time_ns, hit);
}

void naive_find(const struct naive *n, uint32_t pid, uint64_t avma, uint64_t time_ns,
		struct naive_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	struct timeline_hit *hit = &answer->hit;
	hit->trust = TRUST_UNKNOWN;
	const int space = naive_space(n, pid, time_ns);
	if (space < 0)
		return;
	struct state state;
	replay(n, space, time_ns, &state);
	const int last = last_over(&state, avma, state.count);
	if (last >= 0 && !state.entries[last].ended) {
		find_others(n, space, avma, time_ns, answer);
		fill_code(hit, hit->other_count ? TRUST_AMBIGUOUS : TRUST_EXACT,
			  state.entries[last].load);
		return;
	}
	uint64_t early_ns = 0;
	const struct naive_op *near = find_near(n, space, avma, time_ns, &early_ns);
	const struct naive_op *far = next_load(n, space, avma, time_ns);
	if (near) {
		fill_code(hit, TRUST_EARLY, near);
		hit->early_ns = early_ns;
	} else if (find_untimed(n, space, avma, answer)) {
		return;
	} else if (last >= 0) {
		fill_code(hit, TRUST_STALE, state.entries[last].load);
	} else if (far) {
		fill_code(hit, TRUST_EARLY, far);
		hit->early_ns = far->time_ns - time_ns;
	} else {
		find_mapping(n, space, avma, time_ns, hit);
	}
}
