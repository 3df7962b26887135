/* OpenTelemetry's profiles, of the fixture, unpacked by protobuf-c. */
#include "base/escape.h"
#include "export/fixture.h"
#include "export/otlp.pb-c.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static Otlp__ProfilesData *write_and_read(const struct export_fixture *fixture, uint32_t event)
{
	size_t size;
	char *data = fixture_write(fixture, &export_otlp, event, &size);
	Otlp__ProfilesData *read = otlp__profiles_data__unpack(NULL, size, (uint8_t *)data);
	assert_non_null(read);
	assert_int_equal(read->n_resource_profiles, 1);
	assert_int_equal(read->resource_profiles[0]->n_scope_profiles, 1);
	free(data);
	return read;
}

static const Otlp__ScopeProfiles *scope_of(const Otlp__ProfilesData *data)
{
	return data->resource_profiles[0]->scope_profiles[0];
}

static const char *text(const Otlp__ProfilesData *data, int32_t index)
{
	assert_in_range(index, 0, data->dictionary->n_string_table - 1);
	return data->dictionary->string_table[index];
}

static const Otlp__AnyValue *attribute(const Otlp__ProfilesData *data, const int32_t *indices,
				       size_t count, const char *key)
{
	const Otlp__AnyValue *found = NULL;
	for (size_t i = 0; i < count; i++) {
		assert_in_range(indices[i], 1, data->dictionary->n_attribute_table - 1);
		const Otlp__KeyValueAndUnit *one = data->dictionary->attribute_table[indices[i]];
		if (strcmp(text(data, one->key_strindex), key) != 0)
			continue;
		assert_null(found); /* keys are there once */
		found = one->value;
	}
	return found;
}

static const Otlp__AnyValue *sample_attribute(const Otlp__ProfilesData *data,
					      const Otlp__Sample *sample, const char *key)
{
	return attribute(data, sample->attribute_indices, sample->n_attribute_indices, key);
}

static void check_text(const char *got, struct bytes wanted)
{
	struct sink shown = { 0 };
	escape_terminal(&shown, wanted);
	sink_u8(&shown, '\0');
	assert_string_equal(got, (const char *)shown.data);
	sink_clear(&shown);
}

static void check_location(const struct export_fixture *fixture, const Otlp__ProfilesData *data,
			   const Otlp__Location *location, uint32_t frame_id)
{
	const struct profile *profile = &fixture->profile;
	const struct profile_frame *frame = &profile->frames.items[frame_id];
	const Otlp__AnyValue *trust = attribute(data, location->attribute_indices,
						location->n_attribute_indices, "polyperf.trust");
	assert_string_equal(trust->string_value,
			    profile_trust_name((enum profile_trust)frame->trust));
	assert_int_equal(location->mapping_index == 0, frame->is_interpreted);
	assert_int_equal(location->address, frame->avma);
	for (size_t i = 0; i < location->n_lines; i++) {
		const Otlp__Function *function =
		    data->dictionary->function_table[location->lines[i]->function_index];
		check_text(text(data, function->name_strindex), export_name(profile, frame));
		check_text(text(data, function->filename_strindex),
			   intern_get_bytes(&profile->strings, frame->file));
		assert_int_equal(location->lines[i]->line, frame->line);
		assert_int_equal(frame->inlined_into != 0, i + 1 < location->n_lines);
		if (frame->inlined_into)
			frame = &profile->frames.items[frame->inlined_into - 1];
	}
}

static void check_stack(const struct export_fixture *fixture, const Otlp__ProfilesData *data,
			int32_t index, uint32_t stack_id)
{
	const struct profile *profile = &fixture->profile;
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	const Otlp__Stack *got = data->dictionary->stack_table[index];
	uint32_t at = 0;
	for (size_t i = 0; i < got->n_location_indices; i++) {
		assert_in_range(got->location_indices[i], 1,
				data->dictionary->n_location_table - 1);
		const Otlp__Location *location =
		    data->dictionary->location_table[got->location_indices[i]];
		assert_true(at < stack->depth);
		check_location(fixture, data, location,
			       profile->frame_ids.items[stack->first + at]);
		at += (uint32_t)location->n_lines;
	}
	assert_int_equal(at, stack->depth);
}

/* The row of a sample's thread and stack: those of a profile come by thread, then by stack. */
static const struct profile_row *row_of(const struct export_fixture *fixture,
					const Otlp__ProfilesData *data, const Otlp__Sample *sample,
					uint32_t event, uint32_t stack)
{
	const struct profile *profile = &fixture->profile;
	const int64_t tid = sample_attribute(data, sample, "thread.id")->int_value;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		if (row->event == event && row->stack == stack &&
		    profile->threads.items[row->thread].tid == tid)
			return row;
	}
	return NULL;
}

/* Which stack of the fixture it is: the first with a row whose numbers are the same. */
static const struct profile_row *find_row(const struct export_fixture *fixture,
					  const Otlp__ProfilesData *data,
					  const Otlp__Sample *sample, uint32_t event,
					  bool *was_seen)
{
	const struct profile *profile = &fixture->profile;
	int64_t weight = 0;
	for (size_t i = 0; i < sample->n_values; i++)
		weight += sample->values[i];
	for (uint32_t stack = 0; stack < profile->stacks.count; stack++) {
		const struct profile_row *row = row_of(fixture, data, sample, event, stack);
		const size_t at = row ? (size_t)(row - profile->rows.items) : 0;
		const Otlp__Stack *got = data->dictionary->stack_table[sample->stack_index];
		if (!row || was_seen[at] || row->weight != (uint64_t)weight ||
		    row->count != sample->n_values ||
		    (got->n_location_indices == 0) != (profile->stacks.items[stack].depth == 0))
			continue;
		was_seen[at] = true;
		return row;
	}
	return NULL;
}

static void check_profile(const struct export_fixture *fixture, const Otlp__ProfilesData *data,
			  const Otlp__Profile *profile, uint32_t event)
{
	bool was_seen[64] = { false };
	uint64_t count = 0;
	assert_true(fixture->profile.rows.count < sizeof(was_seen));
	for (size_t i = 0; i < profile->n_samples; i++) {
		const Otlp__Sample *sample = profile->samples[i];
		const struct profile_row *row = find_row(fixture, data, sample, event, was_seen);
		assert_non_null(row);
		const struct profile_thread *thread = &fixture->profile.threads.items[row->thread];
		assert_int_equal(sample->n_values, sample->n_timestamps_unix_nano);
		check_stack(fixture, data, sample->stack_index, row->stack);
		assert_int_equal(sample_attribute(data, sample, "process.pid")->int_value,
				 thread->pid);
		check_text(sample_attribute(data, sample, "thread.name")->string_value,
			   intern_get_bytes(&fixture->profile.strings, thread->comm));
		for (size_t n = 0; n < sample->n_timestamps_unix_nano; n++)
			assert_in_range(sample->timestamps_unix_nano[n], profile->time_unix_nano,
					profile->time_unix_nano + profile->duration_nano - 1);
		count += sample->n_values;
	}
	assert_int_equal(count, fixture_count(fixture, event));
}

static void each_event_is_a_profile(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Otlp__ProfilesData *data = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	const Otlp__ScopeProfiles *scope = scope_of(data);
	assert_string_equal(scope->scope->name, "polyperf");
	assert_int_equal(scope->n_profiles, 2);
	const Otlp__Profile *clock = scope->profiles[0];
	assert_string_equal(text(data, clock->sample_type->type_strindex), "cpu-clock");
	assert_string_equal(text(data, clock->sample_type->unit_strindex), "nanoseconds");
	assert_int_equal(clock->time_unix_nano, FIXTURE_WALL_NS);
	assert_int_equal(clock->period, 1000000);
	check_profile(&fixture, data, clock, FIXTURE_CPU_CLOCK);
	const Otlp__Profile *cycles = scope->profiles[1];
	assert_string_equal(text(data, cycles->sample_type->type_strindex), "cycles:u");
	assert_string_equal(text(data, cycles->sample_type->unit_strindex), "count");
	check_profile(&fixture, data, cycles, FIXTURE_CYCLES);
	otlp__profiles_data__free_unpacked(data, NULL);
	data = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	assert_int_equal(scope_of(data)->n_profiles, 1);
	const Otlp__Profile *alone = scope_of(data)->profiles[0];
	assert_string_equal(text(data, alone->sample_type->type_strindex), "cpu");
	check_profile(&fixture, data, alone, FIXTURE_CPU_CLOCK);
	otlp__profiles_data__free_unpacked(data, NULL);
	fixture_close(&fixture);
}

/* Each table's first entry has nothing but defaults: it stands for none. */
static void tables_begin_with_nothing(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Otlp__ProfilesData *data = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	const Otlp__ProfilesDictionary *d = data->dictionary;
	assert_string_equal(d->string_table[0], "");
	assert_int_equal(otlp__mapping__get_packed_size(d->mapping_table[0]), 0);
	assert_int_equal(otlp__location__get_packed_size(d->location_table[0]), 0);
	assert_int_equal(otlp__function__get_packed_size(d->function_table[0]), 0);
	assert_int_equal(otlp__key_value_and_unit__get_packed_size(d->attribute_table[0]), 0);
	assert_int_equal(otlp__stack__get_packed_size(d->stack_table[0]), 0);
	assert_int_equal(d->n_link_table, 1);
	assert_int_equal(d->link_table[0]->trace_id.len, 16);
	assert_int_equal(d->link_table[0]->span_id.len, 8);
	const Otlp__Mapping *app = d->mapping_table[1];
	assert_string_equal(text(data, app->filename_strindex), "/usr/bin/app");
	assert_string_equal(attribute(data, app->attribute_indices, app->n_attribute_indices,
				      "process.executable.build_id.gnu")
				->string_value,
			    "abcd0123");
	for (size_t i = 0; i < d->n_string_table; i++)
		assert_true(escape_is_plain((struct bytes){ (const uint8_t *)d->string_table[i],
							    strlen(d->string_table[i]) }));
	otlp__profiles_data__free_unpacked(data, NULL);
	fixture_close(&fixture);
}

static void the_machine_is_told(void **state)
{
	static const char *const wanted[][2] = { { "host.name", "host" },
						 { "host.arch", "amd64" },
						 { "host.cpu.model.name", "A Processor" },
						 { "os.type", "linux" },
						 { "os.version", "6.1.0" } };
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	Otlp__ProfilesData *data = write_and_read(&fixture, EXPORT_ALL_EVENTS);
	const Otlp__Resource *resource = data->resource_profiles[0]->resource;
	assert_int_equal(resource->n_attributes, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < resource->n_attributes; i++) {
		assert_string_equal(resource->attributes[i]->key, wanted[i][0]);
		assert_string_equal(resource->attributes[i]->value->string_value, wanted[i][1]);
	}
	otlp__profiles_data__free_unpacked(data, NULL);
	fixture_close(&fixture);
}

/* Times could not be told: sums are. */
static void without_a_wall_clock_there_are_sums(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	export_about_clear(&fixture.about);
	fixture.about = (struct export_about){ 0 };
	Otlp__ProfilesData *data = write_and_read(&fixture, FIXTURE_CPU_CLOCK);
	const Otlp__Profile *profile = scope_of(data)->profiles[0];
	int64_t weight = 0;
	for (size_t i = 0; i < profile->n_samples; i++) {
		assert_int_equal(profile->samples[i]->n_values, 1);
		assert_int_equal(profile->samples[i]->n_timestamps_unix_nano, 0);
		weight += profile->samples[i]->values[0];
	}
	assert_int_equal(weight, fixture_weight(&fixture, FIXTURE_CPU_CLOCK));
	otlp__profiles_data__free_unpacked(data, NULL);
	fixture_close(&fixture);
}

/* More of one thread than are put together at once: none is left out. */
static void many_samples_of_a_thread_are_all_there(void **state)
{
	enum { COUNT = 600000 };
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	export_samples_close(fixture.samples);
	assert_int_equal(export_samples_open(&fixture.samples), 0);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(export_samples_add(fixture.samples,
						    &(struct export_sample){
							.time_ns = fixture.profile.first_ns + i,
							.period = i,
							.stack = i % 5,
							.event = i % 2,
						    }),
				 0);
	assert_int_equal(export_samples_end(fixture.samples), 0);
	Otlp__ProfilesData *data = write_and_read(&fixture, FIXTURE_CYCLES);
	const Otlp__Profile *profile = scope_of(data)->profiles[0];
	uint64_t count = 0;
	for (size_t i = 0; i < profile->n_samples; i++)
		for (size_t n = 0; n < profile->samples[i]->n_values; n++, count++)
			assert_int_equal(profile->samples[i]->timestamps_unix_nano[n],
					 FIXTURE_WALL_NS +
					     (uint64_t)profile->samples[i]->values[n]);
	assert_int_equal(count, COUNT / 2);
	assert_int_equal(profile->n_samples, 10); /* five stacks, twice */
	otlp__profiles_data__free_unpacked(data, NULL);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_a_profile),
		cmocka_unit_test(tables_begin_with_nothing),
		cmocka_unit_test(the_machine_is_told),
		cmocka_unit_test(without_a_wall_clock_there_are_sums),
		cmocka_unit_test(many_samples_of_a_thread_are_all_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
