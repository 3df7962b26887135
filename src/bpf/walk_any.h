/* walk_any.h - one sample: the walk of each runtime that its process has. */
#ifndef BPF_WALK_ANY_H
#define BPF_WALK_ANY_H

#include "bpf/walk_lua.h"
#include "bpf/walk_luajit.h"
#include "bpf/walk_perl.h"
#include "bpf/walk_php.h"
#include "bpf/walk_python.h"
#include "bpf/walk_ruby.h"
#include "bpf/walk_slot.h"

WALK_INLINE void walk_begin(struct walk *walk, const struct walk_sample *sample)
{
	struct walk_stack *stack = &walk->space->stack;
	stack->head.magic = WALK_MAGIC;
	stack->head.version = WALK_VERSION;
	stack->head.kind = WALK_STACK;
	stack->head.language = walk->runtime->language;
	stack->head.zero = 0;
	stack->head.pid = sample->pid;
	stack->time_ns = sample->time_ns;
	stack->ip_avma = sample->ip_avma;
	stack->tid = sample->tid;
	stack->runtime = walk->runtime->id;
	stack->frame_count = 0;
	stack->end = WALK_END_IDLE;
	stack->flags = 0;
	stack->zero = 0;
	walk->carried_avma = 0;
	walk->file_avma = 0;
}

/* Writes the stack. Definitions of its code went before it. */
WALK_INLINE void walk_finish(struct walk *walk)
{
	struct walk_space *space = walk->space;
	uint32_t count = space->stack.frame_count;
	WALK_OPAQUE(count);
	if (count > WALK_MAX_FRAMES)
		return;
	const uint32_t size = (uint32_t)(sizeof(space->stack) + count * sizeof(space->frames[0]));
	space->stack.head.size = size;
	walk_write(walk->context, &space->stack, size);
}

WALK_INLINE void walk_any(struct walk *walk, const struct walk_sample *sample)
{
	walk_begin(walk, sample);
	switch (walk->runtime->language) {
	case WALK_PYTHON:
		walk_python(walk);
		break;
	case WALK_PHP:
		walk_php(walk);
		break;
	case WALK_RUBY:
		walk_ruby(walk);
		break;
	case WALK_PERL:
		walk_perl(walk);
		break;
	case WALK_SLOT:
		walk_slot(walk);
		break;
	case WALK_LUAJIT:
		walk_luajit(walk);
		break;
	case WALK_LUA:
		walk_lua(walk);
		break;
	default:
		return;
	}
	walk_finish(walk);
}

#endif
