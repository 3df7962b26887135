/* nettrace_internal.h - what the parts of the reader share.
 *
 * nettrace.c opens and walks; container.c finds blocks, as versions 4 and 5 and as version 6 lay
 * them out; event.c takes events off a block; metadata.c keeps what their numbers mean; sequence.c
 * knows which are missing.
 */
#ifndef FORMAT_NETTRACE_NETTRACE_INTERNAL_H
#define FORMAT_NETTRACE_NETTRACE_INTERNAL_H

#include "base/idmap.h"
#include "base/vector.h"
#include "format/nettrace/nettrace.h"

enum nettrace_block_kind {
	NETTRACE_BLOCK_NONE, /* to be passed over */
	NETTRACE_BLOCK_EVENTS,
	NETTRACE_BLOCK_METADATA,
	NETTRACE_BLOCK_SEQUENCE_POINT,
	NETTRACE_BLOCK_THREADS,
};

struct nettrace_block {
	enum nettrace_block_kind kind;
	struct bytes content; /* without its size and padding */
};

/* What is kept of a kind of event. */
struct nettrace_kind {
	enum nettrace_provider provider;
	uint32_t id;
	uint32_t version;
};

/* An event's header; in compressed ones every field may be as the event before had it. */
struct nettrace_header {
	uint64_t metadata_id;
	uint32_t sequence;       /* counts the events of the thread that wrote them */
	uint64_t capture_thread; /* that thread; version 6: an index, as below */
	uint64_t thread;
	uint64_t ticks;
	uint64_t payload_size;
	struct bytes payload;
};

struct nettrace_events {
	struct cursor c;
	bool is_compressed;
	struct nettrace_header header;
};

struct nettrace_reader {
	struct bytes file;
	struct nettrace_options options;
	size_t pos; /* of the next block */
	uint32_t version;
	uint32_t pid;
	uint32_t pointer_size;
	uint64_t frequency; /* ticks a second; 0 where it is nonsense */
	uint64_t start_ticks;
	bool is_at_end;
	bool is_cut;
	bool is_whole;
	struct nettrace_events events; /* what is left of the block at hand */
	struct idmap kind_ids;         /* index + 1 of kinds */
	VECTOR(struct nettrace_kind) kinds;
	struct idmap thread_ids; /* index + 1 of threads */
	VECTOR(uint64_t) threads;
	struct idmap sequences; /* the last one's number, by capture thread */
	uint64_t lost_events;
};

static inline size_t nettrace_offset(const struct nettrace_reader *reader, const uint8_t *at)
{
	return (size_t)(at - reader->file.data);
}

static inline struct cursor nettrace_cursor(struct bytes in)
{
	struct cursor c = cursor_over(in);
	c.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	return c;
}

/* What lies in `skipped` counts for nothing; where it is empty, it says where something is wrong.
 */
void nettrace_tell(const struct nettrace_reader *reader, enum nettrace_problem_kind kind,
		   const uint8_t *at, size_t skipped, const char *what);

/* container.c: `pos` lies behind the file's header. Reads the object or block that describes the
 * trace. Returns 0, STATUS_TRUNCATED, _UNSUPPORTED or _CORRUPT.
 */
int nettrace_open_v4(struct nettrace_reader *reader);
int nettrace_open_v6(struct nettrace_reader *reader);
/* False at the end. */
bool nettrace_next_block(struct nettrace_reader *reader, struct nettrace_block *block);

/* event.c: false where the block's header is not whole. */
bool nettrace_events_begin(struct nettrace_events *events, struct bytes content);
/* False at the block's end, or failed where it ends too early. */
bool nettrace_events_next(const struct nettrace_reader *reader, struct nettrace_events *events);

/* metadata.c: 0 or STATUS_NO_MEMORY. */
int nettrace_read_metadata(struct nettrace_reader *reader, struct bytes content);
int nettrace_read_threads(struct nettrace_reader *reader, struct bytes content);

/* sequence.c: 0 or STATUS_NO_MEMORY. */
int nettrace_count_event(struct nettrace_reader *reader, const struct nettrace_header *header);
int nettrace_read_sequence_point(struct nettrace_reader *reader, struct bytes content);

#endif
