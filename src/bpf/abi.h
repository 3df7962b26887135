/* abi.h - everything that the kernel side and the user side of the interpreter walk agree on.
 *
 * User space describes a process (struct walk_process, the value of a map keyed by pid);
 * the walk answers with records in the ring of the samples. Each record is the raw data of
 * a PERF_RECORD_SAMPLE of a PERF_COUNT_SW_BPF_OUTPUT event and begins with struct
 * walk_head:
 *
 *   any number of WALK_DEFINITION, each with its WALK_TABLE    what a code object is
 *   one WALK_STACK                                             the sample's interpreter frames
 *   the ordinary sample                                        written by the kernel
 *
 * in this order, on one CPU. A stack belongs to the sample of the same tid and time; where
 * its time is 0 (kernels before 6.3), to the sample with its tid and ip that follows it.
 *
 * All numbers are in the machine's byte order. No struct has padding; sizes are pinned for
 * both sides. The kernel pads raw data to 8 bytes: head.size is what was written. Records
 * of another version are to be refused, longer ones of this version cannot be.
 */
#ifndef BPF_ABI_H
#define BPF_ABI_H

#include <stdint.h>

enum {
	WALK_MAGIC = 0x4b4c5750, /* "PWLK" */
	WALK_VERSION = 1,

	WALK_MAX_FRAMES = 512,
	WALK_MAX_RUNTIMES = 2,     /* a process; one of each language */
	WALK_MAX_DEFINITIONS = 64, /* a sample; what is left comes with later samples */
	WALK_MAX_NAME = 512,       /* bytes, as all below */
	WALK_MAX_OWNER = 256,
	WALK_MAX_FILE = 1024,
	WALK_MAX_PIECE = 2048, /* of a line table, a record */
	WALK_MAX_TABLE = 64 * 1024,
	WALK_MAX_DATA = WALK_MAX_NAME + WALK_MAX_OWNER + WALK_MAX_FILE + WALK_MAX_PIECE,

	WALK_FRAME_WORDS = 16, /* what is read of a frame at once, in 8 bytes */
	WALK_CODE_WORDS = 32,  /* ... of a code object */
};

enum walk_record_kind {
	WALK_STACK = 1,
	WALK_DEFINITION,
	WALK_TABLE,
	WALK_RUNTIME, /* what was found in a process; the walk itself writes none */
};

enum walk_language {
	WALK_NO_LANGUAGE,
	WALK_PYTHON,
	WALK_PHP,
	WALK_RUBY,
	WALK_PERL,
	WALK_SLOT, /* include/polyperf/interp.h */
	WALK_LUAJIT,
	WALK_LUA,
	WALK_LANGUAGE_COUNT,
};

/* Why a stack ends where it does. Frames that are there are right whatever the reason. */
enum walk_end {
	WALK_END_ROOT,      /* the outermost frame was reached */
	WALK_END_NO_THREAD, /* the interpreter knows nothing of this thread */
	WALK_END_IDLE,      /* the thread runs nothing of the interpreter's */
	WALK_END_DEPTH,     /* more than WALK_MAX_FRAMES */
	WALK_END_TORN,      /* a frame was just being linked or unlinked */
	WALK_END_NOT_CODE,  /* what should be a code object is none */
	/* A read failed: memory that is not there, or not just now (swapped, never touched). */
	WALK_END_READ_THREAD,
	WALK_END_READ_FRAME,
	WALK_END_READ_CODE,
	WALK_END_COUNT,
};

struct walk_head {
	uint32_t magic;
	uint8_t version;
	uint8_t kind;     /* enum walk_record_kind */
	uint8_t language; /* enum walk_language */
	uint8_t zero;
	uint32_t size; /* bytes of the record, this head included */
	uint32_t pid;  /* as the recorder sees it */
};
_Static_assert(sizeof(struct walk_head) == 16, "shared with the kernel side");

/* A code object is (pid, runtime, code, check): its address, which may be reused, and what
 * tells the next one at the same address from it.
 */
struct walk_key {
	uint64_t code_avma;
	uint64_t check;
	uint32_t pid;
	uint32_t runtime; /* walk_runtime.id */
};
_Static_assert(sizeof(struct walk_key) == 24, "shared with the kernel side");

enum walk_frame_flags {
	/* The innermost frame of one native activation of the interpreter is the first one of
	 * the stack or follows a frame with this flag: it ends an activation.
	 */
	WALK_FRAME_ENTRY = 1 << 0,
	WALK_FRAME_GENERATOR = 1 << 1,
	WALK_FRAME_NATIVE = 1 << 2,  /* a function written in C that the language has a frame for */
	WALK_FRAME_IS_LINE = 1 << 3, /* position is a line, not a place in the code */
	WALK_FRAME_NO_POSITION = 1 << 4,
};

struct walk_frame {
	uint64_t code_avma;
	uint64_t check;
	/* Bytes from the first instruction to the one that runs or that called, or a line.
	 * Negative before the first instruction.
	 */
	int32_t position;
	uint32_t flags; /* enum walk_frame_flags */
};
_Static_assert(sizeof(struct walk_frame) == 24, "shared with the kernel side");

enum walk_stack_flags {
	/* The innermost native activation has no frame (yet, or any more). */
	WALK_STACK_BARE_LEAF = 1 << 0,
	/* Definitions were left for later samples, or could not be read or written. */
	WALK_STACK_UNDEFINED = 1 << 1,
};

/* Followed by frame_count frames, innermost first. */
struct walk_stack {
	struct walk_head head;
	uint64_t time_ns; /* of the sample, on its clock; 0: unknown */
	uint64_t ip_avma; /* of the sample */
	uint32_t tid;
	uint32_t runtime;
	uint16_t frame_count;
	uint8_t end; /* enum walk_end */
	uint8_t flags;
	uint32_t zero;
};
_Static_assert(sizeof(struct walk_stack) == 48, "shared with the kernel side");

enum walk_encoding {
	WALK_UTF8, /* or ASCII */
	WALK_UCS1, /* Latin-1 */
	WALK_UCS2,
	WALK_UCS4,
};

enum walk_text_flags {
	WALK_TEXT_CUT = 1 << 0,
	WALK_TEXT_UNREAD = 1 << 1, /* there is one, but it could not be read */
};

struct walk_text {
	uint16_t bytes;
	uint8_t encoding;
	uint8_t flags;
};

enum walk_text_index {
	WALK_TEXT_NAME,  /* as qualified as the runtime knows it */
	WALK_TEXT_OWNER, /* class or package, where the name does not have it */
	WALK_TEXT_FILE,
	WALK_TEXT_COUNT,
};

/* How the table says which line a position is of. */
enum walk_table_kind {
	WALK_TABLE_NONE,
	WALK_TABLE_LNOTAB,    /* CPython 3.8, 3.9: pairs of byte and signed line increments */
	WALK_TABLE_LINETABLE, /* CPython 3.10 (PEP 626) */
	WALK_TABLE_LOCATIONS, /* CPython 3.11 and later (PEP 657) */
	WALK_TABLE_KIND_COUNT,
};

enum walk_code_kind {
	WALK_CODE_FUNCTION,
	WALK_CODE_TOPLEVEL, /* a script, a module, an included or eval'd text */
	WALK_CODE_NATIVE,   /* position is of no use; code_avma may be a native function's */
	/* No code of the language: code_avma is where a C function begins that interprets it, the
	 * check is 0. Told for slots, and with its size in bytes, for first_line, where a symbol
	 * may be missing; of others it is known what it is called.
	 */
	WALK_CODE_EVALUATOR,
};

/* Followed by the texts in the order of walk_text_index, each padded with anything to 8
 * bytes, and by the first table_here bytes of the table.
 */
struct walk_definition {
	struct walk_head head;
	struct walk_key key;
	uint32_t first_line;
	uint32_t table_bytes; /* of the whole table, as far as it is sent at all */
	uint32_t zero;
	uint16_t table_here;
	uint8_t table_kind;
	uint8_t table_flags; /* enum walk_text_flags */
	uint32_t code_kind;
	struct walk_text texts[WALK_TEXT_COUNT];
};
_Static_assert(sizeof(struct walk_definition) == 72, "shared with the kernel side");

/* Followed by `bytes` bytes of the table from `offset` on. They come in order, right after
 * their definition.
 */
struct walk_table {
	struct walk_head head;
	struct walk_key key;
	uint32_t offset;
	uint32_t bytes;
};
_Static_assert(sizeof(struct walk_table) == 48, "shared with the kernel side");

/* Where the walk begins: what gives the address of the thread's state. */
enum walk_root_kind {
	WALK_ROOT_ADDRESS, /* a pointer at `place` */
	WALK_ROOT_TLS,     /* a pointer at fs:place */
	WALK_ROOT_DTV,     /* a pointer at `place` bytes of TLS module `detail` */
	/* The value of a pthread key; the key is at `place`: CPython's {int is_created, key}, or
	 * just the key. `detail`: where glibc's struct pthread has its table of values.
	 */
	WALK_ROOT_TSS,
	WALK_ROOT_KEY,
	WALK_ROOT_ITSELF, /* `place` is the state */
	/* As WALK_ROOT_TLS, and at `place` is the offset; 0: not known yet. */
	WALK_ROOT_TLS_AT,
};

struct walk_root {
	uint64_t place;
	uint32_t kind;
	uint32_t detail;
};

enum walk_python_style {
	WALK_PYTHON_FRAMES,       /* 3.8-3.10: frame objects, each with its own activation */
	WALK_PYTHON_CFRAME_ENTRY, /* 3.11: is_entry ends an activation */
	WALK_PYTHON_CFRAME_SHIM,  /* 3.12: a frame on the C stack ends it */
	WALK_PYTHON_SHIM,         /* 3.13 and later: the same, without cframe */
};

/* Offsets in bytes. Those of frames are from the frame, but must lie in the part that is
 * read, as must those of code.
 */
struct walk_python {
	uint64_t holder_avma;    /* of the pointer to the state that holds the lock; 0: not used */
	uint64_t code_type_avma; /* PyCode_Type */
	uint64_t eval_avma;      /* _PyEval_EvalFrameDefault ... */
	uint32_t eval_entry_bytes; /* ... its first part, in which frames are linked */
	uint32_t eval_stack_bytes; /* ... and its stack frame, without pushed registers */
	uint16_t thread_id;
	uint16_t thread_frame; /* frame, cframe or current_frame */
	uint16_t cframe_frame;
	uint16_t frame_start; /* what is read: from here ... */
	uint16_t frame_bytes; /* ... that many */
	uint16_t frame_code;
	uint16_t frame_previous;
	uint16_t frame_position;  /* lasti, prev_instr or instr_ptr */
	uint16_t frame_owner;     /* a byte: who owns it, or is_entry in 3.11 */
	uint16_t frame_generator; /* a byte, or a pointer in 3.8-3.10 */
	uint16_t code_bytes;
	uint16_t code_version; /* 0: none; a mix of other fields is the check */
	uint16_t code_first_line;
	uint16_t code_file;
	uint16_t zero16;
	uint16_t code_qualified; /* name that is shown */
	uint16_t code_table;
	uint16_t code_instructions;
	uint16_t text_ascii;    /* where the characters of ASCII strings are */
	uint16_t text_compact;  /* ... and of others */
	uint8_t style;          /* enum walk_python_style */
	uint8_t position_scale; /* bytes that one unit of lasti is */
	uint8_t owner_shim;     /* owners from this on are shims */
	uint8_t owner_generator;
	uint8_t table_kind;
	uint8_t code_tag; /* bits of frame_code that are no address */
	uint16_t cframe_previous;
	uint64_t zero[2];
};
_Static_assert(sizeof(struct walk_python) == 96, "shared with the kernel side");

struct walk_php {
	uint64_t execute_avma; /* execute_ex: r14 is the frame there, r15 the instruction */
	uint32_t execute_bytes;
	uint32_t info_top; /* the flag of calls from C */
	uint32_t info_generator;
	uint16_t frame_bytes;
	uint16_t frame_opline;
	uint16_t frame_function;
	uint16_t frame_info; /* flags of the call, 32 bits */
	uint16_t frame_previous;
	uint16_t function_bytes;
	uint16_t function_name;
	uint16_t function_scope;
	uint16_t function_opcodes;
	uint16_t function_count; /* of its opcodes, 32 bits */
	uint16_t function_file;
	uint16_t function_line;
	uint16_t class_name;
	uint16_t string_hash;
	uint16_t string_length;
	uint16_t string_text;
	uint16_t opline_line;
	uint16_t opline_bytes;
	uint8_t type_user; /* of functions: the first byte */
	uint8_t type_eval;
	uint8_t type_native;
	uint8_t zero8[5];
	uint64_t zero[4];
};
_Static_assert(sizeof(struct walk_php) == 96, "shared with the kernel side");

/* What is not here is as it was from 2.7 on, and in walk_ruby.h. */
struct walk_ruby {
	uint16_t context_stack; /* vm_stack; its size in words follows, then the frame */
	uint16_t frame_bytes;   /* the stride, too */
	uint16_t frame_pc;
	uint16_t frame_iseq;
	uint16_t frame_ep;
	uint16_t iseq_body;
	uint16_t body_bytes;
	uint16_t body_code;       /* iseq_encoded */
	uint16_t body_code_count; /* 32 bits */
	uint16_t body_file;
	uint16_t body_label;
	uint16_t body_first_line; /* a small integer object */
	uint16_t body_lines;      /* insns_info.body */
	uint16_t body_index;      /* insns_info.succ_index_table */
	uint16_t body_line_count; /* insns_info.size, 32 bits */
	uint16_t line_bytes;      /* of an entry; its line is its first word */
	uint16_t array_embedded;  /* first element of an array in its object */
	uint16_t array_pointer;
	uint16_t string_length; /* of texts elsewhere */
	uint16_t string_pointer;
	uint16_t string_embedded;
	uint16_t method_definition; /* of a method entry */
	uint16_t definition_function;
	uint16_t context_thread;     /* of a context: its thread; 0: not asked */
	uint32_t string_elsewhere;   /* flag */
	uint32_t string_length_mask; /* of embedded ones; 0: at string_length as well */
	uint32_t string_length_shift;
	uint32_t array_is_embedded; /* flag */
	/* What proves that the context is the thread's: where a Ruby thread has its context,
	 * and its pthread (2.7, whose context is of the thread that holds the lock). 0: not asked.
	 */
	uint16_t thread_context;
	uint16_t thread_id;
	uint32_t zero32;
	uint64_t zero[3];
};
_Static_assert(sizeof(struct walk_ruby) == 96, "shared with the kernel side");

struct walk_perl {
	uint16_t interpreter_cop;   /* PL_curcop */
	uint16_t interpreter_stack; /* PL_curstackinfo */
	uint16_t stack_contexts;
	uint16_t stack_index; /* 32 bits */
	uint16_t stack_previous;
	uint16_t context_bytes; /* the stride, too */
	uint16_t context_type;  /* 8 bits */
	uint16_t context_cop;
	uint16_t context_cv;
	uint16_t cop_line; /* 32 bits */
	uint16_t cop_file; /* text */
	uint16_t cv_bytes; /* of its body */
	uint16_t cv_root;
	uint16_t cv_gv;
	uint16_t cv_file;
	uint16_t cv_flags; /* 32 bits */
	uint16_t gv_name;  /* of its body */
	uint16_t gv_stash;
	uint16_t stash_name;       /* of its body: a name, or names */
	uint16_t stash_name_count; /* 32 bits */
	uint16_t name_length;      /* 32 bits */
	uint16_t name_text;
	uint16_t cv_is_named; /* flag: the name is in the place of the GV */
	uint8_t type_mask;
	uint8_t type_sub;
	uint8_t type_format;
	uint8_t type_eval;
	uint8_t eval_is_block; /* flag of type */
	uint8_t cv_type;       /* of values that are code */
	/* Of the body, 64 bits: how many words, less one, the table has in front of what
	 * stash_name and stash_name_count are offsets in; 0: they are in the body.
	 */
	uint16_t stash_max;
	uint16_t interpreter_op; /* PL_op */
	uint16_t op_type;        /* 9 bits */
	uint16_t op_call;        /* the type of calls ... */
	uint16_t op_statement;   /* ... and those of the beginnings of statements */
	uint16_t op_statement_debug;
	/* Of builds without threads, whose variables are the program's own and whose statements
	 * have a symbol (GV) that is named after the file; 0: those of the thread's state.
	 */
	uint64_t cop_avma;
	uint64_t stack_avma;
	uint64_t op_avma;
	uint64_t zero;
};
_Static_assert(sizeof(struct walk_perl) == 96, "shared with the kernel side");

enum { WALK_MAX_EVALUATORS = 4 };

/* The generic slot: a thread-local pointer to the innermost of linked frame records. */
struct walk_slot {
	uint64_t frame_magic; /* the first word of each frame is this ^ its address */
	uint64_t evaluator_avmas[WALK_MAX_EVALUATORS]; /* 0: no more */
	uint16_t frame_bytes;
	uint16_t frame_previous;
	uint16_t frame_code;
	uint16_t frame_generation; /* 64 bits */
	uint16_t frame_line;       /* 32 bits */
	uint16_t frame_flags;      /* 32 bits: 1 ends a native activation, 2 is a native function */
	uint16_t code_bytes;
	uint16_t code_generation; /* 64 bits: told apart when addresses are reused */
	uint16_t code_name;       /* pointers to text that ends with 0 */
	uint16_t code_owner;
	uint16_t code_file;
	uint16_t code_first_line;
	uint64_t zero[4];
};
_Static_assert(sizeof(struct walk_slot) == 96, "shared with the kernel side");

enum { WALK_LUAJIT_CALLS = 32 };

/* What is not here is as in all builds of 2.1 with 64-bit references, and in walk_luajit.h. */
struct walk_luajit {
	uint64_t text_avma; /* the code of the library or program ... */
	uint64_t vm_avma;   /* ... and in it that of the interpreter, which is assembly */
	uint32_t text_bytes;
	uint32_t vm_bytes;
	/* Where calls of C functions return to, in bytes from vm_avma: first those that keep the
	 * frame's base in rbp and write down nothing, then those that write down the base, but
	 * not the place in the bytecode.
	 */
	uint8_t keeping;
	uint8_t placeless;
	uint8_t has_numbers; /* its own functions have those of format/frames/luajit_names.h */
	uint8_t zero8[5];
	uint16_t calls[WALK_LUAJIT_CALLS];
};
_Static_assert(sizeof(struct walk_luajit) == 96, "shared with the kernel side");

/* All is as in walk_lua.h: its versions are alike. */
struct walk_lua {
	uint64_t zero[12];
};
_Static_assert(sizeof(struct walk_lua) == 96, "shared with the kernel side");

struct walk_runtime {
	uint32_t id; /* unique in a recording; never 0 */
	uint8_t language;
	uint8_t zero[3];
	struct walk_root root;
	union {
		struct walk_python python;
		struct walk_php php;
		struct walk_ruby ruby;
		struct walk_perl perl;
		struct walk_slot slot;
		struct walk_luajit luajit;
		struct walk_lua lua;
	};
};
_Static_assert(sizeof(struct walk_runtime) == 120, "shared with the kernel side");

/* A recorder that may not walk says what frames look like in the copies of stacks. */
struct walk_told {
	struct walk_head head;
	uint64_t time_ns; /* when the process had it */
	struct walk_runtime runtime;
};
_Static_assert(sizeof(struct walk_told) == 144, "of files");

/* The value of the map of processes. It holds for one address space: that of a program as
 * exec() set it up, and its copies by fork(), which need no entry of their own. The three
 * addresses are from /proc/PID/stat (26, 27, 28): another program at the same pid, or a
 * child's, is not walked.
 */
struct walk_process {
	uint64_t start_code_avma;
	uint64_t end_code_avma;
	uint64_t start_stack_avma;
	uint32_t runtime_count;
	uint32_t zero;
	struct walk_runtime runtimes[WALK_MAX_RUNTIMES];
};
_Static_assert(sizeof(struct walk_process) == 272, "shared with the kernel side");

#endif
