/* work.c - for lli: alpha, beta and gamma_ do 60, 30 and 10 % of the work. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE int alpha(int n, int x)
{
	for (int i = 0; i < n * 6; i++)
		x = (int)(((long)x * 31 + i) % 1000003);
	return x;
}

OUT_OF_LINE int beta(int n, int x)
{
	for (int i = 0; i < n * 3; i++)
		x = (int)(((long)x * 31 + i) % 1000003);
	return x;
}

/* The C library has a gamma. */
OUT_OF_LINE int gamma_(int n, int x)
{
	for (int i = 0; i < n; i++)
		x = (int)(((long)x * 31 + i) % 1000003);
	return x;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double end = now() + (argc > 1 ? atof(argv[1]) : 3);
	double spent[3] = { 0 };
	long sum = 0;

	for (int round = 0; now() < end; round++) {
		const double start = now();
		sum += alpha(40000, round);
		const double after_alpha = now();
		sum += beta(40000, round);
		const double after_beta = now();
		sum += gamma_(40000, round);
		spent[0] += after_alpha - start;
		spent[1] += after_beta - after_alpha;
		spent[2] += now() - after_beta;
	}
	printf("share %.3f %.3f %.3f sum %ld\n", spent[0], spent[1], spent[2], sum);
	return 0;
}
