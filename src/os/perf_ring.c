#include "os/perf_ring.h"

#include "base/status.h"

#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *ring, int fd, size_t data_size)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	const size_t map_size = page_size + data_size;
	*ring = (struct perf_ring){ 0 };
	void *map = mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return STATUS_IO;
	*ring = (struct perf_ring){ .page = map,
				    .data = (const uint8_t *)map + page_size,
				    .data_size = data_size,
				    .map_size = map_size };
	return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->map_size);
	*ring = (struct perf_ring){ 0 };
}

size_t perf_ring_peek(const struct perf_ring *ring, struct bytes pieces[2])
{
	/* Pairs with the kernel's barrier between writing records and moving data_head. */
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const size_t unread = (size_t)(head - ring->tail);
	const size_t start = (size_t)ring->tail & (ring->data_size - 1);
	const size_t to_end = ring->data_size - start;
	const size_t first = unread < to_end ? unread : to_end;
	pieces[0] = (struct bytes){ ring->data + start, first };
	pieces[1] = (struct bytes){ ring->data, unread - first };
	return unread;
}

void perf_ring_consume(struct perf_ring *ring, size_t size)
{
	ring->tail += size;
	/* The kernel may overwrite from here on: our reads must be over. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

struct perf_ring_walk perf_ring_walk(const struct perf_ring *ring, size_t unread)
{
	return (struct perf_ring_walk){ ring, ring->tail, ring->tail + unread };
}

uint64_t perf_ring_u64(const struct perf_ring *ring, uint64_t at)
{
	uint64_t value;
	memcpy(&value, ring->data + (at & (ring->data_size - 1)), sizeof(value));
	return value;
}

bool perf_ring_next(struct perf_ring_walk *walk, struct perf_event_header *header, uint64_t *at)
{
	if (walk->at >= walk->end)
		return false;
	const uint64_t word = perf_ring_u64(walk->ring, walk->at);
	memcpy(header, &word, sizeof(*header));
	if (header->size < sizeof(*header) || header->size % 8 ||
	    header->size > walk->end - walk->at)
		return false;
	*at = walk->at;
	walk->at += header->size;
	return true;
}
