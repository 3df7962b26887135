#include "base/status.h"
#include "format/jitdump/extensions.h"
#include "lint/jitdump_internal.h"

enum {
	PID_MAX = 1 << 22, /* the kernel's limit on 64-bit machines */
	OWN_KINDS = JITDUMP_EXTENSION_KNOWN - JITDUMP_EXTENSION_FIRST + 1,
	COUNTS = JITDUMP_UNWINDING_INFO + 1 + OWN_KINDS + 1,
};

/* A day in ns: what one run's stamps lie within, near enough. */
static const uint64_t FAR = UINT64_C(86400000000000);

struct walk {
	struct lint *lint;
	struct jitdump_reader reader;
	struct lint_loads loads;
	struct lint_moves moves;
	struct lint_unloads unloads;
	struct lint_lines lines;
	uint64_t counts[COUNTS]; /* the last one: newer kinds */
	uint64_t last_time;
	uint32_t last_id;
	bool is_closed;
	bool has_unwinding; /* whose LOAD has not come yet */
	uint64_t unwinding_off;
};

static const char *record_name(uint32_t id)
{
	const char *name = jitdump_record_name(id);
	return name ? name : "record";
}

/* Where a kind is counted; all that are not known have one place. */
static uint32_t count_index(uint32_t id)
{
	if (!jitdump_is_known(id))
		return COUNTS - 1;
	return id <= JITDUMP_UNWINDING_INFO
		   ? id
		   : JITDUMP_UNWINDING_INFO + 1 + (id - JITDUMP_EXTENSION_FIRST);
}

static struct lint_place at_record(const struct jitdump_record *record)
{
	return (struct lint_place){ .offset = record->offset, .record = record_name(record->id) };
}

static void tell_problem(void *context, const struct jitdump_problem *problem)
{
	struct walk *walk = context;
	const struct lint_place file = { .offset = problem->offset, .record = "file" };
	const struct lint_place record = { .offset = problem->offset,
					   .record = record_name(problem->id) };
	switch (problem->kind) {
	case JITDUMP_PROBLEM_CUT_FILE:
	case JITDUMP_PROBLEM_CUT_NEXT:
		lint_tell(walk->lint, LINT_CUT, record, "%s: %" PRIu64 " bytes are missing%s",
			  problem->what, problem->missing_bytes,
			  problem->skipped_bytes ? ", it is lost" : "");
		break;
	case JITDUMP_PROBLEM_ZEROS:
		lint_tell(walk->lint, LINT_ZERO_TAIL, file, "%" PRIu64 " %s",
			  problem->skipped_bytes, problem->what);
		break;
	case JITDUMP_PROBLEM_GARBAGE:
		lint_tell(walk->lint, LINT_GARBAGE, file, "%" PRIu64 " %s", problem->skipped_bytes,
			  problem->what);
		break;
	}
}

/* EM_SPARC, 386, 68K, MIPS, PARISC, PPC, PPC64, S390, ARM, SH, SPARCV9, X86_64, AARCH64,
 * RISCV, BPF, LOONGARCH.
 */
static bool is_machine(uint32_t machine)
{
	static const uint16_t known[] = { 2,  3,  4,  8,  15,  20,  21,  22,
					  40, 42, 43, 62, 183, 243, 247, 258 };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (machine == known[i])
			return true;
	return false;
}

static void check_header(struct walk *walk)
{
	const struct jitdump_reader *reader = &walk->reader;
	struct lint *lint = walk->lint;
	const struct lint_place at = { .record = "header" };
	if (reader->claimed_header_size != JITDUMP_HEADER_SIZE)
		lint_tell(lint, LINT_HEADER_SIZE, at, "its size is %" PRIu32 ", read as %" PRIu32,
			  reader->claimed_header_size, reader->header_size);
	if (reader->version != JITDUMP_VERSION)
		lint_tell(lint, LINT_VERSION, at, "version %" PRIu32, reader->version);
	if (!is_machine(reader->elf_machine))
		lint_tell(lint, LINT_MACHINE, at, "elf_mach is %" PRIu32, reader->elf_machine);
	if (reader->is_arch_timestamp)
		lint_tell(lint, LINT_ARCH_TIME, at, "stamps are ticks of the CPU's counter");
	else if (reader->flags)
		lint_tell(lint, LINT_FLAGS, at, "flags 0x%" PRIx64, reader->flags);
	const uint64_t records = reader->anchor_time;
	const uint64_t header = reader->header_time;
	const uint64_t apart = header > records ? header - records : records - header;
	if (records && apart > FAR)
		lint_tell(lint, LINT_HEADER_CLOCK, at,
			  "its stamp is %" PRIu64 ", the records' begin with %" PRIu64, header,
			  records);
}

static void check_time(struct walk *walk, const struct jitdump_record *record)
{
	const uint64_t time = record->time_ns;
	struct lint *lint = walk->lint;
	if (!time) {
		lint_tell(lint, LINT_TIME_ZERO, at_record(record), "its stamp is 0");
		return;
	}
	const uint64_t other = walk->reader.anchor_time;
	if (other && (time > other ? time - other : other - time) > FAR) {
		lint_tell(lint, LINT_TIME_FAR, at_record(record),
			  "its stamp is %" PRIu64 ", others begin with %" PRIu64, time, other);
		return;
	}
	if (time < walk->last_time)
		lint_tell(lint, LINT_TIME_BACK, at_record(record),
			  "%" PRIu64 " ns earlier than a record before it", walk->last_time - time);
	else
		walk->last_time = time;
}

static void check_ids(struct walk *walk, const struct jitdump_record *record)
{
	const struct jitdump_code_load *load = &record->code_load;
	if (load->pid != walk->reader.pid)
		lint_tell(walk->lint, LINT_PROCESS, at_record(record),
			  "of process %" PRIu32 ", the header's is %" PRIu32, load->pid,
			  walk->reader.pid);
	if (load->tid > PID_MAX)
		lint_tell(walk->lint, LINT_THREAD, at_record(record),
			  "thread id %" PRIu32 " is none", load->tid);
}

static void keep_load(struct walk *walk, const struct jitdump_record *record)
{
	struct lint_load *load = vector_push(&walk->loads);
	if (!load) {
		walk->lint->is_out_of_memory = true;
		return;
	}
	load->start_avma = record->code_load.code_avma;
	load->size = record->code_load.code_size;
	load->index = record->code_load.code_index;
	load->time = record->time_ns;
	load->offset = record->offset;
}

static void check_load(struct walk *walk, const struct jitdump_record *record)
{
	const struct jitdump_code_load *load = &record->code_load;
	struct lint *lint = walk->lint;
	const struct lint_place at = at_record(record);
	lint_name(lint, at, load->name);
	check_ids(walk, record);
	walk->has_unwinding = false;
	lint_lines_load(&walk->lines, lint, record);
	if (load->vma != load->code_avma)
		lint_tell(lint, LINT_VMA, at, "vma is 0x%" PRIx64 ", code_addr 0x%" PRIx64,
			  load->vma, load->code_avma);
	/* A cut record has been told of already. */
	if (load->code.size != load->code_size && !record->is_torn)
		lint_tell(lint, LINT_NO_CODE, at, "%zu of %" PRIu64 " code bytes are there: %.*s",
			  load->code.size, load->code_size, LINT_NAME(load->name));
	if (!load->code_avma || !load->code_size ||
	    load->code_avma + load->code_size < load->code_avma) {
		lint_tell(lint, LINT_CODE_RANGE, at, "%" PRIu64 " bytes at 0x%" PRIx64 ": %.*s",
			  load->code_size, load->code_avma, LINT_NAME(load->name));
		return;
	}
	keep_load(walk, record);
}

static void keep_move(struct walk *walk, const struct jitdump_record *record)
{
	struct lint_move *move = vector_push(&walk->moves);
	if (!move) {
		walk->lint->is_out_of_memory = true;
		return;
	}
	move->old_avma = record->code_move.old_avma;
	move->new_avma = record->code_move.new_avma;
	move->offset = record->offset;
}

static void keep_unload(struct walk *walk, const struct jitdump_record *record)
{
	struct lint_unload *unload = vector_push(&walk->unloads);
	if (!unload) {
		walk->lint->is_out_of_memory = true;
		return;
	}
	unload->avma = record->unload.code_avma;
	unload->offset = record->offset;
}

static void check_unwinding(struct walk *walk, const struct jitdump_record *record)
{
	const struct jitdump_unwinding_info *info = &record->unwinding_info;
	const struct lint_place at = at_record(record);
	if (info->unwinding.size != info->unwinding_size ||
	    info->eh_frame_hdr_size > info->unwinding_size)
		lint_tell(walk->lint, LINT_UNWINDING, at,
			  "%" PRIu64 " bytes, header of %" PRIu64 ", %zu there",
			  info->unwinding_size, info->eh_frame_hdr_size, info->unwinding.size);
	if (walk->has_unwinding)
		lint_tell(walk->lint, LINT_LINES_ORPHAN,
			  (struct lint_place){ .offset = walk->unwinding_off, .record = at.record },
			  "more unwinding data follows, and no LOAD");
	walk->has_unwinding = true;
	walk->unwinding_off = record->offset;
}

static void check_record(struct walk *walk, const struct jitdump_record *record)
{
	walk->counts[count_index(record->id)]++;
	if (walk->is_closed && record->id != JITDUMP_CLOSE)
		lint_tell(walk->lint, LINT_AFTER_CLOSE, at_record(record), "it lies behind CLOSE");
	check_time(walk, record);
	switch (record->id) {
	case JITDUMP_CODE_LOAD:
		check_load(walk, record);
		break;
	case JITDUMP_CODE_MOVE:
		keep_move(walk, record);
		break;
	case JITDUMP_DEBUG_INFO:
		lint_lines_debug_info(&walk->lines, walk->lint, record);
		break;
	case JITDUMP_CLOSE:
		walk->is_closed = true;
		break;
	case JITDUMP_UNWINDING_INFO:
		check_unwinding(walk, record);
		break;
	case JITDUMP_PAD:
		lint_tell(walk->lint, LINT_PADDING, at_record(record),
			  "%zu bytes that were reserved", record->body.size);
		break;
	case JITDUMP_UNLOAD:
		keep_unload(walk, record);
		break;
	case JITDUMP_INLINES:
	case JITDUMP_BYTECODES:
	case JITDUMP_ANNOTATIONS:
	case JITDUMP_METHOD:
		lint_own_record(walk->lint, record);
		break;
	default:
		lint_tell(walk->lint, LINT_UNKNOWN, at_record(record),
			  "a record of kind 0x%" PRIx32 ", %zu bytes", record->id,
			  record->body.size);
		break;
	}
	walk->last_id = record->id;
}

static void check_end(struct walk *walk)
{
	struct lint *lint = walk->lint;
	const struct lint_place end = { .offset = walk->reader.file.size, .record = "file" };
	lint_lines_end(&walk->lines, lint);
	if (walk->has_unwinding)
		lint_tell(lint, LINT_LINES_ORPHAN,
			  (struct lint_place){ .offset = walk->unwinding_off,
					       .record = record_name(JITDUMP_UNWINDING_INFO) },
			  "no LOAD follows");
	if (!walk->counts[JITDUMP_CODE_LOAD])
		lint_tell(lint, LINT_NO_LOADS, end, "it announces no code");
	if (walk->last_id != JITDUMP_CLOSE)
		lint_tell(lint, LINT_NO_CLOSE, end, "the last record is no CLOSE");
	lint_loads_indices(lint, &walk->loads);
	lint_loads_moves(lint, &walk->loads, &walk->moves);
	lint_loads_unloads(lint, &walk->loads, &walk->moves, &walk->unloads);
	lint_loads_overlaps(lint, &walk->loads, walk->reader.file);
}

static void put_contents(const struct walk *walk)
{
	struct sink *out = &walk->lint->contents;
	for (uint32_t i = 0; i < COUNTS; i++) {
		const uint32_t id = i <= JITDUMP_UNWINDING_INFO
					? i
					: JITDUMP_EXTENSION_FIRST + i - JITDUMP_UNWINDING_INFO - 1;
		if (walk->counts[i])
			sink_printf(out, "%s%" PRIu64 " %s", out->size ? ", " : "", walk->counts[i],
				    i == COUNTS - 1 ? "other" : record_name(id));
	}
	if (!out->size)
		sink_text(out, "no records");
}

int lint_jitdump(struct lint *lint, struct bytes file)
{
	struct walk walk = { .lint = lint, .last_id = JITDUMP_CODE_LOAD };
	const int got = jitdump_reader_init(&walk.reader, file);
	if (got < 0)
		return got;
	walk.reader.on_problem = tell_problem;
	walk.reader.context = &walk;
	check_header(&walk);
	lint_lines_begin(&walk.lines, lint, file);
	struct jitdump_record record;
	while (jitdump_reader_next(&walk.reader, &record) > 0) {
		progress_at(lint->progress, "records", record.offset, file.size);
		check_record(&walk, &record);
	}
	progress_done(lint->progress, "records", file.size);
	check_end(&walk);
	put_contents(&walk);
	vector_clear(&walk.loads);
	vector_clear(&walk.moves);
	vector_clear(&walk.unloads);
	return STATUS_OK;
}
