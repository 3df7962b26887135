/* capture.h - files of tests/data/captures as heap copies of exact size, unpacked.
 *
 *   struct bytes dump = capture_read("captures/lli14-mcjit/jit-7494.dump");
 *   capture_free(dump);
 *
 * A name that ends in ".xz" is decompressed (link PkgConfig::LZMA). Any failure
 * fails the test.
 */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "test.h"

#include "base/bytes.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

static inline struct bytes capture_read_plain(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
	FILE *in = fopen(path, "rbe");
	if (!in)
		fail_msg("cannot open %s", path);
	fseek(in, 0, SEEK_END);
	const long size = ftell(in);
	rewind(in);
	assert_true(size >= 0);
	uint8_t *data = malloc(size ? (size_t)size : 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, in), (size_t)size);
	fclose(in);
	return (struct bytes){ .data = data, .size = (size_t)size };
}

static inline void capture_free(struct bytes copy)
{
	free((void *)(uintptr_t)copy.data);
}

static inline struct bytes capture_unpack(struct bytes packed)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	assert_int_equal(lzma_stream_decoder(&stream, UINT64_MAX, 0), LZMA_OK);
	stream.next_in = packed.data;
	stream.avail_in = packed.size;
	uint8_t *data = NULL;
	size_t room = packed.size + 4096;
	lzma_ret got = LZMA_OK;
	while (got == LZMA_OK) {
		room *= 2;
		data = realloc(data, room);
		assert_non_null(data);
		stream.next_out = data + stream.total_out;
		stream.avail_out = room - stream.total_out;
		got = lzma_code(&stream, LZMA_FINISH);
	}
	assert_int_equal(got, LZMA_STREAM_END);
	const size_t size = stream.total_out;
	lzma_end(&stream);
	data = realloc(data, size ? size : 1);
	assert_non_null(data);
	return (struct bytes){ .data = data, .size = size };
}

static inline struct bytes capture_read(const char *name)
{
	const struct bytes file = capture_read_plain(name);
	const size_t length = strlen(name);
	if (length < 3 || strcmp(name + length - 3, ".xz") != 0)
		return file;
	const struct bytes unpacked = capture_unpack(file);
	capture_free(file);
	return unpacked;
}

#endif
