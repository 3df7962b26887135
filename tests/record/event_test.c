#include "base/status.h"
#include "record/event_internal.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct event one(const char *text)
{
	struct event_list events = { 0 };
	struct event_error error;
	assert_int_equal(event_parse(&events, text, &error), 0);
	assert_int_equal(events.count, 1);
	const struct event event = events.items[0];
	vector_clear(&events);
	assert_string_equal(event.name, text);
	return event;
}

static void refused(const char *text, int status)
{
	struct event_list events = { 0 };
	struct event_error error = { 0 };
	assert_int_equal(event_parse(&events, text, &error), status);
	assert_non_null(error.reason);
	assert_true(error.reason[0]);
	assert_int_equal(events.count, 0);
	vector_clear(&events);
}

static void names_of_perf(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} known[] = {
		{ "cycles", 0, 0 },
		{ "cpu-cycles", 0, 0 },
		{ "instructions", 0, 1 },
		{ "cache-misses", 0, 3 },
		{ "branch-misses", 0, 5 },
		{ "cpu-clock", 1, 0 },
		{ "task-clock", 1, 1 },
		{ "page-faults", 1, 2 },
		{ "faults", 1, 2 },
		{ "context-switches", 1, 3 },
		{ "cs", 1, 3 },
		{ "L1-dcache-loads", 3, 0 },
		{ "L1-dcache-load-misses", 3, 0x10000 },
		{ "LLC-stores", 3, 0x102 },
		{ "iTLB-load-misses", 3, 0x10004 },
		{ "r1a8", 4, 0x1a8 },
		{ "rFFFF", 4, 0xffff },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct event event = one(known[i].name);
		assert_int_equal(event.type, known[i].type);
		assert_int_equal(event.config, known[i].config);
		assert_false(event.exclude_user || event.exclude_kernel || event.exclude_hv);
	}
	/* All that help lists can be had. */
	for (size_t i = 0; event_name(i); i++)
		one(event_name(i));
}

static void modifiers_select(void **state)
{
	(void)state;
	const struct event user = one("cycles:u");
	assert_true(!user.exclude_user && user.exclude_kernel && user.exclude_hv);
	const struct event kernel = one("cs:k");
	assert_true(kernel.exclude_user && !kernel.exclude_kernel && kernel.exclude_hv);
	const struct event both = one("cycles:uk");
	assert_true(!both.exclude_user && !both.exclude_kernel && both.exclude_hv);
	assert_int_equal(one("cycles:ppp").precision, 3);
	assert_int_equal(one("cycles:upp").precision, 2);
	assert_true(one("cycles:P").is_precision_best);
	const struct event guest = one("cycles:G");
	assert_true(guest.exclude_host && !guest.exclude_guest);
}

static void wrong_names_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"",
		"cycle",
		"cycles:",
		"cycles:x",
		"cycles:pppp",
		"cycles,",
		",cs",
		"r",
		"rxyz",
		"L1-loads",
		"L1-dcache-fills",
		"cycles u",
		"Cycles",
		"r11112222333344445",
		"cpu/event=1",
		"no-such-pmu/event=1/",
		"/event=1/",
		"../x/type/",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(wrong[i], "cycles,") != 0)
			refused(wrong[i], STATUS_NOT_FOUND);
	refused("{cycles", STATUS_UNSUPPORTED);
	refused("sched:sched_switch", STATUS_UNSUPPORTED);
	char longest[400];
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	refused(longest, STATUS_NOT_FOUND);
}

static void lists_keep_their_order(void **state)
{
	(void)state;
	struct event_list events = { 0 };
	struct event_error error;
	assert_int_equal(event_parse(&events, "cs,cycles:u", &error), 0);
	assert_int_equal(event_parse(&events, "faults", &error), 0);
	assert_int_equal(events.count, 3);
	assert_string_equal(events.items[0].name, "cs");
	assert_string_equal(events.items[1].name, "cycles:u");
	assert_string_equal(events.items[2].name, "faults");
	/* What was right before the error stays; the error tells which was wrong. */
	assert_int_equal(event_parse(&events, "cycles,nonsense", &error), STATUS_NOT_FOUND);
	assert_string_equal(error.name, "nonsense");
	assert_int_equal(events.count, 4);
	vector_clear(&events);
}

static void clock_in_place_of_cycles(void **state)
{
	(void)state;
	const struct event cycles = one("cycles:uP");
	assert_true(event_has_fallback(&cycles));
	const struct event clock = event_cpu_clock(&cycles);
	assert_string_equal(clock.name, "cpu-clock:u");
	assert_int_equal(clock.type, 1);
	assert_int_equal(clock.config, 0);
	assert_true(clock.exclude_kernel && !clock.is_precision_best);
	const struct event precise = one("cycles:P");
	assert_string_equal(event_cpu_clock(&precise).name, "cpu-clock");
	const struct event plain = one("cycles");
	assert_string_equal(event_cpu_clock(&plain).name, "cpu-clock");
	const struct event other = one("instructions");
	assert_false(event_has_fallback(&other));
}

static void write_file(const char *root, const char *path, const char *content)
{
	char full[256];
	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static int parse_pmu(const char *root, const char *pmu, const char *terms, struct event *event)
{
	const char *reason = NULL;
	*event = (struct event){ 0 };
	const int result = event_parse_pmu(event, root, bytes_of(pmu), bytes_of(terms), &reason);
	if (result < 0)
		assert_non_null(reason);
	return result;
}

/* A /sys of our own, with one PMU. */
static void terms_of_a_pmu(void **state)
{
	(void)state;
	char root[] = "/tmp/event_test-XXXXXX";
	assert_non_null(mkdtemp(root));
	char path[128];
	static const char *const folders[] = { "fast", "fast/format", "fast/events" };
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_file(root, "fast/type", "17\n");
	write_file(root, "fast/format/event", "config:0-7,32-35\n");
	write_file(root, "fast/format/inv", "config:23\n");
	write_file(root, "fast/format/ldlat", "config1:0-15\n");
	write_file(root, "fast/events/mem-loads", "event=0xcd,ldlat=3\n");
	write_file(root, "fast/events/loop", "loop\n");

	struct event event;
	assert_int_equal(parse_pmu(root, "fast", "event=0x1a8,inv,ldlat=30", &event), 0);
	assert_int_equal(event.type, 17);
	assert_int_equal(event.config, 0xa8 | 1ull << 32 | 1 << 23);
	assert_int_equal(event.config1, 30);
	assert_int_equal(parse_pmu(root, "fast", "mem-loads", &event), 0);
	assert_int_equal(event.config, 0xcd);
	assert_int_equal(event.config1, 3);
	assert_int_equal(parse_pmu(root, "fast", "config=7,period=5000", &event), 0);
	assert_int_equal(event.config, 7);
	assert_int_equal(event.period, 5000);
	assert_int_equal(parse_pmu(root, "fast", "", &event), 0);

	static const char *const wrong[] = { "event=0x12345", "inv=2", "nothing", "event=x",
					     "mem-loads=1",   "loop",  "=1",      ",",
					     "../type",       "event=" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_pmu(root, "fast", wrong[i], &event), STATUS_NOT_FOUND);
	assert_int_equal(parse_pmu(root, "slow", "", &event), STATUS_NOT_FOUND);
	assert_int_equal(parse_pmu(root, "..", "", &event), STATUS_NOT_FOUND);

	(void)snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_perf),
		cmocka_unit_test(modifiers_select),
		cmocka_unit_test(wrong_names_are_refused),
		cmocka_unit_test(lists_keep_their_order),
		cmocka_unit_test(clock_in_place_of_cycles),
		cmocka_unit_test(terms_of_a_pmu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
