/* fixture.h - files that tests of assemblies read. */
#ifndef TESTS_CLR_FIXTURE_H
#define TESTS_CLR_FIXTURE_H

#include "base/bytes.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

/* shapes.cs, compiled: see README.md here. */
#define SHAPES TEST_DATA "/../../fuzz/corpus/clr_image/ready-to-run"
#define SHAPES_IL TEST_DATA "/../../fuzz/corpus/clr_image/il-only"

/* Freed by the caller; of exact size, so that sanitizers see what is read behind it. */
static inline struct bytes read_fixture(const char *path)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	const long size = ftell(file);
	rewind(file);
	uint8_t *data = malloc((size_t)size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, file), (size_t)size);
	fclose(file);
	return (struct bytes){ data, (size_t)size };
}

static inline void free_fixture(struct bytes file)
{
	free((void *)file.data);
}

#endif
