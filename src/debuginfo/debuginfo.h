/* debuginfo.h - source lines and inlined functions of an ELF object, by address.
 *
 *   struct symbol_files files = { .context = c, .open = open_file, .close = close_file };
 *   struct debuginfo *info;
 *   int got = debuginfo_open(&info, &files, "/usr/bin/node", build_id);
 *   struct debuginfo_place place;
 *   if (debuginfo_find(info, svma, &place))
 *           ...
 *   debuginfo_close(info);
 *
 * DWARF 2 to 5 through libdw: in the object itself, or in its separate debug file (by build
 * id, .gnu_debuglink, a debuginfod server), split (.dwo) and compressed sections included. A
 * unit is turned into tables at the first address that is asked for in it, so that a look-up is
 * a few binary searches. The files of `files` stay open until debuginfo_close(). One thread.
 */
#ifndef DEBUGINFO_DEBUGINFO_H
#define DEBUGINFO_DEBUGINFO_H

#include "symbol/symbol.h"

struct debuginfo;

enum { DEBUGINFO_SCOPES = 64 };

/* A function whose code was inlined at the address. Texts live as long as the debuginfo. */
struct debuginfo_scope {
	/* As the linker would know it: mangled. Where that is not told, as it was declared, behind
	 * the namespaces and types that it is in. "" where it has none.
	 */
	const char *name;
	const char *call_file; /* of the call, in the scope around; "" where not known */
	uint32_t call_line;    /* from 1; 0: not known */
	uint32_t call_column;  /* from 1; 0: not known */
};

struct debuginfo_place {
	const char *file; /* of the innermost scope, an absolute path where that is known; "" */
	uint32_t line;    /* from 1; 0: not known */
	uint32_t column;  /* from 1; 0: not known */
	uint32_t scope_count;
	struct debuginfo_scope scopes[DEBUGINFO_SCOPES]; /* outermost first */
	/* The answer holds for all these addresses. */
	uint64_t start_svma;
	uint64_t end_svma;
};

/* Returns 0 with *info to be closed; STATUS_NOT_FOUND where the object is not there, is another
 * build, or has no debug information; or another negative status.
 */
int debuginfo_open(struct debuginfo **info, const struct symbol_files *files, const char *path,
		   struct bytes build_id);
void debuginfo_close(struct debuginfo *info);

/* False where nothing is known of the address. */
bool debuginfo_find(struct debuginfo *info, uint64_t svma, struct debuginfo_place *place);

#endif
