/* bpf.h - what a recording keeps of BPF programs: the features BPF_PROG_INFO and BPF_BTF.
 *
 *   struct perfdata_bpf_walk walk = perfdata_bpf_programs(file);
 *   struct perfdata_bpf_program program;
 *   while (perfdata_bpf_program_next(&walk, &program) > 0)
 *           use(&program.arrays[PERFDATA_BPF_FUNCTION_AVMAS]);
 *
 * A program is the kernel's struct bpf_prog_info (of the kernel that ran: it grew with time),
 * a mask of the arrays that were kept, and behind it these arrays, to which the pointers in it
 * became offsets. Arrays borrow from the file and are in its byte order: read them by
 * perfdata_bpf_cursor(). An array that does not fit is empty and counted in `bad_arrays`.
 *
 * Sources: linux/bpf.h; tools/perf/Documentation/perf.data-file-format.txt.
 * docs/formats/perfdata.md.
 */
#ifndef FORMAT_PERFDATA_BPF_H
#define FORMAT_PERFDATA_BPF_H

#include "base/sink.h"
#include "format/perfdata/reader.h"

/* The numbers are the bits of the mask. */
enum perfdata_bpf_array_kind {
	PERFDATA_BPF_CODE = 0, /* of all functions, one behind the other */
	PERFDATA_BPF_BYTECODE = 1,
	PERFDATA_BPF_MAP_IDS = 2,
	PERFDATA_BPF_FUNCTION_AVMAS = 3, /* 8 bytes each */
	PERFDATA_BPF_FUNCTION_SIZES = 4, /* 4 bytes each */
	PERFDATA_BPF_FUNCTION_INFO = 5,
	PERFDATA_BPF_LINE_INFO = 6,  /* instruction 4, file name 4, text 4, line << 10 | column 4 */
	PERFDATA_BPF_LINE_AVMAS = 7, /* 8 bytes each: where the line of the same index begins */
	PERFDATA_BPF_TAGS = 8,       /* 8 bytes each, one a function */
	PERFDATA_BPF_ARRAYS = 9,
};

struct perfdata_bpf_array {
	struct bytes bytes; /* count * item_size */
	uint32_t count;
	uint32_t item_size;
};

enum { PERFDATA_BPF_NAME_SIZE = 16, PERFDATA_BPF_TAG_SIZE = 8 };

struct perfdata_bpf_program {
	uint32_t kind; /* enum bpf_prog_type */
	uint32_t id;
	uint32_t btf_id;
	uint8_t tag[PERFDATA_BPF_TAG_SIZE];
	char name[PERFDATA_BPF_NAME_SIZE + 1]; /* cut by the kernel; "" where it has none */
	struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS];
	uint32_t bad_arrays; /* mask of those that contradict the bytes around them */
	bool swap;
};

struct perfdata_bpf_walk {
	struct cursor c;
	uint32_t left;
};

struct perfdata_bpf_walk perfdata_bpf_programs(const struct perfdata *file);

/* Returns 1 with *program filled, 0 behind the last, or STATUS_TRUNCATED: the section ends early.
 */
int perfdata_bpf_program_next(struct perfdata_bpf_walk *walk, struct perfdata_bpf_program *program);

/* Over one item of an array; empty past its end. */
struct cursor perfdata_bpf_cursor(const struct perfdata_bpf_program *program,
				  enum perfdata_bpf_array_kind kind, uint32_t index);

struct perfdata_bpf_btf {
	uint32_t id;
	struct bytes content; /* for format/btf */
};

/* Returns as perfdata_bpf_program_next() does. */
struct perfdata_bpf_walk perfdata_bpf_btfs(const struct perfdata *file);
int perfdata_bpf_btf_next(struct perfdata_bpf_walk *walk, struct perfdata_bpf_btf *btf);

/* Entries of the sections, in host byte order; the count of them, 32 bits, comes first. `info` is
 * a struct bpf_prog_info of which no more is written than older perfs take; counts, sizes and
 * places of the arrays are set by `arrays` (those without bytes are left out). What is too large
 * for the format fails the sink.
 */
void perfdata_put_bpf_program(struct sink *content, struct bytes info,
			      const struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS]);
void perfdata_put_bpf_btf(struct sink *content, const struct perfdata_bpf_btf *btf);

#endif
