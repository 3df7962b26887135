/* toy.c - an interpreter of nothing much that publishes its frames; ends after the seconds
 * that are its argument.
 */
#include <polyperf/interp.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

POLYPERF_INTERP_SLOT("toy");

static const struct polyperf_interp_code outer = { "outer", NULL, "toy.src", 1, 10, 0 };
static const struct polyperf_interp_code inner = { "inner", "Toy", "toy.src", 1, 20, 0 };
static const struct polyperf_interp_code builtin = { "builtin", NULL, NULL, 1, 0, 0 };
static volatile unsigned long sum;
static double end;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void spin(int count)
{
	for (int i = 0; i < count; i++)
		sum += (unsigned long)i;
}

static void run_builtin(void)
{
	struct polyperf_interp_frame frame;
	polyperf_interp_push(&frame, &builtin, POLYPERF_INTERP_NATIVE);
	spin(500);
	polyperf_interp_pop(&frame);
}

static void run(const struct polyperf_interp_code *code, int depth)
{
	struct polyperf_interp_frame frame;
	polyperf_interp_push(&frame, code, POLYPERF_INTERP_ENTRY);
	polyperf_interp_line(&frame, code->first_line + 1);
	spin(300);
	polyperf_interp_line(&frame, code->first_line + 2);
	if (depth)
		run(&inner, depth - 1);
	else
		run_builtin();
	polyperf_interp_pop(&frame);
}

static void *run_until_end(void *argument)
{
	while (now() < end)
		run(&outer, 3);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t other;
	end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
	pthread_create(&other, NULL, run_until_end, NULL);
	run_until_end(NULL);
	pthread_join(other, NULL);
	return sum == 1;
}
