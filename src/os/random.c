#include "os/random.h"

#include <sys/random.h>
#include <time.h>

uint64_t os_random_u64(void)
{
	uint64_t value;
	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) == sizeof(value))
		return value;
	/* Early in boot there is none: the clock and where the stack is must do. */
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uintptr_t)&now;
}
