#include "record/rings.h"

#include "test.h"

#define KB ((size_t)1024)
#define MB (1024 * KB)

enum { PAGE = 4096 };

static bool is_power_of_two(size_t size)
{
	return size && (size & (size - 1)) == 0;
}

static void privileged_users_have_large_rings(void **state)
{
	(void)state;
	const struct os_perf_limits root = { .can_lock = true, .mlock_bytes = 516 * KB };
	const struct rings_want plain = { 0 };
	const struct rings_want stacks = { .large_samples = true };
	assert_int_equal(rings_sizes(&root, 0, 2, &plain).sample_bytes, 4 * MB);
	assert_int_equal(rings_sizes(&root, 0, 2, &stacks).sample_bytes, 16 * MB);
	/* A large machine does not lock all its memory. */
	const struct rings_sizes many = rings_sizes(&root, 0, 1024, &stacks);
	assert_true(many.sample_bytes * 1024 <= 512 * MB);
	const struct rings_want wish = { .sample_bytes = 1000 * KB };
	assert_int_equal(rings_sizes(&root, 0, 2, &wish).sample_bytes, 512 * KB);
}

/* What the kernel allows is never exceeded; it would say EPERM. */
static void others_stay_within_their_limit(void **state)
{
	(void)state;
	static const uint64_t own[] = { 0, 64 * KB, 516 * KB, 4096 * KB };
	static const uint64_t lock[] = { 0, 64 * KB, 8 * MB, 1024 * MB };
	static const size_t cpus[] = { 1, 2, 64 };
	const struct rings_want want = { 0 };
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			for (size_t k = 0; k < 3; k++) {
				const struct os_perf_limits user = { .mlock_bytes = own[i] };
				const struct rings_sizes sizes =
				    rings_sizes(&user, lock[j], cpus[k], &want);
				assert_true(is_power_of_two(sizes.sample_bytes));
				assert_true(is_power_of_two(sizes.sideband_bytes));
				const uint64_t used =
				    sizes.sample_bytes + sizes.sideband_bytes + 2 * (size_t)PAGE;
				const uint64_t allowed = own[i] + lock[j] / cpus[k];
				if (allowed >= 128 * KB)
					assert_true(used <= allowed);
			}
		}
	}
	const struct os_perf_limits debian = { .mlock_bytes = 516 * KB };
	assert_int_equal(rings_sizes(&debian, 0, 8, &want).sample_bytes, 256 * KB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(privileged_users_have_large_rings),
		cmocka_unit_test(others_stay_within_their_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
