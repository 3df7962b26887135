/* clr_event.h - what events of a .NET runtime say of methods and modules.
 *
 *   struct clr_rich_join join = { 0 };
 *   struct clr_event what;
 *   while (nettrace_next(reader, &event) > 0) {
 *           if (clr_event_read(&event, pointer_size, &what) < 0 ||
 *               clr_rich_join_add(&join, &what) < 0)
 *                   continue;
 *           switch (what.kind)
 *           case CLR_EVENT_METHOD: ...
 *   }
 *   clr_rich_join_clear(&join);
 *
 * How they belong together: a map is of the code whose method_id and rejit_id it has; a method is
 * of the module whose module_id it has. An inlined method is known by its id alone: METHOD_DETAILS
 * gives its token, and the type that has it; TYPES gives that type's module.
 * docs/formats/nettrace.md says which keywords bring which events.
 *
 * Names are UTF-16 in the file; clr_text_put() writes them as UTF-8, a lone surrogate as U+FFFD.
 * Everything is borrowed from the event's payload.
 * Source: src/coreclr/vm/ClrEtwAll.man and
 * eventtrace.cpp of dotnet/runtime.
 */
#ifndef FORMAT_NETTRACE_CLR_EVENT_H
#define FORMAT_NETTRACE_CLR_EVENT_H

#include "base/sink.h"
#include "base/vector.h"
#include "format/nettrace/nettrace.h"

enum clr_event_kind {
	CLR_EVENT_OTHER,
	CLR_EVENT_METHOD,         /* MethodLoadVerbose, MethodDCEndVerbose, and without a name */
	CLR_EVENT_UNLOAD,         /* MethodUnload(Verbose) */
	CLR_EVENT_IL_MAP,         /* MethodILToNativeMap, MethodDCEndILToNativeMap */
	CLR_EVENT_RICH_MAP,       /* JittedMethodRichDebugInfo: with inlined methods */
	CLR_EVENT_RICH_PART,      /* a piece of one too large for an event: clr_rich_join_add() */
	CLR_EVENT_MODULE,         /* ModuleLoad, ModuleDCEnd: path and PDB of a module */
	CLR_EVENT_METHOD_DETAILS, /* MethodDetails: of jitted and of inlined methods */
	CLR_EVENT_TYPES,          /* BulkType: of which module types are */
};

/* UTF-16, little-endian, without its NUL; borrowed. */
struct clr_text {
	struct bytes units;
};

void clr_text_put(struct clr_text text, struct sink *out);

/* In flags, beside what the booleans and the tier are taken from. */
enum {
	CLR_METHOD_SHARED = 0x4,  /* one code for several instantiations */
	CLR_METHOD_HELPER = 0x10, /* a helper or stub of the runtime: method_id is its address */
	CLR_METHOD_COLD = 0x10000000,
};

struct clr_event_method {
	uint64_t method_id;
	uint64_t module_id;
	uint64_t start_avma;
	uint32_t size;
	uint32_t token;   /* 0x06......, or 0 for dynamic methods */
	uint32_t flags;   /* as in the event */
	const char *tier; /* "PreJIT", "QuickJitted", ... as in jitdumps, or "" */
	uint64_t rejit_id;
	struct clr_text owner; /* namespace and type */
	struct clr_text name;
	struct clr_text signature; /* "void  (int32)" */
	bool is_dynamic;
	bool is_generic;
	bool is_jitted;
};

/* Native offsets ascend as the JIT wrote them, which is not promised. */
struct clr_event_il_map {
	uint64_t method_id;
	uint64_t rejit_id;
	uint64_t il_version;
	uint32_t count;
	struct bytes il_offs; /* count of int32: an IL offset, or -1 none, -2 prolog, -3 epilog */
	struct bytes native_offs; /* count of uint32 */
};

/* False past the end. */
bool clr_il_map_entry(const struct clr_event_il_map *map, uint32_t index, int32_t *il_off,
		      uint32_t *native_off);

struct clr_event_rich_map {
	uint64_t method_id;
	uint64_t rejit_id;
	uint32_t inline_count;
	uint32_t mapping_count;
	struct bytes inlines;  /* for clr_rich_inline() */
	struct bytes mappings; /* for clr_rich_mapping() */
	uint32_t pointer_size;
};

/* Node 0 is the method itself. The others are in no order; damaged ones may be their own callees:
 * clr_rich_parents() makes sense of them.
 */
struct clr_rich_inline {
	uint64_t method_id;
	uint32_t il_off; /* in the caller's IL, by intent: .NET 8 to 10 leave garbage in it */
	uint32_t child;  /* index of its first callee, 0: none */
	uint32_t sibling;
};

/* What clr_rich_mapping.source consists of; 0: a place of the code, for no reason told. */
enum {
	CLR_RICH_SEQUENCE_POINT = 0x1,
	CLR_RICH_STACK_EMPTY = 0x2,
	CLR_RICH_CALL_SITE = 0x4,
	CLR_RICH_NATIVE_END_UNKNOWN = 0x8,
	CLR_RICH_CALL = 0x10, /* a call instruction's own address */
};

struct clr_rich_mapping {
	uint32_t native_off;
	uint32_t inlinee; /* index of the node */
	int32_t il_off;   /* in the inlinee's IL; -1, -2, -3 as in IL maps */
	uint32_t source;  /* flags: call site, stack empty, ... as in the event */
};

/* False past the end. */
bool clr_rich_inline(const struct clr_event_rich_map *map, uint32_t index,
		     struct clr_rich_inline *made);
bool clr_rich_mapping(const struct clr_event_rich_map *map, uint32_t index,
		      struct clr_rich_mapping *made);

/* By node the one that it was inlined into: `parents` has room for inline_count. UINT32_MAX for
 * node 0 and for those that do not hang together with it, so every chain ends.
 */
void clr_rich_parents(const struct clr_event_rich_map *map, uint32_t *parents);

struct clr_event_rich_part {
	uint64_t method_id;
	uint64_t rejit_id;
	uint32_t pointer_size;
	uint32_t index; /* of the part, from 0 */
	bool is_last;
	struct bytes data;
};

struct clr_rich_pending {
	uint64_t method_id;
	uint64_t rejit_id;
	uint32_t next_index;
	struct sink data;
};

/* Zero-initialise to use. One thread. */
struct clr_rich_join {
	VECTOR(struct clr_rich_pending) pending;
	struct sink joined; /* of the map that was given last */
};

struct clr_event_module {
	uint64_t module_id;
	struct clr_text il_path; /* of a dynamic module its name */
	struct clr_text native_path;
	struct clr_text pdb_path;
	uint8_t pdb_guid[16]; /* as its bytes lie in the PE file and the PDB; zeros: none */
	uint32_t pdb_age;
	uint64_t assembly_id;
	uint32_t flags;
	bool is_dynamic;
	bool is_ready_to_run;
	bool is_unload;
};

/* Of a generic type the module of its definition, wherever its arguments come from. */
struct clr_event_method_details {
	uint64_t method_id;
	uint64_t type_id;
	uint64_t loader_module_id; /* the module itself where nothing is generic */
	uint32_t token;
	uint32_t argument_count;
	struct bytes arguments; /* count of uint64: ids of types */
};

struct clr_event_types {
	uint32_t count;
	struct bytes items; /* for clr_type_next() */
};

struct clr_type {
	uint64_t type_id;
	uint64_t module_id;
	uint32_t token; /* 0x02...... */
	uint32_t flags;
	struct clr_text name; /* mostly empty */
	uint32_t argument_count;
	struct bytes arguments; /* count of uint64: ids of types */
};

struct clr_event {
	enum clr_event_kind kind;
	bool is_rundown; /* was there at the end: the event's time is not its own */
	union {
		struct clr_event_method method; /* CLR_EVENT_UNLOAD too */
		struct clr_event_il_map il_map;
		struct clr_event_rich_map rich_map;
		struct clr_event_rich_part rich_part;
		struct clr_event_module module;
		struct clr_event_method_details details;
		struct clr_event_types types;
	};
};

/* Returns 0 (also with CLR_EVENT_OTHER), or STATUS_CORRUPT where the payload is too short. */
int clr_event_read(const struct nettrace_event *event, uint32_t pointer_size,
		   struct clr_event *what);

/* Keeps parts until their map is whole; then `what` becomes a CLR_EVENT_RICH_MAP, good until the
 * next call. Events of other kinds are left as they are. Returns 0 or STATUS_NO_MEMORY.
 */
int clr_rich_join_add(struct clr_rich_join *join, struct clr_event *what);
void clr_rich_join_clear(struct clr_rich_join *join);

/* Takes the next type off the event; false at the end. */
bool clr_type_next(struct clr_event_types *types, struct clr_type *made);

#endif
