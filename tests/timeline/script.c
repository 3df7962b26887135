#include "script.h"

#include "naive.h"

#include <inttypes.h>
#include <stdio.h>

/* Small, so that everything meets everything. Times and addresses begin above 0. */
enum { PIDS = 4, ADDRESSES = 18, TIMES = 22, OBJECTS = 6, MAX_OPS = 40 };

struct both {
	struct timeline *tl;
	struct naive naive;
	uint32_t real_space[NAIVE_SPACES]; /* of each naive one, 0: not seen yet */
	struct naive_answer answers[TIMES];
	struct timeline_hit hits[TIMES];
};

static uint64_t pick(struct cursor *in, uint64_t count)
{
	return cursor_u8(in) % count;
}

static struct timeline_load pick_load(struct cursor *in)
{
	struct timeline_load load = { .start_avma = pick(in, ADDRESSES) };
	load.size = pick(in, 8);
	load.object = (uint32_t)pick(in, OBJECTS);
	load.time_ns = pick(in, TIMES);
	const uint64_t spread = pick(in, 64);
	load.earliest_ns = load.time_ns;
	load.latest_ns = load.time_ns;
	if (load.time_ns && (spread & 1)) {
		const uint64_t before = spread >> 1 & 3;
		load.earliest_ns -= before < load.time_ns ? before : load.time_ns;
		load.latest_ns += spread >> 3 & 7;
	}
	return load;
}

static void put_load(struct both *b, enum naive_kind kind, uint32_t pid,
		     const struct timeline_load *load)
{
	/* Map lines are told apart by when they were added: file_off keeps that. */
	naive_add(&b->naive, &(struct naive_op){ .kind = kind,
						 .pid = pid,
						 .time_ns = load->time_ns,
						 .start = load->start_avma,
						 .size = load->size,
						 .earliest_ns = load->earliest_ns,
						 .latest_ns = load->latest_ns,
						 .file_off = (uint64_t)b->naive.op_count,
						 .object = load->object });
}

static int put_mapping(struct both *b, struct cursor *in, uint32_t pid, uint64_t time_ns)
{
	struct timeline_mapping mapping = { .start_avma = pick(in, ADDRESSES) };
	mapping.size = 1 + pick(in, 10);
	mapping.file_off = pick(in, 3);
	mapping.object = (uint32_t)pick(in, OBJECTS);
	naive_add(&b->naive, &(struct naive_op){ .kind = NAIVE_MAP,
						 .pid = pid,
						 .time_ns = time_ns,
						 .start = mapping.start_avma,
						 .size = mapping.size,
						 .file_off = mapping.file_off,
						 .object = mapping.object });
	return timeline_map(b->tl, pid, time_ns, &mapping);
}

static int put_move(struct both *b, struct cursor *in, uint32_t pid)
{
	const uint64_t old_avma = pick(in, ADDRESSES);
	const uint64_t time_ns = pick(in, TIMES);
	struct timeline_load to = pick_load(in);
	const bool has_own_time = pick(in, 2);
	struct timeline_load given = to;
	if (!has_own_time) {
		given.time_ns = 0;
		to.earliest_ns = to.time_ns = to.latest_ns = time_ns;
	} else if (!to.time_ns) {
		to.earliest_ns = to.time_ns = to.latest_ns = time_ns;
	}
	naive_add(&b->naive,
		  &(struct naive_op){
		      .kind = NAIVE_UNLOAD, .pid = pid, .time_ns = time_ns, .start = old_avma });
	put_load(b, NAIVE_LOAD, pid, &to);
	return timeline_move(b->tl, pid, time_ns, old_avma, &given);
}

static int put_life(struct both *b, struct cursor *in, enum naive_kind kind, uint32_t pid)
{
	const uint64_t time_ns = pick(in, TIMES);
	const uint32_t parent_pid = kind == NAIVE_FORK ? (uint32_t)pick(in, PIDS) : 0;
	naive_add(&b->naive,
		  &(struct naive_op){
		      .kind = kind, .pid = pid, .parent_pid = parent_pid, .time_ns = time_ns });
	if (kind == NAIVE_FORK)
		return timeline_fork(b->tl, parent_pid, pid, time_ns);
	return kind == NAIVE_EXEC ? timeline_exec(b->tl, pid, time_ns)
				  : timeline_exit(b->tl, pid, time_ns);
}

static int put_op(struct both *b, struct cursor *in)
{
	const uint64_t kind = pick(in, 16);
	const uint32_t pid = (uint32_t)pick(in, PIDS - 1);
	struct timeline_load load;
	switch (kind) {
	case 0:
		return put_move(b, in, pid);
	case 1:
	case 2:
		return put_mapping(b, in, pid, pick(in, TIMES));
	case 3:
	case 4: {
		const uint64_t time_ns = pick(in, TIMES);
		const uint64_t start = pick(in, ADDRESSES);
		naive_add(&b->naive, &(struct naive_op){ .kind = NAIVE_UNLOAD,
							 .pid = pid,
							 .time_ns = time_ns,
							 .start = start });
		return timeline_unload(b->tl, pid, time_ns, start);
	}
	case 5:
	case 6:
		load = pick_load(in);
		put_load(b, NAIVE_UNTIMED, pid, &load);
		return timeline_untimed(b->tl, pid, &load);
	case 7:
	case 8:
		return put_life(b, in, NAIVE_FORK, pid);
	case 9:
		return put_life(b, in, pick(in, 2) ? NAIVE_EXEC : NAIVE_EXIT, pid);
	default:
		load = pick_load(in);
		put_load(b, NAIVE_LOAD, pid, &load);
		return timeline_load(b->tl, pid, &load);
	}
}

static void print_ops(const struct naive *n)
{
	static const char *const kinds[] = { "fork", "exec",   "exit",   "map",
					     "load", "unload", "untimed" };
	for (int i = 0; i < n->op_count; i++) {
		const struct naive_op *op = &n->ops[i];
		printf("  %-7s pid %u space %d time %" PRIu64 " [%" PRIu64 ", %" PRIu64
		       "] at %" PRIu64 "..%" PRIu64 " object %u parent %u\n",
		       kinds[op->kind], op->pid, op->space, op->time_ns, op->earliest_ns,
		       op->latest_ns, op->start, op->end, op->object, op->parent_pid);
	}
	printf("  skew %" PRIu64 "\n", n->skew_ns);
}

static void print_hit(const char *who, const struct timeline_hit *hit)
{
	printf("  %-9s trust %d layer %d object %u at %" PRIu64 "+%" PRIu64 " off %" PRIu64
	       " early %" PRIu64 " others %u valid %" PRIu64 "..%" PRIu64 "\n",
	       who, hit->trust, hit->layer, hit->object, hit->start_avma, hit->size, hit->file_off,
	       hit->early_ns, hit->other_count, hit->valid_from_ns, hit->valid_to_ns);
}

static bool same_answer(const struct timeline_hit *a, const struct timeline_hit *b)
{
	return a->trust == b->trust && a->layer == b->layer && a->object == b->object &&
	       a->start_avma == b->start_avma && a->size == b->size && a->file_off == b->file_off &&
	       a->other_count == b->other_count;
}

static bool same_others(const struct both *b, uint32_t pid, uint64_t avma, uint64_t time_ns)
{
	const struct naive_answer *want = &b->answers[time_ns];
	uint32_t object;
	for (uint32_t i = 0; i < want->hit.other_count; i++) {
		if (!timeline_other(b->tl, pid, avma, time_ns, i, &object))
			return false;
		bool found = false;
		for (uint32_t k = 0; k < want->hit.other_count && !found; k++)
			found =
			    want->others[k] == object && (want->hit.layer == LAYER_CODE || k == i);
		if (!found)
			return false;
	}
	return !timeline_other(b->tl, pid, avma, time_ns, want->hit.other_count, &object);
}

/* What was said to hold in an interval holds there. */
static bool validity_holds(const struct both *b, uint64_t time_ns)
{
	const struct timeline_hit *hit = &b->hits[time_ns];
	if (hit->valid_from_ns > time_ns || hit->valid_to_ns <= time_ns)
		return false;
	for (uint64_t t = 0; t < TIMES; t++) {
		if (t >= hit->valid_from_ns && t < hit->valid_to_ns &&
		    !same_answer(hit, &b->hits[t]))
			return false;
	}
	return true;
}

static bool address_holds(struct both *b, uint32_t pid, uint64_t avma)
{
	for (uint64_t t = 0; t < TIMES; t++) {
		naive_find(&b->naive, pid, avma, t, &b->answers[t]);
		timeline_find(b->tl, pid, avma, t, &b->hits[t]);
	}
	for (uint64_t t = 0; t < TIMES; t++) {
		struct timeline_hit mapped;
		struct timeline_hit naive_mapped;
		const bool has = timeline_find_mapping(b->tl, pid, avma, t, &mapped);
		const bool naive_has = naive_find_mapping(&b->naive, pid, avma, t, &naive_mapped);
		const char *what = "the answer";
		bool good = same_answer(&b->answers[t].hit, &b->hits[t]) &&
			    b->answers[t].hit.early_ns == b->hits[t].early_ns;
		if (good && (has != naive_has || !same_answer(&mapped, &naive_mapped))) {
			what = "the mapping";
			good = false;
		} else if (good && !same_others(b, pid, avma, t)) {
			what = "the other owners";
			good = false;
		} else if (good && !validity_holds(b, t)) {
			what = "the interval";
			good = false;
		}
		if (!good) {
			printf("%s is wrong: pid %u address %" PRIu64 " time %" PRIu64 "\n", what,
			       pid, avma, t);
			print_hit("rules", &b->answers[t].hit);
			print_hit("timeline", &b->hits[t]);
			print_ops(&b->naive);
			return false;
		}
	}
	return true;
}

/* Spaces have one number each, and keep it as long as they say. */
static bool spaces_hold(struct both *b, uint32_t pid)
{
	for (uint64_t t = 0; t < TIMES; t++) {
		uint64_t from_ns;
		uint64_t to_ns;
		const int naive = naive_space(&b->naive, pid, t);
		const uint32_t real = timeline_space(b->tl, pid, t, &from_ns, &to_ns);
		bool good = from_ns <= t && t < to_ns && (naive < 0) == (real == 0);
		if (naive >= 0 && !b->real_space[naive])
			b->real_space[naive] = real;
		good = good && (naive < 0 || b->real_space[naive] == real);
		for (int s = 0; s < b->naive.space_count; s++)
			good = good && (s == naive || b->real_space[s] != real || !real);
		for (uint64_t u = from_ns; u < to_ns && u < TIMES; u++)
			good = good && naive_space(&b->naive, pid, u) == naive;
		if (!good) {
			printf("space is wrong: pid %u time %" PRIu64 "\n", pid, t);
			print_ops(&b->naive);
			return false;
		}
	}
	return true;
}

static bool run(struct both *b, struct cursor *in)
{
	while (cursor_left(in) && b->naive.op_count < MAX_OPS) {
		if (put_op(b, in) < 0)
			return false;
	}
	naive_seal(&b->naive);
	if (timeline_seal(b->tl) < 0)
		return false;
	for (uint32_t pid = 0; pid < PIDS; pid++) {
		if (!spaces_hold(b, pid))
			return false;
		for (uint64_t avma = 0; avma < ADDRESSES + 10; avma++) {
			if (!address_holds(b, pid, avma))
				return false;
		}
	}
	return true;
}

bool script_holds(struct bytes script)
{
	if (!script.size)
		return true;
	struct cursor in = { .pos = script.data, .end = script.data + script.size };
	struct both b = { .naive.skew_ns = 1 + pick(&in, 5) };
	b.tl = timeline_new(&(struct timeline_options){ .skew_ns = b.naive.skew_ns });
	const bool held = b.tl && run(&b, &in);
	timeline_free(b.tl);
	return held;
}
