/* Times the timeline on what real recordings hold, and on what a hostile one could.
 * Prints one line a case: what, how often, ns each, peak of memory so far.
 */
#include "timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
	LOADS = 175 * 1000,
	TIMED_LINES = 4 * 1000 * 1000,
	FINDS = 1000 * 1000,
	UNTIMED = 4 * 1000 * 1000,
	FORKS = 2000,
	FORKED_OBJECTS = 40 * 1000,
	NESTED = 100 * 1000,
	CHAIN = 1000,
};

/* Of this process alone: others may be running. */
static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void print_case(const char *what, uint64_t count, uint64_t since_ns)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	const uint64_t spent_ns = now_ns() - since_ns;
	printf("%-44s %9llu times %9.1f ns each %8.1f ms, peak %6ld MB\n", what,
	       (unsigned long long)count, (double)spent_ns / (double)count, (double)spent_ns / 1e6,
	       usage.ru_maxrss / 1024);
}

static struct timeline *must(struct timeline *tl)
{
	if (!tl) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return tl;
}

/* A code cache with holes that are filled over and over. */
static struct timeline_load load_at(uint64_t i, uint64_t slot)
{
	const uint64_t time_ns = 1000 + i * 1000;
	return (struct timeline_load){ .start_avma = 0x7f0000000000u + slot * 256,
				       .size = 64 + next_random() % 800,
				       .earliest_ns = time_ns,
				       .time_ns = time_ns,
				       .latest_ns = time_ns,
				       .object = (uint32_t)i };
}

static struct timeline_load random_load(uint64_t i, uint64_t count)
{
	return load_at(i, next_random() % (count / 2 + 1));
}

static void find_many(const struct timeline *tl, uint32_t pid, uint64_t span, uint64_t end_ns,
		      const char *what)
{
	uint64_t trusts = 0;
	const uint64_t since_ns = now_ns();
	for (uint64_t i = 0; i < FINDS; i++) {
		struct timeline_hit hit;
		const uint64_t avma = 0x7f0000000000u + next_random() % span;
		timeline_find(tl, pid, avma, next_random() % end_ns, &hit);
		trusts += hit.trust;
	}
	print_case(what, FINDS, since_ns);
	if (trusts == 1)
		puts("unlikely");
}

/* As samples come: in time order, most of them in a few hundred hot places. */
static void find_hot(const struct timeline *tl, uint32_t pid, uint64_t span, uint64_t end_ns)
{
	enum { HOT = 512 };
	uint64_t hot_avmas[HOT];
	for (int i = 0; i < HOT; i++)
		hot_avmas[i] = 0x7f0000000000u + next_random() % span;
	uint64_t trusts = 0;
	const uint64_t since_ns = now_ns();
	for (uint64_t i = 0; i < FINDS; i++) {
		struct timeline_hit hit;
		timeline_find(tl, pid, hot_avmas[next_random() % HOT], i * (end_ns / FINDS), &hit);
		trusts += hit.trust;
	}
	print_case("  find, hot places", FINDS, since_ns);
	if (trusts == 1)
		puts("unlikely");
}

static void seal(struct timeline *tl, const char *what, uint64_t count)
{
	const uint64_t since_ns = now_ns();
	if (timeline_seal(tl) < 0)
		must(NULL);
	print_case(what, count, since_ns);
}

/* With a spread the code cache is filled from end to end, twice, as in most maps. */
static void bench_loads(uint64_t count, uint64_t spread_ns, const char *what)
{
	printf("%s\n", what);
	struct timeline *tl = must(timeline_new(NULL));
	uint64_t since_ns = now_ns();
	for (uint64_t i = 0; i < count; i++) {
		struct timeline_load load =
		    spread_ns ? load_at(i, i % (count / 2)) : random_load(i, count);
		load.earliest_ns -= spread_ns < load.earliest_ns ? spread_ns : 0;
		load.latest_ns += spread_ns;
		timeline_load(tl, 1, &load);
	}
	print_case("  load", count, since_ns);
	seal(tl, "  seal", count);
	find_many(tl, 1, count * 128, count * 1000, "  find anywhere");
	find_hot(tl, 1, count * 128, count * 1000);
	timeline_free(tl);
}

static void bench_untimed(void)
{
	puts("untimed map, unsorted");
	struct timeline *tl = must(timeline_new(NULL));
	uint64_t since_ns = now_ns();
	for (uint64_t i = 0; i < UNTIMED; i++) {
		const struct timeline_load load = {
			.start_avma = 0x7f0000000000u + (i * 2654435761u) % UNTIMED * 64,
			.size = 60 + (i % 16 == 0) * 16,
			.object = (uint32_t)i,
		};
		timeline_untimed(tl, 1, &load);
	}
	print_case("  add", UNTIMED, since_ns);
	seal(tl, "  seal", UNTIMED);
	find_many(tl, 1, (uint64_t)UNTIMED * 64, 1, "  find anywhere");
	find_hot(tl, 1, (uint64_t)UNTIMED * 64, FINDS);
	timeline_free(tl);
}

static void bench_forks(void)
{
	puts("children of a process with many objects");
	struct timeline *tl = must(timeline_new(NULL));
	for (uint64_t i = 0; i < FORKED_OBJECTS; i++) {
		const struct timeline_load load = random_load(i, FORKED_OBJECTS);
		timeline_load(tl, 1, &load);
	}
	const uint64_t fork_ns = 1000 * (uint64_t)FORKED_OBJECTS;
	const uint64_t since_ns = now_ns();
	for (uint32_t i = 0; i < FORKS; i++) {
		timeline_fork(tl, 1, 2 + i, fork_ns + i);
		for (uint64_t k = 0; k < 10; k++) {
			const struct timeline_load load = random_load(FORKED_OBJECTS + k, 1000);
			timeline_load(tl, 2 + i, &load);
		}
	}
	print_case("  fork and 10 loads", FORKS, since_ns);
	seal(tl, "  seal", FORKS);
	find_many(tl, 2 + FORKS / 2, (uint64_t)FORKED_OBJECTS * 128, 2 * fork_ns,
		  "  find in a child");
	timeline_free(tl);
}

static void bench_nested(void)
{
	puts("hostile: each range inside the one before");
	struct timeline *tl = must(timeline_new(NULL));
	const uint64_t since_ns = now_ns();
	for (uint64_t i = 0; i < NESTED; i++) {
		const struct timeline_load load = { .start_avma = 0x7f0000000000u + i,
						    .size = 2 * (uint64_t)NESTED - 2 * i,
						    .earliest_ns = i + 1,
						    .time_ns = i + 1,
						    .latest_ns = i + 1,
						    .object = (uint32_t)i };
		const struct timeline_mapping mapping = { .start_avma = load.start_avma,
							  .size = load.size };
		timeline_load(tl, 1, &load);
		timeline_untimed(tl, 2, &load);
		timeline_map(tl, 3, i + 1, &mapping);
	}
	print_case("  add, to all three layers", NESTED, since_ns);
	seal(tl, "  seal", NESTED);
	find_many(tl, 1, 2 * (uint64_t)NESTED, NESTED, "  find timed");
	find_many(tl, 2, 2 * (uint64_t)NESTED, NESTED, "  find untimed");
	find_many(tl, 3, 2 * (uint64_t)NESTED, NESTED, "  find mapping");
	timeline_free(tl);
}

static void bench_chain(void)
{
	puts("hostile: each process forks the next and loads something");
	struct timeline *tl = must(timeline_new(NULL));
	for (uint32_t i = 0; i < CHAIN; i++) {
		const uint64_t avma = 0x7f0000000000u + (uint64_t)i * 64;
		const uint64_t time_ns = 2 * (uint64_t)i + 1;
		const struct timeline_load load = { .start_avma = avma,
						    .size = 64,
						    .earliest_ns = time_ns,
						    .time_ns = time_ns,
						    .latest_ns = time_ns,
						    .object = i };
		timeline_load(tl, i, &load);
		timeline_fork(tl, i, i + 1, time_ns + 1);
	}
	seal(tl, "  seal", CHAIN);
	const uint64_t end_ns = 2 * (uint64_t)CHAIN + 1;
	const uint64_t since_ns = now_ns();
	for (uint32_t i = 0; i < FINDS / 1000; i++) {
		struct timeline_hit hit;
		timeline_find(tl, CHAIN, 0x7f0000000000u + (uint64_t)(i % CHAIN) * 64, end_ns,
			      &hit);
	}
	print_case("  find in the last", FINDS / 1000, since_ns);
	timeline_free(tl);
}

int main(void)
{
	bench_loads(LOADS, 0, "a jitdump of 175,000 functions");
	bench_loads(TIMED_LINES, 3000, "a followed map of 4,000,000 lines, times 3 polls wide");
	bench_untimed();
	bench_forks();
	bench_nested();
	bench_chain();
	return 0;
}
