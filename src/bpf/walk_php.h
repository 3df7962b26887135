/* walk_php.h - the walk of PHP 8: frames are linked from executor_globals, an instruction
 * knows its line.
 */
#ifndef BPF_WALK_PHP_H
#define BPF_WALK_PHP_H

#include "bpf/walk_define.h"

WALK_INLINE void walk_php_text(struct walk *walk, uint32_t *at, enum walk_text_index index,
			       uint32_t limit, uint64_t avma)
{
	const struct walk_php *php = &walk->runtime->php;
	uint64_t length;
	if (!avma)
		return;
	if (walk_read_word(&length, avma + php->string_length))
		walk_text(walk, at, index, limit, avma + php->string_text, length);
	else
		walk_text_unread(walk, index);
}

WALK_INLINE void walk_php_define(struct walk *walk, const struct walk_key *key, bool is_native)
{
	const struct walk_php *php = &walk->runtime->php;
	const uint64_t name = walk_code_word(walk, php->function_name);
	const uint64_t scope = walk_code_word(walk, php->function_scope);
	uint64_t class_name;
	uint32_t at = 0;
	walk_define(walk, key,
		    is_native ? WALK_CODE_NATIVE
		    : name    ? WALK_CODE_FUNCTION
			      : WALK_CODE_TOPLEVEL,
		    is_native ? 0 : walk_code_half(walk, php->function_line));
	walk_php_text(walk, &at, WALK_TEXT_NAME, WALK_MAX_NAME, name);
	if (scope && !walk_read_word(&class_name, scope + php->class_name))
		walk_text_unread(walk, WALK_TEXT_OWNER);
	else if (scope)
		walk_php_text(walk, &at, WALK_TEXT_OWNER, WALK_MAX_OWNER, class_name);
	if (!is_native)
		walk_php_text(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE,
			      walk_code_word(walk, php->function_file));
	walk_defined(walk, at, 0, 0);
}

/* While execute_ex runs, the instruction is in a register and the frame's is of some call
 * before. Both are believed only inside the function's code.
 */
WALK_INLINE bool walk_php_line(const struct walk *walk, uint64_t frame_avma, uint64_t opline,
			       uint32_t *line)
{
	const struct walk_php *php = &walk->runtime->php;
	const struct walk_registers *registers = &walk->registers;
	const uint64_t opcodes = walk_code_word(walk, php->function_opcodes);
	const uint64_t bytes =
	    (uint64_t)walk_code_half(walk, php->function_count) * php->opline_bytes;
	if (registers->ip - php->execute_avma < php->execute_bytes &&
	    registers->r14 == frame_avma && registers->r15 - opcodes < bytes)
		opline = registers->r15;
	return opline - opcodes < bytes &&
	       walk_read(line, sizeof(*line), opline + php->opline_line) == 0;
}

WALK_INLINE long walk_php_native(struct walk *walk, uint64_t function)
{
	const struct walk_php *php = &walk->runtime->php;
	const uint64_t check = walk_mix(walk_code_word(walk, php->function_name),
					walk_code_word(walk, php->function_scope));
	const struct walk_key key = walk_key(walk, function, check);
	const long ended = walk_add(walk, &key, 0, WALK_FRAME_NATIVE | WALK_FRAME_NO_POSITION);
	if (!ended && walk_must_define(walk, &key))
		walk_php_define(walk, &key, true);
	return ended;
}

WALK_INLINE long walk_php_user(struct walk *walk, uint64_t frame_avma, uint64_t opline,
			       uint32_t info)
{
	const struct walk_php *php = &walk->runtime->php;
	const uint64_t name = walk_code_word(walk, php->function_name);
	uint64_t check = 0;
	uint32_t line = 0;
	uint32_t flags = WALK_FRAME_IS_LINE;
	if (name && !walk_read_word(&check, name + php->string_hash))
		return walk_end(walk, WALK_END_READ_CODE);
	check = walk_mix(check, name);
	check = walk_mix(check, walk_code_word(walk, php->function_file));
	check = walk_mix(check, walk_code_word(walk, php->function_scope));
	check = walk_mix(check, walk_code_half(walk, php->function_line));
	if (!walk_php_line(walk, frame_avma, opline, &line))
		flags |= WALK_FRAME_NO_POSITION;
	if (info & php->info_top)
		flags |= WALK_FRAME_ENTRY;
	if (info & php->info_generator)
		flags |= WALK_FRAME_GENERATOR;
	/* Closures have functions of their own, and the instructions in common. */
	const struct walk_key key =
	    walk_key(walk, walk_code_word(walk, php->function_opcodes), check);
	const long ended = walk_add(walk, &key, (int32_t)line, flags);
	if (!ended && walk_must_define(walk, &key))
		walk_php_define(walk, &key, false);
	return ended;
}

/* A generator runs for somebody: one without a caller was not linked yet, or is not any more. */
WALK_INLINE bool walk_php_ends(const struct walk *walk)
{
	uint32_t last = (uint32_t)walk->space->stack.frame_count - 1;
	WALK_OPAQUE(last);
	return last >= WALK_MAX_FRAMES || !(walk->space->frames[last].flags & WALK_FRAME_GENERATOR);
}

static long walk_php_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_php *php = &walk->runtime->php;
	const uint64_t frame_avma = walk->at_avma;
	(void)index;
	if (!frame_avma)
		return walk_end(walk, walk_php_ends(walk) ? WALK_END_ROOT : WALK_END_TORN);
	if (!walk_read_frame(walk, php->frame_bytes, frame_avma))
		return walk_end(walk, WALK_END_READ_FRAME);
	walk->at_avma = walk_frame_word(walk, php->frame_previous);
	const uint64_t function = walk_frame_word(walk, php->frame_function);
	/* Such frames stand for the engine itself. */
	if (!function)
		return 0;
	if (!walk_read_code(walk, php->function_bytes, function))
		return walk_end(walk, WALK_END_READ_CODE);
	const uint8_t type = (uint8_t)walk_code_word(walk, 0);
	if (type == php->type_native)
		return walk_php_native(walk, function);
	if (type != php->type_user && type != php->type_eval)
		return walk_end(walk, WALK_END_NOT_CODE);
	return walk_php_user(walk, frame_avma, walk_frame_word(walk, php->frame_opline),
			     walk_frame_half(walk, php->frame_info));
}

WALK_INLINE void walk_php(struct walk *walk)
{
	if (!walk_state(walk, WALK_END_IDLE, &walk->at_avma))
		return;
	walk_end(walk, WALK_END_DEPTH);
	WALK_LOOP(2 * WALK_MAX_FRAMES, walk_php_step, walk);
}

#endif
