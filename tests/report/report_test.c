#include "report/columns.h"
#include "report/fixture.h"
#include "report/script.h"
#include "report/write.h"
#include "test.h"

#include "base/status.h"

#include <string.h>

enum { TEXT, CSV, JSON };

/* The whole report as a string that the caller clears with the sink. */
static const char *written_of(struct sink *out, struct profile *profile,
			      const struct report_options *options, int format)
{
	struct report_groups groups = { 0 };
	struct report_tree_nodes tree = { 0 };
	struct report_summary summary = { .early_max_ns = 75000, .early_buckets = { 1, 4 } };
	const struct report_view view = { .profile = profile,
					  .options = options,
					  .groups = &groups,
					  .tree = options->tree ? &tree : NULL,
					  .summary = &summary };
	assert_int_equal(report_groups_build(&groups, profile, 0, options), 0);
	assert_int_equal(report_summary_build(&summary, profile, 0), 0);
	if (view.tree)
		assert_int_equal(report_tree_build(&tree, &groups, profile, 0, options), 0);
	if (format == CSV)
		report_write_csv(out, &view);
	else if (format == JSON)
		report_write_json(out, &view);
	else
		report_write_text(out, &view, 0);
	sink_u8(out, 0);
	report_groups_clear(&groups);
	report_tree_clear(&tree);
	report_summary_clear(&summary);
	assert_false(sink_failed(out));
	return (const char *)out->data;
}

static const char *written(struct sink *out, const struct report_options *options, int format)
{
	struct profile profile = { 0 };
	fixture_make(&profile);
	const char *text = written_of(out, &profile, options, format);
	profile_clear(&profile);
	return text;
}

static void check(const struct report_options *options, int format, const char *expected)
{
	struct sink out = { 0 };
	assert_string_equal(written(&out, options, format), expected);
	sink_clear(&out);
}

static void one_row_a_function_however_often_compiled(void **state)
{
	(void)state;
	check(&(struct report_options){ .keys = REPORT_DEFAULT_KEYS }, CSV,
	      "overhead,samples,runtime,tier,trust,symbol,object\n"
	      "60.00,60,v8,turbofan+sparkplug,exact+early,\"alpha, \"\"x\"\"\",[jit]\n"
	      "30.00,30,v8,turbofan,exact,beta\\x1b[31m,[jit]\n"
	      "6.00,6,native,,exact,main,app\n"
	      "4.00,4,,,unknown,[unknown],app\n");
}

static void by_tier_and_by_version_split_it(void **state)
{
	(void)state;
	check(&(struct report_options){ .keys = REPORT_DEFAULT_KEYS | REPORT_TIER | REPORT_VERSION,
					.percent_limit = 5,
					.symbols = "alpha*" },
	      CSV,
	      "overhead,samples,runtime,tier,trust,version,symbol,object\n"
	      "55.00,55,v8,turbofan,exact,2,\"alpha, \"\"x\"\"\",[jit]\n"
	      "5.00,5,v8,sparkplug,early,1,\"alpha, \"\"x\"\"\",[jit]\n");
}

/* A recursive function counts once a sample. */
static void children_count_callers(void **state)
{
	(void)state;
	check(&(struct report_options){ .keys = REPORT_DEFAULT_KEYS, .children = true }, CSV,
	      "children,self,samples,runtime,tier,trust,symbol,object\n"
	      "100.00,6.00,100,native,,exact,main,app\n"
	      "70.00,60.00,70,v8,turbofan+sparkplug,exact+early,\"alpha, \"\"x\"\"\",[jit]\n"
	      "30.00,30.00,30,v8,turbofan,exact,beta\\x1b[31m,[jit]\n"
	      "4.00,4.00,4,,,unknown,[unknown],app\n");
}

static void sort_by_thread(void **state)
{
	(void)state;
	unsigned keys;
	assert_int_equal(report_keys_parse("comm,tid", &keys), 0);
	check(&(struct report_options){ .keys = keys }, CSV,
	      "overhead,samples,comm,tid\n70.00,70,app,7\n30.00,30,worker,8\n");
	assert_int_equal(report_keys_parse("comm,nonsense", &keys), STATUS_NOT_FOUND);
	assert_int_equal(report_keys_parse("", &keys), STATUS_NOT_FOUND);
	assert_int_equal(report_keys_parse("dso,sym", &keys), 0);
	assert_int_equal(keys, REPORT_OBJECT | REPORT_SYMBOL);
}

static void text_starts_with_trust_and_ends_with_reasons(void **state)
{
	(void)state;
	check(&(struct report_options){ .keys = REPORT_DEFAULT_KEYS, .percent_limit = 10 }, TEXT,
	      "91.0 % exact, 5.0 % early (by up to 75 us), 4.0 % unknown of 100 samples of "
	      "cpu-clock in 2.0 s\n"
	      "\n"
	      "Overhead  Samples  Runtime  Tier                Trust        Symbol        Object\n"
	      "  60.00%       60  v8       turbofan+sparkplug  exact+early  alpha, \"x\"    [jit]\n"
	      "  30.00%       30  v8       turbofan            exact        beta\\x1b[31m  [jit]\n"
	      "\n"
	      "Why names are not exact:\n"
	      "   5.00%  early      [jit]: announced after the sample\n"
	      "   4.00%  unknown    app: nobody announced it\n"
	      "Early samples came before the record of their code by: < 10 us: 1, < 100 us: 4\n");
}

/* It is there whole, and the rows of the others stay short. */
static void an_endless_name_widens_no_other_row(void **state)
{
	(void)state;
	enum { ENDLESS = 5000, ROW = 150 };
	struct profile profile = { 0 };
	struct sink out = { 0 };
	char name[ENDLESS + 1];
	memset(name, 'x', ENDLESS);
	name[ENDLESS] = '\0';
	fixture_make(&profile);
	profile.functions.items[0].name = intern_text(&profile.strings, name);
	const char *text = written_of(
	    &out, &profile, &(struct report_options){ .keys = REPORT_DEFAULT_KEYS }, TEXT);
	assert_non_null(strstr(text, name));
	const char *beta = strstr(text, "beta");
	assert_non_null(beta);
	assert_true(strcspn(beta, "\n") < ROW);
	profile_clear(&profile);
	sink_clear(&out);
}

static void without_samples_there_is_no_share(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct sink out = { 0 };
	*vector_push(&profile.events) = intern_text(&profile.strings, "cpu-clock");
	const char *text = written_of(
	    &out, &profile, &(struct report_options){ .keys = REPORT_DEFAULT_KEYS }, TEXT);
	assert_ptr_equal(strstr(text, "no samples of cpu-clock\n"), text);
	profile_clear(&profile);
	sink_clear(&out);
}

static void trees_go_up_and_down(void **state)
{
	(void)state;
	struct report_options options = { .keys = REPORT_SYMBOL,
					  .tree = REPORT_TREE_CALLERS,
					  .symbols = "beta*" };
	struct sink out = { 0 };
	const char *text = written(&out, &options, TEXT);
	assert_non_null(strstr(text, "            |- 20.00%  main\n"
				     "            `- 10.00%  alpha, \"x\"\n"
				     "                       main\n"));
	sink_clear(&out);
	options = (struct report_options){ .keys = REPORT_SYMBOL,
					   .children = true,
					   .tree = REPORT_TREE_CALLEES,
					   .symbols = "main" };
	text = written(&out, &options, TEXT);
	assert_non_null(strstr(text, "            |- 70.00%  alpha, \"x\"\n"
				     "            |  |- 10.00%  beta\\x1b[31m\n"
				     "            |  `-  5.00%  alpha, \"x\"\n"
				     "            |- 20.00%  beta\\x1b[31m\n"
				     "            `-  4.00%  [unknown]\n"));
	sink_clear(&out);
}

static void json_quotes_what_names_hold(void **state)
{
	(void)state;
	struct sink out = { 0 };
	const char *text =
	    written(&out, &(struct report_options){ .keys = REPORT_DEFAULT_KEYS }, JSON);
	assert_non_null(strstr(text, "\"symbol\":\"alpha, \\\"x\\\"\""));
	assert_non_null(strstr(text, "\"symbol\":\"beta\\u001b[31m\""));
	assert_non_null(strstr(text, "\"trust\":{\"exact\":91,\"early\":5,"));
	assert_null(strchr(text, '\x1b'));
	sink_clear(&out);
}

static void dumped_stacks_say_how_many_are_whole(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct sink out = { 0 };
	const struct report_options options = { .keys = REPORT_DEFAULT_KEYS };
	fixture_make_dumped(&profile);
	const char *text = written_of(&out, &profile, &options, TEXT);
	assert_non_null(strstr(text, "\nstacks: 16.0 % whole, "
				     "80.0 % cut off by the size of the dump (record with -g "
				     "dwarf,65528), 4.0 % no unwind information\n\n"));
	assert_non_null(strstr(text, "\nWhere stacks end early:\n"
				     "  80.00%  cut off by the size of the dump: main (app)\n"
				     "   4.00%  no unwind information: main (app)\n"));
	sink_reset(&out);
	/* Nothing longer could have been asked for. */
	profile.dump_bytes = 65528;
	text = written_of(&out, &profile, &options, TEXT);
	assert_non_null(strstr(text, "80.0 % cut off by the size of the dump, 4.0 %"));
	sink_reset(&out);
	text = written_of(&out, &profile, &options, JSON);
	assert_non_null(strstr(text, "\"stack_ends\":{\"not_dumped\":0,\"whole\":16,"
				     "\"truncated\":80,\"no_unwinding\":4,"));
	assert_non_null(strstr(text, "\"ends_early\":[{\"end\":\"truncated\",\"symbol\":"
				     "\"main\",\"object\":\"app\",\"samples\":80}"));
	sink_clear(&out);
	profile_clear(&profile);
}

static void stacks_that_the_kernel_followed_have_no_end(void **state)
{
	(void)state;
	struct sink out = { 0 };
	const struct report_options options = { .keys = REPORT_DEFAULT_KEYS };
	assert_null(strstr(written(&out, &options, TEXT), "stacks"));
	sink_clear(&out);
}

static void script_tells_why_a_stack_ends(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct script script = { .fields = SCRIPT_SYM | SCRIPT_REASON };
	struct sink out = { 0 };
	fixture_make_dumped(&profile);
	/* The first is cut, the one of main alone is whole. */
	assert_true(script_put(&script, &profile, &(struct script_sample){ .stack = 0 }, &out));
	assert_true(script_put(&script, &profile, &(struct script_sample){ .stack = 5 }, &out));
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data,
			    "\n\talpha, \"x\"\n"
			    "\tmain # stack ends: cut off by the size of the dump\n\n"
			    "\n\tmain\n\n");
	script_clear(&script);
	sink_clear(&out);
	profile_clear(&profile);
}

static void script_has_the_shape_of_perf_script(void **state)
{
	(void)state;
	struct profile profile = { 0 };
	struct script script = { .fields = SCRIPT_DEFAULT_FIELDS };
	struct sink out = { 0 };
	const struct script_sample sample = { .thread = 0,
					      .stack = 0,
					      .cpu = 3,
					      .has_cpu = true,
					      .time_ns = 1500000999,
					      .period = 7 };
	fixture_make(&profile);
	assert_true(script_put(&script, &profile, &sample, &out));
	assert_true(script_put(&script, &profile, &sample, &out));
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data,
			    "app     7 [003]     1.500000:          7 cpu-clock: \n"
			    "\t            1030 alpha, \"x\"+0x4 (/usr/bin/app)\n"
			    "\t            1010 main+0x4 (/usr/bin/app)\n\n"
			    "app     7 [003]     1.500000:          7 cpu-clock: \n"
			    "\t            1030 alpha, \"x\"+0x4 (/usr/bin/app)\n"
			    "\t            1010 main+0x4 (/usr/bin/app)\n\n");
	script_clear(&script);
	sink_clear(&out);

	script = (struct script){ .is_single = true, .in_ns = true };
	assert_int_equal(
	    script_fields_parse("comm,pid,tid,time,ip,sym,trust,reason", &script.fields), 0);
	assert_true(script_put(&script, &profile,
			       &(struct script_sample){ .stack = 1, .time_ns = 5 }, &out));
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data,
			    "             app     7/7         0.000000005:              1020 "
			    "alpha, \"x\" early # announced after the sample\n");
	assert_int_equal(script_fields_parse("comm,wrong", &script.fields), STATUS_NOT_FOUND);
	script_clear(&script);
	sink_clear(&out);
	profile_clear(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_a_function_however_often_compiled),
		cmocka_unit_test(by_tier_and_by_version_split_it),
		cmocka_unit_test(children_count_callers),
		cmocka_unit_test(sort_by_thread),
		cmocka_unit_test(text_starts_with_trust_and_ends_with_reasons),
		cmocka_unit_test(an_endless_name_widens_no_other_row),
		cmocka_unit_test(without_samples_there_is_no_share),
		cmocka_unit_test(trees_go_up_and_down),
		cmocka_unit_test(json_quotes_what_names_hold),
		cmocka_unit_test(dumped_stacks_say_how_many_are_whole),
		cmocka_unit_test(stacks_that_the_kernel_followed_have_no_end),
		cmocka_unit_test(script_tells_why_a_stack_ends),
		cmocka_unit_test(script_has_the_shape_of_perf_script),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
