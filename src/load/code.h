/* code.h - each piece of code that runtimes announced, and whose an address was.
 *
 *   options.keep_code = true;  load_open(&load, &options, &error);
 *   for (uint32_t i = 0; i < load_code_count(load); i++) {
 *           struct load_code code;
 *           load_code(load, i, &code);
 *           ...
 *   }
 *   load_owner_at(load, &(struct load_place){ pid, avma, time_ns }, &owner);
 *
 * A piece is a name at a range of addresses: one CODE_LOAD or CODE_MOVE of a jitdump, one
 * line of a perf map, one function of a BPF program whose code was kept; or, where they are looked
 * for, one method of .NET that was compiled ahead. All borrow from the load. One thread.
 */
#ifndef LOAD_CODE_H
#define LOAD_CODE_H

#include "format/jitdump/debug.h"
#include "format/jitdump/extensions.h"
#include "load/load.h"
#include "names/names.h"

/* Whose the code of BPF programs is. */
#define LOAD_KERNEL_PID 0xffffffffu

struct load_code {
	struct bytes name; /* as the producer wrote it */
	uint32_t pid;
	uint64_t start_avma;
	uint64_t size;     /* as announced, or up to the next one where that was 0 */
	uint64_t time_ns;  /* in the recording's clock; 0: before it, or not known */
	struct bytes code; /* its first bytes, at most `size`; empty where nobody kept them */
	enum runtime runtime;
	bool is_repeat; /* another piece stands for this name at this place: never an owner */
};

/* Without load_options.keep_code no more than what else needs them: 0, where that is nothing. */
uint32_t load_code_count(const struct load *load);
/* Returns 0 or STATUS_NO_MEMORY. */
int load_code(struct load *load, uint32_t index, struct load_code *code);

/* Its line entries; false where the producer told none. */
bool load_code_lines(struct load *load, uint32_t index, struct jitdump_debug_walk *walk);

/* The text of the line that the entry of this number (from 0) of those tells of, where the producer
 * gave it: BPF programs do. Else NULL. Lives as long as the load.
 */
const char *load_code_line_text(const struct load *load, uint32_t index, uint32_t entry);

/* Its unwinding information; false where the producer told none. */
bool load_code_unwinding(struct load *load, uint32_t index, struct jitdump_unwinding_info *info);

/* Its inlined scopes, for jitdump_inline_next(); false where the producer told none. */
bool load_code_inlines(struct load *load, uint32_t index, struct jitdump_about *about);

/* Which bytecode its instructions are of, for jitdump_bytecode_next(), and what there is to say of
 * places in it, for jitdump_annotation_next(); false where the producer told none.
 */
bool load_code_bytecodes(struct load *load, uint32_t index, struct jitdump_about *about);
bool load_code_annotations(struct load *load, uint32_t index, struct jitdump_about *about);

/* A source file as a path: "file:///a.mjs", as V8 names modules, is /a.mjs. */
struct bytes load_source_path(struct bytes file);

struct load_place {
	uint32_t pid;
	uint64_t avma;
	uint64_t time_ns;
	bool is_return; /* a return address: the owner of the byte before is meant */
};

enum load_owner_kind {
	LOAD_OWNER_NOBODY, /* nothing is known, or it was code that was unloaded */
	LOAD_OWNER_CODE,
	LOAD_OWNER_FILE,   /* a mapped file: its own symbols speak */
	LOAD_OWNER_MEMORY, /* memory without a file, of which nobody said more */
};

struct load_owner {
	enum load_owner_kind kind;
	uint32_t code; /* LOAD_OWNER_CODE: for load_code() */
	/* LOAD_OWNER_FILE and _MEMORY: the mapping. */
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	const char *path;
	struct bytes build_id; /* empty where not known */
	/* The answer holds for the address from the one time up to before the other. */
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
};

/* Whose it is by the rules of every report (resolve.c). Returns 0 or STATUS_NO_MEMORY. */
int load_owner_at(struct load *load, const struct load_place *place, struct load_owner *owner);

/* Whether load_owner_at() makes pieces of the methods in mapped assemblies that it meets: stock
 * tools do not read such files. Those that it met stay owners when no more are to be made; of
 * others it tells the file. With load_options.keep_code alone.
 */
void load_find_methods(struct load *load, bool finds);

/* False where no file of the recording has methods; a look at all of them. */
bool load_may_have_methods(struct load *load);

/* True for the path of a mapping that has no file: such a mapping tells nothing of code in it. */
bool load_is_memory(const char *path);

struct perfdata_sample;

/* The addresses that unwinding finds in a sample's piece of stack, innermost first; those
 * behind the first are return addresses. Returns how many.
 */
size_t load_unwound(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
		    size_t limit);

/* The path of the program that a process runs, or "". */
const char *load_program_of(const struct load *load, uint32_t pid);

/* The reader of the recording, for those who copy its records; the load keeps it. */
struct perfdata *load_recording(struct load *load);

struct perfdata_record;

/* perfdata_next() of it, told to the options' progress as `what`, a static word. */
int load_next(struct load *load, struct perfdata_record *record, const char *what);

#endif
