/* Profiles of pprof, of the fixture, unpacked by protobuf-c. */
#include "base/escape.h"
#include "export/fixture.h"
#include "export/pprof.pb-c.h"
#include "export/value.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct export_format plain(void)
{
	struct export_format format = export_pprof;
	format.is_gzipped = false;
	return format;
}

static Pprof__Profile *write_and_read(const struct export_fixture *fixture, uint32_t event)
{
	const struct export_format format = plain();
	size_t size;
	char *data = fixture_write(fixture, &format, event, &size);
	Pprof__Profile *profile = pprof__profile__unpack(NULL, size, (uint8_t *)data);
	assert_non_null(profile);
	free(data);
	return profile;
}

static const char *text(const Pprof__Profile *p, int64_t id)
{
	assert_in_range(id, 0, p->n_string_table - 1);
	return p->string_table[id];
}

static const Pprof__Function *function_of(const Pprof__Profile *p, uint64_t id)
{
	const Pprof__Function *found = NULL;
	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->id == id) {
			assert_null(found);
			found = p->function[i];
		}
	assert_non_null(found);
	return found;
}

static const Pprof__Location *location_of(const Pprof__Profile *p, uint64_t id)
{
	const Pprof__Location *found = NULL;
	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == id) {
			assert_null(found);
			found = p->location[i];
		}
	assert_non_null(found);
	return found;
}

static const Pprof__Mapping *mapping_of(const Pprof__Profile *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_mapping; i++)
		if (p->mapping[i]->id == id)
			return p->mapping[i];
	return NULL;
}

/* The label of a name; its text or number. */
static const Pprof__Label *label(const Pprof__Profile *p, const Pprof__Sample *sample,
				 const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (strcmp(text(p, sample->label[i]->key), key) == 0)
			return sample->label[i];
	return NULL;
}

static void check_text(const Pprof__Profile *p, int64_t id, struct bytes wanted)
{
	struct sink shown = { 0 };
	escape_terminal(&shown, wanted);
	sink_u8(&shown, '\0');
	assert_string_equal(text(p, id), (const char *)shown.data);
	sink_clear(&shown);
}

/* The frames of a sample are those of the row, those inlined in their location. */
static void check_stack(const struct export_fixture *fixture, const Pprof__Profile *p,
			const Pprof__Sample *sample, const struct profile_row *row)
{
	const struct profile *profile = &fixture->profile;
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	uint32_t at = 0;
	for (size_t i = 0; i < sample->n_location_id; i++) {
		const Pprof__Location *location = location_of(p, sample->location_id[i]);
		for (size_t n = 0; n < location->n_line; n++, at++) {
			assert_true(at < stack->depth);
			const uint32_t id = profile->frame_ids.items[stack->first + at];
			const struct profile_frame *frame = &profile->frames.items[id];
			const Pprof__Function *function =
			    function_of(p, location->line[n]->function_id);
			const struct profile_function *of = export_function(profile, frame);
			check_text(p, function->name, export_name(profile, frame));
			check_text(p, function->system_name,
				   intern_get_bytes(&profile->strings, of->raw_name));
			check_text(p, function->filename,
				   intern_get_bytes(&profile->strings, frame->file));
			assert_int_equal(location->line[n]->line, frame->line);
			assert_int_equal(frame->inlined_into != 0, n + 1 < location->n_line);
			assert_int_equal(location->address, frame->avma);
			assert_int_equal(location->mapping_id == 0, frame->is_interpreted);
		}
	}
	assert_int_equal(at, stack->depth);
}

static void check_labels(const struct export_fixture *fixture, const Pprof__Profile *p,
			 const Pprof__Sample *sample, const struct profile_row *row)
{
	const struct profile *profile = &fixture->profile;
	const struct profile_thread *thread = &profile->threads.items[row->thread];
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	assert_int_equal(label(p, sample, "pid")->num, thread->pid);
	assert_int_equal(label(p, sample, "tid")->num, thread->tid);
	check_text(p, label(p, sample, "comm")->str,
		   intern_get_bytes(&profile->strings, thread->comm));
	assert_string_equal(text(p, label(p, sample, "trust")->str),
			    profile_trust_name(export_stack_trust(profile, row->stack)));
	if (!stack->depth) {
		assert_null(label(p, sample, "tier"));
		return;
	}
	const struct profile_function *leaf = export_function(
	    profile, &profile->frames.items[profile->frame_ids.items[stack->first]]);
	const Pprof__Label *tier = label(p, sample, "tier");
	const Pprof__Label *runtime = label(p, sample, "runtime");
	assert_string_equal(tier ? text(p, tier->str) : "", profile_text(profile, leaf->tier));
	assert_string_equal(runtime ? text(p, runtime->str) : "",
			    profile_text(profile, leaf->runtime));
}

/* Both events: a sample has the values of its own. */
static void samples_are_those_of_the_rows(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Pprof__Profile *p = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	assert_int_equal(p->n_sample_type, 4);
	assert_string_equal(text(p, p->sample_type[0]->type), "samples_cpu-clock");
	assert_string_equal(text(p, p->sample_type[0]->unit), "count");
	assert_string_equal(text(p, p->sample_type[1]->type), "cpu-clock");
	assert_string_equal(text(p, p->sample_type[1]->unit), "nanoseconds");
	assert_string_equal(text(p, p->sample_type[2]->type), "samples_cycles:u");
	assert_string_equal(text(p, p->sample_type[3]->type), "cycles:u");
	assert_string_equal(text(p, p->sample_type[3]->unit), "count");
	assert_int_equal(p->n_sample, fixture.profile.rows.count);
	for (size_t i = 0; i < p->n_sample; i++) {
		const struct profile_row *row = &fixture.profile.rows.items[i];
		assert_int_equal(p->sample[i]->n_value, 4);
		for (uint32_t event = 0; event < FIXTURE_EVENT_COUNT; event++) {
			const bool is_own = event == row->event;
			assert_int_equal(p->sample[i]->value[event * 2], is_own ? row->count : 0);
			assert_int_equal(p->sample[i]->value[event * 2 + 1],
					 is_own ? row->weight : 0);
		}
		check_stack(&fixture, p, p->sample[i], row);
		check_labels(&fixture, p, p->sample[i], row);
	}
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

static void one_event_is_named_plainly(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Pprof__Profile *p = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	int64_t count = 0;
	int64_t weight = 0;
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(text(p, p->sample_type[0]->type), "samples");
	assert_string_equal(text(p, p->sample_type[1]->type), "cpu");
	for (size_t i = 0; i < p->n_sample; i++) {
		count += p->sample[i]->value[0];
		weight += p->sample[i]->value[1];
	}
	assert_int_equal(count, fixture_count(&fixture, FIXTURE_CPU_CLOCK));
	assert_int_equal(weight, fixture_weight(&fixture, FIXTURE_CPU_CLOCK));
	assert_string_equal(text(p, p->default_sample_type), "cpu");
	pprof__profile__free_unpacked(p, NULL);
	p = write_and_read(&fixture, FIXTURE_CYCLES);
	assert_string_equal(text(p, p->sample_type[1]->type), "cycles:u");
	assert_int_equal(p->period, 0); /* a frequency was asked for */
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

static void the_recording_is_described(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.profile.lost_count = 12;
	Pprof__Profile *p = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	assert_int_equal(p->time_nanos, FIXTURE_WALL_NS);
	assert_int_equal(p->duration_nanos, fixture.profile.last_ns - fixture.profile.first_ns);
	assert_int_equal(p->period, 1000000);
	assert_string_equal(text(p, p->period_type->type), "cpu");
	assert_string_equal(text(p, p->period_type->unit), "nanoseconds");
	assert_int_equal(p->n_comment, 4);
	assert_string_equal(text(p, p->comment[0]), "host host, kernel 6.1.0, arch x86_64, cpu A "
						    "Processor, recorded by polyperf 0.1.0");
	assert_string_equal(text(p, p->comment[1]), "command: polyperf record -- app a b");
	assert_non_null(strstr(text(p, p->comment[2]), "trust: exact "));
	assert_string_equal(text(p, p->comment[3]), "lost: 12 samples");
	pprof__profile__free_unpacked(p, NULL);
	/* And where nothing is known of it. */
	export_about_clear(&fixture.about);
	fixture.about = (struct export_about){ 0 };
	fixture.profile.lost_count = 0;
	p = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	assert_int_equal(p->time_nanos, 0);
	assert_int_equal(p->period, 0);
	assert_int_equal(p->n_comment, 1);
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

static const Pprof__Mapping *mapping_named(const Pprof__Profile *p, const char *name)
{
	for (size_t i = 0; i < p->n_mapping; i++)
		if (strcmp(text(p, p->mapping[i]->filename), name) == 0)
			return p->mapping[i];
	return NULL;
}

static void mappings_tell_what_is_known_in_them(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Pprof__Profile *p = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	const Pprof__Mapping *app = p->mapping[0]; /* the program is the first */
	assert_string_equal(text(p, app->filename), "/usr/bin/app");
	assert_string_equal(text(p, app->build_id), "abcd0123");
	assert_int_equal(app->memory_start, 0x400000);
	assert_int_equal(app->memory_limit, 0x480000);
	assert_int_equal(app->file_offset, 0x400000);
	assert_true(app->has_functions && app->has_filenames && app->has_line_numbers);
	assert_false(app->has_inline_frames);
	const Pprof__Mapping *jit = mapping_named(p, "/tmp/jit-7.dump");
	assert_true(jit->has_functions && jit->has_filenames && jit->has_inline_frames);
	assert_int_equal(jit->memory_start, 0x7f0000001000);
	assert_int_equal(jit->memory_limit, 0x7f000000c000);
	assert_string_equal(text(p, jit->build_id), "");
	const Pprof__Mapping *kernel = mapping_named(p, "[kernel.kallsyms]");
	assert_true(kernel->has_functions && !kernel->has_filenames && !kernel->has_line_numbers);
	const Pprof__Mapping *memory = mapping_named(p, "//anon");
	assert_false(memory->has_functions);
	for (size_t i = 0; i < p->n_location; i++) {
		const Pprof__Location *location = p->location[i];
		const Pprof__Mapping *mapping = mapping_of(p, location->mapping_id);
		if (location->mapping_id)
			assert_in_range(location->address, mapping->memory_start,
					mapping->memory_limit - 1);
	}
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

/* An offset in a file is as good a number as an address, and the same in each process. */
static void addresses_of_files_are_offsets(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	for (uint32_t id = FRAME_MAIN; id <= FRAME_MAIN_RETURN; id++)
		fixture.profile.frames.items[id].avma += 0x555500000000;
	Pprof__Profile *p = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	bool was_there = false;
	for (size_t i = 0; i < p->n_location; i++) {
		was_there |= p->location[i]->address == 0x401010;
		assert_false(p->location[i]->address >> 32 == 0x5555);
	}
	assert_true(was_there);
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

/* Code that was made where other code had been is another location. */
static void addresses_used_again_are_not_joined(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct profile_frame *frames = fixture.profile.frames.items;
	const uint64_t avma = frames[FRAME_BETA].avma;
	frames[FRAME_SLOW].avma = frames[FRAME_SLOW].object_avma = avma;
	frames[FRAME_FAST].avma = frames[FRAME_FAST].object_avma = avma;
	Pprof__Profile *p = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	size_t count = 0;
	for (size_t i = 0; i < p->n_location; i++)
		count += p->location[i]->address == avma;
	assert_int_equal(count, 3);
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

static void each_text_can_be_shown(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Pprof__Profile *p = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	assert_string_equal(p->string_table[0], "");
	bool was_bytes = false;
	for (size_t i = 0; i < p->n_string_table; i++) {
		const char *shown = p->string_table[i];
		assert_true(
		    escape_is_plain((struct bytes){ (const uint8_t *)shown, strlen(shown) }));
		was_bytes |= strstr(shown, "\\xff\\xfe bytes") != NULL;
	}
	assert_true(was_bytes);
	pprof__profile__free_unpacked(p, NULL);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_those_of_the_rows),
		cmocka_unit_test(one_event_is_named_plainly),
		cmocka_unit_test(the_recording_is_described),
		cmocka_unit_test(mappings_tell_what_is_known_in_them),
		cmocka_unit_test(addresses_of_files_are_offsets),
		cmocka_unit_test(addresses_used_again_are_not_joined),
		cmocka_unit_test(each_text_can_be_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
