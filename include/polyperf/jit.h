/* polyperf/jit.h - tells profilers what code a runtime makes.
 *
 *   struct polyperf_jit *jit;
 *   polyperf_jit_open(NULL, &jit);
 *   polyperf_jit_code(jit, "function name", address, size);      for each compilation
 *   polyperf_jit_close(jit);
 *
 * or, with all that can be said of a piece of code:
 *
 *   struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
 *   load.name = "function name";
 *   load.address = address;
 *   load.size = size;
 *   load.lines = lines;
 *   load.line_count = 3;
 *   polyperf_jit_load(jit, &load);
 *
 * What is told goes into DIRECTORY/jit-PID.dump, a jitdump as perf, polyperf and samply read it;
 * what that format cannot say, into records of our own that other readers pass over
 * (docs/formats/jitdump-extensions.md). A perf map can be written beside it or instead.
 *
 * The runtime comes first. No call prints, aborts, raises a signal, changes errno, or waits
 * for a disk or a reader; none allocates, but the file grows ahead of its use. What cannot be
 * written (a full disk, a limit) is dropped whole and counted, and the next call tries
 * anew. A call that has returned 0 lost nothing should the process be killed.
 *
 * Every call may be made from any thread, from several at once, and from a signal handler (one that
 * interrupted another call at the wrong moment gets POLYPERF_JIT_BUSY). A NULL handle is
 * allowed everywhere and does nothing. After fork() the child writes a file of its own, which
 * begins with the code that it inherited, as soon as it makes a call. All that is passed in is read
 * during the call and never kept.
 */
#ifndef POLYPERF_JIT_H
#define POLYPERF_JIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef POLYPERF_JIT_API
#define POLYPERF_JIT_API __attribute__((visibility("default")))
#endif

#define POLYPERF_JIT_VERSION_MAJOR 0
#define POLYPERF_JIT_VERSION_MINOR 1

struct polyperf_jit;

/* What calls return. Negative: this call's information was dropped. */
enum polyperf_jit_result {
	POLYPERF_JIT_OK = 0,
	POLYPERF_JIT_OFF = 1,        /* nobody records: nothing to do */
	POLYPERF_JIT_INVALID = -1,   /* an argument makes no sense */
	POLYPERF_JIT_NO_SPACE = -2,  /* the disk, a quota or a file size limit is full */
	POLYPERF_JIT_FAILED = -3,    /* no file, or it cannot be written to */
	POLYPERF_JIT_TOO_BIG = -4,   /* one record larger than the size limit allows */
	POLYPERF_JIT_BUSY = -5,      /* a signal handler interrupted another call */
	POLYPERF_JIT_NO_MEMORY = -6, /* only when opening */
	POLYPERF_JIT_UNSUPPORTED =
	    -7, /* a newer header's struct asks for what this library lacks */
};

/* The stamps' clock, which must be that of the profiler's samples. */
enum polyperf_jit_clock {
	/* What profilers use: CLOCK_MONOTONIC on Linux, mach_absolute_time() in ns on macOS. */
	POLYPERF_JIT_CLOCK_DEFAULT = 0,
	POLYPERF_JIT_CLOCK_MONOTONIC = 1,
	POLYPERF_JIT_CLOCK_MONOTONIC_RAW = 2,
	POLYPERF_JIT_CLOCK_BOOTTIME = 3,
	POLYPERF_JIT_CLOCK_REALTIME = 4,
};

enum polyperf_jit_open_flags {
	POLYPERF_JIT_DUMP = 1 << 0, /* write a jitdump; the default if no output is named */
	POLYPERF_JIT_MAP = 1 << 1,  /* write a perf map */
	POLYPERF_JIT_NULL = 1 << 2, /* write nothing: what calls cost without a file */
	/* The dump goes to `fd`, a pipe or socket, which becomes non-blocking and stays the
	 * caller's. What its reader is too slow for is dropped.
	 */
	POLYPERF_JIT_TO_FD = 1 << 3,
	/* Wait with files until polyperf_jit_enable() or a control switches on. */
	POLYPERF_JIT_START_OFF = 1 << 4,
	/* Make a control in memory: whoever may open /proc/PID/fd/N, which leads to
	 * `/memfd:polyperf-jit`, writes 1 or 0 (4 bytes, native order) at its start to switch
	 * recording on or off. Linux only.
	 */
	POLYPERF_JIT_CONTROL_MEMFD = 1 << 5,
};

struct polyperf_jit_options {
	size_t struct_size; /* sizeof(struct polyperf_jit_options) */
	uint32_t flags;     /* enum polyperf_jit_open_flags */
	uint32_t pid;       /* in names and records; 0: getpid() */
	int32_t clock;      /* enum polyperf_jit_clock */
	int32_t fd;         /* with POLYPERF_JIT_TO_FD */
	/* Where jit-PID.dump is made, never over what is there: a name that is taken leads to
	 * a folder jit-PID-XXXX of our own with the file in it. NULL: $JITDUMPDIR, else /tmp.
	 */
	const char *directory;
	/* Where perf-PID.map is made; perf looks in /tmp only. NULL: /tmp. */
	const char *map_directory;
	/* Bytes of one dump. At that size a new file is begun with all code that is still there.
	 * 0: 512 MB. At least 1 MB.
	 */
	uint64_t size_limit;
	/* How many dumps to keep, the current one included; older ones are removed. 0: 2. */
	uint32_t keep_count;
	uint32_t elf_machine; /* EM_* of the code in records; 0: this program's */
	/* Recording is on while a file of this name exists; looked at during calls, at most twenty
	 * times a second. NULL: none. Copied.
	 */
	const char *control_path;
	/* Called, if given, when recording is switched on after the opening, in the thread whose
	 * call noticed, outside of any lock of ours: tell all code that is there
	 * with POLYPERF_JIT_EXISTING.
	 */
	void (*on_start)(struct polyperf_jit *jit, void *context);
	void *context;
};

/* Returns 0 with a handle, or a negative result with NULL in *jit, which all calls accept. NULL
 * for options: the defaults.
 */
POLYPERF_JIT_API int polyperf_jit_open(const struct polyperf_jit_options *options,
				       struct polyperf_jit **jit);

/* Ends the files, and cuts off what was reserved. No other thread may be in a call or make one. */
POLYPERF_JIT_API void polyperf_jit_close(struct polyperf_jit *jit);

/* Where in the source the instructions from `offset` on come from. In order of offset. */
struct polyperf_jit_line {
	uint64_t offset;  /* into the code */
	uint32_t line;    /* from 1; 0: from no source */
	uint32_t column;  /* from 1; 0: not known */
	const char *file; /* NULL: that of the entry before */
};

/* Instructions of a function that was inlined. Outer scopes come before what is in them; a function
 * inlined once may have several ranges. Calls are seen from the caller, which is the scope of
 * the next smaller depth around it.
 */
struct polyperf_jit_inline {
	uint32_t offset;
	uint32_t size;
	uint32_t depth; /* 0: inlined into the code's own function */
	uint32_t call_line;
	uint32_t call_column;
	int32_t call_bytecode; /* -1: not known */
	const char *name;      /* of the inlined function */
	const char *call_file; /* NULL: not known */
};

/* The bytecode of the innermost function at `offset` and behind. In order of offset. */
struct polyperf_jit_bytecode {
	uint32_t offset;
	int32_t bytecode; /* -1: none */
};

enum polyperf_jit_note_kind {
	POLYPERF_JIT_NOTE_TEXT = 0, /* anything worth showing beside the instructions */
	POLYPERF_JIT_NOTE_TIER = 1, /* of the whole code: "C2", "OSR", "baseline" */
	POLYPERF_JIT_NOTE_PROLOGUE = 2,
	POLYPERF_JIT_NOTE_EPILOGUE = 3,
	POLYPERF_JIT_NOTE_SAFEPOINT = 4,
	POLYPERF_JIT_NOTE_OOP_MAP = 5, /* text: where references are */
	POLYPERF_JIT_NOTE_DEOPT = 6,   /* text: why the code would be left */
	POLYPERF_JIT_NOTE_DATA = 7,    /* constants and tables between instructions */
	/* Written by the library: these bytes could not be read and stand as zeros. */
	POLYPERF_JIT_NOTE_UNREADABLE = 8,
};

struct polyperf_jit_note {
	uint32_t offset;
	uint32_t size; /* 0: the one place */
	uint32_t kind; /* enum polyperf_jit_note_kind; larger than 0x10000: the runtime's own */
	uint32_t reserved;
	const char *text; /* UTF-8, or NULL */
};

struct polyperf_jit_unwinding {
	const void *data; /* .eh_frame, then .eh_frame_hdr, as they would lie behind the code */
	uint64_t size;
	uint64_t eh_frame_hdr_size; /* of the last bytes of data */
	uint64_t mapped_size;       /* as much of it as the process itself has there; mostly 0 */
};

enum polyperf_jit_load_flags {
	/* The code was there before recording began: it is stamped 0. */
	POLYPERF_JIT_EXISTING = 1 << 0,
	/* Copy without asking whether the memory can be read: faster by a system call. */
	POLYPERF_JIT_CODE_TRUSTED = 1 << 1,
	/* Another thread may unmap the code during the call: slower by a system call. */
	POLYPERF_JIT_CODE_MAY_VANISH = 1 << 2,
	/* No bytes: the code is large and dull. Readers other than polyperf may take the bytes
	 * before it for the code.
	 */
	POLYPERF_JIT_WITHOUT_CODE = 1 << 3,
};

struct polyperf_jit_load_info {
	size_t struct_size; /* sizeof(struct polyperf_jit_load_info) */
	const char *name;   /* UTF-8 */
	size_t name_size;   /* 0: up to the NUL */
	uint64_t address;   /* where the code runs */
	uint64_t size;
	const void *code; /* its bytes, if they are not at `address` */
	uint32_t flags;   /* enum polyperf_jit_load_flags */
	uint32_t tid;     /* 0: the calling thread */
	const struct polyperf_jit_line *lines;
	size_t line_count;
	const struct polyperf_jit_inline *inlines;
	size_t inline_count;
	const struct polyperf_jit_bytecode *bytecodes;
	size_t bytecode_count;
	const struct polyperf_jit_note *notes;
	size_t note_count;
	const struct polyperf_jit_unwinding *unwinding;
	/* Receives the code's number, for moves and unloads; untouched where nothing was written.
	 */
	uint64_t *code_index;
};

#define POLYPERF_JIT_NO_INDEX UINT64_MAX

/* Tell code after its bytes are in place and before it runs first. What it overlaps is gone. */
POLYPERF_JIT_API int polyperf_jit_load(struct polyperf_jit *jit,
				       const struct polyperf_jit_load_info *load);

/* The same for code of which only a name is known. */
POLYPERF_JIT_API int polyperf_jit_code(struct polyperf_jit *jit, const char *name,
				       const void *address, uint64_t size);

/* The code runs at another address from now on. perf needs the code_index that its load
 * gave; without it (POLYPERF_JIT_NO_INDEX) only polyperf understands the record.
 */
POLYPERF_JIT_API int polyperf_jit_move(struct polyperf_jit *jit, uint64_t old_address,
				       uint64_t new_address, uint64_t size, uint64_t code_index);

/* The code is gone. Tell it before the memory is used for anything else. */
POLYPERF_JIT_API int polyperf_jit_unload(struct polyperf_jit *jit, uint64_t address, uint64_t size,
					 uint64_t code_index);

struct polyperf_jit_bytecode_line {
	uint32_t bytecode; /* offset into the bytecode */
	uint32_t line;
};

/* A function that an interpreter runs. `id` is what the interpreter's frames hold of it: the
 * address of its method, function or code object. A later call with the same id replaces it.
 */
struct polyperf_jit_method_info {
	size_t struct_size; /* sizeof(struct polyperf_jit_method_info) */
	const char *name;
	size_t name_size; /* 0: up to the NUL */
	uint64_t id;
	uint64_t bytecode_address; /* 0: not in memory, or not known */
	uint64_t bytecode_size;
	const char *file; /* NULL: not known */
	uint32_t line;    /* where it begins; 0: not known */
	uint32_t flags;   /* POLYPERF_JIT_EXISTING */
	const struct polyperf_jit_bytecode_line *lines;
	size_t line_count;
};

/* Goes into dumps only: a perf map has no place for it. */
POLYPERF_JIT_API int polyperf_jit_method(struct polyperf_jit *jit,
					 const struct polyperf_jit_method_info *method);

/* Switches recording on (nonzero) or off. Off ends the files; on begins new ones.
 * A control, where there is one, has the same effect, and the last word counts.
 */
POLYPERF_JIT_API int polyperf_jit_enable(struct polyperf_jit *jit, int on);

/* Looks at the controls, as every call does: for runtimes that seldom have anything to tell.
 * Returns 0 while recording, else POLYPERF_JIT_OFF or a negative result.
 */
POLYPERF_JIT_API int polyperf_jit_poll(struct polyperf_jit *jit);

struct polyperf_jit_stats {
	size_t struct_size;        /* in: sizeof(struct polyperf_jit_stats) */
	uint64_t record_count;     /* loads, moves, unloads and methods that were written */
	uint64_t written_bytes;    /* of dumps */
	uint64_t drop_count;       /* calls that returned a negative result */
	uint64_t no_space_count;   /* of these: NO_SPACE and TOO_BIG */
	uint64_t unreadable_count; /* loads whose code bytes could not be read */
	uint64_t file_count;       /* dumps that were begun */
	uint64_t lost_live_count;  /* code that a new file had no room for */
	uint32_t is_recording;
	uint32_t has_marker; /* the mapping by which recorders find the dump could be made */
};

POLYPERF_JIT_API int polyperf_jit_get_stats(struct polyperf_jit *jit,
					    struct polyperf_jit_stats *stats);

/* The current dump's path, or "" if there is none. Returns its length; it is cut to `size`. */
POLYPERF_JIT_API size_t polyperf_jit_path(struct polyperf_jit *jit, char *path, size_t size);

/* "0.1.0" */
POLYPERF_JIT_API const char *polyperf_jit_version(void);

#ifdef __cplusplus
}
#endif

#endif
