/* Two programs whose functions share their time by their loop counts, and a function that both
 * inline. Only what the compiler itself knows: no headers.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
#define APART static __attribute__((noinline))

/* bpf_ktime_get_ns(): a number that the verifier knows nothing of. */
static u64 (*const clock_ns)(void) = (u64(*)(void))5;

static inline __attribute__((always_inline)) u64 mix(u64 x, u64 i)
{
	x ^= x >> 7;
	return x * 31 + i;
}

APART u64 alpha(u64 x)
{
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < 600; i++)
		x = mix(x, i);
	return x;
}

APART u64 beta(u64 x)
{
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < 300; i++)
		x = mix(x, i);
	return x;
}

SECTION("socket") int hot(void *context)
{
	const u64 x = clock_ns();
	return (alpha(x) + beta(x)) & 1;
}

SECTION("socket") int warm(void *context)
{
	u64 x = clock_ns();
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < 200; i++)
		x = mix(x, i);
	return x & 1;
}

char licence[] SECTION("license") = "GPL";
