/* kernel.h - system calls without a C library: nothing of the program's is touched, not even errno.
 *
 * Each returns what the kernel does: a negative errno where it fails.
 */
#ifndef AGENT_PYTHON_KERNEL_H
#define AGENT_PYTHON_KERNEL_H

#include <stdint.h>
#include <sys/syscall.h>

static inline long kernel_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			       uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define KERNEL(name, a, b, c, d, e, f)                                                      \
	kernel_call(SYS_##name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), \
		    (uint64_t)(e), (uint64_t)(f))

#endif
