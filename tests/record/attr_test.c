#include "record/attr.h"

#include "test.h"

#include <time.h>

static const struct attr_support all = {
	.kernel = true,
	.clockid = true,
	.comm_exec = true,
	.mmap2 = true,
	.namespaces = true,
	.ksymbol = true,
	.bpf_event = true,
	.text_poke = true,
	.lost = true,
};

static const struct event clock_event = { .name = "cpu-clock", .type = PERF_TYPE_SOFTWARE };

/* Readers ask one event for the fields of all. */
static void all_events_have_the_same_fields(void **state)
{
	(void)state;
	for (int stacks = RECORD_STACKS_FP; stacks <= RECORD_STACKS_NONE; stacks++) {
		const struct attr_wants wants = { .stacks = (enum record_stacks)stacks,
						  .stack_bytes = 8192,
						  .frequency_hz = 999 };
		const struct perf_event_attr samples = attr_for_samples(&all, &clock_event, &wants);
		const struct perf_event_attr sideband = attr_for_sideband(&all, &wants);
		assert_int_equal(samples.sample_type, sideband.sample_type);
		assert_int_equal(samples.read_format, sideband.read_format);
		assert_int_equal(samples.sample_regs_user, sideband.sample_regs_user);
		assert_int_equal(samples.sample_stack_user, sideband.sample_stack_user);
		assert_true(samples.sample_id_all && sideband.sample_id_all);
		assert_true(samples.use_clockid && sideband.use_clockid);
		assert_int_equal(samples.clockid, CLOCK_MONOTONIC);
		const bool has_chain = samples.sample_type & PERF_SAMPLE_CALLCHAIN;
		assert_int_equal(has_chain, stacks != RECORD_STACKS_NONE);
		const bool has_stack = samples.sample_type & PERF_SAMPLE_STACK_USER;
		assert_int_equal(sideband.mmap_data, stacks == RECORD_STACKS_DWARF);
		if (stacks != RECORD_STACKS_DWARF)
			assert_false(has_stack);
		else if (has_stack)
			assert_int_equal(samples.sample_stack_user, 8192);
	}
}

/* Up to the CPU, and their trailers in whole: who reads those of one event can read the others'. */
static void frames_begin_as_samples_do(void **state)
{
	(void)state;
	const struct attr_wants wants = { .stacks = RECORD_STACKS_FP, .frequency_hz = 999 };
	const struct perf_event_attr samples = attr_for_samples(&all, &clock_event, &wants);
	const struct perf_event_attr frames = attr_for_frames(&all);
	assert_int_equal(frames.config, PERF_COUNT_SW_BPF_OUTPUT);
	assert_int_equal(frames.sample_type & ~(uint64_t)PERF_SAMPLE_RAW,
			 samples.sample_type &
			     ~(uint64_t)(PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN));
	assert_true(frames.sample_type & PERF_SAMPLE_RAW);
	assert_int_equal(frames.read_format, samples.read_format);
	assert_true(frames.sample_id_all && frames.use_clockid && !frames.disabled &&
		    !frames.inherit);
	assert_int_equal(frames.clockid, samples.clockid);
	assert_false(attr_for_frames(&(struct attr_support){ .kernel = true }).use_clockid);
}

/* Kernels mark the records of other profilers too: docs/decisions/0007. */
static void build_ids_are_never_asked_for(void **state)
{
	(void)state;
	const struct attr_wants wants = { .frequency_hz = 999 };
	assert_false(attr_for_sideband(&all, &wants).build_id);
	assert_false(attr_for_samples(&all, &clock_event, &wants).build_id);
}

/* Of all that happens on a CPU it tells nothing else: other processes are not ours to record. */
static void programs_are_told_of_alone(void **state)
{
	(void)state;
	const struct attr_wants wants = { .frequency_hz = 999, .inherit = true };
	struct perf_event_attr sideband = attr_for_sideband(&all, &wants);
	sideband.enable_on_exec = sideband.disabled = 1;
	const struct perf_event_attr attr = attr_for_programs(&sideband);
	assert_true(attr.ksymbol && attr.bpf_event);
	assert_false(attr.mmap || attr.mmap2 || attr.mmap_data || attr.comm || attr.comm_exec ||
		     attr.task || attr.namespaces || attr.text_poke);
	assert_false(attr.inherit || attr.disabled || attr.enable_on_exec);
	assert_int_equal(attr.sample_type, sideband.sample_type);
	assert_true(attr.sample_id_all && attr.use_clockid);
}

static void old_kernels_are_asked_for_nothing_new(void **state)
{
	(void)state;
	const struct attr_support none = { 0 };
	const struct attr_wants wants = { .frequency_hz = 999 };
	const struct perf_event_attr sideband = attr_for_sideband(&none, &wants);
	assert_false(sideband.use_clockid || sideband.comm_exec || sideband.mmap2 ||
		     sideband.namespaces || sideband.ksymbol || sideband.bpf_event ||
		     sideband.text_poke);
	assert_true(sideband.mmap && sideband.comm && sideband.task);
	assert_int_equal(sideband.read_format, PERF_FORMAT_ID);
	const struct perf_event_attr samples = attr_for_samples(&none, &clock_event, &wants);
	assert_true(samples.exclude_kernel && samples.exclude_hv);
}

static void user_only_leaves_the_kernel_out(void **state)
{
	(void)state;
	const struct attr_wants wants = { .frequency_hz = 999, .user_only = true };
	assert_true(attr_for_samples(&all, &clock_event, &wants).exclude_kernel);
	const struct perf_event_attr sideband = attr_for_sideband(&all, &wants);
	assert_true(sideband.exclude_kernel && !sideband.text_poke);
	const struct attr_wants both = { .frequency_hz = 999 };
	assert_false(attr_for_samples(&all, &clock_event, &both).exclude_kernel);
}

static void rates(void **state)
{
	(void)state;
	const struct attr_wants frequency = { .frequency_hz = 999 };
	struct perf_event_attr attr = attr_for_samples(&all, &clock_event, &frequency);
	assert_true(attr.freq);
	assert_int_equal(attr.sample_freq, 999);
	const struct attr_wants period = { .period = 12345 };
	attr = attr_for_samples(&all, &clock_event, &period);
	assert_false(attr.freq);
	assert_int_equal(attr.sample_period, 12345);
	/* What stands in the event's own terms counts more. */
	struct event own = clock_event;
	own.period = 77;
	attr = attr_for_samples(&all, &own, &frequency);
	assert_false(attr.freq);
	assert_int_equal(attr.sample_period, 77);
	assert_int_equal(attr_for_sideband(&all, &frequency).sample_period, 0);
}

static void precision(void **state)
{
	(void)state;
	const struct attr_wants wants = { .frequency_hz = 999 };
	struct event event = clock_event;
	event.precision = 2;
	assert_int_equal(attr_for_samples(&all, &event, &wants).precise_ip, 2);
	event.is_precision_best = true;
	assert_int_equal(attr_for_samples(&all, &event, &wants).precise_ip, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_events_have_the_same_fields),
		cmocka_unit_test(frames_begin_as_samples_do),
		cmocka_unit_test(build_ids_are_never_asked_for),
		cmocka_unit_test(programs_are_told_of_alone),
		cmocka_unit_test(old_kernels_are_asked_for_nothing_new),
		cmocka_unit_test(user_only_leaves_the_kernel_out),
		cmocka_unit_test(rates),
		cmocka_unit_test(precision),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
