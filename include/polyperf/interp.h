/* polyperf/interp.h - lets profilers see what an interpreter runs. Header only; C and C++.
 *
 * In one source file of the interpreter, behind the declaration of the C function that interprets:
 *
 *   POLYPERF_INTERP_EVALUATOR static void interpret(struct vm *vm, struct function *function);
 *   POLYPERF_INTERP_SLOT("my interpreter", interpret);
 *
 * and where it runs a function of its language:
 *
 *   struct polyperf_interp_frame frame;                 a local variable of the C function
 *   polyperf_interp_push(&frame, &function->code, POLYPERF_INTERP_ENTRY);
 *   ... polyperf_interp_line(&frame, line);             where a statement or a call begins
 *   polyperf_interp_pop(&frame);                        on every way out, also by longjmp
 *
 * and before code that has run is freed or becomes other code:
 *
 *   polyperf_interp_retire(&function->code);
 *
 * A push or pop is a few stores to memory that is in the cache; there is nothing to link, and
 * nothing happens until somebody looks. struct polyperf_interp_code must live for as long as
 * frames lead to it, and its texts as long as it. Whenever code is made, its generation is a number
 * that code at this address never had: a counter of all code that was made will do.
 *
 * How it is found: an ELF note (owner "polyperf", type POLYPERF_INTERP_NOTE) leads to a
 * struct polyperf_interp_slot in the program's memory; that tells where the thread-local
 * pointer to the innermost frame is, how frames look, and which C functions interpret. Who reads it
 * may be stopped at any instruction: frames are linked when they are whole, and lose their mark
 * when they are popped, so that they are also found by looking through a copy of the stack. A mark
 * depends on the frame's address: copies of a frame are none. Texts may be read later than frames,
 * by another process: the generation is looked at before and after.
 *
 * One slot an object. Frames belong to the thread that pushed them. x86-64 Linux; elsewhere it
 * compiles, and nobody looks.
 */
#ifndef POLYPERF_INTERP_H
#define POLYPERF_INTERP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POLYPERF_INTERP_VERSION 1
#define POLYPERF_INTERP_NOTE 0x504c5649u
#define POLYPERF_INTERP_SLOT_MAGIC 0x746f6c7366726570ull
/* In frames, mixed with their address: no pointer, no number that is likely on a stack. */
#define POLYPERF_INTERP_FRAME_MAGIC 0xb5e1fea70f5a3e91ull
#define POLYPERF_INTERP_EVALUATORS 4

/* For evaluators: each activation is to have its own native frame, under its own name. */
#ifdef __clang__
#define POLYPERF_INTERP_EVALUATOR __attribute__((noinline))
#else
#define POLYPERF_INTERP_EVALUATOR __attribute__((noinline, noclone))
#endif

struct polyperf_interp_code {
	uint64_t generation; /* of other code here another one; 0: none any more */
	const char *name;    /* UTF-8, as its users write it: "Class.method" */
	const char *owner;   /* where it is not in the name; or NULL */
	const char *file;    /* or NULL */
	uint32_t first_line; /* 0: unknown */
	uint32_t zero;
};

enum polyperf_interp_flags {
	/* The evaluator was entered for this frame: calls of the language that it makes itself, in
	 * the same activation, have frames without it.
	 */
	POLYPERF_INTERP_ENTRY = 1,
	POLYPERF_INTERP_NATIVE = 2, /* a function of the language that is written in C */
};

struct polyperf_interp_frame {
	uint64_t mark; /* POLYPERF_INTERP_FRAME_MAGIC ^ its address */
	struct polyperf_interp_frame *previous;
	const struct polyperf_interp_code *code;
	uint64_t generation; /* that of the code */
	uint32_t line;       /* 0: unknown */
	uint32_t flags;
};

typedef void (*polyperf_interp_function)(void);

enum polyperf_interp_kind {
	POLYPERF_INTERP_KIND_FRAMES,
	POLYPERF_INTERP_KIND_LUA, /* the pointer is to a lua_State; the layout is known */
};

/* What the note leads to. All offsets are in bytes from the frame or the code. The mark is a
 * frame's first word.
 */
struct polyperf_interp_slot {
	uint64_t magic;
	uint16_t version;
	uint16_t size; /* of this struct */
	uint16_t frame_bytes;
	uint16_t frame_previous;
	uint16_t frame_code;
	uint16_t frame_generation;
	uint16_t frame_line;
	uint16_t frame_flags;
	uint16_t code_bytes;
	uint16_t code_generation;
	uint16_t code_name;
	uint16_t code_owner;
	uint16_t code_file;
	uint16_t code_first_line;
	uint16_t kind; /* enum polyperf_interp_kind */
	uint16_t zero;
	int64_t top_tp_off; /* of the pointer, from the thread pointer; 0: not started yet */
	/* On the native stack there is one of them for each frame with POLYPERF_INTERP_ENTRY. */
	polyperf_interp_function evaluators[POLYPERF_INTERP_EVALUATORS];
	char name[32]; /* the interpreter's */
};

extern __thread struct polyperf_interp_frame *polyperf_interp_top
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* For the compiler: whoever looks does so on this thread, between two instructions. */
#define POLYPERF_INTERP_BARRIER() __asm__ volatile("" ::: "memory")

static inline void polyperf_interp_push(struct polyperf_interp_frame *frame,
					const struct polyperf_interp_code *code, uint32_t flags)
{
	frame->previous = polyperf_interp_top;
	frame->code = code;
	frame->generation = code->generation;
	frame->line = code->first_line;
	frame->flags = flags;
	POLYPERF_INTERP_BARRIER();
	frame->mark = POLYPERF_INTERP_FRAME_MAGIC ^ (uint64_t)(uintptr_t)frame;
	POLYPERF_INTERP_BARRIER();
	polyperf_interp_top = frame;
	POLYPERF_INTERP_BARRIER();
}

static inline void polyperf_interp_line(struct polyperf_interp_frame *frame, uint32_t line)
{
	*(volatile uint32_t *)&frame->line = line;
}

static inline void polyperf_interp_pop(struct polyperf_interp_frame *frame)
{
	POLYPERF_INTERP_BARRIER();
	polyperf_interp_top = frame->previous;
	POLYPERF_INTERP_BARRIER();
	*(volatile uint64_t *)&frame->mark = 0;
}

static inline void polyperf_interp_retire(struct polyperf_interp_code *code)
{
	POLYPERF_INTERP_BARRIER();
	*(volatile uint64_t *)&code->generation = 0;
	POLYPERF_INTERP_BARRIER();
}

#ifdef __cplusplus
#define POLYPERF_INTERP_ASSERT(condition, why) static_assert(condition, why)
#else
#define POLYPERF_INTERP_ASSERT(condition, why) _Static_assert(condition, why)
#endif

#define POLYPERF_INTERP_OFFSET(type, field) ((uint16_t) __builtin_offsetof(struct type, field))

#ifdef __linux__
/* The note is written in assembly: C has no constant for how far one thing is from another. */
#define POLYPERF_INTERP_NOTE_OF(slot)                       \
	__asm__(".pushsection .note.polyperf,\"a\",%note\n" \
		".balign 4\n"                               \
		".long 9, 8, 0x504c5649\n"                  \
		".asciz \"polyperf\"\n"                     \
		".balign 4\n"                               \
		"2: .quad " #slot " - 2b\n"                 \
		".popsection\n")
#else
#define POLYPERF_INTERP_NOTE_OF(slot) POLYPERF_INTERP_ASSERT(1, "nobody would find it")
#endif

/* What an object has beside its slot: the note, and where the variable is in each thread's memory,
 * which is known when the object is loaded.
 */
#define POLYPERF_INTERP_PUBLISH(slot, top, start)                                        \
	POLYPERF_INTERP_NOTE_OF(slot);                                                   \
	__attribute__((constructor)) static void start(void)                             \
	{                                                                                \
		(slot).top_tp_off = (char *)&(top) - (char *)__builtin_thread_pointer(); \
	}                                                                                \
	POLYPERF_INTERP_ASSERT(sizeof(struct polyperf_interp_slot) == 112, "as profilers know it")

/* The interpreter's name, and the function that interprets. */
#define POLYPERF_INTERP_SLOT(interpreter, evaluator) \
	POLYPERF_INTERP_SLOT_WITH(interpreter, evaluator, NULL, NULL, NULL)

/* The same with several evaluators; NULL: no more. */
#define POLYPERF_INTERP_SLOT_WITH(interpreter, first, second, third, fourth)               \
	__thread struct polyperf_interp_frame *polyperf_interp_top;                        \
	__attribute__((visibility("hidden"),                                               \
		       used)) struct polyperf_interp_slot polyperf_interp_slot = {         \
		POLYPERF_INTERP_SLOT_MAGIC,                                                \
		POLYPERF_INTERP_VERSION,                                                   \
		sizeof(struct polyperf_interp_slot),                                       \
		sizeof(struct polyperf_interp_frame),                                      \
		POLYPERF_INTERP_OFFSET(polyperf_interp_frame, previous),                   \
		POLYPERF_INTERP_OFFSET(polyperf_interp_frame, code),                       \
		POLYPERF_INTERP_OFFSET(polyperf_interp_frame, generation),                 \
		POLYPERF_INTERP_OFFSET(polyperf_interp_frame, line),                       \
		POLYPERF_INTERP_OFFSET(polyperf_interp_frame, flags),                      \
		sizeof(struct polyperf_interp_code),                                       \
		POLYPERF_INTERP_OFFSET(polyperf_interp_code, generation),                  \
		POLYPERF_INTERP_OFFSET(polyperf_interp_code, name),                        \
		POLYPERF_INTERP_OFFSET(polyperf_interp_code, owner),                       \
		POLYPERF_INTERP_OFFSET(polyperf_interp_code, file),                        \
		POLYPERF_INTERP_OFFSET(polyperf_interp_code, first_line),                  \
		POLYPERF_INTERP_KIND_FRAMES,                                               \
		0,                                                                         \
		0,                                                                         \
		{ (polyperf_interp_function)(first), (polyperf_interp_function)(second),   \
		  (polyperf_interp_function)(third), (polyperf_interp_function)(fourth) }, \
		interpreter,                                                               \
	};                                                                                 \
	POLYPERF_INTERP_PUBLISH(polyperf_interp_slot, polyperf_interp_top, polyperf_interp_start)

/* For programs with PUC-Rio's Lua 5.4 in them: at file scope
 *
 *   POLYPERF_INTERP_LUA(LUA_RELEASE);
 *
 * and around what runs Lua on a thread, lua_pcall() or lua_resume() of the outermost state:
 *
 *   void *before = polyperf_interp_lua(L);
 *   lua_pcall(L, ...);
 *   polyperf_interp_lua(before);
 *
 * Calls inside of that are read from the state itself, coroutines too that coroutine.resume() and
 * coroutine.wrap() run. Lua's functions need nothing else. One note an object: this or a slot.
 */
extern __thread void *polyperf_interp_state
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns what the thread ran before, for when this has ended. */
static inline void *polyperf_interp_lua(void *state)
{
	void *before = polyperf_interp_state;
	POLYPERF_INTERP_BARRIER();
	polyperf_interp_state = state;
	POLYPERF_INTERP_BARRIER();
	return before;
}

#define POLYPERF_INTERP_LUA(release)                                                   \
	__thread void *polyperf_interp_state;                                          \
	__attribute__((visibility("hidden"),                                           \
		       used)) struct polyperf_interp_slot polyperf_interp_lua_slot = { \
		POLYPERF_INTERP_SLOT_MAGIC,                                            \
		POLYPERF_INTERP_VERSION,                                               \
		sizeof(struct polyperf_interp_slot),                                   \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		0,                                                                     \
		POLYPERF_INTERP_KIND_LUA,                                              \
		0,                                                                     \
		0,                                                                     \
		{ NULL, NULL, NULL, NULL },                                            \
		release,                                                               \
	};                                                                             \
	POLYPERF_INTERP_PUBLISH(polyperf_interp_lua_slot, polyperf_interp_state,       \
				polyperf_interp_lua_start)

#ifdef __cplusplus
}
#endif

#endif
