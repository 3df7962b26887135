#include "load/events.h"

#include "base/status.h"
#include "failing_memory.h"
#include "load/recording.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, MS = 1000000, BASE = 1000 * MS }; /* a pid that no kernel gives */

#define JS " /home/me/work.js:2:15"

/* One line an event: milliseconds after BASE, kind, name, tiers, bytes, how it is known. */
static void put(struct sink *out, const struct profile *p, const struct profile_event *e)
{
	const char *from = profile_text(p, e->from_tier);
	sink_printf(out, "%d %s %s %s%s%s %d%s%s\n", (int)((int64_t)e->time_ns - BASE) / MS,
		    profile_event_key((enum profile_event_kind)e->kind), profile_text(p, e->name),
		    from, *from ? ">" : "", profile_text(p, e->tier), (int)e->size_bytes,
		    e->is_inferred ? " inferred" : "", e->function != INTERN_NONE ? " hit" : "");
}

struct walk {
	struct profile_falls *falls;
};

static int see(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct walk *walk = context;
	return profile_falls_see(walk->falls, profile, sample->thread, sample->stack,
				 sample->time_ns);
}

static void read_some_events(const struct recording *r, struct load_options options,
			     struct sink *out, struct profile_events *counts)
{
	options.input = r->path;
	options.in_order = options.code_events = true;
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct profile_events events = { 0 };
	struct walk walk = { .falls = profile_falls_new() };
	assert_non_null(walk.falls);
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, see, &walk), 0);
	assert_int_equal(load_code_events(load, &profile, &events), 0);
	assert_int_equal(profile_falls_take(walk.falls, &profile, &events), 0);
	for (size_t i = 0; i < events.items.count; i++)
		put(out, &profile, &events.items.items[i]);
	sink_u8(out, 0);
	*counts = events;
	counts->items.items = NULL;
	profile_falls_free(walk.falls);
	profile_events_clear(&events);
	profile_clear(&profile);
	load_close(load);
}

static void read_events(const struct recording *r, struct sink *out, struct profile_events *counts)
{
	read_some_events(r, (struct load_options){ 0 }, out, counts);
}

static void check(struct recording *r, const char *expected)
{
	struct sink seen = { 0 };
	struct profile_events counts;
	read_events(r, &seen, &counts);
	assert_string_equal((char *)seen.data, expected);
	sink_clear(&seen);
	recording_remove(r);
}

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_comm(r, PID, 1, "app", false);
	recording_mmap(r, PID, 2, 0x10000, 0x10000, "//anon");
}

static void end(struct recording *r, struct sink *dump)
{
	recording_finish(r);
	recording_file(r, "jit-4000001.dump", sink_bytes(dump));
	sink_clear(dump);
}

/* In time order, whatever the file's; with the code that went, its size and whether it was hit. */
static void told(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	recording_sample(&r, PID, PID, BASE + 12 * MS, (uint64_t[]){ 0x12010 }, 1);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE + 2 * MS, 0x11000, 0x80, "JS:^beta" JS);
	dump_load(&dump, PID, BASE + 1 * MS, 0x10000, 0x100, "JS:~alpha" JS);
	dump_load(&dump, PID, BASE + 3 * MS, 0x13000, 0x20, "Builtin:Call");
	dump_move(&dump, PID, BASE + 5 * MS, 0x11000, 0x12000, 0x80);
	dump_unload(&dump, PID, BASE + 20 * MS, 0x12000);
	dump_unload(&dump, PID, BASE + 21 * MS, 0x12000);
	dump_unload(&dump, PID, BASE + 22 * MS, 0x19000);
	end(&r, &dump);
	check(&r, "1 compiled alpha work.js:2:15 ignition 256\n"
		  "2 compiled beta work.js:2:15 sparkplug 128 hit\n"
		  "3 loaded Call builtin 32\n"
		  "5 moved beta work.js:2:15 sparkplug 128 hit\n"
		  "20 unloaded beta work.js:2:15 sparkplug 128 hit\n");
}

/* An optimising tier after a higher one; OSR code does not count, nor what is as high, nor V8's
 * baseline compiler, which compiles what is already optimised, too.
 */
static void told_falls(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE + 1 * MS, 0x10000, 0x10, "JS:o*alpha" JS);
	dump_load(&dump, PID, BASE + 2 * MS, 0x11000, 0x10, "JS:+alpha" JS);
	dump_load(&dump, PID, BASE + 3 * MS, 0x12000, 0x10, "JS:*alpha" JS);
	dump_load(&dump, PID, BASE + 4 * MS, 0x13000, 0x10, "JS:*alpha" JS);
	dump_load(&dump, PID, BASE + 5 * MS, 0x15000, 0x10, "JS:^alpha" JS);
	dump_load(&dump, PID, BASE + 6 * MS, 0x14000, 0x10, "JS:+alpha" JS);
	end(&r, &dump);
	check(&r, "1 compiled alpha work.js:2:15 turbofan 16\n"
		  "2 compiled alpha work.js:2:15 maglev 16\n"
		  "3 compiled alpha work.js:2:15 turbofan 16\n"
		  "4 compiled alpha work.js:2:15 turbofan 16\n"
		  "5 compiled alpha work.js:2:15 sparkplug 16\n"
		  "6 fell_back alpha work.js:2:15 turbofan>maglev 0 inferred\n"
		  "6 compiled alpha work.js:2:15 maglev 16\n");
}

/* Workers have code of their own: what one of them is slower in is no fall of another. */
static void threads_of_javascript_are_apart(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	dump_begin(&dump, PID);
	dump_put(&dump, &(struct dump_code){ .pid = PID,
					     .tid = 7,
					     .time_ns = BASE + 1 * MS,
					     .start_avma = 0x10000,
					     .size = 16,
					     .name = "JS:*alpha" JS });
	dump_put(&dump, &(struct dump_code){ .pid = PID,
					     .tid = 8,
					     .time_ns = BASE + 2 * MS,
					     .start_avma = 0x11000,
					     .size = 16,
					     .name = "JS:+alpha" JS });
	recording_sample(&r, PID, 7, BASE + 3 * MS, (uint64_t[]){ 0x10001 }, 1);
	recording_sample(&r, PID, 8, BASE + 4 * MS, (uint64_t[]){ 0x11001 }, 1);
	end(&r, &dump);
	check(&r, "1 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "2 compiled alpha work.js:2:15 maglev 16 hit\n");
}

enum { IGNITION = 0x10001, TURBOFAN = 0x11001, OSR = 0x12001, OTHER = 0x13001 };

/* Four pieces at BASE: alpha in two tiers and entered in a loop, and beta. */
static void begin_tiers(struct recording *r, struct sink *dump)
{
	begin(r);
	dump_begin(dump, PID);
	dump_load(dump, PID, BASE, 0x10000, 16, "JS:~alpha" JS);
	dump_load(dump, PID, BASE, 0x11000, 16, "JS:*alpha" JS);
	dump_load(dump, PID, BASE, 0x12000, 16, "JS:o*alpha" JS);
	dump_load(dump, PID, BASE, 0x13000, 16, "JS:~beta" JS);
}

static void at(struct recording *r, int ms, const uint64_t *chain, size_t count)
{
	recording_sample(r, PID, PID, (uint64_t)BASE + (uint64_t)ms * MS, chain, count);
}

/* Samples in a lower tier after the higher one, also where it calls something else. */
static void sampled_fall(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin_tiers(&r, &dump);
	at(&r, 1, (uint64_t[]){ IGNITION }, 1);
	at(&r, 2, (uint64_t[]){ TURBOFAN }, 1);
	at(&r, 3, (uint64_t[]){ OTHER, IGNITION }, 2);
	at(&r, 4, (uint64_t[]){ IGNITION }, 1);
	at(&r, 5, (uint64_t[]){ IGNITION }, 1);
	at(&r, 6, (uint64_t[]){ TURBOFAN }, 1);
	end(&r, &dump);
	check(&r, "0 compiled alpha work.js:2:15 ignition 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16\n"
		  "0 compiled beta work.js:2:15 ignition 16 hit\n"
		  "4 fell_back alpha work.js:2:15 turbofan>ignition 0 inferred hit\n");
}

/* An older call was in the lower tier all the time; and a loop was entered in the middle. */
static void no_fall(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin_tiers(&r, &dump);
	at(&r, 2, (uint64_t[]){ TURBOFAN, IGNITION }, 2);
	at(&r, 3, (uint64_t[]){ IGNITION }, 1);
	at(&r, 4, (uint64_t[]){ OSR }, 1);
	at(&r, 5, (uint64_t[]){ IGNITION }, 1);
	end(&r, &dump);
	check(&r, "0 compiled alpha work.js:2:15 ignition 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "0 compiled beta work.js:2:15 ignition 16\n");
}

/* Told and sampled are one fall, as closely as both know it. */
static void one_fall_is_told_once(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin_tiers(&r, &dump);
	at(&r, 2, (uint64_t[]){ TURBOFAN }, 1);
	at(&r, 4, (uint64_t[]){ IGNITION }, 1);
	dump_load(&dump, PID, BASE + 6 * MS, 0x14000, 16, "JS:+alpha" JS);
	end(&r, &dump);
	check(&r, "0 compiled alpha work.js:2:15 ignition 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16\n"
		  "0 compiled beta work.js:2:15 ignition 16\n"
		  "4 fell_back alpha work.js:2:15 turbofan>ignition 0 inferred hit\n"
		  "6 compiled alpha work.js:2:15 maglev 16\n");
}

/* A running call goes on in its code for a while after that was given up: no second fall; after it
 * was compiled anew there is one.
 */
static void who_did_not_get_up_did_not_fall_again(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin_tiers(&r, &dump);
	dump_load(&dump, PID, BASE + 4 * MS, 0x14000, 16, "JS:+alpha" JS);
	at(&r, 5, (uint64_t[]){ TURBOFAN }, 1);
	at(&r, 6, (uint64_t[]){ 0x14001 }, 1);
	dump_load(&dump, PID, BASE + 8 * MS, 0x15000, 16, "JS:*alpha" JS);
	at(&r, 9, (uint64_t[]){ 0x15001 }, 1);
	at(&r, 10, (uint64_t[]){ 0x14001 }, 1);
	at(&r, 11, (uint64_t[]){ IGNITION }, 1);
	end(&r, &dump);
	check(&r, "0 compiled alpha work.js:2:15 ignition 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "0 compiled alpha work.js:2:15 turbofan 16\n"
		  "0 compiled beta work.js:2:15 ignition 16\n"
		  "4 fell_back alpha work.js:2:15 turbofan>maglev 0 inferred hit\n"
		  "4 compiled alpha work.js:2:15 maglev 16 hit\n"
		  "8 compiled alpha work.js:2:15 turbofan 16 hit\n"
		  "10 fell_back alpha work.js:2:15 turbofan>maglev 0 inferred hit\n"
		  "11 fell_back alpha work.js:2:15 maglev>ignition 0 inferred hit\n");
}

/* HotSpot compiles in C2 again, or in C1 after it, what it gave up; code for loops does not count.
 */
static void hotspot(void **state)
{
	static const char *const tiers[] = { "c1-3", "c2", "c2-osr", "c2", "c1-2", "c1-3", "c2" };
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	dump_begin(&dump, PID);
	for (unsigned i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
		dump_tier(&dump, 0x10000 + i * 16, tiers[i]);
		dump_load(&dump, PID, BASE + (i + 1) * MS, 0x10000 + i * 16, 16,
			  "LWork;alpha(II)I");
	}
	end(&r, &dump);
	check(&r, "1 compiled Work.alpha(int, int) c1-3 16\n"
		  "2 compiled Work.alpha(int, int) c2 16\n"
		  "3 compiled Work.alpha(int, int) c2-osr 16\n"
		  "4 fell_back Work.alpha(int, int) c2>interpreter 0 inferred\n"
		  "4 compiled Work.alpha(int, int) c2 16\n"
		  "5 fell_back Work.alpha(int, int) c2>c1-2 0 inferred\n"
		  "5 compiled Work.alpha(int, int) c1-2 16\n"
		  "6 compiled Work.alpha(int, int) c1-3 16\n"
		  "7 compiled Work.alpha(int, int) c2 16\n");
}

/* .NET never takes optimised code back. */
static void other_runtimes(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	begin(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE + 1 * MS, 0x10000, 16, "void [App] A::B()[OptimizedTier1]");
	dump_load(&dump, PID, BASE + 2 * MS, 0x11000, 16, "void [App] A::B()[QuickJitted]");
	dump_load(&dump, PID, BASE + 3 * MS, 0x12000, 16, "void [App] A::B()[PreJIT]");
	end(&r, &dump);
	check(&r, "1 compiled A.B() tier1 16\n"
		  "2 compiled A.B() quick 16\n"
		  "3 loaded A.B() prejit 16\n");
}

/* Without a time there is no event, but a number. */
static void untimed(void **state)
{
	(void)state;
	struct recording r;
	struct sink seen = { 0 };
	struct profile_events counts;
	static const char map[] = "10000 10 JS:*alpha /a.js:1:1\n11000 10 JS:^beta /a.js:2:1\n";
	begin(&r);
	recording_finish(&r);
	recording_file(&r, "perf-4000001.map",
		       (struct bytes){ (const uint8_t *)map, sizeof(map) - 1 });
	read_events(&r, &seen, &counts);
	assert_string_equal((char *)seen.data, "");
	assert_int_equal(counts.untimed_count, 2);
	sink_clear(&seen);
	recording_remove(&r);
}

/* The samples of a run, to be seen again. */
struct seen {
	struct load_sample items[8];
	size_t count;
};

static int keep(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct seen *seen = context;
	(void)profile;
	assert_true(seen->count < 8);
	seen->items[seen->count++] = *sample;
	return 0;
}

static int read_again(struct load *load, struct profile *profile, const struct seen *seen)
{
	struct profile_events events = { 0 };
	struct profile_falls *falls = profile_falls_new();
	int got = falls ? 0 : STATUS_NO_MEMORY;
	for (size_t i = 0; got == 0 && i < seen->count; i++)
		got = profile_falls_see(falls, profile, seen->items[i].thread, seen->items[i].stack,
					seen->items[i].time_ns);
	if (got == 0)
		got = load_code_events(load, profile, &events);
	if (got == 0)
		got = profile_falls_take(falls, profile, &events);
	if (got == 0)
		assert_int_equal(events.items.count, 7);
	profile_falls_free(falls);
	profile_events_clear(&events);
	return got;
}

/* Both kinds of falls, and an end, each time with one allocation less. */
static void without_memory(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct seen seen = { 0 };
	begin_tiers(&r, &dump);
	at(&r, 2, (uint64_t[]){ TURBOFAN }, 1);
	at(&r, 4, (uint64_t[]){ IGNITION }, 1);
	dump_load(&dump, PID, BASE + 6 * MS, 0x14000, 16, "JS:+alpha" JS);
	dump_unload(&dump, PID, BASE + 7 * MS, 0x14000);
	end(&r, &dump);
	const struct load_options options = { .input = r.path,
					      .in_order = true,
					      .code_events = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, keep, &seen), 0);
	for (size_t n = 1;; n++) {
		memory_fail_at(n);
		const int got = read_again(load, &profile, &seen);
		if (!memory_has_failed())
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

static void some_times_and_processes(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	const uint32_t pid = PID;
	const uint32_t other = PID + 1;
	const struct {
		struct load_options options;
		const char *expected;
	} cases[] = {
		{ { .from_ns = BASE + 2 * MS },
		  "2 fell_back f main.js:1:1 turbofan>maglev 0 inferred\n"
		  "2 compiled f main.js:1:1 maglev 32\n" },
		{ { .to_ns = BASE + 2 * MS }, "1 compiled f main.js:1:1 turbofan 16\n" },
		{ { .pids = &pid, .pid_count = 1, .to_ns = BASE + 2 * MS },
		  "1 compiled f main.js:1:1 turbofan 16\n" },
		{ { .pids = &other, .pid_count = 1 }, "" },
	};
	begin(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, BASE + 1 * MS, 0x11000, 0x10, "JS:*f main.js:1:1");
	dump_load(&dump, PID, BASE + 2 * MS, 0x12000, 0x20, "JS:+f main.js:1:1");
	end(&r, &dump);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sink seen = { 0 };
		struct profile_events counts;
		read_some_events(&r, cases[i].options, &seen, &counts);
		assert_string_equal((char *)seen.data, cases[i].expected);
		sink_clear(&seen);
	}
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told),
		cmocka_unit_test(told_falls),
		cmocka_unit_test(threads_of_javascript_are_apart),
		cmocka_unit_test(sampled_fall),
		cmocka_unit_test(no_fall),
		cmocka_unit_test(one_fall_is_told_once),
		cmocka_unit_test(who_did_not_get_up_did_not_fall_again),
		cmocka_unit_test(hotspot),
		cmocka_unit_test(other_runtimes),
		cmocka_unit_test(untimed),
		cmocka_unit_test(some_times_and_processes),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
