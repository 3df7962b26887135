/* The fields of a sample whose size differs from one to the next, in the order
 * in which the kernel writes them (which is not that of their bits).
 */
#include "format/perfdata/perfdata_internal.h"

enum { BRANCH_ENTRY_SIZE = 24 };

/* Sample bits above the last one known belong to fields whose place is unknown. */
#define KNOWN_FIELDS (2 * PERFDATA_SAMPLE_WEIGHT_STRUCT - 1)
#define FIELDS_BEHIND_STACK                                                                    \
	(PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT | PERFDATA_SAMPLE_DATA_SRC |   \
	 PERFDATA_SAMPLE_TRANSACTION | PERFDATA_SAMPLE_REGS_INTR | PERFDATA_SAMPLE_PHYS_ADDR | \
	 PERFDATA_SAMPLE_CGROUP | PERFDATA_SAMPLE_DATA_PAGE_SIZE |                             \
	 PERFDATA_SAMPLE_CODE_PAGE_SIZE | PERFDATA_SAMPLE_AUX)

/* What one pass over a tail fills. */
struct tail {
	const struct perfdata_attr *attr;
	struct perfdata_sample *sample;
	struct perfdata_sample_extra *extra;
};

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

/* `count` items that the input claims. */
static struct bytes take_items(struct cursor *c, uint64_t count, size_t size)
{
	if (!cursor_can_hold(c, count, size))
		cursor_fail(c);
	return cursor_take(c, cursor_failed(c) ? 0 : count * size);
}

/* One counter:  value, times, id, lost.   A group:  count, times, (value, id, lost) each. */
static struct bytes take_read(struct cursor *c, uint64_t format)
{
	struct cursor ahead = *c;
	const size_t value_words = read_value_words(format);
	if (!(format & PERFDATA_FORMAT_GROUP))
		return take_items(c, read_time_words(format) + value_words, 8);
	const uint64_t count = cursor_u64(&ahead);
	if (!cursor_can_hold(&ahead, count, 8 * value_words))
		cursor_fail(c);
	return take_items(
	    c, cursor_failed(c) ? 0 : 1 + read_time_words(format) + count * value_words, 8);
}

static struct bytes take_branches(struct cursor *c, uint64_t kinds, bool has_index)
{
	const uint64_t count = cursor_u64(c);
	if (has_index)
		(void)cursor_u64(c);
	const struct bytes branches = take_items(c, count, BRANCH_ENTRY_SIZE);
	if (kinds & PERFDATA_BRANCH_COUNTERS)
		(void)take_items(c, count, 8);
	return branches;
}

static struct bytes take_regs(struct cursor *c, uint64_t mask, uint64_t *abi)
{
	*abi = cursor_u64(c);
	return take_items(c, *abi ? (uint64_t)__builtin_popcountll(mask) : 0, 8);
}

/* Size, that many bytes, and how many of them the kernel could copy. */
static struct bytes take_stack(struct cursor *c, uint64_t *wanted_bytes)
{
	const uint64_t size = cursor_u64(c);
	*wanted_bytes = size;
	struct bytes stack = cursor_take(c, size);
	const uint64_t copied = size ? cursor_u64(c) : 0;
	if (copied < stack.size)
		stack.size = copied;
	return stack;
}

static void take_fields_behind_stack(struct cursor *c, struct tail *tail)
{
	const struct perfdata_attr *attr = tail->attr;
	const uint64_t type = attr->sample_type;
	struct perfdata_sample_extra *extra = tail->extra;
	if (type & PERFDATA_SAMPLE_WEIGHT)
		extra->weight = cursor_u64(c);
	else if (type & PERFDATA_SAMPLE_WEIGHT_STRUCT)
		extra->weight = cursor_u64(c) & 0xffffffff;
	if (type & PERFDATA_SAMPLE_DATA_SRC)
		extra->data_src = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_TRANSACTION)
		extra->transaction = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_REGS_INTR) {
		extra->intr_regs_mask = attr->sample_regs_intr;
		extra->intr_regs = take_regs(c, attr->sample_regs_intr, &extra->intr_regs_abi);
	}
	if (type & PERFDATA_SAMPLE_PHYS_ADDR)
		extra->phys_addr = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_CGROUP)
		tail->sample->cgroup = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
		extra->data_page_size = cursor_u64(c);
	if (type & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
		extra->code_page_size = cursor_u64(c);
	/* The kernel puts AUX last, so fields we do not know would lie in front of it. */
	if (type & PERFDATA_SAMPLE_AUX && !(type & ~KNOWN_FIELDS)) {
		const uint64_t size = cursor_u64(c);
		extra->aux = cursor_take(c, size);
	}
}

static void take_fields_behind_raw(struct cursor *c, struct tail *tail, bool has_branch_index)
{
	const struct perfdata_attr *attr = tail->attr;
	const uint64_t type = attr->sample_type;
	struct perfdata_sample *sample = tail->sample;
	if (type & PERFDATA_SAMPLE_BRANCH_STACK)
		tail->extra->branches =
		    take_branches(c, attr->branch_sample_type, has_branch_index);
	if (type & PERFDATA_SAMPLE_REGS_USER) {
		sample->user_regs_mask = attr->sample_regs_user;
		sample->user_regs = take_regs(c, attr->sample_regs_user, &sample->user_regs_abi);
	}
	if (type & PERFDATA_SAMPLE_STACK_USER)
		sample->user_stack = take_stack(c, &sample->user_stack_wanted_bytes);
	if (type & FIELDS_BEHIND_STACK)
		take_fields_behind_stack(c, tail);
}

/* Where the CPU gave no branch stack at all, the kernel writes a count of 0 and
 * leaves the index out. Then only the sample's end tells which of the two it is.
 */
static void take_with_or_without_index(struct cursor *c, struct tail *tail)
{
	const struct cursor begin = *c;
	take_fields_behind_raw(c, tail, true);
	if (tail->extra->branches.size || (!cursor_failed(c) && !cursor_left(c)))
		return;
	struct perfdata_sample sample = *tail->sample;
	struct perfdata_sample_extra extra = *tail->extra;
	struct tail other = { tail->attr, &sample, &extra };
	struct cursor rest = begin;
	take_fields_behind_raw(&rest, &other, false);
	if (cursor_failed(&rest) || cursor_left(&rest))
		return;
	*tail->sample = sample;
	*tail->extra = extra;
	*c = rest;
}

static void take_chain(struct cursor *c, struct perfdata_sample *sample)
{
	const uint64_t count = cursor_u64(c);
	const struct bytes words = take_items(c, count, 8);
	sample->chain = words.data;
	sample->chain_count = words.size / 8;
}

int perfdata_decode_tail(struct perfdata *file, const struct perfdata_attr *attr,
			 struct bytes bytes, struct perfdata_sample *sample,
			 struct perfdata_sample_extra *extra)
{
	struct perfdata_sample_extra unwanted = { 0 };
	struct tail tail = { attr, sample, extra ? extra : &unwanted };
	struct cursor c = perfdata_cursor(file, bytes);
	const uint64_t type = attr->sample_type;
	if (type & PERFDATA_SAMPLE_READ)
		tail.extra->read = take_read(&c, attr->read_format);
	if (type & PERFDATA_SAMPLE_CALLCHAIN)
		take_chain(&c, sample);
	if (type & PERFDATA_SAMPLE_RAW) {
		const uint32_t size = cursor_u32(&c);
		sample->raw = cursor_take(&c, size);
	}
	if (type & PERFDATA_SAMPLE_BRANCH_STACK &&
	    attr->branch_sample_type & PERFDATA_BRANCH_HW_INDEX)
		take_with_or_without_index(&c, &tail);
	else
		take_fields_behind_raw(&c, &tail, false);
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	if (sample->chain_count) {
		sample->chain = perfdata_chain(file, sample->chain, sample->chain_count);
		if (!sample->chain)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

int perfdata_decode_sample_extra(struct perfdata *file, const struct perfdata_record *record,
				 struct perfdata_sample_extra *extra)
{
	struct perfdata_sample sample;
	const int status = perfdata_decode_sample(file, record, &sample);
	if (status < 0)
		return status;
	const struct perfdata_source *source = file->sources.items[sample.event].source;
	const struct perfdata_attr *attr = &source->event.attr;
	*extra = (struct perfdata_sample_extra){ .event = sample.event };
	/* It is the last of the fixed fields but for CPU and PERIOD. */
	if (attr->sample_type & PERFDATA_SAMPLE_STREAM_ID) {
		const size_t behind = 8 + 8 * (size_t) !!(attr->sample_type & PERFDATA_SAMPLE_CPU) +
				      8 * (size_t) !!(attr->sample_type & PERFDATA_SAMPLE_PERIOD);
		extra->stream_id =
		    perfdata_get64(file, record->body.data + source->shape.fixed_size - behind);
	}
	const struct bytes tail = { record->body.data + source->shape.fixed_size,
				    record->body.size - source->shape.fixed_size };
	return perfdata_decode_tail(file, attr, tail, &sample, extra);
}

int perfdata_sample_read(const struct perfdata *file, const struct perfdata_sample_extra *extra,
			 size_t index, struct perfdata_read_value *value)
{
	*value = (struct perfdata_read_value){ 0 };
	if (!extra->read.size)
		return STATUS_NOT_FOUND;
	const uint64_t format = perfdata_event(file, extra->event)->attr.read_format;
	const bool is_group = format & PERFDATA_FORMAT_GROUP;
	struct cursor c = perfdata_cursor(file, extra->read);
	const uint64_t count = is_group ? cursor_u64(&c) : 1;
	if (is_group)
		(void)cursor_take(&c, 8 * read_time_words(format));
	if (index >= count)
		return STATUS_NOT_FOUND;
	(void)cursor_take(&c, 8 * read_value_words(format) * index);
	value->value = cursor_u64(&c);
	if (!is_group)
		(void)cursor_take(&c, 8 * read_time_words(format));
	if (format & PERFDATA_FORMAT_ID)
		value->id = cursor_u64(&c);
	if (format & PERFDATA_FORMAT_LOST)
		value->lost = cursor_u64(&c);
	return cursor_failed(&c) ? STATUS_TRUNCATED : 0;
}
