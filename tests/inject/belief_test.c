/* The belief against its rules done the slow way: an owner for each address. */
#include "inject/belief.h"

#include "base/status.h"
#include "failing_memory.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { ADDRESSES = 1200, SPACES = 4 };

struct model {
	struct belief *belief;
	uint32_t owner[ADDRESSES];
};

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static void model_init(struct model *model)
{
	model->belief = belief_new();
	assert_non_null(model->belief);
	memset(model->owner, 0xff, sizeof(model->owner));
}

static void check(const struct model *model)
{
	for (uint32_t at = 0; at < ADDRESSES; at++) {
		uint64_t start = 0;
		uint64_t end = 0;
		assert_int_equal(belief_at(model->belief, at, &start, &end), model->owner[at]);
		assert_int_equal(belief_has_code(model->belief, at, at + 1),
				 model->owner[at] != BELIEF_NONE);
		if (end == UINT64_MAX)
			end = ADDRESSES;
		assert_true(start <= at && at < end);
		for (uint64_t i = start; i < end; i++)
			assert_int_equal(model->owner[i], model->owner[at]);
		if (model->owner[at] != BELIEF_NONE)
			continue;
		assert_true(start == 0 || model->owner[start - 1] != BELIEF_NONE);
		assert_true(end == ADDRESSES || model->owner[end] != BELIEF_NONE);
	}
}

static void change(struct model *model, uint64_t *seed, uint32_t code)
{
	const uint32_t start = next_random(seed) % ADDRESSES;
	const uint32_t longest = next_random(seed) % 8 ? 8 : ADDRESSES;
	uint32_t end = start + next_random(seed) % longest;
	if (end > ADDRESSES)
		end = ADDRESSES;
	const bool cuts = next_random(seed) % 4 == 0;
	if (cuts)
		assert_int_equal(belief_cut(&model->belief, start, end), 0);
	else
		assert_int_equal(belief_put(&model->belief, start, end, code), 0);
	for (uint32_t i = start; i < end; i++)
		model->owner[i] = cuts ? BELIEF_NONE : code;
}

/* Forks at random: what one changes the other must not see. */
static void does_as_the_rules_say(void **state)
{
	(void)state;
	struct model models[SPACES];
	uint64_t seed = 1;
	for (size_t i = 0; i < SPACES; i++)
		model_init(&models[i]);
	for (uint32_t step = 1; step < 6000; step++) {
		struct model *model = &models[next_random(&seed) % SPACES];
		change(model, &seed, step);
		if (step % 50 == 0) {
			struct model *child = &models[next_random(&seed) % SPACES];
			struct belief *shared = belief_share(model->belief);
			belief_free(child->belief);
			memcpy(child->owner, model->owner, sizeof(child->owner));
			child->belief = shared;
		}
		if (step % 97 == 0)
			for (size_t i = 0; i < SPACES; i++)
				check(&models[i]);
	}
	for (size_t i = 0; i < SPACES; i++)
		belief_free(models[i].belief);
}

static void reaches_to_the_last_address(void **state)
{
	(void)state;
	struct belief *belief = belief_new();
	uint64_t start;
	uint64_t end;
	assert_int_equal(belief_put(&belief, UINT64_MAX - 10, UINT64_MAX, 7), 0);
	assert_int_equal(belief_put(&belief, 0, 1, 8), 0);
	assert_int_equal(belief_put(&belief, 5, 5, 9), 0);
	assert_int_equal(belief_at(belief, UINT64_MAX - 1, &start, &end), 7);
	assert_int_equal(belief_at(belief, UINT64_MAX, &start, &end), BELIEF_NONE);
	assert_int_equal(belief_at(belief, 0, &start, &end), 8);
	assert_int_equal(belief_at(belief, 5, &start, &end), BELIEF_NONE);
	assert_int_equal(belief_cut(&belief, 0, UINT64_MAX), 0);
	assert_false(belief_has_code(belief, 0, UINT64_MAX));
	belief_free(belief);
}

/* Without memory a change is refused, and whoever shares is untouched. */
static void survives_without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		memory_fail_at(0);
		struct belief *parent = belief_new();
		for (uint32_t i = 0; i < 300; i++)
			assert_int_equal(belief_put(&parent, i * 10, i * 10 + 9, i), 0);
		struct belief *child = belief_share(parent);
		memory_fail_at(n);
		int got = 0;
		for (uint32_t i = 0; got == 0 && i < 300; i++)
			got = belief_put(&child, i * 10 + 3, i * 10 + 5, 1000 + i);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		for (uint32_t i = 0; i < 300; i++) {
			uint64_t start;
			uint64_t end;
			assert_int_equal(belief_at(parent, i * 10 + 4, &start, &end), i);
		}
		belief_free(child);
		belief_free(parent);
		if (!has_failed)
			break;
	}
}

/* A server of many functions whose thousand children each make one more. */
static void children_share_what_they_do_not_change(void **state)
{
	(void)state;
	enum { FUNCTIONS = 10000, CHILDREN = 1000, MOST_BYTES = 16 << 20 };
	struct belief **children = calloc(CHILDREN, sizeof(struct belief *));
	struct belief *parent = belief_new();
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_int_equal(belief_put(&parent, i * 16, i * 16 + 8, i), 0);
	memory_fail_at(0);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		children[i] = belief_share(parent);
		assert_int_equal(belief_put(&children[i], i * 16 + 4, i * 16 + 12, FUNCTIONS + i),
				 0);
	}
	assert_true(memory_asked_bytes() < MOST_BYTES);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		uint64_t start;
		uint64_t end;
		assert_int_equal(belief_at(children[i], i * 16 + 5, &start, &end), FUNCTIONS + i);
		assert_int_equal(belief_at(children[i], (i + 1) * 16 + 5, &start, &end), i + 1);
		assert_int_equal(belief_at(parent, i * 16 + 5, &start, &end), i);
		belief_free(children[i]);
	}
	belief_free(parent);
	free(children);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(does_as_the_rules_say),
		cmocka_unit_test(reaches_to_the_last_address),
		cmocka_unit_test(children_share_what_they_do_not_change),
		cmocka_unit_test(survives_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
