/* clr_event.h - what events of a .NET runtime say of methods and modules.
 *
 * Names are UTF-16 in the file; clr_text_put() writes them as UTF-8, a lone surrogate as U+FFFD.
 * Source: src/coreclr/vm/ClrEtwAll.man of dotnet/runtime.
 */
#ifndef NETTRACE_CLR_EVENT_H
#define NETTRACE_CLR_EVENT_H

#include "base/sink.h"
#include "format/nettrace/nettrace.h"

enum clr_event_kind {
	CLR_EVENT_OTHER,
	CLR_EVENT_METHOD,   /* MethodLoadVerbose, MethodDCEndVerbose, and without a name */
	CLR_EVENT_UNLOAD,   /* MethodUnload(Verbose) */
	CLR_EVENT_IL_MAP,   /* MethodILToNativeMap, MethodDCEndILToNativeMap */
	CLR_EVENT_RICH_MAP, /* JittedMethodRichDebugInfo: with inlined methods */
	CLR_EVENT_MODULE,   /* ModuleLoad, ModuleDCEnd: path and PDB of a module */
};

/* UTF-16, little-endian, without its NUL; borrowed. */
struct clr_text {
	struct bytes units;
};

void clr_text_put(struct clr_text text, struct sink *out);

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

struct clr_event_rich_map {
	uint64_t method_id;
	uint64_t rejit_id;
	uint32_t inline_count;
	uint32_t mapping_count;
	struct bytes inlines;  /* for clr_rich_inline() */
	struct bytes mappings; /* for clr_rich_mapping() */
};

/* Node 0 is the method itself. */
struct clr_rich_inline {
	uint64_t method_id;
	uint32_t il_off; /* in the caller's IL, where it was called */
	uint32_t child;  /* index of its first callee, 0: none */
	uint32_t sibling;
};

struct clr_rich_mapping {
	uint32_t native_off;
	uint32_t inlinee; /* index of the node */
	int32_t il_off;
	uint32_t source; /* flags: call site, stack empty, ... as in the event */
};

/* False past the end. */
bool clr_rich_inline(const struct clr_event_rich_map *map, uint32_t index,
		     struct clr_rich_inline *made);
bool clr_rich_mapping(const struct clr_event_rich_map *map, uint32_t index,
		      struct clr_rich_mapping *made);

struct clr_event_module {
	uint64_t module_id;
	struct clr_text il_path;
	struct clr_text native_path;
	struct clr_text pdb_path;
	uint8_t pdb_guid[16];
	uint32_t pdb_age;
};

struct clr_event {
	enum clr_event_kind kind;
	bool is_rundown; /* was there at the end: the event's time is not its own */
	union {
		struct clr_event_method method; /* CLR_EVENT_UNLOAD too */
		struct clr_event_il_map il_map;
		struct clr_event_rich_map rich_map;
		struct clr_event_module module;
	};
};

/* Returns 0 (also with CLR_EVENT_OTHER), or STATUS_CORRUPT where the payload is too short. */
int clr_event_read(const struct nettrace_event *event, uint32_t pointer_size,
		   struct clr_event *what);

#endif
