/* walk_python.h - the walk of CPython 3.8 to 3.14.
 *
 * What differs between versions is in struct walk_python; docs/interpreters.md tells what
 * each version keeps where, and why frames can be trusted.
 */
#ifndef BPF_WALK_PYTHON_H
#define BPF_WALK_PYTHON_H

#include "bpf/walk_define.h"

enum {
	PYTHON_TYPE_OFF = 8, /* PyObject.ob_type; the same in all versions without free threading */
	PYTHON_SIZE_OFF = 16,  /* PyVarObject.ob_size, PyASCIIObject.length */
	PYTHON_BYTES_OFF = 32, /* PyBytesObject.ob_sval */
};

/* Up to the word with the bit field that tells how characters are stored. */
struct walk_python_text {
	uint64_t references;
	uint64_t type;
	uint64_t length;
	uint64_t hash;
	uint32_t state;
	uint32_t zero;
};

WALK_INLINE void walk_python_text(struct walk *walk, uint32_t *at, enum walk_text_index index,
				  uint32_t limit, uint64_t avma)
{
	const struct walk_python *python = &walk->runtime->python;
	struct walk_text *definition = &walk->space->definition.texts[index];
	struct walk_python_text text;
	if (walk_read(&text, sizeof(text), avma)) {
		walk_text_unread(walk, index);
		return;
	}
	const uint32_t width = text.state >> 2 & 7;
	const bool is_compact = text.state >> 5 & 1;
	const bool is_ascii = text.state >> 6 & 1;
	/* Strings of the old kind, whose characters are elsewhere, are not names. */
	if (!is_compact || (width != 1 && width != 2 && width != 4)) {
		walk_text_unread(walk, index);
		return;
	}
	definition->encoding = is_ascii     ? WALK_UTF8
			       : width == 1 ? WALK_UCS1
			       : width == 2 ? WALK_UCS2
					    : WALK_UCS4;
	walk_text(walk, at, index, limit,
		  avma + (is_ascii ? python->text_ascii : python->text_compact),
		  text.length * width);
}

WALK_INLINE void walk_python_define(struct walk *walk, const struct walk_key *key)
{
	const struct walk_python *python = &walk->runtime->python;
	const uint64_t table = walk_code_word(walk, python->code_table);
	uint32_t at = 0;
	uint64_t table_bytes = 0;
	walk_define(walk, key, WALK_CODE_FUNCTION, walk_code_half(walk, python->code_first_line));
	walk_python_text(walk, &at, WALK_TEXT_NAME, WALK_MAX_NAME,
			 walk_code_word(walk, python->code_qualified));
	walk_python_text(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE,
			 walk_code_word(walk, python->code_file));
	walk->space->definition.table_kind = python->table_kind % WALK_TABLE_KIND_COUNT;
	if (!walk_read_word(&table_bytes, table + PYTHON_SIZE_OFF))
		walk->space->definition.table_flags |= WALK_TEXT_UNREAD;
	walk_defined(walk, at, table + PYTHON_BYTES_OFF, table_bytes);
}

/* The file of the code, or its qualified name. */
static long walk_python_check_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_python *python = &walk->runtime->python;
	const uint64_t avma =
	    walk_code_word(walk, index ? python->code_qualified : python->code_file);
	struct walk_python_text text;
	if (!index) {
		/* Frames often have the file of the frame below: it cannot change meanwhile. */
		walk->check = walk->file_check;
		if (avma == walk->file_avma)
			return 0;
		walk->check = 0;
	}
	if (walk_read(&text, sizeof(text), avma)) {
		walk->check = walk_mix(walk->check, avma);
	} else if (text.hash != UINT64_MAX) {
		/* Once it was asked for, its hash is as good as the text. */
		walk->check = walk_mix(walk->check, text.hash);
	} else {
		const bool is_ascii = text.state >> 6 & 1;
		walk_check_content(walk,
				   avma + (is_ascii ? python->text_ascii : python->text_compact),
				   text.length * (text.state >> 2 & 7));
	}
	if (!index) {
		walk->file_avma = avma;
		walk->file_check = walk->check;
	}
	return 0;
}

WALK_INLINE void walk_python_check_table(struct walk *walk, uint64_t table)
{
	enum { AT_ONCE = 256, HEAD = PYTHON_BYTES_OFF - PYTHON_SIZE_OFF };
	uint64_t *content = walk->space->content;
	uint64_t bytes;
	/* Most tables are read with their size, which saves as much as it takes to mix them. */
	if (!walk_read(content, AT_ONCE, table + PYTHON_SIZE_OFF) && content[0] <= AT_ONCE - HEAD) {
		content[1] = 0; /* its hash, if it was asked for */
		walk_check_read(walk, (uint32_t)content[0] + HEAD);
	} else if (walk_read_word(&bytes, table + PYTHON_SIZE_OFF)) {
		walk_check_content(walk, table + PYTHON_BYTES_OFF, bytes);
	} else {
		walk->check = walk_mix(walk->check, table);
	}
}

/* Addresses are reused, by code that is made and thrown away even all of them at once: that of
 * the code object, and those of its name, file and line table. So it takes what they say.
 */
WALK_INLINE void walk_python_check(struct walk *walk)
{
	const struct walk_python *python = &walk->runtime->python;
	if (python->code_version) {
		walk->check = walk_code_half(walk, python->code_version);
		return;
	}
	WALK_LOOP(2, walk_python_check_step, walk);
	walk->check = walk_mix(walk->check, walk_code_half(walk, python->code_first_line));
	walk_python_check_table(walk, walk_code_word(walk, python->code_table));
}

/* From what the frame has of its place to bytes from the first instruction. */
WALK_INLINE int32_t walk_python_position(const struct walk *walk, uint64_t code_avma)
{
	const struct walk_python *python = &walk->runtime->python;
	if (python->style == WALK_PYTHON_FRAMES)
		return (
		    int32_t)(walk_frame_half(walk, python->frame_position - python->frame_start) *
			     python->position_scale);
	return (int32_t)(walk_frame_word(walk, python->frame_position - python->frame_start) -
			 code_avma - python->code_instructions);
}

WALK_INLINE uint32_t walk_python_flags(const struct walk *walk)
{
	const struct walk_python *python = &walk->runtime->python;
	const uint32_t generator = (uint32_t)python->frame_generator - python->frame_start;
	const uint32_t owner = (uint32_t)python->frame_owner - python->frame_start;
	if (python->style == WALK_PYTHON_FRAMES)
		return WALK_FRAME_ENTRY |
		       (walk_frame_word(walk, generator) ? WALK_FRAME_GENERATOR : 0);
	uint32_t flags =
	    walk_frame_byte(walk, generator) == python->owner_generator ? WALK_FRAME_GENERATOR : 0;
	if (python->style == WALK_PYTHON_CFRAME_ENTRY && walk_frame_byte(walk, owner))
		flags |= WALK_FRAME_ENTRY;
	return flags;
}

/* The outermost frame is the first of its activation. One that leads nowhere without being
 * that, as generators between two calls, was not linked yet.
 */
WALK_INLINE bool walk_python_ends(const struct walk *walk)
{
	uint32_t last = (uint32_t)walk->space->stack.frame_count - 1;
	WALK_OPAQUE(last);
	return last >= WALK_MAX_FRAMES || walk->space->frames[last].flags & WALK_FRAME_ENTRY;
}

static long walk_python_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_python *python = &walk->runtime->python;
	(void)index;
	if (!walk->at_avma)
		return walk_end(walk, walk_python_ends(walk) ? WALK_END_ROOT : WALK_END_TORN);
	if (!walk_read_frame(walk, python->frame_bytes, walk->at_avma + python->frame_start))
		return walk_end(walk, WALK_END_READ_FRAME);
	walk->at_avma = walk_frame_word(walk, python->frame_previous - python->frame_start);
	if (python->style >= WALK_PYTHON_CFRAME_SHIM &&
	    walk_frame_byte(walk, python->frame_owner - python->frame_start) >=
		python->owner_shim) {
		walk_end_activation(walk);
		return 0;
	}
	const uint64_t code_avma = walk_frame_word(walk, python->frame_code - python->frame_start) &
				   ~(uint64_t)python->code_tag;
	/* Recursion: what was read of the frame below is still there. */
	const bool is_same = code_avma == walk->carried_avma;
	if (!is_same && !walk_read_code(walk, python->code_bytes, code_avma))
		return walk_end(walk, WALK_END_READ_CODE);
	if (walk_code_word(walk, PYTHON_TYPE_OFF) != python->code_type_avma)
		return walk_end(walk, WALK_END_NOT_CODE);
	if (!is_same)
		walk_python_check(walk);
	walk->carried_avma = code_avma;
	const struct walk_key key = walk_key(walk, code_avma, walk->check);
	const long ended =
	    walk_add(walk, &key, walk_python_position(walk, code_avma), walk_python_flags(walk));
	if (!ended && !is_same && walk_must_define(walk, &key))
		walk_python_define(walk, &key);
	return ended;
}

/* A frame that is the first of its activation: linked if it leads to the frame that the
 * cframe before has. Both may be left over, but then from the same call.
 */
WALK_INLINE bool walk_python_is_linked(const struct walk *walk, uint64_t cframe, uint64_t frame)
{
	const struct walk_python *python = &walk->runtime->python;
	uint64_t caller;
	uint64_t before;
	uint64_t expected;
	uint8_t owner;
	if (!walk_read_word(&caller, frame + python->frame_previous))
		return false;
	if (python->style == WALK_PYTHON_CFRAME_SHIM) {
		/* The shim is in this activation's part of the stack. */
		frame = caller;
		if (frame - walk->registers.sp >= python->eval_stack_bytes ||
		    !walk_read_word(&caller, frame + python->frame_previous))
			return false;
	}
	if (walk_read(&owner, sizeof(owner), frame + python->frame_owner) ||
	    owner < (python->style == WALK_PYTHON_CFRAME_SHIM ? python->owner_shim : 1))
		return false;
	return walk_read_word(&before, cframe + python->cframe_previous) &&
	       walk_read_word(&expected, before + python->cframe_frame) && caller == expected;
}

/* 3.11 and 3.12 link a cframe before it has its frame: what it has then is left over from
 * some call before, perhaps of the same frame. While the entry of the evaluator runs, a cframe
 * of that very activation is believed only if it leads to the frame that is being entered,
 * which is in a register, and that one is linked.
 */
WALK_INLINE bool walk_python_is_torn(const struct walk *walk, uint64_t cframe, uint64_t frame)
{
	const struct walk_python *python = &walk->runtime->python;
	const struct walk_registers *registers = &walk->registers;
	if (registers->ip - python->eval_avma >= python->eval_entry_bytes)
		return false;
	if (cframe - registers->sp >= python->eval_stack_bytes)
		return false;
	if (frame != registers->si && frame != registers->bx && frame != registers->bp)
		return true;
	return !walk_python_is_linked(walk, cframe, frame);
}

/* With several interpreters up to 3.11 a thread's key has the state it was first given: ask
 * who holds the lock, too.
 */
WALK_INLINE bool walk_python_holder(const struct walk *walk, uint64_t *state)
{
	const struct walk_python *python = &walk->runtime->python;
	uint64_t holder;
	uint64_t thread;
	if (!python->holder_avma || !walk_read_word(&holder, python->holder_avma) || !holder ||
	    !walk_read_word(&thread, holder + python->thread_id) || thread != walk->registers.fs)
		return false;
	*state = holder;
	return true;
}

WALK_INLINE void walk_python(struct walk *walk)
{
	const struct walk_python *python = &walk->runtime->python;
	uint64_t state = 0;
	uint64_t frame;
	if (!walk_python_holder(walk, &state) && !walk_state(walk, WALK_END_NO_THREAD, &state))
		return;
	if (!walk_read_word(&frame, state + python->thread_frame)) {
		walk_end(walk, WALK_END_READ_THREAD);
		return;
	}
	if (python->style == WALK_PYTHON_CFRAME_ENTRY || python->style == WALK_PYTHON_CFRAME_SHIM) {
		const uint64_t cframe = frame;
		if (!walk_read_word(&frame, cframe + python->cframe_frame)) {
			walk_end(walk, WALK_END_READ_THREAD);
			return;
		}
		if (walk_python_is_torn(walk, cframe, frame)) {
			walk_end(walk, WALK_END_TORN);
			return;
		}
	}
	if (!frame) {
		walk_end(walk, WALK_END_IDLE);
		return;
	}
	walk->at_avma = frame;
	walk_end(walk, WALK_END_DEPTH);
	/* Shims take steps, too: at most one a frame. */
	WALK_LOOP(2 * WALK_MAX_FRAMES, walk_python_step, walk);
}

#endif
