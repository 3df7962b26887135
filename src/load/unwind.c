/* Stacks that were dumped rather than walked: what each frame is found by. */
#include "load/load_internal.h"

#include "load/interpreted.h"
#include "unwind/walk.h"

/* x86-64's registers in perf's own numbering (asm/perf_regs.h). */
enum { REG_BX = 1, REG_BP = 6, REG_SP = 7, REG_IP = 8, REG_R13 = 21, WORD = 8 };

/* HotSpot's interpreter, JDK 8 to 25: where its frames hold what it runs, in bytes from rbp. */
enum { HOTSPOT_METHOD = -24, HOTSPOT_BYTECODE = -64, HOTSPOT_8_BYTECODE = -56 };

struct place_context {
	struct load *load;
	const struct perfdata_sample *sample;
	uint64_t *words; /* NULL: nobody wants to know what interpreters ran */
};

static bool user_register(const struct load *load, const struct perfdata_sample *sample,
			  unsigned number, uint64_t *value)
{
	const uint64_t mask = sample->user_regs_mask;
	if (!sample->user_regs_abi || !(mask >> number & 1))
		return false;
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(load->perf);
	const uint64_t before = mask & (((uint64_t)1 << number) - 1);
	(void)cursor_take(&c, (size_t)__builtin_popcountll(before) * WORD);
	*value = cursor_u64(&c);
	return !cursor_failed(&c);
}

/* The symbol table is asked first: it has checked the file's build id. */
static const struct cfi_table *cfi_of(struct load *load, uint32_t object_id)
{
	struct object *object = &load->objects.items[object_id];
	if (object->cfi_was_read)
		return object->cfi;
	object->cfi_was_read = true;
	struct bytes image;
	const char *path = intern_get(&load->strings, object->path);
	if (!load_object_symbols(load, object))
		return NULL;
	object = &load->objects.items[object_id];
	const bool is_there = object->kind == OBJECT_VDSO
				  ? load_vdso(load, &image)
				  : load_keep_file(load, path, false, &image) == 0;
	if (!is_there || cfi_table_elf(&object->cfi, image) < 0)
		object->cfi = NULL;
	return object->cfi;
}

static void find_place(void *context, uint64_t avma, struct unwind_place *place)
{
	const struct place_context *where = context;
	struct load *load = where->load;
	struct timeline_hit hit;
	timeline_find(load->timeline, where->sample->pid, avma, where->sample->time_ns, &hit);
	if (hit.layer == LAYER_CODE || hit.layer == LAYER_MAP) {
		const uint32_t source = load->codes.items[hit.object].source;
		const bool is_stub = load->sources.items[source].runtime == RUNTIME_PYTHON;
		place->code = is_stub                               ? UNWIND_STUB
			      : interpreted_is_by(load, hit.object) ? UNWIND_INTERPRETER
								    : UNWIND_FRAME_POINTER;
		return;
	}
	if (hit.layer != LAYER_MAPPING)
		return;
	const struct object *object = &load->objects.items[hit.object];
	if (object->kind == OBJECT_ANONYMOUS) {
		place->code = UNWIND_FRAME_POINTER;
		return;
	}
	place->table = cfi_of(load, hit.object);
	object = &load->objects.items[hit.object];
	if (place->table && symbol_file_to_svma(object->symbols,
						avma - hit.start_avma + hit.file_off, &place->svma))
		place->code = UNWIND_CFI;
}

/* While it runs, the interpreter has its place in the bytecode in r13; before it calls, it mostly
 * writes it into its frame.
 */
static void read_frame(const struct place_context *where, const struct unwind_frame *frame,
		       struct interpreted_place *place)
{
	uint64_t *guess = place->bytecode_avmas;
	size_t count = 0;
	if (frame->index == 0 && user_register(where->load, where->sample, REG_R13, &guess[count]))
		count++;
	if (unwind_frame_word(frame, HOTSPOT_BYTECODE, &guess[count]))
		count++;
	if (unwind_frame_word(frame, HOTSPOT_8_BYTECODE, &guess[count]))
		count++;
	place->bytecode_count = count;
}

/* Entered from compiled code, and without a frame as yet, it has what it will run in rbx. */
static bool read_entry(const struct place_context *where, const struct unwind_frame *frame,
		       struct interpreted_place *place)
{
	struct interpreted_place entry = { .pid = place->pid,
					   .time_ns = place->time_ns,
					   .is_entry = true };
	if (frame->index > 0 || !user_register(where->load, where->sample, REG_BX, &entry.id) ||
	    !interpreted_is_known(where->load, &entry))
		return false;
	*place = entry;
	return true;
}

static void read_interpreter(void *context, const struct unwind_frame *frame)
{
	const struct place_context *where = context;
	struct interpreted_place place = { .pid = where->sample->pid,
					   .time_ns = where->sample->time_ns };
	if (!where->words)
		return;
	const bool has_method = unwind_frame_word(frame, HOTSPOT_METHOD, &place.id);
	if (has_method && interpreted_is_known(where->load, &place))
		read_frame(where, frame, &place);
	else if (!read_entry(where, frame, &place) && !has_method)
		return;
	where->words[frame->index] = interpreted_find(where->load, &place);
}

size_t load_unwound_words(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
			  uint64_t *words, size_t limit)
{
	struct unwind_state state;
	struct place_context where = { load, sample, words };
	const struct unwind_callbacks callbacks = { .context = &where,
						    .find = find_place,
						    .interpreter = read_interpreter };
	if (words)
		memset(words, 0, limit * sizeof(*words));
	if (load->is_arm64) {
		/* Only where it was: that machine's frames are not followed yet. */
		enum { REG_ARM64_PC = 32 };
		return limit && user_register(load, sample, REG_ARM64_PC, &avmas[0]) ? 1 : 0;
	}
	if (!user_register(load, sample, REG_IP, &state.pc_avma) ||
	    !user_register(load, sample, REG_SP, &state.sp_avma) ||
	    !user_register(load, sample, REG_BP, &state.bp_avma))
		return 0;
	enum unwind_end end;
	return unwind_walk(&callbacks, &state, sample->user_stack, avmas, limit, &end);
}

size_t load_unwound(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
		    size_t limit)
{
	return load_unwound_words(load, sample, avmas, NULL, limit);
}
