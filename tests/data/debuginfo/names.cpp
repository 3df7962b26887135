// Functions that no other unit can call: compilers leave their names for the linker out.
#define INLINED inline __attribute__((always_inline))

static volatile long sum;

namespace space
{
namespace
{
INLINED void hidden(long k)
{
	sum = sum * 3 + k;
}

struct Local {
	INLINED void member(long k) { sum = sum * 5 + k; }
};
} // namespace

static INLINED void own(long k)
{
	sum = sum * 7 + k;
}

INLINED void shared(long k)
{
	sum = sum * 9 + k;
}
} // namespace space

static INLINED void plain(long k)
{
	sum = sum * 11 + k;
}

extern "C" void start(long k);
extern "C" void start(long k)
{
	auto lambda = [](long n) __attribute__((always_inline)) { sum = sum * 13 + n; };
	space::hidden(k);
	space::Local().member(k);
	space::own(k);
	space::shared(k);
	plain(k);
	lambda(k);
}
