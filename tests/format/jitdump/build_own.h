/* build_own.h - makes the records that are polyperf's own, with build.h. */
#ifndef TESTS_FORMAT_JITDUMP_BUILD_OWN_H
#define TESTS_FORMAT_JITDUMP_BUILD_OWN_H

#include "build.h"
#include "format/jitdump/extensions.h"

enum { BUILD_OWN_COUNT = 9 }; /* records of build_own_kinds() */

static inline void build_pad(struct build *b, uint64_t time, size_t size)
{
	build_prefix(b, JITDUMP_PAD, size, time);
	for (size_t i = 16; i < size; i++)
		sink_u8(&b->out, (uint8_t)(i * 3));
}

static inline void build_unload(struct build *b, uint64_t time, uint64_t avma)
{
	build_prefix(b, JITDUMP_UNLOAD, 48, time);
	build_u32(b, 4711);
	build_u32(b, 4712);
	build_u64(b, avma);
	build_u64(b, 32);
	build_u64(b, 7);
}

static inline void build_scope(struct build *b, const uint32_t fields[8])
{
	for (int i = 0; i < 8; i++)
		build_u32(b, fields[i]);
}

/* Two scopes: `inner` in `outer` in the code. The second has no call_file. */
static inline void build_inlines(struct build *b, uint64_t time, uint64_t avma)
{
	static const uint32_t outer[8] = { 4, 20, 0, 17, 3, 5, 0, 6 };
	static const uint32_t inner[8] = { 8, 8, 1, 18, 0, UINT32_MAX, 11, UINT32_MAX };
	build_prefix(b, JITDUMP_INLINES, 32 + 2 * 32 + 17, time);
	build_u64(b, avma);
	build_u32(b, 2);
	build_u32(b, 17);
	build_scope(b, outer);
	build_scope(b, inner);
	sink_cstr(&b->out, "outer");
	sink_cstr(&b->out, "a.js");
	sink_cstr(&b->out, "inner");
}

static inline void build_bytecodes(struct build *b, uint64_t time, uint64_t avma)
{
	build_prefix(b, JITDUMP_BYTECODES, 32 + 2 * 8, time);
	build_u64(b, avma);
	build_u32(b, 2);
	build_u32(b, 0);
	build_u32(b, 0);
	build_u32(b, UINT32_MAX);
	build_u32(b, 12);
	build_u32(b, 34);
}

static inline void build_annotations(struct build *b, uint64_t time, uint64_t avma)
{
	build_prefix(b, JITDUMP_ANNOTATIONS, 32 + 2 * 16 + 3, time);
	build_u64(b, avma);
	build_u32(b, 2);
	build_u32(b, 3);
	build_u32(b, 0);
	build_u32(b, 0);
	build_u32(b, JITDUMP_NOTE_TIER);
	build_u32(b, 0);
	build_u32(b, 4);
	build_u32(b, 9);
	build_u32(b, JITDUMP_NOTE_PROLOGUE);
	build_u32(b, JITDUMP_NO_STRING);
	sink_cstr(&b->out, "C2");
}

static inline void build_method(struct build *b, uint64_t time, uint64_t id)
{
	build_prefix(b, JITDUMP_METHOD, 72 + 2 * 8 + 11, time);
	build_u32(b, 4711);
	build_u32(b, 4712);
	build_u64(b, id);
	build_u64(b, 0x5000);
	build_u64(b, 60);
	build_u32(b, 2);
	build_u32(b, 11);
	build_u32(b, 9);
	build_u32(b, 0);
	build_u32(b, 6);
	build_u32(b, 0);
	build_u32(b, 0);
	build_u32(b, 9);
	build_u32(b, 8);
	build_u32(b, 10);
	sink_cstr(&b->out, "gamma");
	sink_cstr(&b->out, "g.js");
}

/* Inlines, bytecodes, annotations, their LOAD, a PAD, an unload, a method, a LOAD, a CLOSE. */
static inline struct bytes build_own_kinds(bool swap)
{
	struct build b = { .swap = swap };
	build_header(&b, 40);
	build_inlines(&b, BUILD_TIME, 0x7f0000001000);
	build_bytecodes(&b, BUILD_TIME, 0x7f0000001000);
	build_annotations(&b, BUILD_TIME, 0x7f0000001000);
	build_load(&b, BUILD_TIME, 0x7f0000001000, "alpha", 32);
	build_pad(&b, BUILD_TIME + 1, 41);
	build_unload(&b, BUILD_TIME + 2, 0x7f0000001000);
	build_method(&b, BUILD_TIME + 3, 0x600010);
	/* 131 bytes: changed, it is shorter or far longer, and never passes for one with padding.
	 */
	build_load(&b, BUILD_TIME + 4, 0x7f0000003000, "beta 2 345", 64);
	build_close(&b, BUILD_TIME + 6);
	return build_copy(&b);
}

#endif
