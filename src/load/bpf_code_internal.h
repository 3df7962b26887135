/* bpf_code_internal.h - what the files of bpf_code.h share. */
#ifndef LOAD_BPF_CODE_INTERNAL_H
#define LOAD_BPF_CODE_INTERNAL_H

#include "format/perfdata/bpf.h"
#include "load/bpf_code.h"

/* A KSYMBOL, while it waits for the features. */
struct bpf_symbol {
	uint64_t start_avma;
	uint64_t time_ns;
	uint32_t size;
	uint32_t code;
};

/* A function of a program, in the order of the dump. */
struct bpf_function {
	uint64_t start_avma;
	uint64_t record_off; /* of its LOAD */
	uint32_t debug_before;
	uint32_t program_id;
	uint32_t first_text; /* of its lines, in bpf_code.texts */
	uint32_t text_count;
	uint8_t tag[PERFDATA_BPF_TAG_SIZE];
	/* Newer kernels name the first function by the tag of the whole program; else the same. */
	uint8_t program_tag[PERFDATA_BPF_TAG_SIZE];
};

struct bpf_code {
	VECTOR(struct bpf_symbol) symbols;
	struct idmap event_of_program; /* index + 1 into event_times */
	VECTOR(uint64_t) event_times;
	struct sink dump;
	VECTOR(struct bpf_function) functions;
	VECTOR(const char *) texts; /* NULL: not told */
};

/* bpf_dump.c: fills dump, functions and texts. Returns 0 or STATUS_NO_MEMORY. */
int bpf_dump_make(struct load *load, struct bpf_code *bpf);

#endif
