static inline __attribute__((always_inline)) int twice(int x)
{
	return x * 2 + x % 7;
}

static inline __attribute__((always_inline)) int four_times(int x)
{
	if (x > 3)
		return twice(twice(x));
	return x;
}

int outer(int x);
int outer(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += four_times(i);
	return sum;
}

int other(int x);
int other(int x)
{
	return twice(x) + outer(x);
}
