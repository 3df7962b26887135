#include "format/perfdata/perfdata_internal.h"

#include <stdlib.h>

enum { CHAIN_WORDS_LIMIT = PERFDATA_RECORD_LIMIT / 8 };

/* What comes behind the fields of fixed size, as far as it is not zero words. */
#define TAIL_FIELDS                                                                \
	(~(PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | \
	   PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_ID |      \
	   PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD))

const uint8_t *perfdata_chain(struct perfdata *file, const uint8_t *at, size_t count)
{
	if (!file->swap)
		return at;
	if (!file->chain_scratch)
		file->chain_scratch = calloc(CHAIN_WORDS_LIMIT, sizeof(uint64_t));
	if (!file->chain_scratch)
		return NULL;
	for (size_t i = 0; i < count; i++)
		file->chain_scratch[i] = perfdata_get64(file, at + 8 * i);
	return (const uint8_t *)file->chain_scratch;
}

/* The fields in front of READ: 8 bytes each, at hand whole (the caller has checked). */
static inline const uint8_t *decode_fixed(const uint8_t *at, bool swap, uint64_t type,
					  struct perfdata_sample *sample)
{
	if (type & PERFDATA_SAMPLE_IDENTIFIER) {
		sample->id = perfdata_load64(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_IP) {
		sample->ip_avma = perfdata_load64(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_TID) {
		sample->pid = perfdata_load32(at, swap);
		sample->tid = perfdata_load32(at + 4, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_TIME) {
		sample->time_ns = perfdata_load64(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_ADDR) {
		sample->addr = perfdata_load64(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_ID) {
		sample->id = perfdata_load64(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_STREAM_ID)
		at += 8;
	if (type & PERFDATA_SAMPLE_CPU) {
		sample->cpu = perfdata_load32(at, swap);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_PERIOD) {
		sample->period = perfdata_load64(at, swap);
		at += 8;
	}
	return at;
}

/* A call of memset, or the string instruction compilers make of one, costs more
 * than the rest of decoding a sample; stores of 64 bytes each do not.
 */
static inline void clear_sample(struct perfdata_sample *sample)
{
	enum { PIECE = 64, FEWEST_BYTES = 2 * PIECE, MOST_BYTES = 3 * PIECE };
	uint8_t *at = (uint8_t *)sample;
	_Static_assert(sizeof(*sample) >= FEWEST_BYTES && sizeof(*sample) <= MOST_BYTES,
		       "as many stores as the struct needs");
	memset(at, 0, PIECE);
	memset(at + PIECE, 0, PIECE);
	memset(at + sizeof(*sample) - PIECE, 0, PIECE);
}

static int decode_chain(struct perfdata *file, struct bytes tail, struct perfdata_sample *sample)
{
	if (tail.size < 8)
		return STATUS_TRUNCATED;
	const uint64_t count = perfdata_get64(file, tail.data);
	if (count > tail.size / 8 - 1)
		return STATUS_CORRUPT;
	sample->chain_count = count;
	sample->chain = perfdata_chain(file, tail.data + 8, count);
	return sample->chain ? 0 : STATUS_NO_MEMORY;
}

int perfdata_decode_sample(struct perfdata *file, const struct perfdata_record *record,
			   struct perfdata_sample *sample)
{
	const struct bytes body = record->body;
	const struct perfdata_source *source = perfdata_source_of_sample(file, body);
	if (__builtin_expect(!source, false))
		return perfdata_note_record(file, record, STATUS_NOT_FOUND,
					    "a sample of an event that no attr speaks of");
	const struct perfdata_attr *attr = &source->event.attr;
	const uint16_t fixed_size = source->shape.fixed_size;
	if (__builtin_expect(body.size < fixed_size, false))
		return perfdata_note_record(file, record, STATUS_TRUNCATED,
					    "a sample is shorter than its event says");
	clear_sample(sample);
	sample->present = attr->sample_type;
	sample->event = source->index;
	sample->cpumode = record->misc & PERFDATA_CPUMODE_MASK;
	sample->period = source->default_period;
	/* Twice, so that the usual byte order asks once and not at each field. */
	const uint8_t *at = __builtin_expect(file->swap, false)
				? decode_fixed(body.data, true, attr->sample_type, sample)
				: decode_fixed(body.data, false, attr->sample_type, sample);
	const struct bytes tail = { at, body.size - fixed_size };
	const uint64_t tail_fields = attr->sample_type & TAIL_FIELDS;
	int status = 0;
	if (tail_fields == PERFDATA_SAMPLE_CALLCHAIN)
		status = decode_chain(file, tail, sample);
	else if (tail_fields)
		status = perfdata_decode_tail(file, attr, tail, sample, NULL);
	if (__builtin_expect(status < 0, false))
		return perfdata_note_record(file, record, status,
					    "a sample's fields do not fit into it");
	return 0;
}
