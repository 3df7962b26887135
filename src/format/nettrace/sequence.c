#include "format/nettrace/nettrace_internal.h"

#include "base/status.h"

enum {
	/* Threads that write; far more than a process has in its life. */
	SEQUENCES_MAX = 1 << 20,

	/* Of a sequence point of version 6. */
	FLUSHES_THREADS = 1,
	FLUSHES_KINDS = 2,
};

/* Every thread counts its events from 1, also those for which there was no room. A number that
 * goes back is of a new thread with an old one's id.
 */
static int come_to(struct nettrace_reader *reader, uint64_t thread, uint32_t number,
		   uint32_t written)
{
	if (reader->sequences.used >= SEQUENCES_MAX)
		return 0;
	uint32_t *last = idmap_put(&reader->sequences, thread);
	if (!last)
		return STATUS_NO_MEMORY;
	const uint32_t ahead = number - *last;
	if (ahead > written && ahead <= INT32_MAX)
		reader->lost_events += ahead - written;
	if (written || ahead <= INT32_MAX)
		*last = number;
	return 0;
}

int nettrace_count_event(struct nettrace_reader *reader, const struct nettrace_header *header)
{
	return come_to(reader, header->capture_thread, header->sequence, 1);
}

static void flush(struct nettrace_reader *reader, uint32_t flags)
{
	if (flags & FLUSHES_THREADS) {
		idmap_clear(&reader->thread_ids);
		vector_clear(&reader->threads);
		idmap_clear(&reader->sequences);
	}
	if (flags & FLUSHES_KINDS) {
		idmap_clear(&reader->kind_ids);
		vector_clear(&reader->kinds);
	}
}

/* What every thread has come to by now. */
int nettrace_read_sequence_point(struct nettrace_reader *reader, struct bytes content)
{
	const bool has_flags = reader->version >= 6;
	struct cursor c = nettrace_cursor(content);
	cursor_u64(&c); /* the time */
	const uint32_t flags = has_flags ? cursor_u32(&c) : 0;
	for (uint32_t left = cursor_u32(&c); left; left--) {
		const uint64_t thread = has_flags ? cursor_uleb(&c) : cursor_u64(&c);
		const uint32_t number = has_flags ? (uint32_t)cursor_uleb(&c) : cursor_u32(&c);
		if (cursor_failed(&c))
			break;
		if (come_to(reader, thread, number, 0) < 0)
			return STATUS_NO_MEMORY;
	}
	flush(reader, flags);
	return 0;
}
