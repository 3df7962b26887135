#include "record/drain.h"

#include "base/status.h"
#include "format/perfdata/stretch.h"

#include <time.h>

/* Header, identifier, ip and thread come before the time of a sample. */
enum { SAMPLE_TIME_AT = 8 + 8 + 8 + 8 };

/* More than this waits in memory only when a round is long. */
enum { PENDING_BYTES = 256 * 1024 };

static void see_sample_time(struct drain *drain, uint64_t time_ns)
{
	if (!drain->first_sample_ns || time_ns < drain->first_sample_ns)
		drain->first_sample_ns = time_ns;
	if (time_ns > drain->last_sample_ns)
		drain->last_sample_ns = time_ns;
}

void drain_count(struct drain *drain, const struct cpu_rings *rings, size_t unread)
{
	const struct perf_ring *ring = &rings->samples;
	enum { NONE = 1 }; /* records begin at multiples of 8 */
	struct perf_ring_walk walk = perf_ring_walk(ring, unread);
	struct perf_event_header header;
	uint64_t first = NONE;
	uint64_t last = NONE;
	for (uint64_t at; perf_ring_next(&walk, &header, &at);) {
		switch (header.type) {
		case PERFDATA_SAMPLE:
			if (rings->frames_id &&
			    perf_ring_u64(ring, at + sizeof(header)) == rings->frames_id) {
				drain->frames_count++;
				break;
			}
			drain->sample_count++;
			if (drain->slots)
				slots_see(drain->slots, ring, at, header.size);
			last = at;
			if (first == NONE)
				first = at;
			break;
		case PERFDATA_LOST:
			/* Behind the header and the event's id. */
			drain->lost_count += perf_ring_u64(ring, at + 16);
			break;
		case PERFDATA_THROTTLE:
			drain->throttle_count++;
			break;
		default:
			break;
		}
	}
	/* One CPU's samples are in order of time. */
	if (first != NONE) {
		see_sample_time(drain, perf_ring_u64(ring, first + SAMPLE_TIME_AT));
		see_sample_time(drain, perf_ring_u64(ring, last + SAMPLE_TIME_AT));
	}
}

static void write_pending(struct drain *drain)
{
	const struct bytes pending = sink_bytes(&drain->pending);
	if (pending.size)
		data_file_records(drain->file, &pending, 1);
	sink_reset(&drain->pending);
}

static void read_sideband(struct drain *drain, struct perf_ring *ring)
{
	struct bytes pieces[2];
	const size_t unread = perf_ring_peek(ring, pieces);
	if (!unread)
		return;
	const size_t start = drain->pending.size;
	sink_put(&drain->pending, pieces[0].data, pieces[0].size);
	sink_put(&drain->pending, pieces[1].data, pieces[1].size);
	perf_ring_consume(ring, unread);
	if (sink_failed(&drain->pending)) {
		drain->file->status = drain->file->status ? drain->file->status : STATUS_NO_MEMORY;
		return;
	}
	const size_t size = perfdata_unstretch(drain->pending.data + start,
					       drain->pending.size - start, SIDEBAND_TRAILER_BYTES);
	sink_cut(&drain->pending, start + size);
	sideband_scan(drain->sideband, drain->pending.data + start, size);
	if (drain->pending.size > PENDING_BYTES && !drain->held)
		write_pending(drain);
}

void drain_sideband(struct drain *drain)
{
	for (size_t i = 0; i < drain->events->cpus.count; i++)
		read_sideband(drain, &drain->events->cpus.items[i].sideband);
}

/* Rings whose pieces wait for one write together. */
struct batch {
	struct bytes pieces[DATA_FILE_PIECES];
	size_t piece_count;
	struct {
		struct perf_ring *ring;
		size_t size;
	} rings[DATA_FILE_PIECES / 2];
	size_t ring_count;
};

static void write_batch(struct drain *drain, struct batch *batch)
{
	data_file_records(drain->file, batch->pieces, batch->piece_count);
	for (size_t i = 0; i < batch->ring_count; i++)
		perf_ring_consume(batch->rings[i].ring, batch->rings[i].size);
	batch->piece_count = batch->ring_count = 0;
}

static void add_ring(struct drain *drain, struct batch *batch, struct cpu_rings *rings)
{
	struct perf_ring *ring = &rings->samples;
	struct bytes pieces[2];
	const size_t unread = perf_ring_peek(ring, pieces);
	if (!unread)
		return;
	drain_count(drain, rings, unread);
	if (batch->piece_count + 2 > DATA_FILE_PIECES)
		write_batch(drain, batch);
	batch->pieces[batch->piece_count++] = pieces[0];
	if (pieces[1].size)
		batch->pieces[batch->piece_count++] = pieces[1];
	batch->rings[batch->ring_count].ring = ring;
	batch->rings[batch->ring_count++].size = unread;
}

static void write_mark(struct drain *drain)
{
	struct sink mark = { 0 };
	perfdata_put_finished_round(&mark);
	data_file_put(drain->file, sink_bytes(&mark));
	sink_clear(&mark);
}

static void count_held(struct drain *drain, const struct held_round *round)
{
	drain->sample_count += round->sample_count;
	drain->frames_count += round->frames_count;
	drain->lost_count += round->lost_count;
	drain->throttle_count += round->throttle_count;
	if (round->sample_count) {
		see_sample_time(drain, round->first_sample_ns);
		see_sample_time(drain, round->last_sample_ns);
	}
}

static void write_held(struct drain *drain, bool all)
{
	struct held_round round;
	while (held_next(drain->held, all, &round)) {
		count_held(drain, &round);
		if (round.records.size)
			data_file_records(drain->file, &round.records, 1);
		write_mark(drain);
	}
	if (held_status(drain->held) < 0 && !drain->file->status)
		drain->file->status = held_status(drain->held);
}

/* While its process lives. */
static void see_slots(struct drain *drain, const struct perf_ring *ring)
{
	struct bytes pieces[2];
	struct perf_ring_walk walk = perf_ring_walk(ring, perf_ring_peek(ring, pieces));
	struct perf_event_header header;
	for (uint64_t at; perf_ring_next(&walk, &header, &at);)
		if (header.type == PERFDATA_SAMPLE)
			slots_see(drain->slots, ring, at, header.size);
}

/* The same round, written later. */
static void hold_round(struct drain *drain)
{
	held_begin(drain->held);
	held_sideband(drain->held, sink_bytes(&drain->pending));
	sink_reset(&drain->pending);
	for (size_t i = 0; i < drain->events->cpus.count; i++) {
		if (drain->slots)
			see_slots(drain, &drain->events->cpus.items[i].samples);
		held_ring(drain->held, &drain->events->cpus.items[i]);
	}
	held_join(drain->held);
	write_held(drain, false);
}

void drain_round(struct drain *drain)
{
	drain_sideband(drain);
	if (drain->held) {
		hold_round(drain);
		return;
	}
	write_pending(drain);
	struct batch batch;
	batch.piece_count = batch.ring_count = 0;
	for (size_t i = 0; i < drain->events->cpus.count; i++)
		add_ring(drain, &batch, &drain->events->cpus.items[i]);
	write_batch(drain, &batch);
	write_mark(drain);
}

void drain_end(struct drain *drain)
{
	enum { TURNS = 20 };
	const struct timespec turn = { .tv_nsec = 5000000 };
	drain_round(drain);
	if (!drain->held)
		return;
	/* Threads that were just interrupted have not run again yet. */
	for (int i = 0; i < TURNS && held_is_waiting(drain->held); i++) {
		nanosleep(&turn, NULL);
		drain_round(drain);
	}
	drain_round(drain);
	write_held(drain, true);
}

void drain_clear(struct drain *drain)
{
	sink_clear(&drain->pending);
}
