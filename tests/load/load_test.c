#include "load/load.h"

#include "load/recording.h"
#include "test.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4000001, MS = 1000000, BASE = 1000 * MS }; /* a pid that no kernel gives */

/* "name trust" of the leaf of each sample, in time order, one a line. */
static int note_leaf(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &profile->frames.items[profile->frame_ids.items[stack->first + i]];
		const struct profile_function *f = &profile->functions.items[frame->function];
		sink_printf(seen, "%s%s %s", i ? " < " : "", profile_text(profile, f->name),
			    profile_trust_name((enum profile_trust)frame->trust));
	}
	sink_text(seen, "\n");
	return 0;
}

static char *leaves_of(const struct recording *r, const struct load_options *more)
{
	struct load_options options = *more;
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	options.input = r->path;
	options.in_order = true;
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, note_leaf, &seen), 0);
	sink_u8(&seen, 0);
	profile_clear(&profile);
	load_close(load);
	return (char *)seen.data;
}

static void check(struct recording *r, const struct load_options *options, const char *expected)
{
	char *seen = leaves_of(r, options);
	assert_string_equal(seen, expected);
	free(seen);
	recording_remove(r);
}

static void at(struct recording *r, uint64_t time_ns, uint64_t avma)
{
	recording_sample(r, PID, PID, time_ns, &avma, 1);
}

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
	recording_mmap(r, PID, 2, 0x10000, 0x10000, "//anon");
}

static const struct load_options plain;

/* An address that is used again: each sample gets the owner of its time. */
static void jitdump_is_exact_in_time(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 10 * MS, 0x10010);
	at(&r, BASE + 30 * MS, 0x10010);
	at(&r, BASE + 31 * MS, 0x10400);
	recording_mmap(&r, PID, 3, 0x90000, 0x1000, "/nowhere/any-name");
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "first");
	dump_load(&dump, PID, BASE + 20 * MS, 0x10000, 0x80, "second");
	recording_file(&r, "any-name", sink_bytes(&dump));
	check(&r, &plain, "first exact\nsecond exact\n[unknown] unknown\n");
	sink_clear(&dump);
}

/* CLR tells of all methods, not of all stubs: not of those in its own memory, wherever that is, nor
 * in what lies among its methods; but where the dump is torn, it may have been a method.
 */
static void check_untold(const char *name, size_t lost_bytes, const char *expected)
{
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_mmap(&r, PID, 3, 0x30000, 0x1000, "//anon");
	recording_mmap(&r, PID, 3, 0x40000, 0x1000, "/memfd:doublemapper (deleted)");
	at(&r, BASE + 10 * MS, 0x10010);
	at(&r, BASE + 11 * MS, 0x10800);
	at(&r, BASE + 12 * MS, 0x30010);
	at(&r, BASE + 13 * MS, 0x40010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, name);
	dump_load(&dump, PID, BASE, 0x11000, 0x100, name);
	const struct bytes all = sink_bytes(&dump);
	recording_file(&r, "jit-4000001.dump", (struct bytes){ all.data, all.size - lost_bytes });
	check(&r, &plain, expected);
	sink_clear(&dump);
}

static void stubs_of_clr_may_be_told_of_nowhere(void **state)
{
	(void)state;
	check_untold("int32 [App] Program::Run(int32)[Optimized]", 0,
		     "Program.Run(int) exact\n[unannounced] untimed\n[unknown] unknown\n"
		     "[unannounced] untimed\n");
	check_untold("int32 [App] Program::Run(int32)[Optimized]", 1,
		     "Program.Run(int) exact\n[unknown] unknown\n[unknown] unknown\n"
		     "[unknown] unknown\n");
	check_untold("run", 0,
		     "run exact\n[unknown] unknown\n[unknown] unknown\n[unknown] unknown\n");
}

/* Samplers stamp before they capture, and runtimes tell late. */
static void late_records_are_early_samples(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE - MS, 0x10010);
	at(&r, BASE + MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "late");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "late early\nlate exact\n");
	sink_clear(&dump);
}

static void moved_code_is_found_where_it_was(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 5 * MS, 0x10010);
	at(&r, BASE + 25 * MS, 0x12010);
	at(&r, BASE + 26 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "mover");
	dump_move(&dump, PID, BASE + 20 * MS, 0x10000, 0x12000, 0x100);
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "mover exact\nmover exact\nmover stale\n");
	sink_clear(&dump);
}

static void untimed_map_says_what_it_cannot_know(void **state)
{
	(void)state;
	static const char map[] = "10000 100 one\n10200 100 two\n10200 100 three\n";
	struct recording r;
	begin(&r);
	at(&r, BASE, 0x10010);
	at(&r, BASE + MS, 0x10210);
	at(&r, BASE + 2 * MS, 0x10310);
	recording_finish(&r);
	recording_file(&r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)map, sizeof(map) - 1 });
	check(&r, &plain, "one untimed\nthree ambiguous\n[unknown] unknown\n");
}

/* One method, told by both: one name, and the dump's time decides. */
static void dump_and_map_merge(void **state)
{
	(void)state;
	static const char map[] = "10000 100 both\n10800 80 only_map\n";
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x10010);
	at(&r, BASE + 2 * MS, 0x10810);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "both");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	recording_file(&r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)map, sizeof(map) - 1 });
	check(&r, &plain, "both exact\nonly_map untimed\n");
	sink_clear(&dump);
}

/* Nor does the map's line for code that the dump tells was replaced make it live again. */
static void map_does_not_revive_what_a_dump_replaced(void **state)
{
	(void)state;
	static const char map[] = "10000 100 first\n10000 80 second\n";
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + MS, 0x100c0);
	at(&r, BASE + 20 * MS, 0x10040);
	at(&r, BASE + 21 * MS, 0x100c0);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "first");
	dump_load(&dump, PID, BASE + 10 * MS, 0x10000, 0x80, "second");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	recording_file(&r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)map, sizeof(map) - 1 });
	check(&r, &plain, "first exact\nsecond exact\nfirst stale\n");
	sink_clear(&dump);
}

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* A killed process leaves a dump without an end. Its map goes on, and code that came where
 * the dump knew other code, of the same size or the same name, must not be taken for that.
 */
static void map_goes_on_where_a_dump_was_cut(void **state)
{
	(void)state;
	static const char map[] = "10000 100 one\n10000 100 two\n10200 40 one\n10000 100 one\n";
	static const char times[] = "perfmap-times 1\n"
				    "14 1000000000 1000000000 1000000000\n"
				    "28 1100000000 1100000000 1100000000\n"
				    "41 1150000000 1150000000 1150000000\n"
				    "55 1200000000 1200000000 1200000000\n";
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 50 * MS, 0x10010);
	at(&r, BASE + 120 * MS, 0x10010);
	at(&r, BASE + 160 * MS, 0x10210);
	at(&r, BASE + 220 * MS, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "one");
	recording_members(&r,
			  (struct recording_member[]){
			      { "process/4000001/jit/jit-4000001.dump", sink_bytes(&dump) },
			      { "process/4000001/perf.map", text_bytes(map) },
			      { "process/4000001/perf.map.times", text_bytes(times) },
			  },
			  3);
	check(&r, &plain, "one exact\ntwo exact\none exact\none exact\n");
	sink_clear(&dump);
}

/* A new file in place of the old one, while it was followed. */
static void replaced_maps_are_all_read(void **state)
{
	(void)state;
	static const char first[] = "10000 100 first\n10200 100 more\n";
	static const char first_times[] = "perfmap-times 1\n"
					  "31 1000000000 1000000000 1000000000\n";
	static const char second[] = "10000 100 second\n";
	static const char second_times[] = "perfmap-times 1\n"
					   "17 1100000000 1100000000 1100000000\n";
	struct recording r;
	begin(&r);
	at(&r, BASE + 50 * MS, 0x10010);
	at(&r, BASE + 120 * MS, 0x10010);
	recording_finish(&r);
	recording_members(&r,
			  (struct recording_member[]){
			      { "process/4000001/perf.map", text_bytes(first) },
			      { "process/4000001/perf.map.times", text_bytes(first_times) },
			      { "process/4000001/perf-2.map", text_bytes(second) },
			      { "process/4000001/perf-2.map.times", text_bytes(second_times) },
			  },
			  4);
	check(&r, &plain, "first exact\nsecond exact\n");
}

/* Until the dump's end it is the one to believe: its names, and its times. */
static void map_beside_a_dump_adds_no_versions(void **state)
{
	(void)state;
	static const char map[] = "10000 100 mapped\n10000 80 second\n";
	static const char times[] = "perfmap-times 1\n"
				    "17 1000000000 1000300000 1000300000\n"
				    "33 1100000000 1100300000 1100300000\n";
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 50 * MS, 0x10010);
	at(&r, BASE + 100 * MS, 0x10010);
	at(&r, BASE + 150 * MS, 0x100c0);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "dumped");
	dump_load(&dump, PID, BASE + 100 * MS, 0x10000, 0x80, "second");
	recording_members(&r,
			  (struct recording_member[]){
			      { "process/4000001/jit/jit-4000001.dump", sink_bytes(&dump) },
			      { "process/4000001/perf.map", text_bytes(map) },
			      { "process/4000001/perf.map.times", text_bytes(times) },
			  },
			  3);
	check(&r, &plain, "dumped exact\nsecond exact\ndumped stale\n");
	sink_clear(&dump);
}

/* Half a copy of a recording of ours: what lies beside it may be another process's of that
 * number, and silence would be a lie.
 */
static void a_cut_recording_says_so(void **state)
{
	(void)state;
	static const char map[] = "10000 100 another\n";
	struct recording r;
	struct load *load;
	struct load_error error;
	begin(&r);
	at(&r, BASE, 0x10010);
	r.version = "polyperf 0.1";
	recording_finish(&r);
	recording_file(&r, "perf-4000001.map", text_bytes(map));
	assert_int_equal(load_open(&load, &(struct load_options){ .input = r.path }, &error), 0);
	assert_int_equal(load_note_count(load), 1);
	assert_true(load_note(load, 0)->is_warning);
	assert_non_null(strstr(load_note(load, 0)->text, "cut"));
	load_close(load);
	check(&r, &plain, "[unknown] unknown\n");
}

static void fork_copies_and_exec_clears(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_fork(&r, PID, PID + 1, BASE + 10 * MS);
	recording_sample(&r, PID + 1, PID + 1, BASE + 11 * MS, &(uint64_t){ 0x10010 }, 1);
	recording_comm(&r, PID + 1, BASE + 20 * MS, "other", true);
	recording_sample(&r, PID + 1, PID + 1, BASE + 21 * MS, &(uint64_t){ 0x10010 }, 1);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "inherited");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "inherited exact\n[unknown] unknown\n");
	sink_clear(&dump);
}

/* A return address behind the last byte of a function still belongs to it. */
static void return_addresses_are_looked_up_one_before(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	const uint64_t chain[] = { 0x10110, 0x10100 };
	begin(&r);
	recording_sample(&r, PID, PID, BASE + MS, chain, 2);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "caller");
	dump_load(&dump, PID, BASE, 0x10100, 0x100, "leaf");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "leaf exact < caller exact\n");
	sink_clear(&dump);
}

static void callers_can_be_left_out(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	const uint64_t chain[] = { 0x10000, 0x10110 };
	const uint64_t mark[] = { (uint64_t)PERF_CONTEXT_USER };
	begin(&r);
	recording_sample(&r, PID, PID, BASE + MS, chain, 2);
	/* A chain without an address: what the sample itself says. */
	recording_put_sample(&r, &(struct recording_what){ .pid = PID,
							   .tid = PID,
							   .time_ns = BASE + 2 * MS,
							   .ip_avma = 0x10110,
							   .chain = mark,
							   .chain_count = 1 });
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "leaf");
	dump_load(&dump, PID, BASE, 0x10100, 0x100, "caller");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	const struct load_options innermost = { .innermost = true };
	check(&r, &innermost, "leaf exact\ncaller exact\n");
	sink_clear(&dump);
}

/* A record that claims all memory does not rename the program it lies in. */
static void dumps_do_not_rename_libraries(void **state)
{
	(void)state;
	enum { AT = 0x40000000 };
	char exe[256];
	Dl_info info;
	struct recording r;
	struct sink dump = { 0 };
	const ssize_t size = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	assert_true(size > 0 && dladdr((void *)(uintptr_t)fork_copies_and_exec_clears, &info));
	exe[size] = '\0';
	/* Linkers put code at the same place in the file and, from the base on, in memory. */
	const uint64_t offset = (uintptr_t)fork_copies_and_exec_clears - (uintptr_t)info.dli_fbase;
	begin(&r);
	recording_mmap(&r, PID, 3, AT, 0x1000000, exe);
	at(&r, BASE + MS, AT + offset + 1);
	at(&r, BASE + MS + 1, 0x10010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x1000, 0, "forged");
	const size_t code_size_at = dump.size - strlen("forged") - 1 - 16;
	sink_patch_u64(&dump, code_size_at, 0x7fffffff0000);
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "fork_copies_and_exec_clears exact\nforged exact\n");
	sink_clear(&dump);
}

/* Nor one that has no symbols: what reaches beyond its file is no part of it. */
static void nor_do_they_name_what_has_no_symbols(void **state)
{
	(void)state;
	static const char map[] = "0 7fffffffffff all\n20100 80 stub\n";
	struct recording r;
	begin(&r);
	recording_mmap(&r, PID, 3, 0x20000, 0x1000, "/nowhere/stripped.so");
	at(&r, BASE, 0x10010);
	at(&r, BASE + 1, 0x20010);
	at(&r, BASE + 2, 0x20110);
	recording_finish(&r);
	recording_file(&r, "perf-4000001.map", text_bytes(map));
	check(&r, &plain, "all untimed\n[unknown] unknown\nstub ambiguous\n");
}

/* Memory that a JIT gave back, and a library that was mapped there: no record ends the code. */
static void libraries_end_the_code_that_was_there(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 5 * MS, 0x10010);
	recording_mmap(&r, PID, BASE + 10 * MS, 0x10000, 0x4000, "/nowhere/library.so");
	at(&r, BASE + 15 * MS, 0x10010);
	/* Its protection was changed: still the same file. */
	recording_mmap(&r, PID, BASE + 40 * MS, 0x10000, 0x4000, "/nowhere/library.so");
	at(&r, BASE + 45 * MS, 0x10010);
	at(&r, BASE + 46 * MS, 0x11010);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "code");
	dump_load(&dump, PID, BASE + 30 * MS, 0x11000, 0x100, "builtin");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "code exact\n[unknown] unknown\n[unknown] unknown\nbuiltin exact\n");
	sink_clear(&dump);
}

/* Two rings, drained by rounds: the order of time, not of the file. */
static void rounds_bring_samples_into_order(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE + 10, 0x10000);
	at(&r, BASE + 30, 0x10020);
	at(&r, BASE + 20, 0x10010);
	at(&r, BASE + 50, 0x10040);
	recording_round(&r);
	at(&r, BASE + 60, 0x10050);
	at(&r, BASE + 40, 0x10030);
	recording_round(&r);
	at(&r, BASE + 70, 0x10060);
	recording_finish(&r);
	dump_begin(&dump, PID);
	for (uint64_t i = 0; i < 7; i++) {
		const char name[] = { (char)('a' + i), '\0' };
		dump_load(&dump, PID, BASE, 0x10000 + 0x10 * i, 0x10, name);
	}
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &plain, "a exact\nb exact\nc exact\nd exact\ne exact\nf exact\ng exact\n");
	sink_clear(&dump);
}

static void time_and_pid_choose_samples(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	const struct load_options options = { .from_ns = BASE + 2, .to_ns = BASE + 4 };
	begin(&r);
	for (uint64_t i = 1; i < 6; i++)
		at(&r, BASE + i, 0x10000);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x10, "f");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	check(&r, &options, "f exact\nf exact\n");
	sink_clear(&dump);
}

/* Rows, and how early the early samples came. */
static void profile_sums_up(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	at(&r, BASE - 3 * MS, 0x10000);
	at(&r, BASE + 1, 0x10000);
	at(&r, BASE + 2, 0x10000);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE, 0x10000, 0x10, "f");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));

	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	assert_int_equal(load_open(&load, &(struct load_options){ .input = r.path }, &error), 0);
	assert_int_equal(load_profile(load, &profile), 0);
	assert_int_equal(profile.rows.count, 2);
	assert_int_equal(profile.rows.items[0].count, 1);
	assert_int_equal(profile.rows.items[1].count, 2);
	assert_int_equal(profile.functions.count, 1);
	assert_int_equal(load_early(load)->count, 1);
	assert_int_equal(load_early(load)->max_ns, 3 * MS);
	assert_string_equal(profile_text(&profile, profile.threads.items[0].comm), "app");
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
	sink_clear(&dump);
}

static void what_is_no_recording_is_refused(void **state)
{
	(void)state;
	struct recording r;
	struct load *load;
	struct load_error error;
	recording_begin(&r);
	sink_reset(&r.out);
	recording_file(&r, "perf.data", (struct bytes){ (const uint8_t *)"hello, world", 12 });
	sink_clear(&r.out);
	assert_true(load_open(&load, &(struct load_options){ .input = r.path }, &error) < 0);
	assert_null(load);
	assert_true(error.status < 0);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jitdump_is_exact_in_time),
		cmocka_unit_test(stubs_of_clr_may_be_told_of_nowhere),
		cmocka_unit_test(late_records_are_early_samples),
		cmocka_unit_test(moved_code_is_found_where_it_was),
		cmocka_unit_test(untimed_map_says_what_it_cannot_know),
		cmocka_unit_test(dump_and_map_merge),
		cmocka_unit_test(map_does_not_revive_what_a_dump_replaced),
		cmocka_unit_test(map_goes_on_where_a_dump_was_cut),
		cmocka_unit_test(replaced_maps_are_all_read),
		cmocka_unit_test(map_beside_a_dump_adds_no_versions),
		cmocka_unit_test(a_cut_recording_says_so),
		cmocka_unit_test(fork_copies_and_exec_clears),
		cmocka_unit_test(return_addresses_are_looked_up_one_before),
		cmocka_unit_test(callers_can_be_left_out),
		cmocka_unit_test(dumps_do_not_rename_libraries),
		cmocka_unit_test(nor_do_they_name_what_has_no_symbols),
		cmocka_unit_test(libraries_end_the_code_that_was_there),
		cmocka_unit_test(rounds_bring_samples_into_order),
		cmocka_unit_test(time_and_pid_choose_samples),
		cmocka_unit_test(profile_sums_up),
		cmocka_unit_test(what_is_no_recording_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
