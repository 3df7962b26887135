/* slot_churn.c - code of a slot that dies, and whose memory other code gets: slot_churn SECONDS
 *
 * Seconds are of the processor: a busy machine must leave as many samples in each function.
 * Function fn_N runs at line N + 1 of file fN.src, whatever was at its address before.
 */
#include <polyperf/interp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

POLYPERF_INTERP_EVALUATOR static void run(struct polyperf_interp_code *code, double seconds);
POLYPERF_INTERP_SLOT("churn", run);

static volatile unsigned long sum;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run(struct polyperf_interp_code *code, double seconds)
{
	struct polyperf_interp_frame frame;
	const double end = now() + seconds;
	polyperf_interp_push(&frame, code, POLYPERF_INTERP_ENTRY);
	polyperf_interp_line(&frame, code->first_line + 1);
	while (now() < end) /* a system call: hardly a sample is to be in it */
		for (int i = 0; i < 20000; i++)
			sum++;
	polyperf_interp_pop(&frame);
}

int main(int argc, char **argv)
{
	static struct polyperf_interp_code codes[4];
	static char names[4][32];
	static char files[4][32];
	const double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
	for (unsigned n = 1; now() < end; n++) {
		const unsigned at = n % 4;
		polyperf_interp_retire(&codes[at]);
		/* For a while the texts are of neither. */
		memset(names[at], '?', sizeof(names[at]) - 1);
		memset(files[at], '?', sizeof(files[at]) - 1);
		for (int i = 0; i < 1000; i++)
			sum++;
		snprintf(names[at], sizeof(names[at]), "fn_%u", n);
		snprintf(files[at], sizeof(files[at]), "f%u.src", n);
		codes[at] = (struct polyperf_interp_code){ 0, names[at], NULL, files[at], n, 0 };
		POLYPERF_INTERP_BARRIER();
		codes[at].generation = n;
		/* Some live for a sample or two, some for longer than samples wait to be read. */
		run(&codes[at], n % 8 ? 0.002 : 0.1);
	}
	return sum == 1;
}
