/* clock.h - the clocks a recording speaks of, and how they relate.
 *
 *   struct os_clock_pair pair = os_clock_pair();
 *   wall = pair.wall_ns + (sample_mono_ns - pair.mono_ns);
 *
 * Samples carry CLOCK_MONOTONIC; some runtimes stamp their dumps with the CPU's
 * cycle counter. Any thread.
 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t os_clock_mono_ns(void);

/* CLOCK_REALTIME and CLOCK_MONOTONIC at one moment, to within what one call costs. */
struct os_clock_pair {
	uint64_t wall_ns;
	uint64_t mono_ns;
};

struct os_clock_pair os_clock_pair(void);

/* The steady cycle counter that user space can read (TSC, CNTVCT), and CLOCK_MONOTONIC
 * at the same moment. False where this build knows of no such counter; whether it is
 * steady on this machine os_clock_has_steady_cycles() knows.
 */
struct os_cycle_pair {
	uint64_t cycles;
	uint64_t mono_ns;
};

/* True if the kernel itself tells the time by that counter. False is no proof of the
 * contrary: a ring's cap_user_time may know more.
 */
bool os_clock_has_steady_cycles(void);

bool os_clock_cycle_pair(struct os_cycle_pair *pair);

/* ns = zero + (cycles * mult >> shift), as PERF_RECORD_TIME_CONV has it. */
struct os_cycle_conversion {
	uint64_t shift;
	uint64_t mult;
	uint64_t zero;
};

/* The line through two pairs. False if they are too near to each other to tell a rate. */
bool os_clock_fit(const struct os_cycle_pair *first, const struct os_cycle_pair *last,
		  struct os_cycle_conversion *conversion);

uint64_t os_clock_from_cycles(const struct os_cycle_conversion *conversion, uint64_t cycles);

#endif
