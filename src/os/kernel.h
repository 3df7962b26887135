/* kernel.h - where the running kernel's code lies: its text, modules, JITed BPF.
 *
 *   struct kernel_layout layout;
 *   kernel_layout_read(&layout);
 *   for (size_t i = 0; i < layout.modules.count; i++)
 *           use(&layout.modules.items[i]);
 *   kernel_layout_clear(&layout);
 *
 * Addresses are hidden from those whom kernel.kptr_restrict shuts out: text_avma and
 * the lists are then empty, which is not an error. Reads all of /proc/kallsyms once
 * (tens of milliseconds). Any thread.
 */
#ifndef OS_KERNEL_H
#define OS_KERNEL_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vector.h"

#include <stdint.h>

struct kernel_module {
	const char *name;
	const char *path; /* the .ko file, or NULL if modules.dep does not tell */
	uint64_t start_avma;
	uint64_t size;
};

/* Code that the kernel made at run time. */
struct kernel_jit_symbol {
	const char *name; /* "bpf_prog_7a30ab_tracer", "bpf_trampoline_6442" */
	uint64_t start_avma;
	uint32_t size;
	bool is_bpf; /* else out-of-line code such as trampolines and kprobe slots */
};

struct kernel_layout {
	struct arena arena;      /* owns the strings */
	const char *text_symbol; /* "_text" or "_stext", to which text_avma belongs */
	uint64_t text_avma;      /* 0: unknown */
	uint64_t text_end_avma;  /* _etext */
	uint8_t build_id[20];    /* from /sys/kernel/notes */
	size_t build_id_size;
	VECTOR(struct kernel_module) modules;
	VECTOR(struct kernel_jit_symbol) jit;
};

/* Returns 0 or STATUS_NO_MEMORY; clear in both cases. */
int kernel_layout_read(struct kernel_layout *layout);
void kernel_layout_clear(struct kernel_layout *layout);

/* The build id of a loaded module: its size, or 0. `build_id` has room for 20 bytes. */
size_t kernel_module_build_id(const char *module, uint8_t build_id[20]);

/* The GNU build id in the bytes of ELF notes (host byte order): its size, or 0. */
size_t kernel_note_build_id(struct bytes notes, uint8_t build_id[20]);

/* Adds what the text of a kallsyms file tells; kernel_layout_read() calls it. */
int kernel_layout_kallsyms(struct kernel_layout *layout, struct bytes text);

/* Copies instructions of the running kernel out of `path`, which is "/proc/kcore" but in tests.
 * Root may read it, where the kernel is not locked down. Returns 0, STATUS_NOT_FOUND (there is no
 * such file, or nothing at the address), _DENIED, _IO, _NOT_FORMAT, or _TRUNCATED.
 */
int kernel_code_read(const char *path, uint64_t avma, uint8_t *buffer, size_t size);

#endif
