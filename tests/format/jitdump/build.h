/* build.h - makes jitdump bytes for tests, in either byte order.
 *
 *   struct build b = { .swap = true };
 *   build_header(&b, 40);
 *   build_load(&b, TIME, 0x7f0000001000, "alpha", 32);
 *   struct bytes dump = build_copy(&b);         exactly as large as its contents
 *   free((void *)dump.data);
 */
#ifndef TESTS_FORMAT_JITDUMP_BUILD_H
#define TESTS_FORMAT_JITDUMP_BUILD_H

#include "test.h"

#include "base/sink.h"
#include "format/jitdump/reader.h"

#include <stdio.h>
#include <stdlib.h>

#define BUILD_TIME UINT64_C(1157587810234) /* ns after boot */

struct build {
	struct sink out;
	bool swap;
};

static inline void build_u32(struct build *b, uint32_t value)
{
	sink_u32(&b->out, b->swap ? __builtin_bswap32(value) : value);
}

static inline void build_u64(struct build *b, uint64_t value)
{
	sink_u64(&b->out, b->swap ? __builtin_bswap64(value) : value);
}

static inline void build_header(struct build *b, uint32_t header_size)
{
	build_u32(b, JITDUMP_MAGIC);
	build_u32(b, JITDUMP_VERSION);
	build_u32(b, header_size);
	build_u32(b, 62);
	build_u32(b, 0);
	build_u32(b, 4711);
	build_u64(b, BUILD_TIME - 1000);
	build_u64(b, 0);
	if (header_size > JITDUMP_HEADER_SIZE)
		sink_zeros(&b->out, header_size - JITDUMP_HEADER_SIZE);
}

static inline void build_prefix(struct build *b, uint32_t id, size_t total_size, uint64_t time)
{
	build_u32(b, id);
	build_u32(b, (uint32_t)total_size);
	build_u64(b, time);
}

struct build_load {
	uint64_t time;
	uint64_t vma;
	uint64_t code_avma;
	const char *name;
	uint64_t code_size;
	bool is_without_code;
};

static inline void build_load_full(struct build *b, const struct build_load *load)
{
	const size_t there = load->is_without_code ? 0 : (size_t)load->code_size;
	build_prefix(b, JITDUMP_CODE_LOAD, 56 + strlen(load->name) + 1 + there, load->time);
	build_u32(b, 4711);
	build_u32(b, 4712);
	build_u64(b, load->vma);
	build_u64(b, load->code_avma);
	build_u64(b, load->code_size);
	build_u64(b, b->out.size);
	sink_cstr(&b->out, load->name);
	for (size_t i = 0; i < there; i++)
		sink_u8(&b->out, (uint8_t)(0x90 + i % 7));
}

static inline void build_load(struct build *b, uint64_t time, uint64_t avma, const char *name,
			      uint64_t code_size)
{
	const struct build_load load = {
		.time = time,
		.vma = avma,
		.code_avma = avma,
		.name = name,
		.code_size = code_size,
	};
	build_load_full(b, &load);
}

static inline void build_move(struct build *b, uint64_t time, uint64_t old_avma, uint64_t new_avma)
{
	build_prefix(b, JITDUMP_CODE_MOVE, 64, time);
	build_u32(b, 4711);
	build_u32(b, 4712);
	build_u64(b, new_avma);
	build_u64(b, old_avma);
	build_u64(b, new_avma);
	build_u64(b, 32);
	build_u64(b, 1);
}

struct build_line {
	uint64_t off; /* from the code's start; wraps for entries before it */
	uint32_t line;
	const char *file;
};

/* The NULL file ends the lines. */
static inline void build_debug(struct build *b, uint64_t time, uint64_t avma,
			       const struct build_line *lines)
{
	size_t size = 32;
	size_t count = 0;
	for (const struct build_line *line = lines; line->file; line++, count++)
		size += 16 + strlen(line->file) + 1;
	build_prefix(b, JITDUMP_DEBUG_INFO, size, time);
	build_u64(b, avma);
	build_u64(b, count);
	for (const struct build_line *line = lines; line->file; line++) {
		build_u64(b, avma + line->off);
		build_u32(b, line->line);
		build_u32(b, 3);
		sink_cstr(&b->out, line->file);
	}
}

/* CPython's shape: 68 bytes, padded to a multiple of eight. */
static inline void build_unwinding(struct build *b, uint64_t time)
{
	build_prefix(b, JITDUMP_UNWINDING_INFO, 112, time);
	build_u64(b, 68);
	build_u64(b, 20);
	build_u64(b, 80);
	for (int i = 0; i < 68; i++)
		sink_u8(&b->out, (uint8_t)(i * 37));
	sink_zeros(&b->out, 4);
}

static inline void build_close(struct build *b, uint64_t time)
{
	build_prefix(b, JITDUMP_CLOSE, 16, time);
}

/* A heap copy without a byte to spare, so that ASan guards its end. Frees the sink. */
static inline struct bytes build_copy(struct build *b)
{
	assert_false(sink_failed(&b->out));
	const size_t size = b->out.size;
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, b->out.data, size);
	sink_clear(&b->out);
	return (struct bytes){ .data = copy, .size = size };
}

static inline struct bytes build_part(struct bytes whole, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, whole.data, size);
	return (struct bytes){ .data = copy, .size = size };
}

static inline void build_free(struct bytes copy)
{
	free((void *)(uintptr_t)copy.data);
}

/* One record of each kind, and one of a newer kind. */
static inline struct bytes build_all_kinds(bool swap)
{
	static const struct build_line lines[] = {
		{ 0, 10, "a.js" },
		{ 8, 11, "\xff" },
		{ 20, 12, "b.js" },
		{ 0, 0, NULL },
	};
	struct build b = { .swap = swap };
	build_header(&b, 40);
	build_debug(&b, BUILD_TIME, 0x7f0000001000, lines);
	build_unwinding(&b, BUILD_TIME + 1);
	build_load(&b, BUILD_TIME + 2, 0x7f0000001000, "alpha", 32);
	build_move(&b, BUILD_TIME + 3, 0x7f0000001000, 0x7f0000002000);
	build_prefix(&b, 0x505000f1, 24, BUILD_TIME + 4);
	build_u64(&b, 0x1122334455667788);
	build_load(&b, BUILD_TIME + 5, 0x7f0000003000, "beta b\n\x80 with any byte", 64);
	build_close(&b, BUILD_TIME + 6);
	return build_copy(&b);
}

#endif
