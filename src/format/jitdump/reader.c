#include "format/jitdump/reader.h"

#include "base/status.h"
#include "format/jitdump/extensions.h"
#include "format/jitdump/plausible_internal.h"

enum {
	V8_PAD = 0xdeadbeef,
	MONO_VERSION = 2, /* the layout of version 1 */
	HEADER_SIZE_MAX = 4096,
	ANCHOR_TRIES = 64,
	/* Records form a chain: each must arrive from memory before the next is known.
	 * Asking for what lies behind halves the time of a walk; further does not help.
	 */
	AHEAD_BYTES = 512,
	CACHE_LINE = 64,
};

/* What inspect() found at an offset. */
struct finding {
	size_t end; /* where the next record is to be looked for */
	bool is_record;
	struct jitdump_problem problem; /* told if it skips or misses bytes */
};

bool jitdump_is_magic(struct bytes start)
{
	struct cursor c = cursor_over(start);
	const uint32_t magic = cursor_u32(&c);
	return magic == JITDUMP_MAGIC || magic == __builtin_bswap32(JITDUMP_MAGIC);
}

/* Dates the file, so that the times of doubtful records can be held against it:
 * the first time that the record behind it confirms, else the first time. Returns
 * whether a record of the known layout lies right behind the header.
 */
static bool find_anchor(struct jitdump_reader *reader)
{
	struct jitdump_prefix prefix;
	uint64_t last_time = 0;
	size_t offset = reader->header_size;
	int count = 0;
	for (; count < ANCHOR_TRIES && jitdump_prefix_at(reader, offset, &prefix); count++) {
		const bool is_known = jitdump_is_known(prefix.id);
		if (!jitdump_fits(reader, offset, &prefix) ||
		    (is_known && !jitdump_agrees(reader, offset, &prefix)))
			break;
		if (last_time && jitdump_is_near(prefix.time, last_time))
			break;
		if (is_known && prefix.time)
			last_time = prefix.time;
		offset += prefix.total_size;
	}
	if (!count) {
		offset = jitdump_find(reader, offset, reader->file.size);
		if (offset < reader->file.size && jitdump_prefix_at(reader, offset, &prefix))
			last_time = prefix.time;
	}
	reader->anchor_time = last_time;
	return count > 0;
}

int jitdump_reader_init(struct jitdump_reader *reader, struct bytes file)
{
	*reader = (struct jitdump_reader){ .file = file };
	struct cursor c = cursor_over(file);
	const uint32_t magic = cursor_u32(&c);
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	reader->swap = magic == __builtin_bswap32(JITDUMP_MAGIC);
	if (magic != JITDUMP_MAGIC && !reader->swap)
		return STATUS_NOT_FORMAT;
	c.swap = reader->swap;

	reader->version = cursor_u32(&c);
	reader->claimed_header_size = cursor_u32(&c);
	reader->elf_machine = cursor_u32(&c);
	reader->is_v8_pad = cursor_u32(&c) == V8_PAD;
	reader->pid = cursor_u32(&c);
	reader->header_time = cursor_u64(&c);
	reader->flags = cursor_u64(&c);
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	/* One LLVM left the flags uninitialised: a bit among others that nobody defined says
	 * nothing. */
	reader->is_arch_timestamp = reader->flags == JITDUMP_FLAG_ARCH_TIMESTAMP;
	const uint32_t header_size = reader->claimed_header_size;
	reader->header_size = header_size;
	if (header_size < JITDUMP_HEADER_SIZE || header_size > HEADER_SIZE_MAX ||
	    header_size > file.size)
		reader->header_size = JITDUMP_HEADER_SIZE;
	reader->next_offset = reader->header_size;

	const bool is_known_layout = find_anchor(reader);
	if (reader->version != JITDUMP_VERSION && reader->version != MONO_VERSION &&
	    !is_known_layout)
		return STATUS_UNSUPPORTED;
	return STATUS_OK;
}

static void decode_load(struct jitdump_record *record, struct cursor *c)
{
	/* One read a statement: C leaves the order inside an initialiser open. */
	struct jitdump_code_load *load = &record->code_load;
	load->pid = cursor_u32(c);
	load->tid = cursor_u32(c);
	load->vma = cursor_u64(c);
	load->code_avma = cursor_u64(c);
	load->code_size = cursor_u64(c);
	load->code_index = cursor_u64(c);
	const char *name = cursor_cstr(c);
	if (cursor_failed(c))
		return;
	load->name.data = (const uint8_t *)name;
	load->name.size = (size_t)(c->pos - load->name.data) - 1;
	const size_t left = cursor_left(c);
	load->code = cursor_take(c, load->code_size < left ? (size_t)load->code_size : left);
}

static void decode_move(struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_code_move *move = &record->code_move;
	move->pid = cursor_u32(c);
	move->tid = cursor_u32(c);
	move->vma = cursor_u64(c);
	move->old_avma = cursor_u64(c);
	move->new_avma = cursor_u64(c);
	move->code_size = cursor_u64(c);
	move->code_index = cursor_u64(c);
}

static void decode_unwinding_info(struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_unwinding_info *info = &record->unwinding_info;
	info->unwinding_size = cursor_u64(c);
	info->eh_frame_hdr_size = cursor_u64(c);
	info->mapped_size = cursor_u64(c);
	const size_t left = cursor_left(c);
	info->unwinding =
	    cursor_take(c, info->unwinding_size < left ? (size_t)info->unwinding_size : left);
}

/* False if the fixed fields or a LOAD's name do not lie in [offset, end). */
static bool decode(const struct jitdump_reader *reader, size_t offset, size_t end,
		   struct jitdump_record *record)
{
	struct cursor c =
	    cursor_over((struct bytes){ .data = reader->file.data + offset, .size = end - offset });
	c.swap = reader->swap;
	*record = (struct jitdump_record){ .offset = offset };
	record->id = cursor_u32(&c);
	const uint32_t total_size = cursor_u32(&c);
	record->time_ns = cursor_u64(&c);
	record->is_torn = end - offset < total_size;
	record->body = (struct bytes){ .data = c.pos, .size = cursor_left(&c) };
	switch (record->id) {
	case JITDUMP_CODE_LOAD:
		decode_load(record, &c);
		break;
	case JITDUMP_CODE_MOVE:
		decode_move(record, &c);
		break;
	case JITDUMP_DEBUG_INFO:
		record->debug_info.code_avma = cursor_u64(&c);
		record->debug_info.entry_count = cursor_u64(&c);
		record->debug_info.entries = c;
		break;
	case JITDUMP_UNWINDING_INFO:
		decode_unwinding_info(record, &c);
		break;
	case JITDUMP_UNLOAD:
	case JITDUMP_INLINES:
	case JITDUMP_BYTECODES:
	case JITDUMP_ANNOTATIONS:
	case JITDUMP_METHOD:
		jitdump_decode_extension(record, &c);
		break;
	default:
		break;
	}
	return !cursor_failed(&c);
}

/* Is a record that ends too early worth more than nothing? Lines are, as far as
 * they go, and a LOAD whose name is whole; half a MOVE or UNWINDING_INFO is not.
 */
static bool is_useful_when_cut(const struct jitdump_prefix *prefix,
			       const struct jitdump_record *record)
{
	if (record->id == JITDUMP_DEBUG_INFO)
		return true;
	const struct jitdump_code_load *load = &record->code_load;
	return record->id == JITDUMP_CODE_LOAD && load->name.size && prefix->time &&
	       jitdump_load_agrees(load->name.size, load->code_size, prefix->total_size);
}

/* The bytes at `offset` begin like a record that does not end where it says. */
static struct finding inspect_cut(const struct jitdump_reader *reader, size_t offset,
				  const struct jitdump_prefix *prefix,
				  struct jitdump_record *record)
{
	const size_t size = reader->file.size;
	const size_t claimed_end =
	    prefix->total_size < size - offset ? offset + prefix->total_size : size;
	const size_t end = jitdump_find(reader, offset + 1, claimed_end);
	const bool is_cut_by_next = end < claimed_end;
	struct finding found = {
		.end = end,
		.is_record = decode(reader, offset, end, record) &&
			     is_useful_when_cut(prefix, record),
		.problem = {
			.kind = is_cut_by_next ? JITDUMP_PROBLEM_CUT_NEXT : JITDUMP_PROBLEM_CUT_FILE,
			.id = prefix->id,
			.offset = offset,
			.missing_bytes = prefix->total_size - (end - offset),
			.what = is_cut_by_next ? "another record begins inside this one" :
						 "the file ends inside this record",
		},
	};
	if (!found.is_record)
		found.problem.skipped_bytes = end - offset;
	return found;
}

static bool is_zeros(const uint8_t *data, size_t size)
{
	return size && !data[0] && !memcmp(data, data + 1, size - 1);
}

/* No record begins at `offset`: everything up to the next strict one is lost. */
static struct finding inspect_garbage(const struct jitdump_reader *reader, size_t offset)
{
	const size_t size = reader->file.size;
	const size_t end = jitdump_find(reader, offset + 1, size);
	const bool zeros = end == size && is_zeros(reader->file.data + offset, size - offset);
	return (struct finding){
		.end = end,
		.problem = {
			.kind = zeros ? JITDUMP_PROBLEM_ZEROS : JITDUMP_PROBLEM_GARBAGE,
			.offset = offset,
			.skipped_bytes = end - offset,
			.what = zeros ? "zeros to the end of the file" : "bytes that are no record",
		},
	};
}

/* Decides what lies at `offset`, which is before the end of the file. Depends on
 * the bytes and the anchor alone, so that _at() and _next() agree.
 */
static struct finding inspect(const struct jitdump_reader *reader, size_t offset,
			      struct jitdump_record *record)
{
	const size_t left = reader->file.size - offset;
	struct jitdump_prefix prefix;
	if (!jitdump_prefix_at(reader, offset, &prefix))
		return inspect_garbage(reader, offset);
	const size_t end = offset + prefix.total_size;
	const bool agrees = jitdump_agrees(reader, offset, &prefix);
	const bool fits = agrees || jitdump_fits(reader, offset, &prefix);
	const bool is_chained = fits && jitdump_may_begin(reader, end);
	const bool is_newer = !jitdump_is_known(prefix.id);
	bool is_accepted = is_chained && (agrees || is_newer);
	/* Its sizes differ, dirt follows, or the file ends: has it swallowed others? */
	if (!is_accepted && (fits || prefix.total_size > left) &&
	    jitdump_is_credible_cut(reader, offset, &prefix)) {
		const struct finding cut = inspect_cut(reader, offset, &prefix, record);
		if (!fits || cut.end < end)
			return cut;
		is_accepted = cut.is_record;
	}
	if (!is_accepted && !agrees && !is_chained)
		return inspect_garbage(reader, offset);
	decode(reader, offset, end, record);
	return (struct finding){ .end = end, .is_record = true };
}

static void tell(struct jitdump_reader *reader, const struct jitdump_problem *problem)
{
	if (!problem->what)
		return;
	reader->problem_count++;
	reader->skipped_bytes += problem->skipped_bytes;
	if (reader->on_problem)
		reader->on_problem(reader->context, problem);
}

int jitdump_reader_next(struct jitdump_reader *reader, struct jitdump_record *record)
{
	while (reader->next_offset < reader->file.size) {
		const struct finding found = inspect(reader, reader->next_offset, record);
		reader->next_offset = found.end;
		/* Here and not in a function of its own: gcc 12 takes that for one without effect.
		 */
		const size_t left = reader->file.size - found.end;
		for (size_t i = 0; i < AHEAD_BYTES && i < left; i += CACHE_LINE)
			__builtin_prefetch(reader->file.data + found.end + i);
		tell(reader, &found.problem);
		if (found.is_record)
			return 1;
	}
	return 0;
}

int jitdump_reader_at(struct jitdump_reader *reader, uint64_t offset, struct jitdump_record *record)
{
	if (offset < reader->header_size || offset >= reader->file.size)
		return STATUS_CORRUPT;
	return inspect(reader, (size_t)offset, record).is_record ? 1 : STATUS_CORRUPT;
}
