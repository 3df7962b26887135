/* recording.h - small recordings for tests: a perf.data file made record by record,
 * and a folder with dumps and maps beside it.
 *
 *   struct recording r;
 *   recording_begin(&r);
 *   recording_mmap(&r, 7, 100, 0x1000, 0x1000, "//anon");
 *   recording_sample(&r, 7, 7, 200, (uint64_t[]){ 0x1010 }, 1);
 *   recording_finish(&r);              r.path is the file
 *   recording_remove(&r);
 */
#ifndef TESTS_LOAD_RECORDING_H
#define TESTS_LOAD_RECORDING_H

#include "base/sink.h"
#include "bpf/abi.h"
#include "format/perfdata/writer.h"

struct recording {
	char dir[64];
	char path[96];
	struct sink out;
	struct perfdata_layout layout;
	uint64_t sample_type;
	size_t event_count;
	bool is_arm64;   /* made on aarch64 */
	bool has_no_ids; /* no sample_id_all: only samples have a time and a process */
	bool has_frames;
	struct {
		unsigned feature;
		struct sink content;
	} features[2];       /* 0: none */
	const char *version; /* of the program that recorded it; NULL: it does not say */
};

void recording_begin(struct recording *r);

/* What recording_begin() chooses by itself. */
struct recording_shape {
	uint64_t sample_type; /* 0: IP, TID, TIME, PERIOD, CALLCHAIN */
	size_t event_count;   /* 0: one. Event i has the id 100 + i */
	bool has_no_ids;
	bool is_arm64;
	bool has_frames;    /* one event more, for recording_put_frames(). Needs _IDENTIFIER */
	bool has_no_folder; /* nothing is written: recording_seal() is its end */
};
void recording_begin_as(struct recording *r, const struct recording_shape *shape);

void recording_mmap(struct recording *r, uint32_t pid, uint64_t time_ns, uint64_t start,
		    uint64_t size, const char *path);
/* An mmap of more than its place. */
struct recording_map {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	const char *path;
	bool is_data;
};
void recording_map(struct recording *r, const struct recording_map *what);
void recording_comm(struct recording *r, uint32_t pid, uint64_t time_ns, const char *comm,
		    bool is_exec);
void recording_fork(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns);
/* Of what a process did that exists already: its child inherits nothing (misc FORK_EXEC). */
void recording_fork_exec(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns);
/* `chain` leaf first, all in user mode; period 1. */
void recording_sample(struct recording *r, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      const uint64_t *chain, size_t count);
/* x86-64's registers, and what lies from sp on. With is_arm64 bp is x29, and lr is there in place
 * of bx and r13.
 */
struct recording_stack {
	uint64_t ip, sp, bx, bp, r13, lr;
	const uint64_t *words;
	size_t count;
	size_t wanted; /* words; 0: no more. Where it is more, the rest could not be copied */
};
/* A sample of any kind; what sample_type does not ask for is left out. */
struct recording_what {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t ip_avma;
	bool is_kernel;
	const uint64_t *chain; /* with its context marks */
	size_t chain_count;
	uint64_t addr;
	const uint64_t (*branches)[2]; /* from, to */
	size_t branch_count;
	const struct recording_stack *stack; /* for REGS_USER and STACK_USER, which go together */
	size_t event;
};
void recording_put_sample(struct recording *r, const struct recording_what *what);
/* A record of the walk of interpreters, as the kernel pads it; `time_ns` is when it was written. */
void recording_put_frames(struct recording *r, uint32_t tid, uint64_t time_ns, struct bytes raw);
/* A stack of it; what `stack` says of sizes is filled in. */
void recording_put_walk(struct recording *r, uint64_t time_ns, const struct walk_stack *stack,
			const struct walk_frame *frames, size_t count);
/* What a code object is; without a line table. */
struct recording_walked {
	enum walk_language language;
	struct walk_key key;
	const char *name;
	const char *owner; /* or NULL */
	const char *file;
	uint32_t first_line;
	enum walk_code_kind kind;
	enum walk_text_flags flags; /* of the name */
};
void recording_put_walked(struct recording *r, uint32_t tid, uint64_t time_ns,
			  const struct recording_walked *code);
/* The bare record, which is filled up to 8 bytes. */
void recording_walked_record(struct sink *raw, const struct recording_walked *code);
void recording_round(struct recording *r);
void recording_finish(struct recording *r);
/* The file as it would be written; r->out is to be cleared. */
struct bytes recording_seal(struct recording *r);
/* The same records with COMPRESSED around them, or in pipe mode. */
void recording_finish_compressed(struct recording *r);
void recording_finish_pipe(struct recording *r);

/* A file beside the recording. */
void recording_file(struct recording *r, const char *name, struct bytes content);
/* The zip at its end, after recording_finish(). */
struct recording_member {
	const char *name;
	struct bytes content;
};
void recording_members(struct recording *r, const struct recording_member *members, size_t count);
void recording_remove(struct recording *r);

/* Jitdump bytes: header of `pid`, then LOAD records. */
void dump_begin(struct sink *dump, uint32_t pid);
void dump_load(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t size,
	       const char *name);
/* A LOAD of any kind. */
struct dump_code {
	uint32_t pid;
	uint32_t tid; /* 0: the pid */
	uint64_t time_ns;
	uint64_t start_avma;
	uint64_t size;
	uint64_t index;
	const char *name;
	const uint8_t *code; /* `size` bytes; NULL: zeros */
};
void dump_put(struct sink *dump, const struct dump_code *code);
void dump_move(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t from, uint64_t to,
	       uint64_t size);
void dump_unload(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start);
/* About the next LOAD. */
struct dump_line {
	uint64_t avma;
	uint32_t line;
	uint32_t column;
	const char *file;
};
void dump_lines(struct sink *dump, uint64_t code_avma, const struct dump_line *lines, size_t count);
void dump_unwinding(struct sink *dump, struct bytes unwinding, uint64_t eh_frame_hdr_size);
void dump_tier(struct sink *dump, uint64_t code_avma, const char *tier);
/* What an interpreter runs; `lines` are pairs of bytecode and line. */
struct dump_method {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t id;
	uint64_t bytecode_avma;
	uint64_t bytecode_size;
	const uint32_t *lines;
	uint32_t line_count;
	const char *name;
	const char *file;
};
void dump_method(struct sink *dump, const struct dump_method *method);

#endif
