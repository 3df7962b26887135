/* layout.h - the jitdump file as it lies on disk.
 *
 * Shared by the writer in emit/ and the reader beside this file, so that they
 * cannot drift apart. Source: tools/perf/Documentation/jitdump-specification.txt.
 * Nothing here is ever pointed at file bytes: readers go through base/bytes.h.
 */
#ifndef FORMAT_JITDUMP_LAYOUT_H
#define FORMAT_JITDUMP_LAYOUT_H

enum {
	JITDUMP_MAGIC = 0x4A695444, /* "JiTD" */
	JITDUMP_VERSION = 1,
	JITDUMP_HEADER_SIZE = 40,
	JITDUMP_PREFIX_SIZE = 16, /* id, total_size, timestamp */
	JITDUMP_FLAG_ARCH_TIMESTAMP = 1,
};

enum jitdump_id {
	JITDUMP_CODE_LOAD = 0,
	JITDUMP_CODE_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
	/* Ours, docs/formats/jitdump-extensions.md: other readers pass over kinds they do not
	 * know.
	 */
	JITDUMP_EXTENSION_FIRST = 0x50500000,
	JITDUMP_PAD = JITDUMP_EXTENSION_FIRST,
	JITDUMP_UNLOAD = 0x50500001,
	JITDUMP_INLINES = 0x50500002,
	JITDUMP_BYTECODES = 0x50500003,
	JITDUMP_ANNOTATIONS = 0x50500004,
	JITDUMP_METHOD = 0x50500005,
	JITDUMP_EXTENSION_KNOWN = JITDUMP_METHOD, /* the last of these */
	JITDUMP_EXTENSION_LAST = 0x5050ffff,
};

/* The fixed part of each kind, prefix included; a LOAD has its name's NUL behind it. */
enum jitdump_fixed_size {
	JITDUMP_CODE_LOAD_SIZE = 56,
	JITDUMP_CODE_MOVE_SIZE = 64,
	JITDUMP_DEBUG_INFO_SIZE = 32,
	JITDUMP_DEBUG_ENTRY_SIZE = 16, /* address, line, discriminator; then the name */
	JITDUMP_CLOSE_SIZE = 16,
	JITDUMP_UNWINDING_INFO_SIZE = 40,
	JITDUMP_PAD_SIZE = 16,
	JITDUMP_UNLOAD_SIZE = 48,
	JITDUMP_INLINES_SIZE = 32,
	JITDUMP_INLINE_ENTRY_SIZE = 32,
	JITDUMP_BYTECODES_SIZE = 32,
	JITDUMP_BYTECODE_ENTRY_SIZE = 8,
	JITDUMP_ANNOTATIONS_SIZE = 32,
	JITDUMP_ANNOTATION_ENTRY_SIZE = 16,
	JITDUMP_METHOD_SIZE = 72,
	JITDUMP_METHOD_LINE_SIZE = 8,
};

/* The place of a string that is not there, in extension records. */
#define JITDUMP_NO_STRING 0xffffffffu

#endif
