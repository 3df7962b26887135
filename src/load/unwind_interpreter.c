/* Frames of HotSpot's interpreter: which method they are of, and where in it. */
#include "load/interpreted.h"
#include "load/unwind.h"

enum { R13 = 13 };

/* JDK 8 to 25: where its frames hold what it runs, in bytes from rbp. */
enum { HOTSPOT_METHOD = -24, HOTSPOT_BYTECODE = -64, HOTSPOT_8_BYTECODE = -56 };

/* While it runs, the interpreter has its place in the bytecode in r13; before it calls, it mostly
 * writes it into its frame.
 */
static void read_frame(const struct unwind_frame *frame, struct interpreted_place *place)
{
	uint64_t *guess = place->bytecode_avmas;
	size_t count = 0;
	if (frame->index == 0 && unwind_get(frame->registers, R13, &guess[count]))
		count++;
	if (unwind_frame_word(frame, HOTSPOT_BYTECODE, &guess[count]))
		count++;
	if (unwind_frame_word(frame, HOTSPOT_8_BYTECODE, &guess[count]))
		count++;
	place->bytecode_count = count;
}

/* Entered from compiled code, and without a frame as yet, it has what it will run in rbx. */
static bool read_entry(const struct walk *walk, const struct unwind_frame *frame,
		       struct interpreted_place *place)
{
	struct interpreted_place entry = { .pid = place->pid,
					   .time_ns = place->time_ns,
					   .is_entry = true };
	if (frame->index > 0 || !unwind_get(frame->registers, UNWIND_X86_64_BX, &entry.id) ||
	    !interpreted_is_known(walk->load, &entry))
		return false;
	*place = entry;
	return true;
}

void interpreter_read(void *context, const struct unwind_frame *frame)
{
	const struct walk *walk = context;
	struct interpreted_place place = { .pid = walk->sample->pid,
					   .time_ns = walk->sample->time_ns };
	/* Its frames on aarch64 are laid out otherwise. */
	if (!walk->words || frame->machine != UNWIND_X86_64)
		return;
	const bool has_method = unwind_frame_word(frame, HOTSPOT_METHOD, &place.id);
	if (has_method && interpreted_is_known(walk->load, &place))
		read_frame(frame, &place);
	else if (!read_entry(walk, frame, &place) && !has_method)
		return;
	walk->words[frame->index] = interpreted_find(walk->load, &place);
}
