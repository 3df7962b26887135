/* The shared library of frames.cpp. */
#include "frames.h"

__attribute__((noinline)) unsigned long library_tiny(unsigned long x)
{
	return x * 3 + 1;
}

/* Not bound within the library: each level goes through its PLT. */
__attribute__((noinline)) unsigned long library_deep(unsigned depth, unsigned long x,
						     unsigned long (*call)(unsigned long))
{
	volatile unsigned long kept = x;
	if (!depth)
		return call(x) + kept;
	return library_deep(depth - 1, library_tiny(x), call) + kept;
}
