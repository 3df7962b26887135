#include "record/held.h"

#include "base/search.h"
#include "base/status.h"
#include "format/perfdata/layout.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t patience_ns = 500000000;

/* Where a sample has what, by the sample_type that all of ours begin with. */
enum {
	ID_AT = 8,
	IP_AT = 16,
	PID_AT = 24,
	TID_AT = 28,
	TIME_AT = 32,
	CPU_AT = 40,
	SAMPLE_MIN = 48,
	MISC_MODE = 7,
	MISC_USER = 2,
};

/* One of an agent's event. */
struct held_sample {
	uint64_t time_ns;
	uint64_t ip_avma;
	uint32_t tid;
	uint32_t at;          /* in the round's records */
	uint32_t stack_at;    /* in its stacks ... */
	uint32_t stack_bytes; /* ... 0: none yet */
	bool is_early;
};

struct kept_round {
	struct sink records; /* as they were read, but with their events' shown numbers */
	struct sink stacks;
	struct sink definitions;            /* whole records */
	VECTOR(struct held_sample) samples; /* as they lie */
	VECTOR(uint32_t) order;             /* of them, by thread and time */
	size_t ring_from;                   /* before this are the sideband's records */
	size_t definition_count;
	size_t waiting;
	bool is_sorted;
	uint64_t read_ns;
};

struct held {
	struct agents *agents;
	const struct events *events;
	VECTOR(struct kept_round) rounds; /* oldest first */
	struct sink out;
	struct held_totals totals;
	int status;
};

int held_new(struct held **made, struct agents *agents, const struct events *events)
{
	struct held *held = calloc(1, sizeof(*held));
	if (!held)
		return STATUS_NO_MEMORY;
	held->agents = agents;
	held->events = events;
	*made = held;
	return 0;
}

static void clear_round(struct kept_round *round)
{
	sink_clear(&round->records);
	sink_clear(&round->stacks);
	sink_clear(&round->definitions);
	vector_clear(&round->samples);
	vector_clear(&round->order);
}

void held_free(struct held *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->rounds.count; i++)
		clear_round(&held->rounds.items[i]);
	vector_clear(&held->rounds);
	sink_clear(&held->out);
	free(held);
}

int held_status(const struct held *held)
{
	return held->status;
}

struct held_totals held_totals(const struct held *held)
{
	return held->totals;
}

bool held_is_waiting(const struct held *held)
{
	for (size_t i = 0; i < held->rounds.count; i++)
		if (held->rounds.items[i].waiting)
			return true;
	return false;
}

static struct kept_round *newest(struct held *held)
{
	return held->rounds.count ? &held->rounds.items[held->rounds.count - 1] : NULL;
}

void held_begin(struct held *held)
{
	struct kept_round *round = vector_push(&held->rounds);
	if (!round) {
		held->status = STATUS_NO_MEMORY;
		return;
	}
	*round = (struct kept_round){ .read_ns = os_clock_mono_ns() };
}

void held_sideband(struct held *held, struct bytes records)
{
	struct kept_round *round = newest(held);
	if (!round)
		return;
	sink_put(&round->records, records.data, records.size);
	round->ring_from = round->records.size;
}

static uint64_t u64_at(const uint8_t *record, size_t at)
{
	uint64_t value;
	memcpy(&value, record + at, sizeof(value));
	return value;
}

static uint32_t u32_at(const uint8_t *record, size_t at)
{
	uint32_t value;
	memcpy(&value, record + at, sizeof(value));
	return value;
}

static struct perf_event_header header_at(const uint8_t *record)
{
	struct perf_event_header header;
	memcpy(&header, record, sizeof(header));
	return header;
}

static void show_id(struct held *held, uint8_t *record, size_t at)
{
	const struct agents_id *id = agents_id(held->agents, u64_at(record, at));
	if (id && id->is_trap)
		memcpy(record + at, &id->shown, sizeof(id->shown));
}

static void see_sample(struct held *held, struct kept_round *round, uint32_t at)
{
	uint8_t *record = round->records.data + at;
	const struct agents_id *id = agents_id(held->agents, u64_at(record, ID_AT));
	if (!id || !id->is_trap)
		return;
	struct held_sample *sample = vector_push(&round->samples);
	uint32_t *order = vector_push(&round->order);
	if (!sample || !order) {
		held->status = STATUS_NO_MEMORY;
		return;
	}
	*sample = (struct held_sample){ .time_ns = u64_at(record, TIME_AT),
					.ip_avma = u64_at(record, IP_AT),
					.tid = u32_at(record, TID_AT),
					.at = at,
					.is_early = id->is_early };
	*order = (uint32_t)round->samples.count - 1;
	memcpy(record + ID_AT, &id->shown, sizeof(id->shown));
}

/* Numbers of agents' events are in no header: readers must not meet them. */
static void see_record(struct held *held, struct kept_round *round, uint32_t at, uint16_t size)
{
	uint8_t *record = round->records.data + at;
	const struct perf_event_header header = header_at(record);
	if (header.type == PERFDATA_SAMPLE) {
		if (size >= SAMPLE_MIN)
			see_sample(held, round, at);
		return;
	}
	/* The trailer ends with the number; LOST and THROTTLE have it in their bodies, too. */
	if (size >= 16)
		show_id(held, record, size - 8u);
	if (header.type == PERFDATA_LOST && size >= 24)
		show_id(held, record, 8);
	if ((header.type == PERFDATA_THROTTLE || header.type == PERFDATA_UNTHROTTLE) &&
	    size >= 32) {
		show_id(held, record, 16);
		show_id(held, record, 24);
	}
}

static int compare(const void *a, const void *b, void *context)
{
	const struct kept_round *round = context;
	const struct held_sample *x = &round->samples.items[*(const uint32_t *)a];
	const struct held_sample *y = &round->samples.items[*(const uint32_t *)b];
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void scan(struct held *held, struct kept_round *round, size_t from)
{
	const size_t end = round->records.size;
	for (size_t at = from; end - at >= sizeof(struct perf_event_header);) {
		const struct perf_event_header header = header_at(round->records.data + at);
		if (header.size < sizeof(header) || header.size > end - at)
			break;
		see_record(held, round, (uint32_t)at, header.size);
		at += header.size;
	}
}

void held_ring(struct held *held, struct cpu_rings *rings)
{
	struct kept_round *round = newest(held);
	struct bytes pieces[2];
	const size_t unread = perf_ring_peek(&rings->samples, pieces);
	if (!unread || !round)
		return;
	const size_t from = round->records.size;
	sink_put(&round->records, pieces[0].data, pieces[0].size);
	sink_put(&round->records, pieces[1].data, pieces[1].size);
	perf_ring_consume(&rings->samples, unread);
	if (sink_failed(&round->records) || round->records.size > UINT32_MAX)
		held->status = STATUS_NO_MEMORY;
	else
		scan(held, round, from);
}

static void sort(struct kept_round *round)
{
	if (round->order.count)
		qsort_r(round->order.items, round->order.count, sizeof(round->order.items[0]),
			compare, round);
	round->waiting = round->samples.count;
	round->is_sorted = true;
}

static struct held_sample *ordered(const struct kept_round *round, size_t place)
{
	return &round->samples.items[round->order.items[place]];
}

static bool is_until(const struct held_sample *sample, uint32_t tid, uint64_t time_ns)
{
	return sample->tid < tid || (sample->tid == tid && sample->time_ns <= time_ns);
}

/* The last sample of the thread that is not later; NULL: none in this round. */
static struct held_sample *last_before(struct kept_round *round, uint32_t tid, uint64_t time_ns,
				       size_t *place)
{
	size_t count;
	SEARCH(count, round->order.count, i, is_until(ordered(round, i), tid, time_ns));
	if (!count)
		return NULL;
	struct held_sample *sample = ordered(round, count - 1);
	*place = count - 1;
	return sample->tid == tid ? sample : NULL;
}

static void give_stack(struct held *held, struct kept_round *round, struct held_sample *sample,
		       const struct agents_told *told)
{
	if (sample->stack_bytes)
		return;
	sample->stack_at = (uint32_t)round->stacks.size;
	sample->stack_bytes = (uint32_t)told->bytes.size;
	sink_put(&round->stacks, told->bytes.data, told->bytes.size);
	if (sink_failed(&round->stacks) || round->stacks.size > UINT32_MAX) {
		held->status = STATUS_NO_MEMORY;
		return;
	}
	sink_patch_u64(&round->stacks, sample->stack_at + offsetof(struct walk_stack, time_ns),
		       sample->time_ns);
	round->waiting--;
	held->totals.joined++;
}

/* One before `place` that may be of the same signal. */
static bool has_before(const struct kept_round *round, size_t place, const struct agents_told *told)
{
	if (!place)
		return false;
	const struct held_sample *sample = ordered(round, place - 1);
	return sample->tid == told->record.stack.tid && sample->time_ns > told->after_ns;
}

/* From the last sample before the stack was told: behind the one that it is of may be such as
 * were taken in the handler, before it looked at the clock. Samples of several events may have
 * been taken at one instruction: they are of one signal.
 */
static bool join_at(struct held *held, struct kept_round *round, size_t place,
		    const struct agents_told *told)
{
	const uint64_t ip_avma = told->record.stack.ip_avma;
	if (ordered(round, place)->time_ns <= told->after_ns)
		return false;
	if (ordered(round, place)->is_early && !has_before(round, place, told)) {
		give_stack(held, round, ordered(round, place), told);
		return true;
	}
	while (ordered(round, place)->ip_avma != ip_avma) {
		if (!has_before(round, place, told))
			return false;
		place--;
	}
	give_stack(held, round, ordered(round, place), told);
	while (has_before(round, place, told) && ordered(round, place - 1)->ip_avma == ip_avma)
		give_stack(held, round, ordered(round, --place), told);
	return true;
}

/* Rounds of one CPU follow one another; those of several overlap a little. */
static bool join(struct held *held, const struct agents_told *told)
{
	struct kept_round *best_round = NULL;
	size_t best_place = 0;
	uint64_t best_ns = 0;
	for (size_t i = held->rounds.count; i-- > 0;) {
		struct kept_round *round = &held->rounds.items[i];
		size_t place;
		const struct held_sample *sample =
		    last_before(round, told->record.stack.tid, told->time_ns, &place);
		if (!sample || (best_round && sample->time_ns <= best_ns))
			continue;
		best_round = round;
		best_place = place;
		best_ns = sample->time_ns;
	}
	return best_round && join_at(held, best_round, best_place, told);
}

/* What a record of the frames' event begins with. */
struct frames_place {
	uint64_t ip_avma;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t cpu; /* and 32 bits of nothing */
};

static void put_frames(const struct held *held, struct sink *out, struct bytes raw,
		       const struct frames_place *place)
{
	const uint32_t filled = (uint32_t)((raw.size + 4 + 7) & ~(size_t)7) - 4;
	sink_u32(out, PERFDATA_SAMPLE);
	sink_u16(out, MISC_USER);
	sink_u16(out, (uint16_t)(SAMPLE_MIN + 4 + filled));
	sink_u64(out, held->events->frames.ids.items[0]);
	sink_u64(out, place->ip_avma);
	sink_u32(out, place->pid);
	sink_u32(out, place->tid);
	sink_u64(out, place->time_ns);
	sink_u64(out, place->cpu);
	sink_u32(out, filled);
	sink_put(out, raw.data, raw.size);
	sink_zeros(out, filled - raw.size);
}

/* What is told of code belongs to no sample: it has the time at which it was told. */
static void put_definition(struct held *held, const struct agents_told *told)
{
	struct kept_round *round = newest(held);
	const struct frames_place place = { .pid = (uint32_t)told->pid,
					    .tid = (uint32_t)told->pid,
					    .time_ns = told->time_ns };
	if (!round)
		return;
	put_frames(held, &round->definitions, told->bytes, &place);
	round->definition_count++;
	if (sink_failed(&round->definitions))
		held->status = STATUS_NO_MEMORY;
}

static void take(void *context, const struct agents_told *told)
{
	struct held *held = context;
	if (held->status < 0)
		return;
	if (told->record.head.kind != WALK_STACK)
		put_definition(held, told);
	else
		held->totals.unmatched += !join(held, told);
}

void held_join(struct held *held)
{
	struct kept_round *round = newest(held);
	if (round && !round->is_sorted)
		sort(round);
	const struct agents_taker taker = { take, held };
	/* The sample of what was told before the rings were read is in them, or was lost. */
	agents_read(held->agents, round ? round->read_ns : 0, &taker);
}

static bool is_dropped(struct held *held, const uint8_t *record, struct perf_event_header header,
		       bool is_trap)
{
	if (is_trap || (header.misc & MISC_MODE) != MISC_USER)
		return false;
	const struct agents_id *id = agents_id(held->agents, u64_at(record, ID_AT));
	return id && agents_covers(held->agents, (pid_t)u32_at(record, PID_AT), id->event,
				   u64_at(record, TIME_AT));
}

static void put_sample(struct held *held, const struct kept_round *round,
		       const struct held_sample *trap, struct bytes bytes, struct held_round *to)
{
	const uint8_t *record = bytes.data;
	if (is_dropped(held, record, header_at(record), trap != NULL)) {
		held->totals.dropped++;
		return;
	}
	if (trap && trap->stack_bytes) {
		const struct frames_place place = { .ip_avma = u64_at(record, IP_AT),
						    .pid = u32_at(record, PID_AT),
						    .tid = u32_at(record, TID_AT),
						    .time_ns = u64_at(record, TIME_AT),
						    .cpu = u64_at(record, CPU_AT) };
		const struct bytes raw = { round->stacks.data + trap->stack_at, trap->stack_bytes };
		put_frames(held, &held->out, raw, &place);
		to->frames_count++;
	}
	held->totals.alone += trap && !trap->stack_bytes;
	sink_put(&held->out, bytes.data, bytes.size);
	const uint64_t time_ns = u64_at(record, TIME_AT);
	if (!to->first_sample_ns || time_ns < to->first_sample_ns)
		to->first_sample_ns = time_ns;
	if (time_ns > to->last_sample_ns)
		to->last_sample_ns = time_ns;
	to->sample_count++;
}

static bool is_frames(const struct held *held, const uint8_t *record)
{
	const uint64_t id = u64_at(record, ID_AT);
	for (size_t i = 0; i < held->events->frames.ids.count; i++)
		if (held->events->frames.ids.items[i] == id)
			return true;
	return false;
}

static void put_other(struct held *held, struct bytes bytes, struct held_round *to)
{
	const struct perf_event_header header = header_at(bytes.data);
	to->frames_count += header.type == PERFDATA_SAMPLE;
	to->throttle_count += header.type == PERFDATA_THROTTLE;
	if (header.type == PERFDATA_LOST && header.size >= 24)
		to->lost_count += u64_at(bytes.data, 16);
	sink_put(&held->out, bytes.data, bytes.size);
}

static void put_round(struct held *held, const struct kept_round *round, struct held_round *to)
{
	const struct bytes all = sink_bytes(&round->records);
	size_t next = 0;
	sink_put(&held->out, round->definitions.data, round->definitions.size);
	to->frames_count += round->definition_count;
	if (round->ring_from)
		sink_put(&held->out, all.data, round->ring_from);
	for (size_t at = round->ring_from; all.size - at >= sizeof(struct perf_event_header);) {
		const uint8_t *record = all.data + at;
		const struct perf_event_header header = header_at(record);
		if (header.size < sizeof(header) || header.size > all.size - at)
			break;
		const struct bytes bytes = { record, header.size };
		const struct held_sample *trap = NULL;
		if (next < round->samples.count && round->samples.items[next].at == at)
			trap = &round->samples.items[next++];
		if (header.type == PERFDATA_SAMPLE && header.size >= SAMPLE_MIN &&
		    !is_frames(held, record))
			put_sample(held, round, trap, bytes, to);
		else
			put_other(held, bytes, to);
		at += header.size;
	}
}

bool held_next(struct held *held, bool all, struct held_round *to)
{
	/* The newest waits for what the sideband says of its time. */
	if (!held->rounds.count || (!all && held->rounds.count < 2))
		return false;
	struct kept_round *round = &held->rounds.items[0];
	if (!all && round->waiting && os_clock_mono_ns() < round->read_ns + patience_ns)
		return false;
	*to = (struct held_round){ .sample_count = 0 };
	sink_reset(&held->out);
	put_round(held, round, to);
	if (sink_failed(&held->out))
		held->status = STATUS_NO_MEMORY;
	to->records = sink_bytes(&held->out);
	clear_round(round);
	held->rounds.count--;
	memmove(held->rounds.items, held->rounds.items + 1,
		held->rounds.count * sizeof(held->rounds.items[0]));
	return true;
}
