/* perf_ring.h - a ring that the kernel fills with records.
 *
 *   struct perf_ring ring;
 *   perf_ring_map(&ring, fd, 1 << 20);
 *   struct bytes pieces[2];
 *   const size_t unread = perf_ring_peek(&ring, pieces);
 *   write both pieces, then
 *   perf_ring_consume(&ring, unread);
 *
 * Records lie where the kernel put them and may wrap around the end; a record's
 * 8-byte header never does, since everything is a multiple of 8 long. Nothing that
 * was peeked at may be used once it was consumed. One thread a ring.
 */
#ifndef OS_PERF_RING_H
#define OS_PERF_RING_H

#include "base/bytes.h"

#include <linux/perf_event.h>

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t data_size; /* a power of two */
	uint64_t tail;    /* bytes consumed since the beginning */
	size_t map_size;
};

/* `data_size` must be a power of two and whole pages. Returns 0 or STATUS_IO (EPERM:
 * more than this user may lock).
 */
int perf_ring_map(struct perf_ring *ring, int fd, size_t data_size);
void perf_ring_unmap(struct perf_ring *ring); /* harmless when not mapped */

/* The unread bytes, oldest first; the second piece is empty unless they wrap. */
size_t perf_ring_peek(const struct perf_ring *ring, struct bytes pieces[2]);

/* Gives the first `size` unread bytes back to the kernel. */
void perf_ring_consume(struct perf_ring *ring, size_t size);

/* One record after the other, without copying. */
struct perf_ring_walk {
	const struct perf_ring *ring;
	uint64_t at;  /* of the next record, counted as `tail` is */
	uint64_t end; /* where the kernel was when the walk began */
};

struct perf_ring_walk perf_ring_walk(const struct perf_ring *ring, size_t unread);

/* True with the record's header and place filled in; false at the end, or at a header
 * that cannot be one (then at < end).
 */
bool perf_ring_next(struct perf_ring_walk *walk, struct perf_event_header *header, uint64_t *at);

/* Eight bytes at `at`, which must be a multiple of 8. */
uint64_t perf_ring_u64(const struct perf_ring *ring, uint64_t at);

#endif
