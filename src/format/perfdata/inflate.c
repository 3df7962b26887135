/* Compressed records: a zstd stream cut into pieces.
 *
 *   file   | COMPRESSED: zstd bytes | FINISHED_ROUND | COMPRESSED: zstd bytes | ...
 *   stream |  rec  |  rec  |  re                     c  |  rec  |
 *
 * The context goes on from piece to piece, and a record may begin in one piece
 * and end in the next. What is unpacked is kept only until it was handed out, so
 * memory does not grow with the file.
 */
#include "format/perfdata/perfdata_internal.h"

#include <stdlib.h>
#include <zstd.h>

enum {
	UNPACKED_CAPACITY = 256 << 10, /* holds a half record and a zstd block */
	/* No real recording packs this well; bounds what a made-up one makes us do. */
	RATIO_LIMIT = 1024,
	RATIO_FREE_BYTES = 64 << 20,
};

struct perfdata_inflate {
	ZSTD_DCtx *context;
	struct bytes in; /* of the current piece, not yet unpacked */
	uint64_t offset; /* of the current piece */
	uint64_t in_bytes;
	uint64_t out_bytes;
	size_t begin; /* unpacked[begin..end) was not handed out yet */
	size_t end;
	bool output_was_full; /* the context may hold more than it gave */
	bool lost;            /* the stream broke; only a new frame helps */
	bool searching;       /* for something that looks like a record */
	uint8_t unpacked[UNPACKED_CAPACITY];
};

static int fail_stream(struct perfdata *file, int status, const char *what)
{
	struct perfdata_inflate *inflate = file->inflate;
	perfdata_note(file, PERFDATA_COMPRESSED, inflate->offset, status, what);
	inflate->lost = true;
	inflate->in = (struct bytes){ 0 };
	inflate->begin = inflate->end = 0;
	inflate->output_was_full = false;
	return 0;
}

static bool begins_frame(struct bytes in)
{
	return in.size >= 4 && memcmp(in.data, "\x28\xb5\x2f\xfd", 4) == 0;
}

static bool start_over(struct perfdata_inflate *inflate)
{
	inflate->lost = false;
	inflate->searching = false;
	inflate->begin = inflate->end = 0;
	inflate->in = (struct bytes){ 0 };
	inflate->output_was_full = false;
	inflate->in_bytes = inflate->out_bytes = 0;
	return !ZSTD_isError(ZSTD_DCtx_reset(inflate->context, ZSTD_reset_session_only));
}

/* COMPRESSED2 says how long its payload is, and is padded to a multiple of 8. */
static bool payload_of(struct perfdata *file, const struct perfdata_record *outer,
		       struct bytes *payload)
{
	*payload = outer->body;
	if (outer->type != PERFDATA_COMPRESSED2)
		return true;
	struct cursor c = perfdata_cursor(file, outer->body);
	const uint64_t size = cursor_u64(&c);
	*payload = cursor_take(&c, size);
	return !cursor_failed(&c);
}

int perfdata_inflate_feed(struct perfdata *file, const struct perfdata_record *outer)
{
	if (!file->inflate) {
		struct perfdata_inflate *made = calloc(1, sizeof(*made));
		if (made)
			made->context = ZSTD_createDCtx();
		if (!made || !made->context) {
			free(made);
			return STATUS_NO_MEMORY;
		}
		file->inflate = made;
	}
	struct perfdata_inflate *inflate = file->inflate;
	file->compressed = true;
	file->has_odd_sizes = true;
	inflate->offset = outer->offset;
	struct bytes payload;
	if (!payload_of(file, outer, &payload)) {
		perfdata_note_record(file, outer, STATUS_CORRUPT,
				     "a compressed record is shorter than it says");
		inflate->lost = true;
		return 0;
	}
	if (inflate->lost) {
		if (!begins_frame(payload) || !start_over(inflate)) {
			perfdata_note_record(file, outer, STATUS_CORRUPT,
					     "compressed data behind a broken piece");
			return 0;
		}
	}
	inflate->in = payload;
	inflate->in_bytes += payload.size;
	file->inflating = true;
	return 0;
}

/* Returns 1 if something was unpacked, 0 if this piece has no more. */
static int unpack(struct perfdata *file)
{
	struct perfdata_inflate *inflate = file->inflate;
	if (!inflate->in.size && !inflate->output_was_full)
		return 0;
	if (inflate->begin) {
		memmove(inflate->unpacked, inflate->unpacked + inflate->begin,
			inflate->end - inflate->begin);
		inflate->end -= inflate->begin;
		inflate->begin = 0;
	}
	ZSTD_inBuffer in = { inflate->in.data, inflate->in.size, 0 };
	ZSTD_outBuffer out = { inflate->unpacked, UNPACKED_CAPACITY, inflate->end };
	const size_t result = ZSTD_decompressStream(inflate->context, &out, &in);
	if (ZSTD_isError(result))
		return fail_stream(file, STATUS_CORRUPT, "zstd data that cannot be unpacked");
	const size_t got = out.pos - inflate->end;
	inflate->output_was_full = out.pos == out.size;
	inflate->end = out.pos;
	inflate->in.data += in.pos;
	inflate->in.size -= in.pos;
	inflate->out_bytes += got;
	if (inflate->out_bytes > RATIO_FREE_BYTES + RATIO_LIMIT * inflate->in_bytes)
		return fail_stream(file, STATUS_TOO_BIG, "zstd data that unpack to far too much");
	return got > 0 || in.pos > 0;
}

/* Takes a whole record off the unpacked bytes if there is one. */
static bool take_record(struct perfdata *file, struct perfdata_record *record)
{
	struct perfdata_inflate *inflate = file->inflate;
	while (inflate->end - inflate->begin >= PERFDATA_RECORD_HEADER_SIZE) {
		const uint8_t *at = inflate->unpacked + inflate->begin;
		const size_t left = inflate->end - inflate->begin;
		const uint16_t size = perfdata_get16(file, at + 6);
		if (size < PERFDATA_RECORD_HEADER_SIZE ||
		    (inflate->searching && !perfdata_plausible(file, at, SIZE_MAX))) {
			if (!inflate->searching) {
				file->ordinal++;
				perfdata_note(file, PERFDATA_COMPRESSED, inflate->offset,
					      STATUS_CORRUPT,
					      "bytes between unpacked records that are no record");
			}
			inflate->searching = true;
			inflate->begin += PERFDATA_RECORD_HEADER_SIZE;
			continue;
		}
		if (size > left)
			return false;
		inflate->searching = false;
		inflate->begin += size;
		record->type = perfdata_get32(file, at);
		record->misc = perfdata_get16(file, at + 4);
		record->offset = inflate->offset;
		record->body.data = at + PERFDATA_RECORD_HEADER_SIZE;
		record->body.size = size - (size_t)PERFDATA_RECORD_HEADER_SIZE;
		record->stable = false;
		return true;
	}
	return false;
}

int perfdata_inflate_next(struct perfdata *file, struct perfdata_record *record)
{
	for (;;) {
		if (take_record(file, record))
			return 1;
		if (!unpack(file)) {
			file->inflating = false;
			return 0;
		}
	}
}

bool perfdata_inflate_pending(const struct perfdata_inflate *inflate)
{
	return inflate && inflate->end > inflate->begin;
}

void perfdata_inflate_rewind(struct perfdata_inflate *inflate)
{
	/* A reset of the session alone cannot fail between frames or inside one. */
	if (inflate && !start_over(inflate))
		inflate->lost = true;
}

void perfdata_inflate_free(struct perfdata_inflate *inflate)
{
	if (!inflate)
		return;
	ZSTD_freeDCtx(inflate->context);
	free(inflate);
}
