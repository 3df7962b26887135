/* kernel_internal.h - what kernel.c and kernel_bpf.c share. */
#ifndef OS_KERNEL_INTERNAL_H
#define OS_KERNEL_INTERNAL_H

#include "os/kernel.h"

/* Gives the symbols in layout->jit, of which kallsyms told no size, their sizes; asks the
 * kernel for its BPF programs, and adds those that kallsyms keeps for itself. Without the
 * privilege to ask, sizes are estimates. Returns 0 or STATUS_NO_MEMORY.
 */
int kernel_bpf_sizes(struct kernel_layout *layout);

#endif
