#include "tui/model.h"

#include "base/status.h"
#include "failing_memory.h"
#include "report/fixture.h"
#include "report/tree.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void make(struct model *model, const struct profile *profile, bool children,
		 enum report_tree tree)
{
	*model = (struct model){
		.profile = profile,
		.options = { .keys = REPORT_DEFAULT_KEYS, .children = children, .tree = tree },
		.sorted_by = -1,
	};
	assert_int_equal(model_build(model), 0);
}

/* The shown lines, each as "INDENT SYMBOL COUNT\n". */
static void assert_lines(const struct model *model, const char *expected)
{
	struct sink out = { 0 };
	for (size_t i = 0; i < model->shown.count; i++) {
		const struct model_node *node = model_node(model, i);
		for (size_t c = 0; c < model->column_count; c++)
			if (strcmp(model->columns[c]->name, "symbol") == 0)
				model_cell(model, i, c, &out);
		sink_printf(&out, " %u\n", (unsigned)node->count);
	}
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data, expected);
	sink_clear(&out);
}

static void opens_and_closes(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	bool is_whole;
	fixture_make(&profile);
	make(&model, &profile, false, REPORT_TREE_CALLERS);
	assert_lines(&model, "+ alpha, \"x\" 60\n"
			     "+ beta\x1b[31m 30\n"
			     "  main 6\n"
			     "+ [unknown] 4\n");
	model_clear(&model);
	make(&model, &profile, false, REPORT_TREE_CALLERS);
	assert_int_equal(model_open(&model, 1), 0);
	assert_lines(&model, "+ alpha, \"x\" 60\n"
			     "- beta\x1b[31m 30\n"
			     "    main 20\n"
			     "  + alpha, \"x\" 10\n"
			     "  main 6\n"
			     "+ [unknown] 4\n");
	assert_int_equal(model_parent(&model, 3), 1);
	assert_int_equal(model_parent(&model, 1), 1);
	assert_int_equal(model_open(&model, 3), 0);
	/* It would look like a sibling of its parent, one column to the left. */
	assert_lines(&model, "+ alpha, \"x\" 60\n"
			     "- beta\x1b[31m 30\n"
			     "    main 20\n"
			     "  - alpha, \"x\" 10\n"
			     "      main 10\n"
			     "  main 6\n"
			     "+ [unknown] 4\n");
	model_close(&model, 1);
	assert_int_equal(model.shown.count, 4);
	/* It remembers what was open below. */
	assert_int_equal(model_open(&model, 1), 0);
	assert_int_equal(model.shown.count, 7);
	assert_int_equal(model_close_all(&model, 4), 1);
	assert_int_equal(model.shown.count, 4);
	assert_int_equal(model_open(&model, 1), 0);
	assert_int_equal(model.shown.count, 6);
	assert_int_equal(model_open_all(&model, 0, &is_whole), 0);
	assert_true(is_whole);
	assert_int_equal(model.shown.count, 9);
	assert_int_equal(model_close_every(&model, 8), 3);
	assert_int_equal(model.shown.count, 4);
	model_clear(&model);
	profile_clear(&profile);
}

static void callees_are_there_without_children(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	bool is_whole;
	fixture_make(&profile);
	make(&model, &profile, false, REPORT_TREE_CALLEES);
	assert_int_equal(model_open_all(&model, 2, &is_whole), 0);
	assert_lines(&model, "+ alpha, \"x\" 60\n"
			     "  beta\x1b[31m 30\n"
			     "- main 6\n"
			     "  - alpha, \"x\" 70\n"
			     "      beta\x1b[31m 10\n"
			     "      alpha, \"x\" 5\n"
			     "    beta\x1b[31m 20\n"
			     "    [unknown] 4\n"
			     "  [unknown] 4\n");
	model_clear(&model);
	profile_clear(&profile);
}

/* Many stacks of few functions: recursion of every shape. */
static void make_random(struct profile *p, unsigned seed)
{
	fixture_make(p);
	srand(seed);
	for (int i = 0; i < 200; i++) {
		uint32_t frames[9];
		const uint32_t depth = (uint32_t)(rand() % 9);
		for (uint32_t d = 0; d < depth; d++)
			frames[d] = (uint32_t)rand() % (uint32_t)p->frames.count;
		const struct profile_row row = { .thread = (uint32_t)(rand() % 2),
						 .stack = profile_add_stack(p, frames, depth),
						 .count = (uint64_t)(1 + rand() % 5),
						 .weight = (uint64_t)(rand() % 100) };
		assert_int_not_equal(profile_add(p, &row), INTERN_NONE);
	}
}

struct both {
	struct model model;
	struct report_groups groups;
	struct report_tree_nodes tree;
};

static const struct report_group_key *key_of(const struct report_groups *groups, uint32_t group)
{
	return &groups->items.items[group].key;
}

/* What the report has under a node is what the model has under its own. */
static void compare(const struct both *both, const struct model_node *node, uint32_t first)
{
	const struct report_node *nodes = both->tree.nodes.items;
	uint32_t count = 0;
	for (uint32_t id = first; id; id = nodes[id - 1].next) {
		const struct report_group_key *key = key_of(&both->groups, nodes[id - 1].group);
		const struct model_node *found = NULL;
		for (uint32_t c = 0; c < node->child_count; c++) {
			const struct model_node *child =
			    &both->model.nodes.items[node->first_child + c];
			if (memcmp(key_of(&both->model.groups, child->group), key, sizeof(*key)) ==
			    0)
				found = child;
		}
		assert_non_null(found);
		assert_int_equal(found->count, nodes[id - 1].count);
		assert_int_equal(found->weight, nodes[id - 1].weight);
		assert_int_equal(found->has_more, nodes[id - 1].first_child != 0);
		compare(both, found, nodes[id - 1].first_child);
		count++;
	}
	assert_int_equal(node->child_count, count);
}

static void check_against_report(const struct profile *profile, bool children,
				 enum report_tree tree, unsigned keys)
{
	struct both both = { 0 };
	const struct report_options options = { .keys = keys, .children = children, .tree = tree };
	both.model = (struct model){ .profile = profile, .options = options, .sorted_by = -1 };
	assert_int_equal(model_build(&both.model), 0);
	assert_int_equal(report_groups_build(&both.groups, profile, 0, &options), 0);
	assert_int_equal(report_tree_build(&both.tree, &both.groups, profile, 0, &options), 0);
	assert_int_equal(both.model.shown.count, both.groups.order.count);
	const size_t rows = both.model.shown.count;
	for (size_t i = rows; i-- > 0;) {
		bool is_whole;
		assert_int_equal(model_open_all(&both.model, i, &is_whole), 0);
		assert_true(is_whole);
	}
	for (size_t i = 0; i < rows; i++) {
		const struct model_node *node = &both.model.nodes.items[i];
		const uint32_t group = both.groups.order.items[i];
		const uint32_t first = report_tree_first(&both.tree, group);
		assert_memory_equal(key_of(&both.model.groups, node->group),
				    key_of(&both.groups, group), sizeof(struct report_group_key));
		assert_int_equal(node->weight, both.groups.items.items[group].total_weight);
		assert_int_equal(node->has_more, first != 0);
		compare(&both, node, first);
	}
	report_tree_clear(&both.tree);
	report_groups_clear(&both.groups);
	model_clear(&both.model);
}

static void trees_are_those_of_the_report(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct profile profile = { 0 };
		make_random(&profile, seed);
		const unsigned keys[] = { REPORT_DEFAULT_KEYS, REPORT_SYMBOL | REPORT_TIER,
					  REPORT_SYMBOL | REPORT_TID, REPORT_RUNTIME };
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			check_against_report(&profile, false, REPORT_TREE_CALLERS, keys[k]);
			check_against_report(&profile, true, REPORT_TREE_CALLERS, keys[k]);
			check_against_report(&profile, true, REPORT_TREE_CALLEES, keys[k]);
		}
		profile_clear(&profile);
	}
}

static void zoom(struct model *model, enum model_zoom_kind kind, uint32_t value, const char *part)
{
	struct model_zoom *slot = vector_push(&model->zooms);
	assert_non_null(slot);
	*slot = (struct model_zoom){ kind, value, part };
	assert_int_equal(model_build(model), 0);
}

static void zooms_leave_out(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	fixture_make(&profile);
	make(&model, &profile, false, REPORT_TREE_CALLERS);
	/* A thread's samples are a whole of their own, as with --tid. */
	zoom(&model, MODEL_THREAD, 1, NULL);
	assert_lines(&model, "+ beta\x1b[31m 20\n  main 6\n+ [unknown] 4\n");
	assert_int_equal(model.groups.total_count, 30);
	/* An object's are not, as with --dso. */
	zoom(&model, MODEL_OBJECT, profile.functions.items[0].object, NULL);
	assert_lines(&model, "  main 6\n+ [unknown] 4\n");
	assert_int_equal(model.groups.total_count, 30);
	model.zooms.count = 0;
	zoom(&model, MODEL_COMM, profile.threads.items[0].comm, NULL);
	assert_int_equal(model.groups.total_count, 70);
	model.zooms.count = 0;
	zoom(&model, MODEL_RUNTIME, profile.functions.items[1].runtime, NULL);
	assert_int_equal(model.shown.count, 2);
	zoom(&model, MODEL_PART, 0, "BETA");
	assert_lines(&model, "+ beta\x1b[31m 30\n");
	model_clear(&model);
	profile_clear(&profile);
}

static void shares_are_largest_first(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	model_shares shares = { 0 };
	fixture_make(&profile);
	/* The same thread by another name is one thread, but another program. */
	const uint32_t renamed =
	    profile_add_thread(&profile, 7, 8, intern_text(&profile.strings, "renamed"));
	const struct profile_row row = { .thread = renamed, .count = 1, .weight = 500 };
	profile_add(&profile, &row);
	make(&model, &profile, false, REPORT_TREE_CALLERS);
	assert_int_equal(model_shares_of(&model, MODEL_THREAD, &shares), 0);
	assert_int_equal(shares.count, 2);
	assert_int_equal(shares.items[0].value, 1);
	assert_int_equal(shares.items[0].weight, 800);
	assert_int_equal(shares.items[1].weight, 700);
	shares.count = 0;
	assert_int_equal(model_shares_of(&model, MODEL_COMM, &shares), 0);
	assert_int_equal(shares.count, 3);
	assert_string_equal(profile_text(&profile, shares.items[0].value), "app");
	zoom(&model, MODEL_THREAD, 1, NULL);
	assert_int_equal(model.groups.total_weight, 800);
	vector_clear(&shares);
	model_clear(&model);
	profile_clear(&profile);
}

static void sort_by(struct model *model, const char *name)
{
	for (size_t i = 0; i < model->column_count; i++)
		if (strcmp(model->columns[i]->name, name) == 0)
			model->sorted_by = (int)i;
	assert_int_equal(model_build(model), 0);
}

static void sorts_by_any_column(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	fixture_make(&profile);
	make(&model, &profile, true, REPORT_TREE_CALLEES);
	sort_by(&model, "symbol");
	assert_lines(&model, "  [unknown] 4\n+ alpha, \"x\" 70\n  beta\x1b[31m 30\n+ main 100\n");
	sort_by(&model, "self");
	assert_lines(&model, "+ alpha, \"x\" 70\n  beta\x1b[31m 30\n+ main 100\n  [unknown] 4\n");
	sort_by(&model, "samples");
	assert_lines(&model, "+ main 100\n+ alpha, \"x\" 70\n  beta\x1b[31m 30\n  [unknown] 4\n");
	sort_by(&model, "runtime");
	assert_lines(&model, "  [unknown] 4\n+ main 100\n+ alpha, \"x\" 70\n  beta\x1b[31m 30\n");
	model_clear(&model);
	profile_clear(&profile);
}

static void finds_a_function_again(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct model model;
	fixture_make(&profile);
	make(&model, &profile, false, REPORT_TREE_CALLERS);
	const struct report_group_key key =
	    model.groups.items.items[model_node(&model, 1)->group].key;
	model.options.keys |= REPORT_TIER;
	sort_by(&model, "symbol");
	assert_int_equal(model_find(&model, &key), 3);
	zoom(&model, MODEL_PART, 0, "alpha");
	assert_int_equal(model_find(&model, &key), SIZE_MAX);
	model_clear(&model);
	profile_clear(&profile);
}

/* All that a person does with it, as far as memory goes. */
static int use(struct model *model)
{
	bool is_whole;
	int got = model_build(model);
	if (got == 0)
		got = model_open(model, 1);
	if (got == 0)
		got = model_open_all(model, 0, &is_whole);
	model->sorted_by = 1;
	if (got == 0)
		got = model_build(model);
	struct model_zoom *slot = got == 0 ? vector_push(&model->zooms) : NULL;
	if (got == 0 && !slot)
		return STATUS_NO_MEMORY;
	if (slot)
		*slot = (struct model_zoom){ .kind = MODEL_THREAD, .value = 1 };
	if (got == 0)
		got = model_build(model);
	model_shares shares = { 0 };
	if (got == 0)
		got = model_shares_of(model, MODEL_THREAD, &shares);
	vector_clear(&shares);
	return got;
}

static void survives_each_failed_allocation(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	bool has_failed = true;
	fixture_make(&profile);
	for (size_t n = 1; has_failed; n++) {
		struct model model = {
			.profile = &profile,
			.options = { .keys = REPORT_DEFAULT_KEYS,
				     .children = true,
				     .tree = REPORT_TREE_CALLERS },
			.sorted_by = -1,
		};
		memory_fail_at(n);
		const int got = use(&model);
		has_failed = memory_has_failed();
		memory_fail_at(0);
		/* What only makes it faster may be missing. */
		if (got < 0)
			assert_int_equal(got, STATUS_NO_MEMORY);
		else
			assert_int_equal(model.groups.total_count, 30);
		model_clear(&model);
	}
	profile_clear(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_and_closes),
		cmocka_unit_test(callees_are_there_without_children),
		cmocka_unit_test(trees_are_those_of_the_report),
		cmocka_unit_test(zooms_leave_out),
		cmocka_unit_test(shares_are_largest_first),
		cmocka_unit_test(sorts_by_any_column),
		cmocka_unit_test(finds_a_function_again),
		cmocka_unit_test(survives_each_failed_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
