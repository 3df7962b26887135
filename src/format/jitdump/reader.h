/* reader.h - decodes the bytes of a jitdump file, one record at a time.
 *
 *   struct jitdump_reader reader;
 *   struct jitdump_record record;
 *   int got = jitdump_reader_init(&reader, file_bytes);
 *   while (got >= 0 && (got = jitdump_reader_next(&reader, &record)) > 0)
 *           use(&record);
 *
 * Does no I/O and allocates nothing; touches no code bytes except to search
 * behind dirt. Strings and code in a record point into
 * the bytes given to jitdump_reader_init() and live as long as those do. Dirt
 * that real runtimes write (torn and interleaved records, zero tails, missing
 * code bytes) is passed over: the reader finds the next plausible record and
 * tells through `on_problem` where it skipped what, and why.
 */
#ifndef FORMAT_JITDUMP_READER_H
#define FORMAT_JITDUMP_READER_H

#include "base/bytes.h"
#include "format/jitdump/layout.h"

struct jitdump_code_load {
	uint32_t pid; /* as the runtime sees itself: in its own PID namespace */
	uint32_t tid;
	uint64_t vma;
	uint64_t code_avma; /* where the code runs in the profiled process */
	uint64_t code_size;
	uint64_t code_index;
	struct bytes name; /* any bytes but NUL */
	struct bytes code; /* code_size bytes, or fewer (even none) where the runtime gave fewer */
};

struct jitdump_code_move {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t old_avma;
	uint64_t new_avma;
	uint64_t code_size;
	uint64_t code_index;
};

struct jitdump_debug_info {
	uint64_t code_avma;
	uint64_t entry_count;
	struct cursor entries; /* for jitdump_debug_entry_next() of debug.h */
};

struct jitdump_unwinding_info {
	uint64_t unwinding_size;
	uint64_t eh_frame_hdr_size;
	uint64_t mapped_size;
	struct bytes unwinding;
};

/* The records of our own, docs/formats/jitdump-extensions.md. Their entries are read
 * by extensions.h.
 */
struct jitdump_unload {
	uint32_t pid;
	uint32_t tid;
	uint64_t code_avma;
	uint64_t code_size;
	uint64_t code_index; /* UINT64_MAX: not told */
};

/* INLINES, BYTECODES and ANNOTATIONS: about the LOAD that follows. */
struct jitdump_about {
	uint64_t code_avma;
	uint32_t entry_count;
	struct cursor entries;
	struct bytes strings; /* ends with a NUL unless empty */
};

struct jitdump_method {
	uint32_t pid;
	uint32_t tid;
	uint64_t method_id;
	uint64_t bytecode_avma; /* 0: not in memory, or not told */
	uint64_t bytecode_size;
	uint32_t first_line; /* 0: not told */
	uint32_t line_count;
	struct cursor lines;
	struct bytes name;
	struct bytes file; /* empty: not told */
};

struct jitdump_record {
	uint32_t id;       /* an enum jitdump_id, or a newer one: skip what you do not know */
	uint64_t time_ns;  /* the recording's clock; ticks where reader->is_arch_timestamp */
	uint64_t offset;   /* of this record in the file */
	struct bytes body; /* behind the 16-byte prefix */
	bool is_torn;      /* its end is missing: code or entries may be short */
	union {
		struct jitdump_code_load code_load;
		struct jitdump_code_move code_move;
		struct jitdump_debug_info debug_info;
		struct jitdump_unwinding_info unwinding_info;
		struct jitdump_unload unload;
		struct jitdump_about about;
		struct jitdump_method method;
	};
};

enum jitdump_problem_kind {
	JITDUMP_PROBLEM_GARBAGE,  /* bytes that are no record */
	JITDUMP_PROBLEM_ZEROS,    /* zero bytes to the end of the file */
	JITDUMP_PROBLEM_CUT_FILE, /* the file ends inside the record */
	JITDUMP_PROBLEM_CUT_NEXT, /* another record begins inside the record */
};

/* `offset` and `skipped_bytes` bound what is lost: for a record that was cut and
 * is returned all the same, offset is the record's and nothing is skipped.
 */
struct jitdump_problem {
	enum jitdump_problem_kind kind;
	uint32_t id; /* of the record that was cut; of no meaning for other kinds */
	uint64_t offset;
	uint64_t skipped_bytes;
	uint64_t missing_bytes; /* of the record that was cut: claimed, and not there */
	const char *what;       /* a static sentence */
};

struct jitdump_reader {
	struct bytes file;
	size_t next_offset;
	bool swap;
	bool is_arch_timestamp;
	bool is_v8_pad; /* the header's pad is 0xdeadbeef: V8 wrote this */
	uint32_t version;
	uint32_t header_size;         /* where records begin: 40 where the field is nonsense */
	uint32_t claimed_header_size; /* the field */
	uint32_t pid;                 /* header's; in the runtime's PID namespace */
	uint32_t elf_machine;         /* garbage in CPython 3.13.0 */
	uint64_t header_time;         /* any clock, wall time in V8 and CPython: for lint only */
	uint64_t flags;               /* as found; garbage in some LLVM versions */
	uint64_t anchor_time;         /* of the first record with a time; 0: there is none */
	uint64_t problem_count;
	uint64_t skipped_bytes;
	/* May be NULL. Called at each place where bytes were passed over. */
	void (*on_problem)(void *context, const struct jitdump_problem *problem);
	void *context;
};

/* Is it a kind whose layout we know, of the format or of our own? */
bool jitdump_is_known(uint32_t id);

/* True if the bytes start with the magic number, in either byte order. */
bool jitdump_is_magic(struct bytes start);

/* Reads the header. Returns 0, STATUS_NOT_FORMAT, _TRUNCATED or _UNSUPPORTED. Sets every
 * field: give `on_problem` after it. Versions other than 1 and 2 are read where
 * the record behind the header has the layout that we know.
 */
int jitdump_reader_init(struct jitdump_reader *reader, struct bytes file);

/* Returns 1 with *record filled, or 0 at the end. Never negative after a good init. */
int jitdump_reader_next(struct jitdump_reader *reader, struct jitdump_record *record);

/* Decodes the one record at `offset`, which an earlier _next() of a reader over the
 * same bytes returned, without moving on or telling problems. Returns 1 or
 * STATUS_CORRUPT.
 */
int jitdump_reader_at(struct jitdump_reader *reader, uint64_t offset,
		      struct jitdump_record *record);

#endif
