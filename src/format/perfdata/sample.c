#include "format/perfdata/internal.h"

#include <stdlib.h>

enum { BRANCH_ENTRY_SIZE = 24, CHAIN_WORDS_LIMIT = PERFDATA_RECORD_LIMIT / 8 };

/* Sample bits above the last one known belong to fields whose place is unknown. */
#define KNOWN_FIELDS (2 * PERFDATA_SAMPLE_WEIGHT_STRUCT - 1)
#define FIELDS_BEHIND_CHAIN                                                           \
	(~(PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |    \
	   PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_ID |         \
	   PERFDATA_SAMPLE_STREAM_ID | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD | \
	   PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_CALLCHAIN))

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

static size_t read_value_words(uint64_t format)
{
	return 1 + (size_t) !!(format & PERFDATA_FORMAT_ID) +
	       (size_t) !!(format & PERFDATA_FORMAT_LOST);
}

static size_t read_time_words(uint64_t format)
{
	return (size_t) !!(format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED) +
	       (size_t) !!(format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING);
}

/* One counter:  value, times, id, lost.   A group:  count, times, (value, id, lost) each. */
static struct bytes take_read(struct cursor *c, uint64_t format)
{
	struct cursor ahead = *c;
	uint64_t words = read_time_words(format);
	if (!(format & PERFDATA_FORMAT_GROUP)) {
		words += read_value_words(format);
	} else {
		const uint64_t count = cursor_u64(&ahead);
		if (!cursor_can_hold(&ahead, count, 8 * read_value_words(format))) {
			cursor_fail(c);
			return (struct bytes){ 0 };
		}
		words += 1 + count * read_value_words(format);
	}
	return cursor_take(c, 8 * words);
}

int perfdata_sample_read(const struct perfdata *file, const struct perfdata_sample *sample,
			 size_t index, struct perfdata_read_value *value)
{
	if (!sample->read.size)
		return STATUS_NOT_FOUND;
	const uint64_t format = perfdata_event(file, sample->event)->attr.read_format;
	struct cursor c = perfdata_cursor(file, sample->read);
	uint64_t count = 1;
	*value = (struct perfdata_read_value){ 0 };
	if (format & PERFDATA_FORMAT_GROUP) {
		count = cursor_u64(&c);
		(void)cursor_take(&c, 8 * read_time_words(format));
	}
	if (index >= count)
		return STATUS_NOT_FOUND;
	(void)cursor_take(&c, 8 * read_value_words(format) * index);
	value->value = cursor_u64(&c);
	if (!(format & PERFDATA_FORMAT_GROUP))
		(void)cursor_take(&c, 8 * read_time_words(format));
	if (format & PERFDATA_FORMAT_ID)
		value->id = cursor_u64(&c);
	if (format & PERFDATA_FORMAT_LOST)
		value->lost = cursor_u64(&c);
	return cursor_failed(&c) ? STATUS_TRUNCATED : 0;
}

static struct bytes take_items(struct cursor *c, uint64_t count, size_t size)
{
	if (!cursor_can_hold(c, count, size)) {
		cursor_fail(c);
		return (struct bytes){ 0 };
	}
	return cursor_take(c, count * size);
}

static void take_branches(struct cursor *c, uint64_t kinds, bool has_index,
			  struct perfdata_sample *sample)
{
	const uint64_t count = cursor_u64(c);
	if (has_index)
		(void)cursor_u64(c);
	sample->branches = take_items(c, count, BRANCH_ENTRY_SIZE);
	if (kinds & PERFDATA_BRANCH_COUNTERS)
		(void)take_items(c, count, 8);
}

static struct bytes take_regs(struct cursor *c, uint64_t mask, uint64_t *abi)
{
	*abi = cursor_u64(c);
	if (!*abi)
		return (struct bytes){ 0 };
	return cursor_take(c, 8 * (size_t)__builtin_popcountll(mask));
}

static struct bytes take_stack(struct cursor *c)
{
	const uint64_t size = cursor_u64(c);
	if (!size)
		return (struct bytes){ 0 };
	struct bytes stack = cursor_take(c, size);
	const uint64_t copied = cursor_u64(c);
	if (copied < stack.size)
		stack.size = copied;
	return stack;
}

/* From REGS_USER on; in the kernel's order, which is not that of the bits. */
static void take_last_fields(struct cursor *c, const struct perfdata_attr *attr,
			     struct perfdata_sample *sample)
{
	const uint64_t type = attr->sample_type;
	if (type & PERFDATA_SAMPLE_REGS_USER) {
		sample->user_regs_mask = attr->sample_regs_user;
		sample->user_regs = take_regs(c, attr->sample_regs_user, &sample->user_regs_abi);
	}
	if (type & PERFDATA_SAMPLE_STACK_USER)
		sample->user_stack = take_stack(c);
	if (type & PERFDATA_SAMPLE_WEIGHT)
		sample->weight = cursor_u64(c);
	else if (type & PERFDATA_SAMPLE_WEIGHT_STRUCT)
		sample->weight = cursor_u64(c) & 0xffffffff;
	if (type & PERFDATA_SAMPLE_DATA_SRC)
		sample->data_src = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_TRANSACTION)
		sample->transaction = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_REGS_INTR) {
		sample->intr_regs_mask = attr->sample_regs_intr;
		sample->intr_regs = take_regs(c, attr->sample_regs_intr, &sample->intr_regs_abi);
	}
	if (type & PERFDATA_SAMPLE_PHYS_ADDR)
		sample->phys_addr = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_CGROUP)
		sample->cgroup = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = cursor_u64(c);
	/* The kernel puts AUX last, so fields we do not know would lie in front of it. */
	if (type & PERFDATA_SAMPLE_AUX && !(type & ~KNOWN_FIELDS)) {
		const uint64_t size = cursor_u64(c);
		sample->aux = cursor_take(c, size);
	}
}

/* Where the CPU gave no branch stack at all, the kernel writes a count of 0 and
 * leaves the index out. Then only the sample's end tells which of the two it is.
 */
static bool misses_branch_index(const struct perfdata_attr *attr,
				const struct perfdata_sample *sample, const struct cursor *rest)
{
	return attr->branch_sample_type & PERFDATA_BRANCH_HW_INDEX && !sample->branches.size &&
	       (cursor_failed(rest) || cursor_left(rest));
}

static int decode_behind_chain(const struct perfdata_attr *attr, struct cursor c,
			       struct perfdata_sample *sample)
{
	if (attr->sample_type & PERFDATA_SAMPLE_RAW) {
		const uint32_t size = cursor_u32(&c);
		sample->raw = cursor_take(&c, size);
	}
	struct cursor rest = c;
	if (attr->sample_type & PERFDATA_SAMPLE_BRANCH_STACK)
		take_branches(&rest, attr->branch_sample_type,
			      attr->branch_sample_type & PERFDATA_BRANCH_HW_INDEX, sample);
	take_last_fields(&rest, attr, sample);
	if (attr->sample_type & PERFDATA_SAMPLE_BRANCH_STACK &&
	    misses_branch_index(attr, sample, &rest)) {
		struct perfdata_sample other = *sample;
		struct cursor other_rest = c;
		take_branches(&other_rest, attr->branch_sample_type, false, &other);
		take_last_fields(&other_rest, attr, &other);
		if (!cursor_failed(&other_rest) && !cursor_left(&other_rest)) {
			*sample = other;
			return 0;
		}
	}
	return cursor_failed(&rest) ? STATUS_TRUNCATED : 0;
}

static int decode_tail(struct perfdata *file, const struct perfdata_attr *attr, struct bytes tail,
		       struct perfdata_sample *sample)
{
	struct cursor c = perfdata_cursor(file, tail);
	if (attr->sample_type & PERFDATA_SAMPLE_READ)
		sample->read = take_read(&c, attr->read_format);
	if (attr->sample_type & PERFDATA_SAMPLE_CALLCHAIN) {
		const uint64_t count = cursor_u64(&c);
		if (!cursor_can_hold(&c, count, 8))
			return STATUS_CORRUPT;
		sample->chain_count = count;
		sample->chain = perfdata_chain(file, cursor_take(&c, 8 * count).data, count);
		if (!sample->chain)
			return STATUS_NO_MEMORY;
	}
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	if (!(attr->sample_type & FIELDS_BEHIND_CHAIN))
		return 0;
	return decode_behind_chain(attr, c, sample);
}

/* The fields in front of READ: 8 bytes each, at hand whole (the caller has checked). */
static const uint8_t *decode_fixed(const struct perfdata *file, uint64_t type, const uint8_t *at,
				   struct perfdata_sample *sample)
{
	if (type & PERFDATA_SAMPLE_IDENTIFIER) {
		sample->id = perfdata_get64(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_IP) {
		sample->ip_avma = perfdata_get64(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_TID) {
		sample->pid = perfdata_get32(file, at);
		sample->tid = perfdata_get32(file, at + 4);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_TIME) {
		sample->time_ns = perfdata_get64(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_ADDR) {
		sample->addr = perfdata_get64(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_ID) {
		sample->id = perfdata_get64(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_STREAM_ID)
		at += 8;
	if (type & PERFDATA_SAMPLE_CPU) {
		sample->cpu = perfdata_get32(file, at);
		at += 8;
	}
	if (type & PERFDATA_SAMPLE_PERIOD) {
		sample->period = perfdata_get64(file, at);
		at += 8;
	}
	return at;
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
	memset(sample, 0, sizeof(*sample));
	sample->present = attr->sample_type;
	sample->event = source->index;
	sample->cpumode = record->misc & PERFDATA_CPUMODE_MASK;
	sample->period = source->default_period;
	const uint8_t *at = decode_fixed(file, attr->sample_type, body.data, sample);
	const struct bytes tail = { at, body.size - fixed_size };
	const int status = decode_tail(file, attr, tail, sample);
	if (__builtin_expect(status < 0, false))
		return perfdata_note_record(file, record, status,
					    "a sample's fields do not fit into it");
	return 0;
}
