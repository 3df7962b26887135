/* unused() is larger than the distance of the code from address 0, where its lines are left when
 * the linker throws it away: they must not be mistaken for those of used().
 */
#define STEP(n)     \
	if (x == n) \
		y += other(n * x);
#define STEPS(n) STEP(n) STEP(n + 1000) STEP(n + 2000) STEP(n + 3000)
#define MANY(n) STEPS(n) STEPS(n + 100) STEPS(n + 200) STEPS(n + 300) STEPS(n + 400)

int other(int x);
__attribute__((visibility("hidden"))) int unused(int x, int y);
int unused(int x, int y)
{
	MANY(1)
	MANY(11)
	MANY(21)
	MANY(31)
	MANY(41)
	MANY(51)
	MANY(61)
	MANY(71)
	return y;
}

int other(int x)
{
	return x * 3;
}

static inline __attribute__((always_inline)) int inlined(int x)
{
	return other(x) * 7 + x;
}

int used(int c);
int used(int c)
{
	int y = 0;
	for (int x = 0; x < c; x++) {
		y += inlined(x);
		MANY(1)
		MANY(11)
		y += inlined(x * 2);
		MANY(21)
		MANY(31)
		MANY(41)
		y += inlined(x / 3);
		MANY(51)
	}
	return y;
}
