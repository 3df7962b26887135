#include "os/clock.h"

#include "os/proc.h"

#include <string.h>
#include <time.h>

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_clock_mono_ns(void)
{
	return read_clock_ns(CLOCK_MONOTONIC);
}

/* The clocks are read one after the other: of several tries the one with the
 * shortest way between them was disturbed least.
 */
enum { PAIR_TRIES = 8 };

struct os_clock_pair os_clock_pair(void)
{
	struct os_clock_pair best = { 0 };
	uint64_t best_gap = UINT64_MAX;
	for (int i = 0; i < PAIR_TRIES; i++) {
		const uint64_t before = os_clock_mono_ns();
		const uint64_t wall = read_clock_ns(CLOCK_REALTIME);
		const uint64_t gap = os_clock_mono_ns() - before;
		if (gap < best_gap) {
			best_gap = gap;
			best = (struct os_clock_pair){ wall, before + gap / 2 };
		}
	}
	return best;
}

#if defined(__x86_64__)
static inline bool read_cycles(uint64_t *cycles)
{
	*cycles = __builtin_ia32_rdtsc();
	return true;
}
#elif defined(__aarch64__)
static inline bool read_cycles(uint64_t *cycles)
{
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(*cycles) : : "memory");
	return true;
}
#else
static inline bool read_cycles(uint64_t *cycles)
{
	*cycles = 0;
	return false;
}
#endif

bool os_clock_has_steady_cycles(void)
{
	char source[32];
	proc_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		  sizeof(source));
	return strcmp(source, "tsc") == 0 || strcmp(source, "arch_sys_counter") == 0;
}

bool os_clock_cycle_pair(struct os_cycle_pair *pair)
{
	uint64_t best_gap = UINT64_MAX;
	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t cycles;
		const uint64_t before = os_clock_mono_ns();
		if (!read_cycles(&cycles))
			return false;
		const uint64_t gap = os_clock_mono_ns() - before;
		if (gap < best_gap) {
			best_gap = gap;
			*pair = (struct os_cycle_pair){ cycles, before + gap / 2 };
		}
	}
	return true;
}

/* 31 bits of fraction: mult then has about as many, and the product of the low
 * part of a counter with it stays within 64 bits.
 */
enum { CONVERSION_SHIFT = 31 };

bool os_clock_fit(const struct os_cycle_pair *first, const struct os_cycle_pair *last,
		  struct os_cycle_conversion *conversion)
{
	if (last->cycles <= first->cycles || last->mono_ns <= first->mono_ns)
		return false;
	const uint64_t cycles = last->cycles - first->cycles;
	const uint64_t ns = last->mono_ns - first->mono_ns;
	if (ns < 1000000)
		return false;
	const unsigned __int128 mult = ((unsigned __int128)ns << CONVERSION_SHIFT) / cycles;
	if (mult == 0 || mult >> 32)
		return false;
	*conversion = (struct os_cycle_conversion){ CONVERSION_SHIFT, (uint64_t)mult, 0 };
	conversion->zero = first->mono_ns - os_clock_from_cycles(conversion, first->cycles);
	return true;
}

uint64_t os_clock_from_cycles(const struct os_cycle_conversion *c, uint64_t cycles)
{
	const uint64_t whole = cycles >> c->shift;
	const uint64_t rest = cycles & ((1ull << c->shift) - 1);
	return c->zero + whole * c->mult + ((rest * c->mult) >> c->shift);
}
