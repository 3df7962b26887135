/* walk_ruby.h - the walk of CRuby (YARV): control frames are an array that grows down from
 * the end of the thread's stack.
 *
 * Lines are looked up here: the table that leads from an instruction to its line is made
 * for few reads (a successor index with ranks), and is hard to copy as a whole.
 */
#ifndef BPF_WALK_RUBY_H
#define BPF_WALK_RUBY_H

#include "bpf/walk_define.h"

enum {
	/* ep[0]: what kind of frame it is. */
	RUBY_FRAME_FINISH = 0x20, /* the first of a native activation of the VM */
	RUBY_FRAME_CFRAME = 0x80, /* of a function in C */
	RUBY_FRAME_TYPE = 0x7fff0001,
	RUBY_FRAME_DUMMY = 0x79990001, /* the outermost, which stands for the VM itself */
	RUBY_EP_METHOD = 16,           /* before ep: ep[-2] */
	/* The first word of an object. */
	RUBY_TYPE_MASK = 0x1f,
	RUBY_TYPE_ARRAY = 7,
	RUBY_TYPE_IMEMO = 0x1a,
	RUBY_IMEMO_SHIFT = 12,
	RUBY_IMEMO_MASK = 15,
	RUBY_IMEMO_METHOD = 6,
	RUBY_IMEMO_ISEQ = 7,
	/* The index: 6 words with 9 entries of 7 bits, then blocks of 512 positions each. */
	RUBY_IMMEDIATE = 54,
	RUBY_IMMEDIATE_BYTES = 48,
	RUBY_BLOCK_BYTES = 80,
	RUBY_BLOCK_RANKS = 8,
	RUBY_BLOCK_BITS = 16,
};

WALK_INLINE bool walk_ruby_is_imemo(uint64_t flags, uint32_t kind)
{
	return (flags & RUBY_TYPE_MASK) == RUBY_TYPE_IMEMO &&
	       (flags >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK) == kind;
}

WALK_INLINE void walk_ruby_text(struct walk *walk, uint32_t *at, enum walk_text_index index,
				uint32_t limit, uint64_t object)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t flags;
	uint64_t length;
	uint64_t text = object + ruby->string_embedded;
	bool is_read = walk_read_word(&flags, object);
	const bool is_elsewhere = flags & ruby->string_elsewhere;
	if (is_read && is_elsewhere)
		is_read = walk_read_word(&text, object + ruby->string_pointer);
	if (is_read && (is_elsewhere || !ruby->string_length_mask))
		is_read = walk_read_word(&length, object + ruby->string_length);
	else if (is_read)
		length = (flags & ruby->string_length_mask) >> (ruby->string_length_shift & 31);
	if (is_read)
		walk_text(walk, at, index, limit, text, length);
	else
		walk_text_unread(walk, index);
}

/* A path, or an array of a path and the absolute one. */
WALK_INLINE uint64_t walk_ruby_path(const struct walk *walk, uint64_t object)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t flags;
	uint64_t items = object + ruby->array_embedded;
	uint64_t path;
	if (!walk_read_word(&flags, object))
		return 0;
	if ((flags & RUBY_TYPE_MASK) != RUBY_TYPE_ARRAY)
		return object;
	if (!(flags & ruby->array_is_embedded) &&
	    !walk_read_word(&items, object + ruby->array_pointer))
		return 0;
	return walk_read_word(&path, items) ? path : 0;
}

WALK_INLINE void walk_ruby_define(struct walk *walk, const struct walk_key *key)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint32_t at = 0;
	walk_define(walk, key, WALK_CODE_FUNCTION,
		    (uint32_t)(walk_code_word(walk, ruby->body_first_line) >> 1));
	walk_ruby_text(walk, &at, WALK_TEXT_NAME, WALK_MAX_NAME,
		       walk_code_word(walk, ruby->body_label));
	walk_ruby_text(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE,
		       walk_ruby_path(walk, walk_code_word(walk, ruby->body_file)));
	walk_defined(walk, at, 0, 0);
}

/* How many entries begin at or before the position. */
WALK_INLINE bool walk_ruby_rank(uint64_t index_avma, uint32_t position, uint32_t *rank)
{
	uint64_t word;
	if (position < RUBY_IMMEDIATE) {
		if (!walk_read_word(&word, index_avma + 8 * (position / 9)))
			return false;
		*rank = (uint32_t)(word >> (position % 9 * 7)) & 127;
		return true;
	}
	position -= RUBY_IMMEDIATE;
	const uint64_t block =
	    index_avma + RUBY_IMMEDIATE_BYTES + (uint64_t)RUBY_BLOCK_BYTES * (position / 512);
	const uint32_t small = position % 512 / 64;
	uint32_t base;
	uint64_t ranks;
	if (walk_read(&base, sizeof(base), block) ||
	    !walk_read_word(&ranks, block + RUBY_BLOCK_RANKS) ||
	    !walk_read_word(&word, block + RUBY_BLOCK_BITS + 8 * small))
		return false;
	*rank = base + (small ? (uint32_t)(ranks >> (small - 1) * 9) & 511 : 0) +
		(uint32_t)__builtin_popcountll(word << (63 - position % 64));
	return true;
}

/* The frame's pc is behind the instruction that runs or that called. */
WALK_INLINE bool walk_ruby_line(const struct walk *walk, uint64_t pc, uint32_t *line)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	const uint64_t behind = (pc - walk_code_word(walk, ruby->body_code)) / 8;
	const uint32_t count = walk_code_half(walk, ruby->body_line_count);
	const uint64_t lines = walk_code_word(walk, ruby->body_lines);
	uint32_t rank = 1;
	if (behind > walk_code_half(walk, ruby->body_code_count) || !count)
		return false;
	/* With one entry there is no index. */
	if (count > 1 && !walk_ruby_rank(walk_code_word(walk, ruby->body_index),
					 behind ? (uint32_t)behind - 1 : 0, &rank))
		return false;
	return rank && rank <= count &&
	       walk_read(line, sizeof(*line), lines + (uint64_t)(rank - 1) * ruby->line_bytes) == 0;
}

/* What C functions are called is in a table of symbols; where they are must do. */
WALK_INLINE long walk_ruby_native(struct walk *walk, uint64_t ep)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t method = 0;
	uint64_t flags = 0;
	uint64_t definition = 0;
	uint64_t function = 0;
	if (!walk_read_word(&method, ep - RUBY_EP_METHOD) || !walk_read_word(&flags, method) ||
	    !walk_ruby_is_imemo(flags, RUBY_IMEMO_METHOD) ||
	    !walk_read_word(&definition, method + ruby->method_definition) ||
	    !walk_read_word(&function, definition + ruby->definition_function))
		function = 0;
	const struct walk_key key = walk_key(walk, function, 0);
	const long ended = walk_add(walk, &key, 0, WALK_FRAME_NATIVE | WALK_FRAME_NO_POSITION);
	if (!ended && walk_must_define(walk, &key)) {
		walk_define(walk, &key, WALK_CODE_NATIVE, 0);
		walk_defined(walk, 0, 0, 0);
	}
	return ended;
}

WALK_INLINE long walk_ruby_code(struct walk *walk, uint64_t iseq, uint64_t pc, uint64_t flags)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t object = 0;
	uint64_t body = 0;
	uint32_t line = 0;
	if (!walk_read_word(&object, iseq) || !walk_read_word(&body, iseq + ruby->iseq_body))
		return walk_end(walk, WALK_END_READ_CODE);
	if (!walk_ruby_is_imemo(object, RUBY_IMEMO_ISEQ))
		return walk_end(walk, WALK_END_NOT_CODE);
	if (!walk_read_code(walk, ruby->body_bytes, body))
		return walk_end(walk, WALK_END_READ_CODE);
	uint64_t check =
	    walk_mix(walk_code_word(walk, ruby->body_code), walk_code_word(walk, ruby->body_label));
	check = walk_mix(check, walk_code_word(walk, ruby->body_file));
	check = walk_mix(check, walk_code_word(walk, ruby->body_first_line));
	check = walk_mix(check, walk_code_half(walk, ruby->body_code_count));
	const struct walk_key key = walk_key(walk, body, check);
	uint32_t frame_flags = WALK_FRAME_IS_LINE;
	if (!walk_ruby_line(walk, pc, &line))
		frame_flags |= WALK_FRAME_NO_POSITION;
	if (flags & RUBY_FRAME_FINISH)
		frame_flags |= WALK_FRAME_ENTRY;
	const long ended = walk_add(walk, &key, (int32_t)line, frame_flags);
	if (!ended && walk_must_define(walk, &key))
		walk_ruby_define(walk, &key);
	return ended;
}

static long walk_ruby_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t flags;
	(void)index;
	if (walk->at_avma >= walk->end_avma)
		return walk_end(walk, WALK_END_ROOT);
	if (!walk_read_frame(walk, ruby->frame_bytes, walk->at_avma))
		return walk_end(walk, WALK_END_READ_FRAME);
	walk->at_avma += ruby->frame_bytes;
	const uint64_t iseq = walk_frame_word(walk, ruby->frame_iseq);
	const uint64_t pc = walk_frame_word(walk, ruby->frame_pc);
	const uint64_t ep = walk_frame_word(walk, ruby->frame_ep);
	if (!walk_read_word(&flags, ep))
		return walk_end(walk, WALK_END_READ_FRAME);
	if (flags & RUBY_FRAME_CFRAME)
		return walk_ruby_native(walk, ep);
	if ((flags & RUBY_FRAME_TYPE) == RUBY_FRAME_DUMMY || !iseq || !pc)
		return 0;
	return walk_ruby_code(walk, iseq, pc, flags);
}

/* Whether the context is that of the thread that runs. */
WALK_INLINE bool walk_ruby_is_of_thread(const struct walk *walk, uint64_t context,
					enum walk_end *end)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t thread;
	uint64_t told;
	*end = WALK_END_READ_THREAD;
	if (!ruby->context_thread)
		return true;
	if (!walk_read_word(&thread, context + ruby->context_thread) ||
	    !walk_read_word(&told, thread + ruby->thread_context))
		return false;
	/* Fibers are changed in two steps. */
	*end = WALK_END_TORN;
	if (told != context)
		return false;
	*end = WALK_END_NO_THREAD;
	return !ruby->thread_id ||
	       (walk_read_word(&told, thread + ruby->thread_id) && told == walk->registers.fs);
}

WALK_INLINE void walk_ruby(struct walk *walk)
{
	const struct walk_ruby *ruby = &walk->runtime->ruby;
	uint64_t context = 0;
	struct {
		uint64_t stack;
		uint64_t words;
		uint64_t frame;
	} at = { 0, 0, 0 };
	if (!walk_state(walk, WALK_END_NO_THREAD, &context))
		return;
	enum walk_end end;
	if (!walk_ruby_is_of_thread(walk, context, &end)) {
		walk_end(walk, end);
		return;
	}
	if (walk_read(&at, sizeof(at), context + ruby->context_stack)) {
		walk_end(walk, WALK_END_READ_THREAD);
		return;
	}
	walk->at_avma = at.frame;
	walk->end_avma = at.stack + 8 * at.words;
	/* Between threads and fibers. */
	if (!at.stack || at.frame < at.stack || at.frame > walk->end_avma) {
		walk_end(walk, at.stack ? WALK_END_TORN : WALK_END_IDLE);
		return;
	}
	walk_end(walk, WALK_END_DEPTH);
	WALK_LOOP(2 * WALK_MAX_FRAMES, walk_ruby_step, walk);
}

#endif
