// Stands in a destructor while an exception passes, and in a handler.
#include "shapes.h"

#include <stdexcept>
#include <string>

namespace
{
volatile int sink;

struct guard {
	std::string text;
	const char *name;
	~guard()
	{
		capture(name, 0);
		sink = sink + 1;
	}
};

__attribute__((noinline)) void throws(int depth)
{
	if (depth == 0)
		throw std::runtime_error("out");
	guard here{ std::string(100, 'x'), depth == 2 ? "cleanup_outer" : "cleanup" };
	throws(depth - 1);
	sink = sink + 1;
}
}

extern "C" void throw_through_frames(void)
{
	try {
		throws(2);
	} catch (const std::exception &error) {
		capture("handler", error.what()[0] == 0);
		sink = sink + 1;
	}
}
