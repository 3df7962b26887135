/* python_tables.h - where each version of CPython keeps what the walk reads.
 *
 * Made from offsetof() over the headers of the release that is named with each table
 * (Include/, Include/internal/), on x86-64. tests/interp/ holds them against the headers
 * of all versions that are installed.
 */
#ifndef INTERP_PYTHON_TABLES_H
#define INTERP_PYTHON_TABLES_H

#include "bpf/abi.h"

#include <stddef.h>

/* A word of _Py_DebugOffsets and what it must be. */
struct python_check {
	uint16_t word;
	uint16_t value;
};

enum { PYTHON_DEBUG_BYTES = 81 * 8 };

struct python_version {
	unsigned minor;
	/* sizeof(_PyRuntimeState) of versions that are known by it; 0: by Py_Version */
	uint16_t runtime_bytes;
	/* In the runtime's state: the pthread key, and who holds the lock (0: not asked). */
	uint16_t key_off;
	uint16_t holder_off;
	const struct python_check *checks;
	size_t check_count;
	struct walk_python layout; /* addresses are 0 */
};

extern const struct python_version python_versions[];
extern const size_t python_version_count;

#endif
