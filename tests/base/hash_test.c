#include "base/hash.h"

#include "test.h"

#include <stdlib.h>

static void reads_only_its_bytes(void **state)
{
	(void)state;
	for (size_t size = 0; size < 70; size++) {
		unsigned char *exact = malloc(size ? size : 1);
		assert_non_null(exact);
		memset(exact, 0x5a, size);
		unsigned char longer[80];
		memset(longer, 0xa5, sizeof(longer));
		memcpy(longer + 3, exact, size);
		assert_true(hash_bytes(exact, size, 1) == hash_bytes(longer + 3, size, 1));
		free(exact);
	}
}

static void every_bit_size_and_seed_counts(void **state)
{
	(void)state;
	unsigned char text[40] = { 0 };
	for (size_t size = 1; size <= sizeof(text); size++) {
		const uint64_t plain = hash_bytes(text, size, 0);
		assert_true(plain != hash_bytes(text, size - 1, 0));
		assert_true(plain != hash_bytes(text, size, 1));
		for (size_t bit = 0; bit < size * 8; bit++) {
			text[bit / 8] ^= (unsigned char)(1u << bit % 8);
			assert_true(plain != hash_bytes(text, size, 0));
			text[bit / 8] = 0;
		}
	}
}

/* Low bits choose a slot: consecutive keys must not crowd into few. */
static void low_bits_are_spread(void **state)
{
	(void)state;
	enum { SLOTS = 1024 };
	unsigned used[SLOTS] = { 0 };
	unsigned empty = 0;
	for (uint64_t key = 0; key < SLOTS; key++) {
		const uint64_t address = 0x7f0000000000 + key * 64;
		used[hash_bytes(&address, sizeof(address), 0) % SLOTS]++;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		empty += used[i] == 0;
	/* A random function leaves 377 (1/e) of them empty; none needs to. */
	assert_true(empty < 450);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_only_its_bytes),
		cmocka_unit_test(every_bit_size_and_seed_counts),
		cmocka_unit_test(low_bits_are_spread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
