#include "format/nettrace/nettrace_internal.h"

#include "base/status.h"

#include <stdlib.h>

#define MAGIC "Nettrace"
#define SERIALIZER "!FastSerialization.1"

enum {
	MAGIC_SIZE = sizeof(MAGIC) - 1,
	SERIALIZER_SIZE = sizeof(SERIALIZER) - 1,
	NS_PER_S = 1000000000,
};

void nettrace_tell(const struct nettrace_reader *reader, enum nettrace_problem_kind kind,
		   const uint8_t *at, size_t skipped, const char *what)
{
	/* What comes of the last block being cut. */
	if (reader->is_cut && kind == NETTRACE_PROBLEM_CORRUPT)
		kind = NETTRACE_PROBLEM_CUT;
	const struct nettrace_problem problem = {
		.kind = kind,
		.offset = nettrace_offset(reader, at),
		.skipped_bytes = skipped,
		.what = what,
	};
	if (reader->options.on_problem)
		reader->options.on_problem(reader->options.context, &problem);
}

static bool starts_with(struct bytes text, const char *start, size_t size)
{
	return text.size >= size && memcmp(text.data, start, size) == 0;
}

static bool is_netperf(struct bytes file)
{
	return file.size >= 4 + SERIALIZER_SIZE &&
	       starts_with((struct bytes){ file.data + 4, file.size - 4 }, SERIALIZER,
			   SERIALIZER_SIZE);
}

bool nettrace_is_magic(struct bytes start)
{
	return starts_with(start, MAGIC, MAGIC_SIZE) || is_netperf(start);
}

/* The header says which container follows. */
static int open_container(struct nettrace_reader *reader)
{
	struct cursor c = nettrace_cursor(reader->file);
	cursor_take(&c, MAGIC_SIZE);
	const uint32_t length = cursor_u32(&c);
	if (length == SERIALIZER_SIZE) {
		const struct bytes name = cursor_take(&c, SERIALIZER_SIZE);
		if (cursor_failed(&c))
			return STATUS_TRUNCATED;
		if (!starts_with(name, SERIALIZER, SERIALIZER_SIZE))
			return STATUS_UNSUPPORTED;
		reader->pos = nettrace_offset(reader, c.pos);
		return nettrace_open_v4(reader);
	}
	reader->version = cursor_u32(&c);
	cursor_u32(&c); /* the minor version: old readers can read new ones */
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	if (length || reader->version != 6)
		return STATUS_UNSUPPORTED;
	reader->pos = nettrace_offset(reader, c.pos);
	return nettrace_open_v6(reader);
}

int nettrace_open(struct nettrace_reader **made, struct bytes file,
		  const struct nettrace_options *options)
{
	*made = NULL;
	const size_t seen = file.size < MAGIC_SIZE ? file.size : MAGIC_SIZE;
	if (is_netperf(file))
		return STATUS_UNSUPPORTED;
	if (!seen || memcmp(file.data, MAGIC, seen) != 0)
		return STATUS_NOT_FORMAT;
	if (seen < MAGIC_SIZE)
		return STATUS_TRUNCATED;
	struct nettrace_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return STATUS_NO_MEMORY;
	reader->file = file;
	if (options)
		reader->options = *options;
	int got = open_container(reader);
	if (got == 0 && reader->pointer_size != 4 && reader->pointer_size != 8)
		got = STATUS_CORRUPT;
	if (got < 0) {
		nettrace_free(reader);
		return got;
	}
	*made = reader;
	return 0;
}

void nettrace_free(struct nettrace_reader *reader)
{
	if (!reader)
		return;
	idmap_clear(&reader->kind_ids);
	vector_clear(&reader->kinds);
	idmap_clear(&reader->thread_ids);
	vector_clear(&reader->threads);
	idmap_clear(&reader->sequences);
	free(reader);
}

uint32_t nettrace_pid(const struct nettrace_reader *reader)
{
	return reader->pid;
}

uint32_t nettrace_pointer_size(const struct nettrace_reader *reader)
{
	return reader->pointer_size;
}

uint32_t nettrace_version(const struct nettrace_reader *reader)
{
	return reader->version;
}

bool nettrace_is_whole(const struct nettrace_reader *reader)
{
	return reader->is_whole;
}

uint64_t nettrace_lost_events(const struct nettrace_reader *reader)
{
	return reader->lost_events;
}

/* 0 where the result or the frequency makes no sense. */
static uint64_t to_ns(const struct nettrace_reader *reader, uint64_t ticks)
{
	const uint64_t frequency = reader->frequency;
	if (frequency == NS_PER_S)
		return ticks;
	/* So that nothing below overflows. */
	const uint64_t most = UINT64_MAX / NS_PER_S - 1;
	if (!frequency || frequency > most || ticks / frequency > most)
		return 0;
	return ticks / frequency * NS_PER_S + ticks % frequency * NS_PER_S / frequency;
}

uint64_t nettrace_start_ns(const struct nettrace_reader *reader)
{
	return to_ns(reader, reader->start_ticks);
}

static void fill_event(const struct nettrace_reader *reader, struct nettrace_event *event)
{
	const struct nettrace_header *header = &reader->events.header;
	const uint32_t kind = idmap_get(&reader->kind_ids, header->metadata_id);
	*event = (struct nettrace_event){
		.time_ns = to_ns(reader, header->ticks),
		.thread_id = header->thread,
		.payload = header->payload,
	};
	if (kind) {
		event->provider = reader->kinds.items[kind - 1].provider;
		event->id = reader->kinds.items[kind - 1].id;
		event->version = reader->kinds.items[kind - 1].version;
	}
	if (reader->version >= 6) {
		const uint32_t thread = idmap_get(&reader->thread_ids, header->thread);
		event->thread_id = thread ? reader->threads.items[thread - 1] : 0;
	}
}

/* Returns 1 where the block at hand has one more, 0 or STATUS_NO_MEMORY. */
static int next_of_block(struct nettrace_reader *reader, struct nettrace_event *event)
{
	struct nettrace_events *events = &reader->events;
	const size_t left = cursor_left(&events->c);
	const uint8_t *start = events->c.pos;
	if (!left)
		return 0;
	if (nettrace_events_next(reader, events)) {
		fill_event(reader, event);
		event->offset = nettrace_offset(reader, start);
		const int got = nettrace_count_event(reader, &events->header);
		return got < 0 ? got : 1;
	}
	nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, start, left,
		      "an event ends behind its block");
	events->c = (struct cursor){ 0 };
	return 0;
}

static int read_block(struct nettrace_reader *reader, const struct nettrace_block *block)
{
	switch (block->kind) {
	case NETTRACE_BLOCK_EVENTS:
		if (nettrace_events_begin(&reader->events, block->content))
			return 0;
		reader->events.c = (struct cursor){ 0 };
		nettrace_tell(reader, NETTRACE_PROBLEM_CORRUPT, block->content.data,
			      block->content.size, "a block of events is shorter than its header");
		return 0;
	case NETTRACE_BLOCK_METADATA:
		return nettrace_read_metadata(reader, block->content);
	case NETTRACE_BLOCK_THREADS:
		return nettrace_read_threads(reader, block->content);
	case NETTRACE_BLOCK_SEQUENCE_POINT:
		return nettrace_read_sequence_point(reader, block->content);
	case NETTRACE_BLOCK_NONE:
		return 0;
	}
	return 0;
}

int nettrace_next(struct nettrace_reader *reader, struct nettrace_event *event)
{
	int got;
	while ((got = next_of_block(reader, event)) == 0) {
		struct nettrace_block block;
		if (!nettrace_next_block(reader, &block))
			return 0;
		got = read_block(reader, &block);
		if (got < 0)
			return got;
	}
	return got;
}
