/* load_internal.h - what the files of load/ share. Not for others. */
#ifndef LOAD_LOAD_INTERNAL_H
#define LOAD_LOAD_INTERNAL_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/vector.h"
#include "bundle/bundle.h"
#include "debuginfo/debuginfo.h"
#include "format/perfdata/records.h"
#include "load/address_index.h"
#include "load/code.h"
#include "load/open_files.h"
#include "load/origin.h"
#include "names/names.h"
#include "os/file.h"
#include "profile/profile.h"
#include "symbol/symbol.h"
#include "timeline/timeline.h"
#include "unwind/cfi.h"

/* A file or other thing that is mapped: equal path and build id, one object. */
enum object_kind {
	OBJECT_FILE,
	OBJECT_ANONYMOUS, /* //anon, [heap], [stack], memfd: memory without symbols */
	OBJECT_VDSO,
	OBJECT_KERNEL,
};

struct object {
	uint32_t path;             /* string */
	uint32_t short_name;       /* string */
	uint32_t build_id;         /* of the MMAP record; bytes, interned; 0: none */
	uint32_t feature_build_id; /* of the BUILD_ID feature */
	uint32_t bundle_id;        /* of it, too; of a single-file program of .NET */
	bool has_other_bundle;     /* than the recording says */
	enum object_kind kind;
	/* What was mapped of it to be run. */
	uint64_t start_off;
	uint64_t end_off;
	bool was_opened;
	bool was_looked_at;           /* for methods */
	bool may_have_methods;        /* before the first need too */
	struct symbol_table *symbols; /* NULL where there are none, or before the first need */
	const char *reason;           /* why there are none: a static sentence */
	bool debuginfo_was_opened;
	struct debuginfo *debuginfo; /* NULL where there is none, or before the first need */
	bool cfi_was_read;
	bool loop_was_read;
	bool has_loop;
	struct cfi_row loop; /* of PHP's execute_ex, before the first need too */
	bool image_was_read;
	struct bytes image;             /* its file, or empty, before the first need too */
	struct cfi_table *cfi;          /* NULL where there is none, or before the first need */
	struct address_index functions; /* of the profile under way, by symbol start + 1 */
};

/* A code object that samples hit, and its function in the profile. */
struct code_function {
	uint32_t code;
	uint32_t function;
};

/* Where code objects were told: one jitdump, one perf map, the kernel's events. */
struct source {
	uint32_t pid;
	uint32_t path; /* string: for the dso column */
	enum runtime runtime;
	bool is_dump;
	bool is_timed;
	uint64_t torn_offset; /* first place where bytes were lost; 0: none */
	bool has_methods;     /* it tells what an interpreter runs */
	uint32_t mapped;      /* the object whose methods its codes are: index + 1; 0: none */
	/* Over the dump, or over the code that was kept of a map's lines. */
	struct jitdump_reader *reader; /* NULL: there is none */
	struct jitdump_debug_style style;
	bool has_style;
};

/* One code object of a dump, or one name of an untimed map. */
struct code {
	struct bytes name; /* borrowed from the source's file */
	struct bytes tier; /* likewise, where the runtime told it beside the name */
	uint32_t source;
	uint32_t function; /* id + 1 in the profile under way; 0: not yet made */
};

/* A function that an interpreter runs: one METHOD of a dump. */
struct interpreted_method {
	uint64_t id;      /* what frames hold of it */
	uint64_t time_ns; /* 0: told before the recording, or without a time */
	uint64_t bytecode_avma;
	uint64_t bytecode_size;
	uint64_t record_off;
	uint32_t pid;
	uint32_t source;
	uint32_t function; /* id + 1 in the profile under way; 0: not yet made */
};

/* Kept for code.h: a code object at a range. The records are those of the source's reader. */
struct piece {
	uint64_t start_avma;
	uint64_t size;
	uint64_t time_ns;
	uint64_t record_off;       /* of the LOAD; 0: there is none. Of a mapped method the svma */
	uint32_t debug_before;     /* how far before it its DEBUG_INFO lies; 0: it has none */
	uint32_t unwinding_before; /* the same of its UNWINDING_INFO */
	uint32_t inlines_before;   /* and of its INLINES */
	uint32_t bytecodes_before;
	uint32_t annotations_before;
	uint32_t code;
	uint32_t pid;
};

/* How the frames of a piece are found. */
struct piece_table {
	struct cfi_table *table; /* NULL: nobody said */
};

struct comm_change {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t comm; /* string; INTERN_NONE: what parent_tid had */
	uint32_t parent_tid;
	uint32_t order; /* keeps equal times in file order */
};

/* A thread began or ended. */
struct task_event {
	uint64_t time_ns;
	uint32_t pid;
	uint32_t tid;
	bool is_end;
};

/* What is known of a process beside its address space. */
struct process {
	uint32_t pid;
	uint32_t exe;           /* string: the first executable mapping after exec */
	uint32_t ns_pid;        /* in its own PID namespace; 0: not known, or the same */
	uint64_t pid_namespace; /* inode; 0: not known */
	bool has_anonymous_code;
	bool has_dump;
	bool has_map;
	bool has_methods;            /* a dump of it tells what an interpreter runs */
	uint64_t torn_offset;        /* of its dump */
	uint64_t told_until_ns;      /* of the last record of its dumps; 0: they have no times */
	uint64_t first_code_ns;      /* with keep_code: of all that has a time; 0: nothing has */
	struct address_index loaded; /* what its dumps told of, by where the last one starts */
	VECTOR(struct address_entry) told; /* all that, with what was replaced since */
	/* Between these CLR keeps code, and tells of all methods in it, but not of all stubs; equal
	 * where this is another runtime, or its dump is not whole.
	 */
	uint64_t clr_start_avma;
	uint64_t clr_end_avma;
};

/* Kept for events.h: something was told of a code object. */
struct told_event {
	uint64_t time_ns; /* 0: before the recording */
	uint64_t earliest_ns;
	uint64_t start_avma;
	uint64_t size;
	uint32_t code; /* UNLOADED: what is at start_avma then */
	uint32_t pid;
	uint32_t tid; /* who told it; 0: not known */
	uint8_t kind; /* enum profile_event_kind */
};

struct resolved {
	uint32_t frame;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
};

struct bpf_code;
/* A folder that sources were looked for in. */
struct source_folder {
	uint32_t path; /* string; a slash is its last byte */
	struct os_tree *tree;
};

struct chain_cache;
struct clr;
struct merge_cache;
struct dumped;
struct stacks;
struct walked_cache;
struct frame_cache;
struct place_cache;
struct thread_cache;
struct tally;

struct load {
	struct load_options options;
	struct os_file file;
	struct perfdata *perf;
	struct bundle *bundle; /* NULL: perf's own recording, or it is lost */
	bool has_lost_bundle;
	struct timeline *timeline;
	struct intern strings; /* paths, comms */
	VECTOR(struct object) objects;
	VECTOR(struct source) sources;
	VECTOR(struct code) codes;
	VECTOR(struct interpreted_method) methods; /* where stacks were dumped; by pid, id, time */
	bool has_stacks;                           /* some event's samples carry a piece of stack */
	VECTOR(struct piece) pieces;               /* as far as the options need them */
	VECTOR(uint32_t) first_pieces;             /* by code: its first piece + 1 */
	uint32_t *piece_slots;                     /* by code and start: index + 1 */
	size_t piece_slot_count;                   /* 0: not yet indexed */
	VECTOR(struct told_event) events;          /* where the options ask for them */
	uint64_t untimed_events;                   /* code that was told without a time */
	bool finds_methods;
	struct idmap mapped_sources; /* by process and object: source + 1 */
	struct idmap mapped_pieces;  /* by source and start: piece + 1 */
	VECTOR(struct process) processes;
	VECTOR(struct comm_change) comms;
	VECTOR(struct task_event) tasks; /* in file order; none without a time */
	VECTOR(struct load_note) notes;
	open_files files; /* dumps and maps that lie outside */
	VECTOR(struct marker) markers;
	struct address_index tried_dumps; /* keys of (pid, file name) */
	uint32_t *object_slots;
	size_t object_slot_count;
	struct idmap process_of_pid; /* into processes: index + 1 */
	struct symbol_table
	    *kallsyms; /* the recording's; else those of this machine, if they are the same */
	bool kallsyms_was_read;
	struct symbol_table *running_kallsyms;
	bool running_kallsyms_was_read;
	uint64_t kernel_text_avma; /* of _text when it was recorded; 0: not known */
	struct perfdata_time_conv time_conv;
	bool has_time_conv;
	bool is_arm64;
	bool samples_are_sorted;
	uint64_t last_sample_ns; /* while the sideband is read, in_order alone */
	uint64_t sample_count;
	uint32_t ksymbol_source; /* index into sources; INTERN_NONE: none yet */
	struct bpf_code *bpf;    /* NULL: no programs, or nobody asks for their code */
	uint64_t lost_count;
	struct load_early early;
	struct place_cache *places; /* NULL: nothing was unwound yet */
	VECTOR(struct piece_table) piece_tables;
	struct idmap table_of_piece; /* by piece: index + 1 */
	struct stacks *stacks;       /* NULL: no frames of interpreters were read yet */
	struct clr *clr;             /* NULL: no process of .NET streamed its events */
	struct dumped *dumped;       /* NULL: no stack was copied that may have them */
	bool has_outputs;            /* some event may be theirs */
	size_t events_seen;          /* of those that were asked whether they are */
	struct idmap walk_events;    /* those that had some: 1 */
	/* While samples are walked. */
	struct profile *profile;
	struct chain_cache *chains;
	struct tally *tally;
	struct merge_cache *merge;
	struct walked_cache *walked;
	struct frame_cache *frames;
	struct thread_cache *threads;
	VECTOR(struct code_function) code_functions;
	struct idmap inlined_functions; /* by name (string) and the function around: id + 1 */
	struct address_index kernel_functions;  /* by symbol start + 1 */
	struct address_index unknown_functions; /* by object + 1 */
	uint32_t untold_stub;                   /* id + 1; 0: not yet made */
	VECTOR(uint64_t) frame_load_ns;         /* by frame id: when early code was announced */
	struct origins origins;                 /* of the profile that was filled last */
	VECTOR(struct os_file) source_files;
	struct idmap read_sources; /* by path (string): index into source_files + 1 */
	VECTOR(struct source_folder) source_folders;
	struct arena scratch;
};

/* An executable mapping of a file that may be a jitdump. */
struct marker {
	uint32_t pid;
	uint32_t path; /* string */
	uint64_t time_ns;
};

/* sideband.c: everything but samples, into the tables and the timeline. */
int load_sideband(struct load *load);

/* process.c */
struct process *load_process(struct load *load,
			     uint32_t pid); /* made on first call; NULL: no memory */
struct process *load_process_find(const struct load *load, uint32_t pid);
int load_comm(struct load *load, uint32_t tid, const char *comm, uint64_t time_ns);
void load_comms_sort(struct load *load);
/* The name a thread had then, and until when; string id of load->strings. */
uint32_t load_comm_at(const struct load *load, uint32_t tid, uint64_t time_ns,
		      uint64_t *valid_from_ns, uint64_t *valid_to_ns);
int load_process_facts(struct load *load); /* processes.tsv of the zip */

/* object.c */
uint32_t load_object(struct load *load, const char *path, struct bytes build_id,
		     enum object_kind kind); /* INTERN_NONE: no memory */
/* By which the recording knows the file; empty where it says none. */
struct bytes load_object_build_id(const struct load *load, const struct object *object);
struct symbol_table *load_object_symbols(struct load *load, struct object *object);
/* NULL where the file is not here, is another build, or nobody knows its lines. */
struct debuginfo *load_object_debuginfo(struct load *load, struct object *object);
struct symbol_table *load_kernel_symbols(struct load *load);
/* False where the recording is of another build than the kernel that runs here. */
bool load_is_running_kernel(const struct load *load);
/* Those of the kernel that runs now; NULL where they are hidden. */
struct symbol_table *load_running_kernel_symbols(struct load *load);
/* False where the file is an ELF object without anything behind it, or is not here. */
bool load_object_may_have_methods(struct load *load, struct object *object);
bool load_vdso(struct load *load, struct bytes *image);
/* The object's separate debug file if it has a .debug_frame, else empty; open as long as the load.
 */
struct bytes load_debug_frame_file(struct load *load, const char *path, struct bytes image);
int load_build_ids(struct load *load);

/* source.c */
/* Of code that a process made at run time; the rest is the caller's to fill. NULL: no memory. */
struct source *load_add_source(struct load *load, uint32_t pid, uint32_t *id);
/* From the process's program and the names of the codes from `first_code` on. */
void load_guess_runtime(struct load *load, uint32_t source, size_t first_code,
			const struct name_evidence *evidence);

/* dumps.c, maps.c: after the sideband. */
int load_dumps(struct load *load);
int load_maps(struct load *load);
/* The name of a perf map or dump tells a pid: perf-123.map, jit-123.dump; 0: it does not. */
uint32_t load_pid_of_name(const char *path, const char *prefix, const char *suffix);
/* What follows "process/PID/" in a bundle member's name, or NULL. */
const char *load_member_of_process(const char *name, uint32_t *pid);
/* Splits "PID=FILE"; *pid 0 where there is only a file. */
const char *load_split_option(const char *text, uint32_t *pid);
/* Opens with care and keeps the file until the load is closed. */
int load_keep_file(struct load *load, const char *path, bool untrusted, struct bytes *bytes);
/* "DIR/name", DIR being the recording's, in load->scratch; NULL without memory. */
const char *load_beside(struct load *load, const char *name);

/* resolve.c: what is at an address, as a frame of load->profile. */
struct address {
	uint32_t pid;
	uint32_t space;
	uint64_t avma;
	uint64_t time_ns;
	bool is_kernel;
	bool is_return; /* a return address: looked up one byte before */
	/* A word of interpreted.h: what the interpreter ran whose code this is; 0: not known. */
	uint64_t interpreted;
};
int load_resolve(struct load *load, const struct address *address, struct resolved *resolved);
/* Adds a frame; `early_load_ns` is when its code was announced, if that was too late. Returns 0 or
 * STATUS_NO_MEMORY, also where `made` has no function for lack of memory.
 */
int load_put_frame(struct load *load, const struct profile_frame *made, uint64_t early_load_ns,
		   uint32_t *id);
/* Who speaks for an address of user space. */
enum speaker {
	SPEAKER_NONE,
	SPEAKER_CODE,    /* hit is the code */
	SPEAKER_MAPPING, /* hit is the mapping */
};
struct decision {
	enum speaker speaker;
	struct timeline_hit hit;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
};
void load_decide(struct load *load, const struct address *address, struct decision *decision);
/* The symbol of a mapped file at an address, and the address as linked; false where the mapping
 * that `hit` is has none there.
 */
bool load_symbol_at(struct load *load, const struct address *address,
		    const struct timeline_hit *hit, struct symbol *symbol, uint64_t *svma);
void load_frames_free(struct load *load);

/* unwind_place.c */
void load_places_free(struct load *load);

/* unwind.c: load_unwound() of code.h, with what a report wants to know besides. */
struct unwound {
	uint64_t *avmas; /* room for `limit`, innermost first */
	uint64_t *words; /* beside each the word of interpreted.h about its frame, or 0; NULL: no */
	size_t limit;
	enum profile_end end;
};
/* Returns how many there are. */
size_t load_unwound_words(struct load *load, const struct perfdata_sample *sample,
			  struct unwound *unwound);

/* chain.c: a sample's callchain, as a stack of load->profile. */
int load_chain(struct load *load, const struct perfdata_sample *sample, uint32_t space,
	       uint32_t *stack);
void load_chains_free(struct load *load);

/* samples.c: around a walk over the samples, which fills the profile. The end returns `result`, or
 * STATUS_NO_MEMORY.
 */
int load_walk_begin(struct load *load, struct profile *profile);
int load_walk_end(struct load *load, int result);

/* By how much the stack's leaf, which is early, was announced after `time_ns`. */
void load_count_early(struct load *load, uint32_t stack, uint64_t time_ns);

/* piece.c: keeps what the options need of it. */
int load_keep_piece(struct load *load, const struct piece *piece);
/* The first piece of a code that is kept, or NULL. */
const struct piece *load_first_piece(const struct load *load, uint32_t code);
/* The piece of a code at a place: index + 1, 0 where none is kept. */
uint32_t load_find_piece(struct load *load, uint32_t code, uint64_t start_avma);
/* As if it had been told; after those that were. */
int load_add_piece(struct load *load, const struct piece *piece);
/* Keeps a reader over a dump, for the pieces of the source. */
int load_keep_reader(struct load *load, uint32_t source, struct bytes dump);

/* mapped_code.c: *piece is index + 1 of the method's there; 0: there is none, or it is not wanted.
 * Returns 0 or STATUS_NO_MEMORY.
 */
int load_mapped_piece(struct load *load, const struct address *address,
		      const struct timeline_hit *mapping, uint32_t *piece);

/* source_text.c */
void load_sources_close(struct load *load);

/* events.c: both do nothing where nobody asks for events. */
/* Code that came or moved, as the timeline is told. Returns 0 or STATUS_NO_MEMORY. */
int load_keep_event(struct load *load, const struct told_event *what);
void load_count_untimed(struct load *load);

/* note.c */
void load_add_note(struct load *load, bool is_warning, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
