/* bpf.h - what the kernel tells of the BPF programs that are loaded, through libbpf.
 *
 *   uint32_t id = 0;
 *   while (os_bpf_next(&id) == 0) {
 *           struct os_bpf_program program;
 *           if (os_bpf_program(id, &program) == 0)
 *                   use(&program);
 *           os_bpf_program_clear(&program);
 *   }
 *
 * All of it takes CAP_SYS_ADMIN. Code and addresses are left out for those whom
 * kernel.kptr_restrict shuts out. A program costs some 50 us. Any thread.
 */
#ifndef OS_BPF_H
#define OS_BPF_H

#include "base/sink.h"

#include <linux/bpf.h>
#include <stdbool.h>

/* The next id behind *id, 0 before the first. Returns 0, STATUS_NOT_FOUND behind the last, or
 * _DENIED.
 */
int os_bpf_next(uint32_t *id);

enum {
	OS_BPF_PROGRAM_BYTES = 64 << 20, /* a million instructions have some 25 MB */
	OS_BPF_BTF_BYTES = 16 << 20,     /* as much as the kernel takes */
};

/* A program: its pointers lead into `arrays`, and are 0 where there is nothing or too much. */
struct os_bpf_program {
	struct bpf_prog_info info;
	size_t info_size; /* as much of it as this kernel knows */
	struct sink arrays;
};

/* Returns 0, STATUS_NOT_FOUND (it went), _DENIED, _TOO_BIG, _NO_MEMORY or _IO; clear in any case.
 */
int os_bpf_program(uint32_t id, struct os_bpf_program *program);
void os_bpf_program_clear(struct os_bpf_program *program);

/* Appends the bytes of a BTF object; returns the same. */
int os_bpf_btf(uint32_t id, struct sink *out);

#endif
