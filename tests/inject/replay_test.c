/* What stock perf would name on the output is what our reports name on the input. */
#include "inject/inject_run.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4000001, OTHER = 4000002, THIRD = 4000003, MS = 1000000, BASE = 1000 * MS };

#define KERNEL_MARK ((uint64_t)-128)
#define USER_MARK ((uint64_t)-512)

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
	recording_mmap(r, PID, 2, 0x10000, 0x10000, "//anon");
}

static void at(struct recording *r, uint64_t time_ns, uint64_t avma)
{
	recording_sample(r, PID, PID, time_ns, &avma, 1);
}

static void at_pid(struct recording *r, uint32_t pid, uint64_t time_ns, uint64_t avma)
{
	recording_sample(r, pid, pid, time_ns, &avma, 1);
}

static void put_dump(struct recording *r, uint32_t pid, struct sink *dump)
{
	char name[64];
	(void)snprintf(name, sizeof(name), "jit-%u.dump", pid);
	recording_file(r, name, sink_bytes(dump));
	sink_clear(dump);
}

static void put_map(struct recording *r, uint32_t pid, const char *text)
{
	char name[64];
	(void)snprintf(name, sizeof(name), "perf-%u.map", pid);
	recording_file(r, name, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

/* Ends the recording, runs inject over it, and expects as many addresses to be code. */
static void expect(struct recording *r, size_t codes, size_t files)
{
	const struct agreement got = inject_and_agree(r);
	assert_int_equal(got.codes, codes);
	assert_int_equal(got.files, files);
	recording_remove(r);
}

/* Each sample is asked for twice: as the chain's first and as the sample's own address. */
static void one_load(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	at(&r, BASE + MS, 0x100ff);
	at(&r, BASE + MS, 0x10100);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "only");
	put_dump(&r, PID, &dump);
	expect(&r, 4, 0);
}

static void an_address_used_again(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	for (uint64_t i = 0; i < 60; i++)
		at(&r, BASE + i * MS, 0x10000 + i % 7 * 0x20);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "first");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x80, "second");
	dump_load(&dump, PID, BASE + 40 * MS, 0x10040, 0x100, "third");
	put_dump(&r, PID, &dump);
	expect(&r, 120, 0);
}

static void early_samples(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE - 900 * MS, 0x10010); /* first of all at this address: early, however long */
	at(&r, BASE - MS, 0x10010);
	at(&r, BASE + MS, 0x10010);
	at(&r, BASE + 12 * MS, 0x10010); /* unloaded */
	at(&r, BASE + 58 * MS, 0x10010); /* just before the reload */
	at(&r, BASE + 61 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "late");
	dump_unload(&dump, PID, BASE + 10 * MS, 0x10000);
	dump_load(&dump, PID, BASE + 60 * MS, 0x10000, 0x100, "again");
	put_dump(&r, PID, &dump);
	expect(&r, 10, 0);
}

/* Memory that is mapped anew to change its protection hides no code. */
static void remapped_memory(void **state)
{
	(void)state;
	static const char *const names[] = { "//anon",
					     "/memfd:doublemapper (deleted)",
					     "[anon:v8]",
					     "[anon_shmem:code]",
					     "/dev/zero (deleted)",
					     "/anon_hugepage (deleted)" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct recording r;
		struct sink dump = { 0 };
		begin(&r);
		at(&r, BASE + MS, 0x10010);
		recording_mmap(&r, PID, BASE + 2 * MS, 0x10000, 0x1000, names[i]);
		at(&r, BASE + 3 * MS, 0x10010);
		recording_mmap(&r, PID, BASE + 4 * MS, 0x0f000, 0x1080, names[i]);
		at(&r, BASE + 5 * MS, 0x10010);
		at(&r, BASE + 5 * MS, 0x10090);
		recording_finish(&r);
		dump_begin(&dump, PID);
		dump_load(&dump, PID, BASE, 0x10000, 0x100, "stays");
		put_dump(&r, PID, &dump);
		expect(&r, 8, 0);
	}
}

static void a_library_over_freed_code(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	recording_mmap(&r, PID, BASE + 50 * MS, 0x10000, 0x8000, "/nowhere/lib.so");
	at(&r, BASE + 60 * MS, 0x10010);
	at(&r, BASE + 61 * MS, 0x10210);
	recording_mmap(&r, PID, BASE + 99 * MS, 0x10000, 0x8000, "//anon");
	at(&r, BASE + 101 * MS, 0x10010);
	at(&r, BASE + 102 * MS, 0x17000); /* memory again: the library is gone here too */
	at(&r, BASE + 103 * MS, 0x10210);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "before");
	dump_load(&dump, PID, BASE, 0x10200, 0x100, "before too");
	dump_load(&dump, PID, BASE + 100 * MS, 0x10000, 0x100, "after");
	put_dump(&r, PID, &dump);
	expect(&r, 6, 4);
}

static void moved_code(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 5 * MS, 0x10010);
	at(&r, BASE + 25 * MS, 0x12010);
	at(&r, BASE + 26 * MS, 0x10010);
	at(&r, BASE + 45 * MS, 0x10010);
	at(&r, BASE + 46 * MS, 0x10190);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "mover");
	dump_move(&dump, PID, BASE + 20 * MS, 0x10000, 0x12000, 0x100);
	dump_move(&dump, PID, BASE + 40 * MS, 0x12000, 0x10000, 0x200);
	put_dump(&r, PID, &dump);
	expect(&r, 10, 0);
}

static void a_name_told_again_with_another_size(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	at(&r, BASE, 0x10010);
	at(&r, BASE + MS, 0x10110);
	recording_finish(&r);
	put_map(&r, PID, "10000 40 grows\n10000 200 grows\n10000 80 grows\n");
	expect(&r, 4, 0);
}

static void forks(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	recording_fork(&r, PID, OTHER, BASE + 10 * MS);
	at_pid(&r, OTHER, BASE + 11 * MS, 0x10010);
	at_pid(&r, OTHER, BASE + 21 * MS, 0x10010); /* the parent's is another since 20 */
	at(&r, BASE + 21 * MS, 0x10010);
	at_pid(&r, OTHER, BASE + 31 * MS, 0x10010); /* the child's own */
	at(&r, BASE + 31 * MS, 0x10010);
	recording_fork(&r, OTHER, THIRD, BASE + 40 * MS);
	at_pid(&r, THIRD, BASE + 41 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "inherited");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x100, "the parent's");
	put_dump(&r, PID, &dump);
	dump_begin(&dump, OTHER);
	dump_load(&dump, OTHER, BASE + 30 * MS, 0x10000, 0x80, "the child's");
	put_dump(&r, OTHER, &dump);
	expect(&r, 14, 0);
}

/* The parent has no code, its child puts some where a library was. */
static void a_child_over_its_parents_library(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	recording_begin(&r);
	recording_mmap(&r, PID, 2, 0x10000, 0x4000, "/nowhere/lib.so");
	at(&r, BASE, 0x10010);
	recording_fork(&r, PID, OTHER, BASE + MS);
	at_pid(&r, OTHER, BASE + 2 * MS, 0x10010);
	recording_mmap(&r, OTHER, BASE + 3 * MS, 0x10000, 0x4000, "//anon");
	at_pid(&r, OTHER, BASE + 60 * MS, 0x10010);
	at_pid(&r, OTHER, BASE + 60 * MS, 0x11010);
	recording_finish(&r);
	dump_begin(&dump, OTHER);
	dump_load(&dump, OTHER, BASE + 50 * MS, 0x11000, 0x100, "code");
	put_dump(&r, OTHER, &dump);
	expect(&r, 2, 4);
}

/* A fork that was made up afterwards gives its child no mappings in perf. */
static void forks_without_inheritance(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	recording_fork_exec(&r, PID, OTHER, BASE + 10 * MS);
	at_pid(&r, OTHER, BASE + 11 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "the parent's");
	put_dump(&r, PID, &dump);
	expect(&r, 4, 0);
}

static void exec_and_used_pids(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	recording_comm(&r, PID, BASE + 30 * MS, "other", true);
	at(&r, BASE + 31 * MS, 0x10010);
	recording_mmap(&r, PID, BASE + 32 * MS, 0x10000, 0x1000, "/nowhere/other");
	at(&r, BASE + 33 * MS, 0x10010);
	recording_fork(&r, OTHER, PID, BASE + 50 * MS); /* the pid is somebody else's now */
	at(&r, BASE + 51 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "before");
	put_dump(&r, PID, &dump);
	expect(&r, 2, 2);
}

static void two_processes(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_comm(&r, OTHER, 3, "other", false);
	recording_mmap(&r, OTHER, 4, 0x10000, 0x10000, "//anon");
	at(&r, BASE + MS, 0x10010);
	at_pid(&r, OTHER, BASE + MS, 0x10010);
	at(&r, BASE + 2 * MS, 0x10110);
	at_pid(&r, OTHER, BASE + 2 * MS, 0x10110);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "one");
	put_dump(&r, PID, &dump);
	dump_begin(&dump, OTHER);
	dump_load(&dump, OTHER, BASE, 0x10000, 0x200, "two");
	put_dump(&r, OTHER, &dump);
	expect(&r, 6, 0);
}

static void maps_alone(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	for (uint64_t avma = 0x10000; avma < 0x10600; avma += 0x10)
		at(&r, BASE + avma, avma);
	recording_finish(&r);
	put_map(&r, PID,
		"10000 100 one\n10200 100 two\n10200 100 three\n10280 100 across\n10400 0 open\n"
		"10480 20 end\n10500 ffffffffffffffff endless\n");
	expect(&r, 100, 0);
}

static void timed_maps(void **state)
{
	(void)state;
	static const char map[] = "10000 100 one\n10080 100 two\n10000 100 one\n";
	static const char times[] = "perfmap-times 1\n"
				    "14 1000000000 1000500000 1001000000\n"
				    "28 1030000000 1031000000 1032000000\n"
				    "42 1060000000 1061000000 1062000000\n";
	struct recording r;
	begin(&r);
	for (uint64_t i = 0; i < 100; i++)
		at(&r, BASE - 5 * MS + i * MS, 0x10000 + i % 3 * 0x70);
	recording_finish(&r);
	const struct recording_member members[] = {
		{ "process/4000001/perf.map", { (const uint8_t *)map, sizeof(map) - 1 } },
		{ "process/4000001/perf.map.times", { (const uint8_t *)times, sizeof(times) - 1 } },
	};
	recording_members(&r, members, 2);
	const struct agreement got = inject_and_agree(&r);
	assert_true(got.codes > 100);
	recording_remove(&r);
}

/* A dump of a process that calls itself 7, and a child that calls itself 8. */
static void pid_namespaces(void **state)
{
	(void)state;
	static const char facts[] = "4000001\tstart=1\tnspid=4000001,7\tpidns=99\n"
				    "4000002\tstart=2\tnspid=4000002,8\tpidns=99\n";
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_fork(&r, PID, OTHER, BASE);
	at(&r, BASE + 2 * MS, 0x10010);
	at_pid(&r, OTHER, BASE + 2 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, 7);
	dump_load(&dump, 7, BASE + MS, 0x10000, 0x100, "seven");
	dump_load(&dump, 8, BASE + MS, 0x10000, 0x100, "eight");
	const struct recording_member members[] = {
		{ "processes.tsv", { (const uint8_t *)facts, sizeof(facts) - 1 } },
		{ "process/4000001/jit/jit-7.dump", sink_bytes(&dump) },
	};
	recording_members(&r, members, 2);
	sink_clear(&dump);
	expect(&r, 4, 0);
}

static void kernel_samples_branches_and_data(void **state)
{
	(void)state;
	static const uint64_t chain[] = {
		KERNEL_MARK, 0xffffffff81000010, 0xffffffff81000020, USER_MARK, 0x10010, 0x10120
	};
	static const uint64_t branches[][2] = { { 0x10210, 0x10310 }, { 0x90000, 0x10410 } };
	struct recording r;
	struct sink dump = { 0 };
	recording_begin_as(&r, &(struct recording_shape){
				   .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
						  PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
						  PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_CALLCHAIN |
						  PERFDATA_SAMPLE_BRANCH_STACK,
				   .event_count = 3 });
	recording_mmap(&r, PID, 2, 0x10000, 0x10000, "//anon");
	for (size_t event = 0; event < 3; event++)
		recording_put_sample(&r, &(struct recording_what){ .pid = PID,
								   .tid = PID,
								   .time_ns = BASE + MS,
								   .ip_avma = 0xffffffff81000010,
								   .is_kernel = true,
								   .chain = chain,
								   .chain_count = 6,
								   .addr = 0x10500,
								   .branches = branches,
								   .branch_count = 2,
								   .event = event });
	recording_finish(&r);
	dump_begin(&dump, PID);
	for (uint64_t i = 0; i < 6; i++)
		dump_load(&dump, PID, BASE, 0x10000 + i * 0x100, 0x100, "code");
	put_dump(&r, PID, &dump);
	expect(&r, 18, 0);
}

static void without_time_or_ids(void **state)
{
	(void)state;
	for (int has_time = 0; has_time < 2; has_time++) {
		struct recording r;
		struct sink dump = { 0 };
		recording_begin_as(&r, &(struct recording_shape){
					   .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
							  (has_time ? PERFDATA_SAMPLE_TIME : 0) |
							  PERFDATA_SAMPLE_CALLCHAIN,
					   .has_no_ids = has_time });
		recording_mmap(&r, PID, BASE, 0x10000, 0x10000, "//anon");
		at(&r, BASE + MS, 0x10010);
		recording_mmap(&r, PID, BASE + 2 * MS, 0x10000, 0x10000, "//anon");
		at(&r, BASE + 30 * MS, 0x10010);
		recording_finish(&r);
		dump_begin(&dump, PID);
		dump_load(&dump, PID, BASE, 0x10000, 0x100, "one");
		dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x100, "two");
		put_dump(&r, PID, &dump);
		expect(&r, 4, 0);
	}
}

static void some_records(struct recording *r)
{
	struct sink dump = { 0 };
	begin(r);
	at(r, BASE + MS, 0x10010);
	recording_mmap(r, PID, BASE + 2 * MS, 0x10000, 0x1000, "//anon");
	recording_round(r);
	at(r, BASE + 30 * MS, 0x10010);
	at(r, BASE + 25 * MS, 0x10010); /* out of order within its round */
	recording_round(r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "one");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x100, "two");
	put_dump(r, PID, &dump);
}

static void compressed_and_pipe(void **state)
{
	(void)state;
	struct recording r;
	some_records(&r);
	recording_finish_compressed(&r);
	expect(&r, 6, 0);
	some_records(&r);
	recording_finish_pipe(&r);
	expect(&r, 6, 0);
}

/* In one sample are addresses of code whose place was partly taken over, and of what took it. */
static void versions_that_overlap_in_one_sample(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_sample(&r, PID, PID, BASE + 30 * MS, (uint64_t[]){ 0x10060, 0x10010 }, 2);
	recording_sample(&r, PID, PID, BASE + 31 * MS, (uint64_t[]){ 0x10010, 0x10060, 0x10050 },
			 3);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "below");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10050, 0x100, "above");
	put_dump(&r, PID, &dump);
	expect(&r, 7, 0);
}

/* A line whose code reaches beyond a library: there the library speaks, behind it the code. */
static void code_that_leaves_a_library(void **state)
{
	(void)state;
	struct recording r;
	begin(&r);
	recording_mmap(&r, PID, BASE, 0x10000, 0x1000, "/nowhere/lib.so");
	recording_sample(&r, PID, PID, BASE + MS, (uint64_t[]){ 0x10810, 0x11010 }, 2);
	recording_sample(&r, PID, PID, BASE + 2 * MS, (uint64_t[]){ 0x11010, 0x10810 }, 2);
	at(&r, BASE + 3 * MS, 0x10810);
	recording_finish(&r);
	put_map(&r, PID, "10800 1000 straddles\n");
	expect(&r, 3, 5);
}

/* A return address right behind a library, where code begins. */
static void a_return_address_between_two(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_mmap(&r, PID, BASE, 0x10000, 0x1000, "/nowhere/lib.so");
	for (uint64_t i = 1; i < 4; i++)
		recording_sample(&r, PID, PID, BASE + i * MS,
				 (uint64_t[]){ 0x11010, 0x11000, 0x11100, 0x11200 }, 4);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x11000, 0x100, "first");
	dump_load(&dump, PID, BASE, 0x11100, 0x100, "second");
	put_dump(&r, PID, &dump);
	expect(&r, 12, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_load),
		cmocka_unit_test(an_address_used_again),
		cmocka_unit_test(early_samples),
		cmocka_unit_test(remapped_memory),
		cmocka_unit_test(a_library_over_freed_code),
		cmocka_unit_test(moved_code),
		cmocka_unit_test(a_name_told_again_with_another_size),
		cmocka_unit_test(forks),
		cmocka_unit_test(a_child_over_its_parents_library),
		cmocka_unit_test(forks_without_inheritance),
		cmocka_unit_test(exec_and_used_pids),
		cmocka_unit_test(two_processes),
		cmocka_unit_test(maps_alone),
		cmocka_unit_test(timed_maps),
		cmocka_unit_test(pid_namespaces),
		cmocka_unit_test(kernel_samples_branches_and_data),
		cmocka_unit_test(without_time_or_ids),
		cmocka_unit_test(compressed_and_pipe),
		cmocka_unit_test(versions_that_overlap_in_one_sample),
		cmocka_unit_test(code_that_leaves_a_library),
		cmocka_unit_test(a_return_address_between_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
