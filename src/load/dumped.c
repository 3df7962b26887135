#include "load/dumped.h"

#include "base/status.h"
#include "unwind/registers.h"

#include <stdlib.h>

enum { WORD = sizeof(uint64_t) };

struct dumped_runtime {
	uint32_t pid;
	uint32_t space; /* of `time_ns`, when that was first asked for */
	uint64_t time_ns;
	uint32_t next; /* of the same process: index + 1 */
	uint32_t id;
	bool has_space;
	struct walk_slot slot;
};

struct dumped {
	VECTOR(struct dumped_runtime) runtimes;
	struct idmap first; /* by pid: index + 1 */
	VECTOR(struct walk_frame) frames;
};

/* A recording may say anything. */
static bool is_layout(const struct walk_slot *slot)
{
	const uint16_t words[] = { slot->frame_previous, slot->frame_code, slot->frame_generation };
	const uint16_t halves[] = { slot->frame_line, slot->frame_flags };
	bool is_right = slot->frame_bytes <= WALK_FRAME_WORDS * WORD;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is_right &= words[i] % WORD == 0 && words[i] + WORD <= slot->frame_bytes;
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		is_right &= halves[i] % 4 == 0 && halves[i] + 4u <= slot->frame_bytes;
	return is_right;
}

static int keep(struct dumped *dumped, const struct walk_told *told)
{
	const struct walk_runtime *runtime = &told->runtime;
	if (runtime->language != WALK_SLOT || !is_layout(&runtime->slot))
		return 0;
	uint32_t *first = idmap_put(&dumped->first, told->head.pid);
	struct dumped_runtime *made = first ? vector_push(&dumped->runtimes) : NULL;
	if (!made)
		return STATUS_NO_MEMORY;
	*made = (struct dumped_runtime){ .pid = told->head.pid,
					 .time_ns = told->time_ns,
					 .next = *first,
					 .id = runtime->id,
					 .slot = runtime->slot };
	*first = (uint32_t)dumped->runtimes.count;
	return 0;
}

int dumped_read(struct load *load)
{
	struct frames_record record;
	struct bytes records;
	int got = 0;
	if (!load->bundle || bundle_read(load->bundle, "frames", &records) < 0)
		return 0;
	load->dumped = calloc(1, sizeof(*load->dumped));
	if (!load->dumped)
		return STATUS_NO_MEMORY;
	while (got == 0 && (got = frames_next(&record, &records)) == 0)
		got = record.head.kind == WALK_RUNTIME ? keep(load->dumped, &record.told)
						       : stacks_define_told(load, &record);
	if (got == STATUS_NO_MEMORY)
		return got;
	if (got != STATUS_NOT_FOUND)
		load_add_note(load, true,
			      "what the frames of interpreters are is torn: some "
			      "functions have no name");
	return 0;
}

/* What the process had while it ran the program that it ran at the sample. */
static const struct dumped_runtime *runtime_of(struct load *load, uint32_t pid, uint32_t space)
{
	struct dumped *dumped = load->dumped;
	for (uint32_t at = idmap_get(&dumped->first, pid); at;) {
		struct dumped_runtime *runtime = &dumped->runtimes.items[at - 1];
		uint64_t from_ns;
		uint64_t to_ns;
		if (!runtime->has_space)
			runtime->space =
			    timeline_space(load->timeline, pid, runtime->time_ns, &from_ns, &to_ns);
		runtime->has_space = true;
		if (runtime->space == space)
			return runtime;
		at = runtime->next;
	}
	return NULL;
}

struct scan {
	const struct dumped_runtime *runtime;
	struct bytes stack;
	uint64_t stack_avma;
};

static uint64_t word_at(const struct scan *scan, size_t offset)
{
	uint64_t word;
	memcpy(&word, scan->stack.data + offset, WORD);
	return word;
}

static uint32_t half_at(const struct scan *scan, size_t offset)
{
	uint32_t half;
	memcpy(&half, scan->stack.data + offset, sizeof(half));
	return half;
}

/* The copy has all of a frame there. */
static bool is_frame(const struct scan *scan, size_t offset)
{
	const struct walk_slot *slot = &scan->runtime->slot;
	return offset <= scan->stack.size && slot->frame_bytes <= scan->stack.size - offset &&
	       word_at(scan, offset) == (slot->frame_magic ^ (scan->stack_avma + offset));
}

static bool find_first(const struct scan *scan, size_t *offset)
{
	const size_t size = scan->stack.size;
	for (size_t at = -scan->stack_avma % WORD; at + WORD <= size; at += WORD)
		if (is_frame(scan, at)) {
			*offset = at;
			return true;
		}
	return false;
}

static struct walk_frame frame_at(const struct scan *scan, size_t offset)
{
	enum { ENTRY = 1, NATIVE = 2 }; /* of include/polyperf/interp.h */
	const struct walk_slot *slot = &scan->runtime->slot;
	const uint32_t told = half_at(scan, offset + slot->frame_flags);
	struct walk_frame frame = { .code_avma = word_at(scan, offset + slot->frame_code),
				    .check = word_at(scan, offset + slot->frame_generation),
				    .position = (int32_t)half_at(scan, offset + slot->frame_line),
				    .flags = WALK_FRAME_IS_LINE };
	if (!frame.position)
		frame.flags |= WALK_FRAME_NO_POSITION;
	if (told & NATIVE)
		frame.flags |= WALK_FRAME_NATIVE;
	if (told & ENTRY)
		frame.flags |= WALK_FRAME_ENTRY;
	return frame;
}

/* Callers are further up. Returns why they end; 0 or an error. */
static int follow(struct load *load, const struct scan *scan, size_t offset, enum walk_end *end)
{
	struct dumped *dumped = load->dumped;
	*end = WALK_END_DEPTH;
	while (dumped->frames.count < WALK_MAX_FRAMES) {
		struct walk_frame *frame = vector_push(&dumped->frames);
		if (!frame)
			return STATUS_NO_MEMORY;
		*frame = frame_at(scan, offset);
		if (!stacks_have_lines(load))
			frame->position = 0;
		const uint64_t previous =
		    word_at(scan, offset + scan->runtime->slot.frame_previous);
		*end = previous ? WALK_END_READ_FRAME : WALK_END_ROOT;
		if (previous <= scan->stack_avma + offset ||
		    previous - scan->stack_avma >= scan->stack.size)
			return 0;
		offset = (size_t)(previous - scan->stack_avma);
		*end = WALK_END_TORN;
		if (!is_frame(scan, offset))
			return 0;
		*end = WALK_END_DEPTH;
	}
	return 0;
}

static bool stack_pointer(const struct load *load, const struct perfdata_sample *sample,
			  uint64_t *sp_avma)
{
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(load->perf);
	for (uint64_t left = sample->user_regs_mask; left; left &= left - 1) {
		*sp_avma = cursor_u64(&c);
		if (unwind_register_of_perf(UNWIND_X86_64, (unsigned)__builtin_ctzll(left)) ==
		    UNWIND_X86_64_SP)
			return !cursor_failed(&c);
	}
	return false;
}

bool dumped_take(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		 struct stacks_found *found)
{
	struct scan scan = { .stack = sample->user_stack };
	enum walk_end end;
	size_t offset;
	if (!load->dumped || load->is_arm64 || perfdata_is_swapped(load->perf) ||
	    !sample->user_regs_abi || !stack_pointer(load, sample, &scan.stack_avma))
		return false;
	scan.runtime = runtime_of(load, sample->pid, space);
	if (!scan.runtime || !find_first(&scan, &offset))
		return false;
	load->dumped->frames.count = 0;
	if (follow(load, &scan, offset, &end) < 0)
		return false;
	found->count = 1;
	found->items[0] = (struct stacks_item){ .pid = sample->pid,
						.runtime = scan.runtime->id,
						.frame_count = (uint16_t)load->dumped->frames.count,
						.language = WALK_SLOT,
						.end = (uint8_t)end,
						.frames = load->dumped->frames.items };
	return true;
}

void dumped_free(struct load *load)
{
	if (!load->dumped)
		return;
	vector_clear(&load->dumped->runtimes);
	vector_clear(&load->dumped->frames);
	idmap_clear(&load->dumped->first);
	free(load->dumped);
	load->dumped = NULL;
}
