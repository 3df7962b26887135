#include "format/perfdata/perfdata_internal.h"

#include "format/perfdata/stretch.h"

#include <stdlib.h>

/* So many records in a row are no accident; the long run where the last one may
 * just have been cut off, and its content could look like records.
 */
enum { SHORT_RUN = 3, LONG_RUN = 64 };

int perfdata_open(struct perfdata **opened, struct bytes bytes, uint64_t *error_offset)
{
	uint64_t nowhere = 0;
	if (!error_offset)
		error_offset = &nowhere;
	*error_offset = 0;
	struct perfdata *file = calloc(1, sizeof(*file));
	if (!file)
		return STATUS_NO_MEMORY;
	file->in = bytes;
	file->trailer_size = SHAPE_NONE;
	/* Everything kept is at most some multiple of what the file says. */
	size_t limit = SIZE_MAX;
	if (bytes.size < (SIZE_MAX >> 4))
		limit = (1u << 20) + 8 * bytes.size;
	arena_init(&file->arena, limit);
	const int status = perfdata_read_header(file, error_offset);
	if (status < 0) {
		perfdata_close(file);
		return status;
	}
	file->pos = file->data_begin;
	*opened = file;
	return 0;
}

void perfdata_close(struct perfdata *file)
{
	if (!file)
		return;
	perfdata_inflate_free(file->inflate);
	vector_clear(&file->sources);
	vector_clear(&file->cmdline);
	vector_clear(&file->problems);
	free(file->id_slots);
	free(file->chain_scratch);
	arena_clear(&file->arena);
	free(file);
}

static bool known_type(uint32_t type)
{
	return (type >= PERFDATA_MMAP && type <= PERFDATA_CALLCHAIN_DEFERRED) ||
	       (type >= PERFDATA_HEADER_ATTR && type <= PERFDATA_BPF_METADATA);
}

bool perfdata_plausible(const struct perfdata *file, const uint8_t *at, size_t left)
{
	if (left < PERFDATA_RECORD_HEADER_SIZE)
		return false;
	const uint16_t size = perfdata_get16(file, at + 6);
	return known_type(perfdata_get32(file, at)) && size >= PERFDATA_RECORD_HEADER_SIZE &&
	       size <= left;
}

/* True if `wanted` records follow each other at `at`, or at least `at_end` up to the end. */
static bool plausible_run(const struct perfdata *file, const uint8_t *at, int wanted, int at_end)
{
	for (int i = 0; i < wanted; i++) {
		if (at == file->end)
			return i >= at_end;
		if (!perfdata_plausible(file, at, (size_t)(file->end - at)))
			return false;
		at += perfdata_get16(file, at + 6);
	}
	return true;
}

/* The second pass over the records must go as the first did, so `end` stays. */
static int end_here(struct perfdata *file)
{
	if (!file->at_end && (file->pipe || file->interrupted))
		file->end_offset = (uint64_t)(file->pos - file->in.data);
	file->at_end = true;
	file->pos = file->end;
	return 0;
}

/* `pos` is not at a record. Returns 1 after moving to the next one, 0 at the end. */
static int resynchronise(struct perfdata *file)
{
	const uint64_t offset = (uint64_t)(file->pos - file->in.data);
	const size_t left = (size_t)(file->end - file->pos);
	if (left >= 4 && memcmp(file->pos, "PK\3\4", 4) == 0)
		return end_here(file);
	if (file->interrupted) {
		perfdata_note(file, 0, offset, STATUS_TRUNCATED,
			      "the recording was interrupted; no records from here on");
		return end_here(file);
	}
	const bool is_cut =
	    left >= PERFDATA_RECORD_HEADER_SIZE && perfdata_plausible(file, file->pos, SIZE_MAX);
	const int wanted = is_cut ? LONG_RUN : SHORT_RUN;
	const int at_end = is_cut ? SHORT_RUN : 1;
	/* Only compressed records have sizes that are no multiple of 8. */
	const size_t step = file->has_odd_sizes || file->pipe ? 1 : 8;
	for (size_t skipped = step; skipped < left; skipped += step) {
		if (plausible_run(file, file->pos + skipped, wanted, at_end)) {
			perfdata_note(file, 0, offset, STATUS_CORRUPT,
				      "bytes between records that are no record");
			file->pos += skipped;
			return 1;
		}
	}
	perfdata_note(file, 0, offset, STATUS_TRUNCATED, "the records end inside a record");
	return end_here(file);
}

/* The record at `at`, of which `left` bytes are there; false if it has no sound header. */
static inline bool read_plain(const struct perfdata *file, const uint8_t *at, size_t left,
			      struct perfdata_record *record)
{
	if (left < PERFDATA_RECORD_HEADER_SIZE)
		return false;
	const bool swap = file->swap;
	const uint16_t size = perfdata_load16(at + 6, swap);
	if (size < PERFDATA_RECORD_HEADER_SIZE || size > left)
		return false;
	record->type = perfdata_load32(at, swap);
	record->misc = perfdata_load16(at + 4, swap);
	record->offset = (uint64_t)(at - file->in.data);
	record->body.data = at + PERFDATA_RECORD_HEADER_SIZE;
	record->body.size = size - (size_t)PERFDATA_RECORD_HEADER_SIZE;
	record->stable = true;
	return true;
}

static int next_plain(struct perfdata *file, struct perfdata_record *record)
{
	for (;;) {
		const uint8_t *at = file->pos;
		const size_t left = (size_t)(file->end - at);
		if (read_plain(file, at, left, record)) {
			file->pos = record->body.data + record->body.size;
			return 1;
		}
		if (left == 0)
			return end_here(file);
		file->ordinal++;
		if (resynchronise(file) == 0)
			return 0;
	}
}

/* Two kinds of records are followed by bytes that their size does not count. */
static void skip_payload(struct perfdata *file, const struct perfdata_record *record)
{
	uint64_t payload = 0;
	if (record->type == PERFDATA_AUXTRACE && record->body.size >= 8)
		payload = perfdata_get64(file, record->body.data);
	else if (record->type == PERFDATA_HEADER_TRACING_DATA && record->body.size >= 4)
		payload = perfdata_get32(file, record->body.data);
	if (!payload)
		return;
	if (!record->stable || payload > (uint64_t)(file->end - file->pos)) {
		perfdata_note_record(file, record, STATUS_TRUNCATED,
				     "the bytes that should follow the record are not there");
		if (record->stable)
			file->pos = file->end;
		return;
	}
	if (record->type == PERFDATA_HEADER_TRACING_DATA)
		perfdata_learn_tracing_data(file, (struct bytes){ file->pos, (size_t)payload });
	file->pos += payload;
}

/* Records that are more than data. Returns 1 if the caller gets the record too. */
static int absorb(struct perfdata *file, const struct perfdata_record *record)
{
	switch (record->type) {
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		if (record->stable)
			return perfdata_inflate_feed(file, record);
		perfdata_note_record(file, record, STATUS_CORRUPT,
				     "a compressed record inside a compressed record");
		return 0;
	case PERFDATA_AUXTRACE:
	case PERFDATA_HEADER_TRACING_DATA:
		skip_payload(file, record);
		return 1;
	case PERFDATA_HEADER_ATTR:
	case PERFDATA_HEADER_FEATURE:
	case PERFDATA_HEADER_BUILD_ID:
	case PERFDATA_EVENT_UPDATE:
		return perfdata_learn(file, record);
	default:
		if (!known_type(record->type))
			perfdata_note_record(file, record, STATUS_UNSUPPORTED,
					     "a record type that this build does not know");
		return 1;
	}
}

/* Without what the kernel did not write; and then with the trailer at its end. */
static void cut_stretched(const struct perfdata *file, struct perfdata_record *record)
{
	if (file->trailer_size != SHAPE_NONE)
		record->body.size = perfdata_written_size(record->type, record->body,
							  file->trailer_size, file->swap);
}

static bool is_kernel_record(uint32_t type)
{
	return type - 1u < PERFDATA_CALLCHAIN_DEFERRED;
}

/* Kept out of perfdata_next(), whose quick way would else save registers for it. */
static __attribute__((noinline)) int next_slowly(struct perfdata *file,
						 struct perfdata_record *record)
{
	for (;;) {
		int got = 0;
		if (file->inflating)
			got = perfdata_inflate_next(file, record);
		if (got == 0)
			got = next_plain(file, record);
		if (got == 0 && perfdata_inflate_pending(file->inflate))
			perfdata_note(file, PERFDATA_COMPRESSED, file->end_offset, STATUS_TRUNCATED,
				      "the compressed records end inside a record");
		if (got <= 0)
			return got;
		record->ordinal = ++file->ordinal;
		if (perfdata_can_be_stretched(record->type))
			cut_stretched(file, record);
		if (is_kernel_record(record->type))
			return 1;
		got = absorb(file, record);
		if (got != 0)
			return got;
	}
}

int perfdata_next(struct perfdata *file, struct perfdata_record *record)
{
	const uint8_t *at = file->pos;
	if (__builtin_expect(
		file->inflating || !read_plain(file, at, (size_t)(file->end - at), record) ||
		    !is_kernel_record(record->type) || perfdata_can_be_stretched(record->type),
		false))
		return next_slowly(file, record);
	file->pos = record->body.data + record->body.size;
	record->ordinal = ++file->ordinal;
	return 1;
}

void perfdata_rewind(struct perfdata *file)
{
	file->pos = file->data_begin;
	file->ordinal = 0;
	file->inflating = false;
	file->has_odd_sizes = false;
	file->at_end = false;
	perfdata_inflate_rewind(file->inflate);
}

bool perfdata_is_pipe(const struct perfdata *file)
{
	return file->pipe;
}

bool perfdata_is_swapped(const struct perfdata *file)
{
	return file->swap;
}

bool perfdata_is_compressed(const struct perfdata *file)
{
	return file->compressed;
}

bool perfdata_is_interrupted(const struct perfdata *file)
{
	return file->interrupted;
}

uint64_t perfdata_end_offset(const struct perfdata *file)
{
	return file->end_offset;
}

struct bytes perfdata_feature(const struct perfdata *file, unsigned feature)
{
	return feature < PERFDATA_FEATURE_LIMIT ? file->features[feature] : (struct bytes){ 0 };
}

bool perfdata_has_feature(const struct perfdata *file, unsigned feature)
{
	return feature < PERFDATA_FEATURE_LIMIT &&
	       (file->feature_bits[feature / 64] >> (feature % 64) & 1);
}
