/* What a recording says of itself. */
#include "load/facts.h"

#include "format/perfdata/layout.h"
#include "load/recording.h"
#include "test.h"

enum { PID = 4000001, CLOCK_MONOTONIC_ID = 1 };

static const struct load_object *object_named(struct load *load, const char *path,
					      struct load_object *object)
{
	const struct load_object *found = NULL;
	static struct load_object kept;
	for (size_t i = 0; load_object_at(load, i, object); i++)
		if (strcmp(object->path, path) == 0) {
			kept = *object;
			found = &kept;
		}
	return found;
}

static struct load *open_load(const struct recording *r)
{
	const struct load_options options = { .input = r->path, .self_contained = true };
	struct load_error error;
	struct load *load;
	assert_int_equal(load_open(&load, &options, &error), 0);
	return load;
}

static void begin(struct recording *r)
{
	recording_begin(r);
	recording_mmap(r, PID, 1, 0x7f0000000000, 0x2000, "/usr/bin/app");
	recording_map(r, &(struct recording_map){ .pid = PID,
						  .time_ns = 2,
						  .start_avma = 0x7f0000010000,
						  .size = 0x3000,
						  .file_off = 0x8000,
						  .path = "/usr/bin/app" });
	recording_map(r, &(struct recording_map){ .pid = PID,
						  .time_ns = 2,
						  .start_avma = 0x7f0000020000,
						  .size = 0x3000,
						  .file_off = UINT64_MAX - 0xfff,
						  .path = "/odd" });
	recording_mmap(r, PID, 3, 0x7f0000030000, 0x1000, "//anon");
	recording_sample(r, PID, PID, 500, (uint64_t[]){ 0x7f0000000010 }, 1);
}

static void all_is_told(void **state)
{
	static const char *const command[] = { "polyperf", "record", "--", "a b" };
	struct recording r;
	struct load_facts facts;
	struct load_object object;
	struct load_rate rate;
	(void)state;
	begin(&r);
	r.version = "polyperf 9";
	r.features[0].feature = PERFDATA_FEATURE_CMDLINE;
	perfdata_put_cmdline(&r.features[0].content, command, 4);
	r.features[1].feature = PERFDATA_FEATURE_CLOCK_DATA;
	perfdata_put_clock_data(&r.features[1].content, CLOCK_MONOTONIC_ID, 1000000, 400);
	recording_finish(&r);
	struct load *load = open_load(&r);
	load_facts(load, &facts);
	assert_string_equal(facts.recorder, "polyperf 9");
	assert_string_equal(facts.host, "");
	assert_int_equal(facts.wall_ns, 1000000);
	assert_int_equal(facts.clock_ns, 400);
	assert_false(facts.is_wall_guessed);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(load_command(load, i), command[i]);
	assert_null(load_command(load, 4));
	const struct load_object *app = object_named(load, "/usr/bin/app", &object);
	assert_int_equal(app->start_off, 0);
	assert_int_equal(app->end_off, 0xb000);
	assert_int_equal(app->build_id.size, 0);
	/* Where offsets would wrap around nothing is known, as of memory. */
	const struct load_object *odd = object_named(load, "/odd", &object);
	assert_int_equal(odd->start_off, odd->end_off);
	const struct load_object *memory = object_named(load, "//anon", &object);
	assert_int_equal(memory->start_off, memory->end_off);
	load_rate(load, 1, &rate); /* there is none */
	assert_int_equal(rate.period | rate.frequency, 0);
	load_close(load);
	recording_remove(&r);
}

/* The file was written when the last sample had come. */
static void the_wall_clock_is_guessed(void **state)
{
	struct recording r;
	struct load_facts facts;
	(void)state;
	begin(&r);
	r.features[0].feature = PERFDATA_FEATURE_SAMPLE_TIME;
	perfdata_put_sample_time(&r.features[0].content, 500, 700);
	recording_finish(&r);
	struct load *load = open_load(&r);
	load_facts(load, &facts);
	assert_true(facts.is_wall_guessed);
	assert_true(facts.wall_ns > UINT64_C(1600000000) * 1000000000);
	assert_int_equal(facts.clock_ns, 700);
	assert_null(load_command(load, 0));
	assert_string_equal(facts.recorder, "");
	load_close(load);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_told),
		cmocka_unit_test(the_wall_clock_is_guessed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
