/* extensions.h - what is in the records that are polyperf's own.
 *
 *   struct jitdump_about about = record.about;           a copy is used up
 *   struct jitdump_inline scope;
 *   while (jitdump_inline_next(&about, &scope) > 0)
 *           ...
 *
 * Each _next() returns 1 with the entry filled, 0 behind the last, or STATUS_CORRUPT where the
 * record promises more than its bytes hold, or an entry leads to a string that is not there.
 * Strings point into the file's bytes. docs/formats/jitdump-extensions.md is the layout.
 */
#ifndef FORMAT_JITDUMP_EXTENSIONS_H
#define FORMAT_JITDUMP_EXTENSIONS_H

#include "format/jitdump/reader.h"

struct jitdump_inline {
	uint32_t offset; /* into the code */
	uint32_t size;
	uint32_t depth; /* 0: inlined into the code's own function */
	uint32_t call_line;
	uint32_t call_column;
	int32_t call_bytecode;  /* -1: not told */
	struct bytes name;      /* empty: not told */
	struct bytes call_file; /* empty: not told */
};

struct jitdump_bytecode {
	uint32_t offset;
	int32_t bytecode; /* -1: none */
};

/* The same numbers as in polyperf/jit.h. */
enum jitdump_annotation_kind {
	JITDUMP_NOTE_TEXT = 0,
	JITDUMP_NOTE_TIER = 1,
	JITDUMP_NOTE_PROLOGUE = 2,
	JITDUMP_NOTE_EPILOGUE = 3,
	JITDUMP_NOTE_SAFEPOINT = 4,
	JITDUMP_NOTE_OOP_MAP = 5,
	JITDUMP_NOTE_DEOPT = 6,
	JITDUMP_NOTE_DATA = 7,
	JITDUMP_NOTE_UNREADABLE = 8,
};

struct jitdump_annotation {
	uint32_t offset;
	uint32_t size; /* 0: one place */
	uint32_t kind; /* enum jitdump_annotation_kind, or a runtime's own, or newer */
	struct bytes text;
};

struct jitdump_method_line {
	uint32_t bytecode;
	uint32_t line;
};

int jitdump_inline_next(struct jitdump_about *about, struct jitdump_inline *scope);
int jitdump_bytecode_next(struct jitdump_about *about, struct jitdump_bytecode *bytecode);
int jitdump_annotation_next(struct jitdump_about *about, struct jitdump_annotation *annotation);
int jitdump_method_line_next(struct jitdump_method *method, struct jitdump_method_line *line);

/* "INLINES" for JITDUMP_INLINES, for all kinds that are known; else NULL. */
const char *jitdump_record_name(uint32_t id);

/* For the reader: fills record->unload, about or method from behind the prefix. */
void jitdump_decode_extension(struct jitdump_record *record, struct cursor *c);

#endif
