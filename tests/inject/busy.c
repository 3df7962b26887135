/* busy.c - half a second in one function whose name a report can show. */
#include <stdint.h>
#include <time.h>

static volatile uint64_t sum;

__attribute__((noinline)) static void spin_in_busy(void)
{
	for (uint64_t i = 0; i < 100000; i++)
		sum += i * i;
}

int main(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;
	while (clock() < end)
		spin_in_busy();
	return 0;
}
