/* Names of the kernel and its modules: from the kallsyms that the recording keeps. */
#include "load/load.h"

#include "load/recording.h"
#include "test.h"

#include <linux/perf_event.h>
#include <string.h>

enum { PID = 4000001 };

static const uint64_t TEXT = 0xffffffff81000000;
static const uint64_t MODULE = 0xffffffffc0200000;
static const uint64_t PROGRAM = 0xffffffffc0300000;

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T schedule\n"
			       "ffffffffc0200000 t nft_do_chain\t[nf_tables]\n"
			       "ffffffffc0300000 t bpf_prog_6deef7357e7b4530_egress\t[bpf]\n";

static struct perfdata_new_id id_of(const struct recording *r)
{
	return (struct perfdata_new_id){ .sample_type = r->sample_type,
					 .pid = (uint32_t)-1,
					 .id = 100 };
}

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
	const struct perfdata_new_id id = id_of(r);
	perfdata_put_kernel_mmap(&r->out, TEXT, 0x1000000, TEXT, "[kernel.kallsyms]_text", &id);
	perfdata_put_kernel_mmap(&r->out, MODULE, 0x10000, 0,
				 "/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz", &id);
	perfdata_put_kernel_mmap(&r->out, MODULE + 0x20000, 0x10000, 0, "[veth]", &id);
	static const uint64_t places[] = { 0xffffffff81000104, MODULE + 8, MODULE + 0x20010,
					   PROGRAM + 4 };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		recording_put_sample(r, &(struct recording_what){
					    .pid = PID,
					    .tid = PID,
					    .time_ns = 100 + i,
					    .ip_avma = places[i],
					    .is_kernel = true,
					    .chain = (uint64_t[]){ PERF_CONTEXT_KERNEL, places[i] },
					    .chain_count = 2 });
}

static int see(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	const struct profile_frame *frame =
	    &profile->frames.items[profile->frame_ids.items[stack->first]];
	const struct profile_function *f = &profile->functions.items[frame->function];
	sink_printf(seen, "%s %s\n", profile_text(profile, f->name),
		    profile_text(profile, f->object));
	return 0;
}

static void check(const struct recording *r, const char *expected)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	const struct load_options options = { .input = r->path,
					      .in_order = true,
					      .self_contained = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, see, &seen), 0);
	sink_u8(&seen, 0);
	assert_string_equal((const char *)seen.data, expected);
	sink_clear(&seen);
	profile_clear(&profile);
	load_close(load);
}

static void test_kept_symbols(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_finish(&r);
	recording_members(
	    &r,
	    (struct recording_member[]){
		{ "kernel/kallsyms", { (const uint8_t *)kallsyms, sizeof(kallsyms) - 1 } } },
	    1);
	check(&r, "schedule [kernel]\nnft_do_chain [nf_tables]\n[unknown] [veth]\n"
		  "bpf_prog_6deef7357e7b4530_egress [bpf]\n");
	recording_remove(&r);
}

/* A module is known by its mapping where its symbols are not. */
static void test_no_symbols(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_finish(&r);
	check(&r, "[unknown] [unknown]\n[unknown] [nf_tables]\n[unknown] [veth]\n"
		  "[unknown] [unknown]\n");
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_symbols),
		cmocka_unit_test(test_no_symbols),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
