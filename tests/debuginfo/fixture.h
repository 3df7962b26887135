/* fixture.h - the objects made of tests/data/debuginfo/small.c, and what is true of their code. */
#ifndef TESTS_DEBUGINFO_FIXTURE_H
#define TESTS_DEBUGINFO_FIXTURE_H

#include "symbol/memory_files.h"
#include "symbol/symbol_files.h"
#include "test.h"

#define DATA TEST_DATA "/debuginfo/"
#define CORPUS TEST_DATA "/../../fuzz/corpus/debuginfo/"

/* Where the code of all of them lies. */
enum { CODE_START = 0x200, CODE_END = 0x1000 };

static inline struct bytes fixture(const char *path)
{
	struct bytes bytes = { 0 };
	if (!disk_open(NULL, path, &bytes))
		fail_msg("%s cannot be opened", path);
	return bytes;
}

#endif
