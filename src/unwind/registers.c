#include "unwind/registers.h"

int unwind_register_of_perf(enum unwind_machine machine, unsigned perf_number)
{
	/* AX BX CX DX SI DI BP SP IP, flags and segments, R8 to R15. */
	static const int8_t x86_64[] = { 0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
					 -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };
	if (machine == UNWIND_X86_64)
		return perf_number < sizeof(x86_64) ? x86_64[perf_number] : -1;
	return perf_number < UNWIND_REGISTERS ? (int)perf_number : -1;
}
