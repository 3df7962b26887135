#include "timeline/internal.h"

#include "base/hash.h"

/* Makes address spaces out of forks, execs and exits, and deals the other
 * operations out to them.
 *
 *   pid 7   |-- space 0 --|exec-- space 1 --|exit ....... |fork-- space 2 --
 *           0                                stragglers    (of another parent)
 *                                            go to space 1
 */

static uint32_t *pid_slot(const struct timeline *tl, uint32_t pid)
{
	size_t at = hash_mix(pid, 1) & (tl->pid_slot_count - 1);
	while (tl->pid_slots[at] && tl->processes.items[tl->pid_slots[at] - 1].pid != pid)
		at = (at + 1) & (tl->pid_slot_count - 1);
	return &tl->pid_slots[at];
}

static bool grow_pid_slots(struct timeline *tl)
{
	const size_t wanted = tl->pid_slot_count ? tl->pid_slot_count * 2 : 64;
	uint32_t *slots = arena_new(&tl->arena, uint32_t, wanted);
	if (!slots)
		return false;
	tl->pid_slots = slots;
	tl->pid_slot_count = wanted;
	for (uint32_t i = 0; i < tl->processes.count; i++)
		*pid_slot(tl, tl->processes.items[i].pid) = i + 1;
	return true;
}

const struct process *process_find(const struct timeline *tl, uint32_t pid)
{
	if (!tl->pid_slot_count)
		return NULL;
	const uint32_t found = *pid_slot(tl, pid);
	return found ? &tl->processes.items[found - 1] : NULL;
}

/* Gives the process a new space, which is its current one from then on. */
static struct space *begin_space(struct timeline *tl, uint32_t process, uint64_t begin_ns)
{
	struct space *space = vector_push(&tl->spaces);
	if (!space)
		return NULL;
	*space = (struct space){ .process = process,
				 .parent = SPACE_NONE,
				 .begin_ns = begin_ns,
				 .code_above.space = SPACE_NONE,
				 .mapping_above.space = SPACE_NONE,
				 .untimed_above = SPACE_NONE };
	struct process *owner = &tl->processes.items[process];
	owner->space = (uint32_t)tl->spaces.count - 1;
	owner->space_count++;
	owner->has_exited = false;
	return space;
}

/* The process of a pid, made where it is new; without a space then. NULL without memory. */
static struct process *need_process(struct timeline *tl, uint32_t pid)
{
	if (tl->processes.count * 2 >= tl->pid_slot_count && !grow_pid_slots(tl))
		return NULL;
	uint32_t *slot = pid_slot(tl, pid);
	if (*slot)
		return &tl->processes.items[*slot - 1];
	struct process *process = vector_push(&tl->processes);
	if (!process)
		return NULL;
	*slot = (uint32_t)tl->processes.count;
	*process = (struct process){ .pid = pid, .space = SPACE_NONE, .home_space = SPACE_NONE };
	return process;
}

/* The same with a space, from time 0 if nobody announced it. */
static struct process *need_space(struct timeline *tl, uint32_t pid)
{
	struct process *process = need_process(tl, pid);
	if (!process || process->space != SPACE_NONE)
		return process;
	return begin_space(tl, (uint32_t)(process - tl->processes.items), 0) ? process : NULL;
}

static bool apply_fork(struct timeline *tl, const struct op *op)
{
	const struct process *parent = need_space(tl, op->object);
	if (!parent)
		return false;
	const uint32_t parent_space = parent->space;
	const struct process *child = need_process(tl, op->pid);
	if (!child)
		return false;
	struct space *space = begin_space(tl, (uint32_t)(child - tl->processes.items), op->time_ns);
	if (!space)
		return false;
	space->parent = parent_space;
	return true;
}

static inline bool is_code(const struct op *op)
{
	return op->kind == OP_LOAD || op->kind == OP_UNLOAD;
}

/* Applies what the operation says about life; *space becomes where it belongs, or
 * SPACE_NONE where that is all it says or where only all others can tell.
 */
static bool apply_life(struct timeline *tl, const struct op *op, uint32_t *space)
{
	*space = SPACE_NONE;
	if (op->kind == OP_FORK)
		return apply_fork(tl, op);
	if (is_code(op) && !op->time_ns)
		return true;
	struct process *process = need_space(tl, op->pid);
	if (!process)
		return false;
	if (op->kind == OP_EXIT) {
		process->has_exited = true;
		return true;
	}
	/* A mapping after the exit is a new process whose fork was lost; code may be
	 * told late by one that has gone.
	 */
	if (op->kind == OP_EXEC || (op->kind == OP_MAP && process->has_exited)) {
		const uint32_t index = (uint32_t)(process - tl->processes.items);
		if (!begin_space(tl, index, op->time_ns))
			return false;
	}
	if (op->kind == OP_EXEC)
		return true;
	*space = process->space;
	if (is_code(op) && process->home_space == SPACE_NONE)
		process->home_space = process->space;
	return true;
}

/* Where what has no time goes: to the program that the rest of the same dump or map
 * is about, else to the last one that the process ran.
 */
static bool timeless_space(struct timeline *tl, uint32_t pid, uint32_t *space)
{
	const struct process *process = need_space(tl, pid);
	if (!process)
		return false;
	*space = process->home_space != SPACE_NONE ? process->home_space : process->space;
	return true;
}

static bool is_in_order(const struct timeline *tl)
{
	for (size_t i = 1; i < tl->ops.count; i++) {
		if (tl->ops.items[i].time_ns < tl->ops.items[i - 1].time_ns)
			return false;
	}
	return true;
}

static bool sort_by_time(const struct timeline *tl, uint32_t *order)
{
	const size_t count = tl->ops.count;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (is_in_order(tl))
		return true;
	struct arena scratch = { 0 };
	struct pair *pairs = arena_new(&scratch, struct pair, count);
	struct pair *spare = arena_new(&scratch, struct pair, count);
	const bool done = pairs && spare;
	if (done) {
		for (uint32_t i = 0; i < count; i++)
			pairs[i] = (struct pair){ .key = tl->ops.items[i].time_ns, .value = i };
		sort_pairs(pairs, spare, count);
		for (size_t i = 0; i < count; i++)
			order[i] = pairs[i].value;
	}
	arena_clear(&scratch);
	return done;
}

static bool find_homes(struct timeline *tl, const uint32_t *order, uint32_t *homes)
{
	const uint32_t count = (uint32_t)tl->ops.count;
	for (uint32_t i = 0; i < count; i++) {
		if (!apply_life(tl, &tl->ops.items[order[i]], &homes[i]))
			return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct op *op = &tl->ops.items[order[i]];
		if (op->time_ns)
			break;
		if (is_code(op) && !timeless_space(tl, op->pid, &homes[i]))
			return false;
	}
	return true;
}

static bool deal(const struct timeline *tl, struct arena *scratch, const uint32_t *order,
		 const uint32_t *homes, struct dealt_ops *dealt)
{
	const uint32_t count = (uint32_t)tl->ops.count;
	uint32_t *offsets = arena_new(scratch, uint32_t, tl->spaces.count + 2);
	uint32_t *ops = arena_new(scratch, uint32_t, count);
	if (!offsets || !ops)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (homes[i] != SPACE_NONE)
			offsets[homes[i] + 2]++;
	}
	for (size_t s = 2; s < tl->spaces.count + 2; s++)
		offsets[s] += offsets[s - 1];
	/* Shifted by one: filling moves each offset up to where it belongs. */
	for (uint32_t i = 0; i < count; i++) {
		if (homes[i] != SPACE_NONE)
			ops[offsets[homes[i] + 1]++] = order[i];
	}
	*dealt = (struct dealt_ops){ .ops = ops, .offsets = offsets };
	return true;
}

static bool order_spaces(struct timeline *tl)
{
	tl->space_order = arena_new(&tl->arena, uint32_t, tl->spaces.count);
	if (!tl->space_order)
		return false;
	uint32_t at = 0;
	for (size_t p = 0; p < tl->processes.count; p++) {
		tl->processes.items[p].first_space = at;
		at += tl->processes.items[p].space_count;
		tl->processes.items[p].space_count = 0;
	}
	for (uint32_t s = 0; s < tl->spaces.count; s++) {
		struct process *process = &tl->processes.items[tl->spaces.items[s].process];
		tl->space_order[process->first_space + process->space_count++] = s;
	}
	return true;
}

/* The runs of untimed entries can make spaces as well, and need to know theirs. */
static bool place_runs(struct timeline *tl)
{
	for (size_t r = 0; r < tl->runs.count; r++) {
		if (!timeless_space(tl, tl->runs.items[r].pid, &tl->runs.items[r].space))
			return false;
	}
	if (!order_spaces(tl))
		return false;
	for (size_t r = 0; r < tl->runs.count; r++) {
		struct untimed_run *run = &tl->runs.items[r];
		struct query q = { .tl = tl, .time_ns = run->time_ns };
		if (run->time_ns)
			run->space = space_at(&q, run->pid);
	}
	return true;
}

bool spaces_build(struct timeline *tl, struct arena *scratch, struct dealt_ops *dealt)
{
	uint32_t *order = arena_new(scratch, uint32_t, tl->ops.count);
	uint32_t *homes = arena_new(scratch, uint32_t, tl->ops.count);
	return order && homes && sort_by_time(tl, order) && find_homes(tl, order, homes) &&
	       place_runs(tl) && deal(tl, scratch, order, homes, dealt);
}

uint32_t space_at(struct query *q, uint32_t pid)
{
	const struct timeline *tl = q->tl;
	const struct process *process = process_find(tl, pid);
	if (!process || !process->space_count)
		return SPACE_NONE;
	const uint32_t *spaces = tl->space_order + process->first_space;
	uint32_t low = 0;
	uint32_t high = process->space_count;
	/* The first space also answers for the time before it was announced. */
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (query_before(q, tl->spaces.items[spaces[middle]].begin_ns))
			high = middle;
		else
			low = middle;
	}
	return spaces[low];
}
