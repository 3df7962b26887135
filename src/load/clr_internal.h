/* clr_internal.h - what the files clr_*.c of load/ share. Not for others. */
#ifndef LOAD_CLR_INTERNAL_H
#define LOAD_CLR_INTERNAL_H

#include "clr/build_id.h"
#include "clr/image.h"
#include "clr/pdb.h"
#include "format/nettrace/clr_event.h"
#include "load/clr.h"

/* Code of a method. Texts are borrowed from the stream. */
struct clr_code {
	uint64_t start_avma;
	uint64_t size;
	uint64_t time_ns; /* 0: it was there before, nobody says since when */
	uint64_t method_id;
	uint64_t version_id; /* tells the compilations of one method apart */
	uint64_t module_id;
	uint32_t token; /* 0: made at run time, without metadata */
	bool is_jitted;
	bool is_helper; /* of the runtime: a stub */
	const char *tier;
	struct clr_text owner;
	struct clr_text name;
	struct clr_text signature;
};

/* Which IL the instructions of one compilation are of. */
struct clr_map {
	uint64_t method_id;
	uint64_t version_id;
	uint64_t time_ns;
	bool is_rich;
	union {
		struct clr_event_il_map il;
		struct clr_event_rich_map rich;
	};
};

struct clr_module {
	uint64_t id;
	struct clr_text il_path;
	struct clr_text native_path;
	struct clr_text pdb_path;
	uint8_t pdb_guid[16];
	uint64_t time_ns;
	bool is_dynamic;
	uint32_t assembly; /* index + 1, at the first need */
};

/* A method that may only ever be inlined, and a type: which metadata they are of. */
struct clr_detail {
	uint64_t method_id;
	uint64_t type_id;
	uint64_t time_ns;
	uint32_t token;
};

struct clr_type_place {
	uint64_t type_id;
	uint64_t module_id;
	uint64_t time_ns;
};

/* A runtime tells its dump and its stream of one piece of code not further apart than this. */
static const uint64_t CLR_APART_NS = UINT64_C(20000000);

/* What is found by an id, and by a time. Ids are addresses, of code or of the runtime's own things:
 * another method or module may have one when the first was unloaded. Sorted by id, those of one id
 * by time.
 */
struct clr_id {
	uint64_t id;
	uint64_t time_ns;
	uint32_t index;
};

struct clr_ids {
	VECTOR(struct clr_id) items;
};

/* Somebody said that code is gone. */
struct clr_end {
	uint64_t start_avma;
	uint64_t time_ns;
	uint64_t method_id;
};

struct clr_process {
	uint32_t pid;
	bool is_timed;
	uint64_t last_ns; /* of the last event */
	VECTOR(struct clr_code) codes;
	VECTOR(struct clr_map) maps;
	VECTOR(struct clr_module) modules;
	VECTOR(struct clr_end) ends;
	VECTOR(struct clr_detail) details;
	VECTOR(struct clr_type_place) types;
	/* Made by clr_seal(). */
	struct clr_ids code_of_start;  /* by address */
	struct clr_ids map_of_version; /* by hash of method and version */
	struct clr_ids code_of_method;
	struct clr_ids detail_of_method;
	struct clr_ids module_of_id;
	struct clr_ids type_of_id;
	struct idmap names; /* by what told of the method: string of load->strings + 1 */
};

/* An assembly's file and its lines; either may be missing. */
struct clr_assembly {
	uint32_t path; /* string */
	uint8_t pdb_guid[16];
	bool has_pdb_guid;
	struct bytes file;
	uint8_t build_id[CLR_BUILD_ID_SIZE]; /* of the file, before the first need too */
	bool has_build_id;
	struct clr_image *image;
	struct clr_pdb *pdb;
	struct idmap documents; /* by number: string of load->strings + 1 */
};

/* What was made for one piece. */
struct clr_made {
	uint64_t code_avma;
	uint32_t line_count;
	uint32_t scope_count;
	struct bytes lines;
	struct bytes scopes;
	struct bytes strings;
};

/* A source text that symbols hold. */
struct clr_source {
	struct bytes text; /* in load->scratch */
	const char *found;
};

struct clr {
	VECTOR(struct clr_process) processes;
	VECTOR(struct clr_assembly) assemblies;
	VECTOR(struct clr_made) made;
	struct idmap made_of_piece; /* index + 1 */
	VECTOR(struct clr_source) sources;
	struct idmap source_of_path; /* by string of load->strings: index + 1 */
};

/* clr_tables.c */
struct clr *clr_of(struct load *load); /* at the first call; NULL: no memory */
/* What is known of a process; pointers are good until the next one is made. */
struct clr_process *clr_process_made(struct load *load, uint32_t pid); /* NULL: no memory */
struct clr_process *clr_process_find(const struct load *load, uint32_t pid);
int clr_seal(struct clr_process *process);
/* The code that starts there and was there then; NULL: none. */
const struct clr_code *clr_code_at(const struct clr_process *process, uint64_t start_avma,
				   uint64_t time_ns);
/* The best map that is known of the code; NULL: none. */
const struct clr_map *clr_map_of(const struct clr_process *process, const struct clr_code *code);
/* The same, of those that know nothing of inlined calls. */
const struct clr_map *clr_il_map_of(const struct clr_process *process, const struct clr_code *code);
/* What had an id at a time; 0: at the end of the stream. NULL: nobody told of it. */
struct clr_module *clr_module_of(const struct clr_process *process, uint64_t module_id,
				 uint64_t time_ns);
const struct clr_code *clr_code_of_method(const struct clr_process *process, uint64_t method_id,
					  uint64_t time_ns);
const struct clr_detail *clr_detail_of_method(const struct clr_process *process, uint64_t method_id,
					      uint64_t time_ns);

/* A method of which only the id is known. */
struct clr_method_place {
	uint64_t module_id;
	uint32_t token;   /* 0: none is known */
	uint64_t time_ns; /* at which the ids are meant */
};
struct clr_method_place clr_place_of_method(const struct clr_process *process, uint64_t method_id,
					    uint64_t time_ns);

/* clr_name.c: appends the method as the runtime writes it into its dumps. */
void clr_spell(const struct clr_process *process, const struct clr_code *code, bool with_tier,
	       struct sink *name);
/* The name of a method by its id alone, without a tier: string of load->strings; 0: not known. */
uint32_t clr_name_of(struct load *load, struct clr_process *process, uint64_t method_id,
		     uint64_t time_ns);

/* clr_files.c. NULL where nothing is known of the module's file. Good until the next call. */
struct clr_assembly *clr_assembly_of(struct load *load, struct clr_process *process,
				     uint64_t module_id, uint64_t time_ns);
struct clr_assembly *clr_assembly_at(struct load *load, const char *path);
/* The assembly that a method's token and lines are of: itself, or a component of a composite image.
 */
struct clr_assembly *clr_assembly_of_method(struct load *load, struct clr_assembly *image,
					    const struct clr_method *method);
/* The assembly of that name beside a composite image. */
struct clr_assembly *clr_component(struct load *load, const struct clr_assembly *image,
				   struct bytes name);
void clr_assemblies_close(struct clr *clr);

/* The IL that a place counts for, which is not CLR_IL_NONE. */
static inline uint32_t clr_il_of(int32_t il_off)
{
	enum { LAST_IL = 0x7fffffff };
	if (il_off == CLR_IL_PROLOG)
		return 0;
	return il_off == CLR_IL_EPILOG ? LAST_IL : (uint32_t)il_off;
}

struct clr_source_line {
	uint32_t file; /* string of load->strings */
	uint32_t line;
	uint32_t column;
};
/* False where the compiler told none. */
bool clr_source_line(struct load *load, struct clr_assembly *assembly, uint32_t token,
		     uint32_t il_off, struct clr_source_line *line);

/* clr_lines.c works on this: one piece of code, and what becomes of it. */
struct clr_work {
	struct load *load;
	struct clr_process *process;   /* NULL: there is no stream */
	struct clr_assembly *assembly; /* without a stream: whose code it is */
	const struct clr_code *code;   /* NULL: no event tells of it */
	uint64_t code_avma;
	uint64_t size;
	struct sink lines;
	uint32_t line_count;
	uint32_t last_file;
	uint32_t last_line;
	uint32_t last_column;
	struct sink scopes;
	uint32_t scope_count;
	struct sink strings;
	struct idmap string_at; /* by string of load->strings: offset + 1 */
};

/* A place in IL, and where in the native code it begins. */
struct clr_spot {
	uint32_t native_off;
	int32_t il_off;
	uint32_t order; /* of equal native_off the last one stands */
	uint32_t node;  /* of the inline tree */
};
void clr_put_line(struct clr_work *work, uint32_t native_off, const struct clr_source_line *line);
/* The line of a spot in the method that `place` is. */
void clr_put_spot(struct clr_work *work, const struct clr_spot *spot,
		  struct clr_method_place place);
void clr_sort_spots(struct clr_spot *spots, size_t count);

/* clr_rich.c: lines and scopes of a map that tells of inlined calls. */
int clr_make_rich(struct clr_work *work, const struct clr_event_rich_map *map);

#endif
