/* walk_perl.h - the walk of Perl 5: a chain of stacks of contexts; those of subroutines and
 * evaluated texts are frames. A context keeps the statement (COP) that its caller was at; a
 * statement knows line and file.
 */
#ifndef BPF_WALK_PERL_H
#define BPF_WALK_PERL_H

#include "bpf/walk_define.h"

enum {
	PERL_FLAGS_OFF = 12,       /* of any value; its first word leads to its body */
	PERL_ARRAY_OFF = 16,       /* ... and this to the array of a table */
	PERL_HAS_AUX = 0x02000000, /* flag of tables that have more behind their array */
	PERL_MAX_LIMIT = 1 << 24,
	PERL_FILE_PREFIX = 2, /* the symbol of a file is called "_<" and the file */
	PERL_TYPE_MASK = 0xff,
	PERL_INDEX_LIMIT = 1 << 24,
	PERL_OP_MASK = 511, /* of an operation's type */
};

WALK_INLINE void walk_perl_name(struct walk *walk, uint32_t *at, enum walk_text_index index,
				uint32_t limit, uint64_t name)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint32_t length;
	if (walk_read(&length, sizeof(length), name + perl->name_length) == 0)
		walk_text(walk, at, index, limit, name + perl->name_text, length);
	else
		walk_text_unread(walk, index);
}

/* What a package's table has besides its entries: in its body, or behind its array. */
WALK_INLINE bool walk_perl_aux(const struct walk *walk, uint64_t stash, uint64_t *aux)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint32_t flags;
	uint64_t array;
	uint64_t max;
	if (!walk_read_word(aux, stash))
		return false;
	if (!perl->stash_max)
		return true;
	if (walk_read(&flags, sizeof(flags), stash + PERL_FLAGS_OFF) || !(flags & PERL_HAS_AUX) ||
	    !walk_read_word(&array, stash + PERL_ARRAY_OFF) ||
	    !walk_read_word(&max, *aux + perl->stash_max) || max > PERL_MAX_LIMIT)
		return false;
	*aux = array + 8 * (max + 1);
	return true;
}

/* The package: a name, or a list of names of which the first counts. */
WALK_INLINE void walk_perl_package(struct walk *walk, uint32_t *at, uint64_t stash)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t body;
	uint64_t name;
	uint32_t count;
	if (!walk_perl_aux(walk, stash, &body) || !walk_read_word(&name, body + perl->stash_name) ||
	    walk_read(&count, sizeof(count), body + perl->stash_name_count) ||
	    (name && count && !walk_read_word(&name, name)))
		walk_text_unread(walk, WALK_TEXT_OWNER);
	else if (name)
		walk_perl_name(walk, at, WALK_TEXT_OWNER, WALK_MAX_OWNER, name);
}

WALK_INLINE void walk_perl_define(struct walk *walk, const struct walk_key *key)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	const uint64_t gv = walk_code_word(walk, perl->cv_gv);
	uint64_t body;
	uint64_t name = gv;
	uint64_t stash = 0;
	uint32_t at = 0;
	walk_define(walk, key, WALK_CODE_FUNCTION, 0);
	if (!(walk_code_half(walk, perl->cv_flags) & perl->cv_is_named) &&
	    (!walk_read_word(&body, gv) || !walk_read_word(&name, body + perl->gv_name) ||
	     !walk_read_word(&stash, body + perl->gv_stash))) {
		walk_text_unread(walk, WALK_TEXT_NAME);
		name = 0;
	}
	if (name)
		walk_perl_name(walk, &at, WALK_TEXT_NAME, WALK_MAX_NAME, name);
	if (stash)
		walk_perl_package(walk, &at, stash);
	const uint64_t file = walk_code_word(walk, perl->cv_file);
	if (file)
		walk_text_terminated(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE, file);
	walk_defined(walk, at, 0, 0);
}

/* A flag for `flags` where the statement has no line. */
WALK_INLINE uint32_t walk_perl_line(const struct walk *walk, uint32_t *line)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	*line = 0;
	return walk->carried_avma &&
		       walk_read(line, sizeof(*line), walk->carried_avma + perl->cop_line) == 0
		   ? WALK_FRAME_IS_LINE
		   : WALK_FRAME_IS_LINE | WALK_FRAME_NO_POSITION;
}

/* The text of a statement's file; 0 where it has none. */
WALK_INLINE bool walk_perl_file(const struct walk *walk, uint64_t cop, uint64_t *file)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t body;
	*file = 0;
	if (!cop)
		return true;
	if (!walk_read_word(file, cop + perl->cop_file))
		return false;
	if (!perl->cop_avma || !*file)
		return true;
	if (!walk_read_word(&body, *file) || !walk_read_word(file, body + perl->gv_name))
		return false;
	*file += perl->name_text + PERL_FILE_PREFIX;
	return true;
}

/* What is outside of subroutines is known by its file: each statement has its own copy of the
 * name.
 */
WALK_INLINE long walk_perl_toplevel(struct walk *walk)
{
	struct walk_space *space = walk->space;
	uint64_t file = 0;
	uint32_t line;
	const uint32_t flags = walk_perl_line(walk, &line);
	struct walk_key key = walk_key(walk, 0, 0);
	if (!walk_perl_file(walk, walk->carried_avma, &file))
		return walk_end(walk, WALK_END_READ_CODE);
	if (file) {
		for (int i = 0; i < WALK_CODE_WORDS; i++)
			space->code[i] = 0;
		const long got = walk_read_text(space->code, sizeof(space->code), file);
		if (got <= 0)
			return walk_end(walk, WALK_END_READ_CODE);
		for (int i = 0; i < WALK_CODE_WORDS; i++)
			key.code_avma = walk_mix(key.code_avma, space->code[i]);
		/* Longer ones may differ at their ends. */
		key.check = got < (long)sizeof(space->code) ? 1 : file;
	}
	const long ended = walk_add(walk, &key, (int32_t)line, flags);
	if (!ended && walk_must_define(walk, &key)) {
		uint32_t at = 0;
		walk_define(walk, &key, WALK_CODE_TOPLEVEL, 0);
		if (file)
			walk_text_terminated(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE, file);
		walk_defined(walk, at, 0, 0);
	}
	return ended;
}

/* Where a variable of the interpreter is. */
WALK_INLINE uint64_t walk_perl_variable(const struct walk *walk, uint64_t own_avma, uint32_t offset)
{
	return own_avma ? own_avma : walk->state_avma + offset;
}

/* The innermost subroutine was entered, but its first statement has not begun: the statement
 * that the interpreter is at is the caller's. In recursion both may be the same one; so look at
 * the operation, too.
 */
WALK_INLINE bool walk_perl_is_entering(const struct walk *walk, uint64_t caller)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t op;
	uint16_t type;
	if (walk->space->stack.frame_count || caller != walk->carried_avma)
		return false;
	if (!walk_read_word(&op, walk_perl_variable(walk, perl->op_avma, perl->interpreter_op)) ||
	    walk_read(&type, sizeof(type), op + perl->op_type))
		return true;
	type &= PERL_OP_MASK;
	return type == perl->op_call || type == perl->op_statement ||
	       type == perl->op_statement_debug;
}

WALK_INLINE long walk_perl_sub(struct walk *walk, uint64_t cv, uint64_t caller)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t body;
	uint32_t type;
	uint32_t line;
	if (!walk_read_word(&body, cv) || walk_read(&type, sizeof(type), cv + PERL_FLAGS_OFF) ||
	    !walk_read_code(walk, perl->cv_bytes, body))
		return walk_end(walk, WALK_END_READ_CODE);
	if ((type & PERL_TYPE_MASK) != perl->cv_type)
		return walk_end(walk, WALK_END_NOT_CODE);
	/* Closures share their code, and where they got their names from. */
	const struct walk_key key = walk_key(
	    walk, walk_code_word(walk, perl->cv_root),
	    walk_mix(walk_code_word(walk, perl->cv_gv), walk_code_word(walk, perl->cv_file)));
	uint32_t flags = walk_perl_line(walk, &line);
	if (walk_perl_is_entering(walk, caller))
		flags |= WALK_FRAME_NO_POSITION;
	const long ended = walk_add(walk, &key, (int32_t)line, flags);
	if (!ended && walk_must_define(walk, &key))
		walk_perl_define(walk, &key);
	return ended;
}

/* The contexts of one stack, from its topmost. */
WALK_INLINE bool walk_perl_stack(struct walk *walk, uint64_t stack)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	walk->end_avma = stack;
	return walk_read_word(&walk->at_avma, stack + perl->stack_contexts) &&
	       walk_read(&walk->index, sizeof(walk->index), stack + perl->stack_index) == 0;
}

WALK_INLINE long walk_perl_previous(struct walk *walk)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t previous;
	if (!walk_read_word(&previous, walk->end_avma + perl->stack_previous))
		return walk_end(walk, WALK_END_READ_FRAME);
	if (!previous) {
		const long ended = walk_perl_toplevel(walk);
		if (ended)
			return ended;
		walk_end_activation(walk);
		return walk_end(walk, WALK_END_ROOT);
	}
	/* A loop of its own runs what is called by sort, by tied variables and so on. */
	walk_end_activation(walk);
	return walk_perl_stack(walk, previous) ? 0 : walk_end(walk, WALK_END_READ_FRAME);
}

static long walk_perl_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_perl *perl = &walk->runtime->perl;
	long ended = 0;
	(void)index;
	if (walk->index < 0 || walk->index > PERL_INDEX_LIMIT)
		return walk_perl_previous(walk);
	if (!walk_read_frame(walk, perl->context_bytes,
			     walk->at_avma + (uint64_t)walk->index * perl->context_bytes))
		return walk_end(walk, WALK_END_READ_FRAME);
	walk->index--;
	const uint8_t type = walk_frame_byte(walk, perl->context_type);
	const uint64_t caller = walk_frame_word(walk, perl->context_cop);
	const uint64_t cv = walk_frame_word(walk, perl->context_cv);
	if ((type & perl->type_mask) == perl->type_sub ||
	    (type & perl->type_mask) == perl->type_format)
		ended = walk_perl_sub(walk, cv, caller);
	else if ((type & perl->type_mask) == perl->type_eval && !(type & perl->eval_is_block))
		ended = walk_perl_toplevel(walk);
	else
		return 0;
	walk->carried_avma = caller;
	return ended;
}

WALK_INLINE void walk_perl(struct walk *walk)
{
	const struct walk_perl *perl = &walk->runtime->perl;
	uint64_t interpreter = 0;
	uint64_t stack = 0;
	if (!walk_state(walk, WALK_END_NO_THREAD, &interpreter))
		return;
	/* Without threads of its own it is not for others'. */
	if (perl->cop_avma && walk->space->stack.tid != walk->space->stack.head.pid) {
		walk_end(walk, WALK_END_NO_THREAD);
		return;
	}
	walk->state_avma = interpreter;
	if (!walk_read_word(&walk->carried_avma,
			    walk_perl_variable(walk, perl->cop_avma, perl->interpreter_cop)) ||
	    !walk_read_word(&stack,
			    walk_perl_variable(walk, perl->stack_avma, perl->interpreter_stack)) ||
	    (stack && !walk_perl_stack(walk, stack))) {
		walk_end(walk, WALK_END_READ_THREAD);
		return;
	}
	if (!stack) {
		walk_end(walk, WALK_END_IDLE);
		return;
	}
	walk_end(walk, WALK_END_DEPTH);
	/* Blocks and loops have contexts, too. */
	WALK_LOOP(4 * WALK_MAX_FRAMES, walk_perl_step, walk);
}

#endif
