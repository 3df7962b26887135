/* Recordings of Java Flight Recorder: how chunks hang together, and names of methods. What is in
 * them is read by the JDK in tests/live/export_binary_test.py.
 */
#include "export/fixture.h"
#include "export/jfr.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 68, IS_COMPRESSED = 1, IS_LAST = 2 };

static uint64_t u64(const uint8_t *from)
{
	uint64_t value = 0;
	for (int i = 0; i < 8; i++)
		value = value << 8 | from[i];
	return value;
}

static uint64_t number(const uint8_t *data, size_t *at)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t byte = data[(*at)++];
		value |= shift == 56 ? (uint64_t)byte << 56 : (uint64_t)(byte & 0x7f) << shift;
		if (shift == 56 || !(byte & 0x80))
			break;
	}
	return value;
}

struct chunk {
	const uint8_t *data;
	uint64_t size;
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t start_ticks;
	uint8_t features;
	size_t sample_count;
	size_t remark_count;
	uint64_t first_ns; /* of its samples */
	uint64_t last_ns;
};

static void take_event(struct chunk *chunk, size_t at, uint64_t type)
{
	if (type == JFR_REMARK)
		chunk->remark_count++;
	if (type != JFR_EXECUTION_SAMPLE)
		return;
	const uint64_t time_ns = number(chunk->data, &at);
	if (!chunk->sample_count++)
		chunk->first_ns = time_ns;
	assert_true(time_ns >= chunk->last_ns);
	chunk->last_ns = time_ns;
}

/* Events must lie one behind the other up to the end, the offsets of the header among them. */
static void read_chunk(const uint8_t *data, size_t size, struct chunk *chunk)
{
	assert_true(size > HEADER_BYTES);
	assert_memory_equal(data, "FLR\0\0\2\0\1", 8);
	*chunk = (struct chunk){ .data = data,
				 .size = u64(data + 8),
				 .start_ns = u64(data + 32),
				 .duration_ns = u64(data + 40),
				 .start_ticks = u64(data + 48),
				 .features = data[67] };
	assert_in_range(chunk->size, HEADER_BYTES, size);
	assert_int_equal(u64(data + 56), 1000000000);
	bool was_checkpoint = false;
	bool was_metadata = false;
	size_t at = HEADER_BYTES;
	while (at < chunk->size) {
		size_t inside = at;
		const uint64_t event_size = number(data, &inside);
		const uint64_t type = number(data, &inside);
		was_checkpoint |= type == JFR_CHECKPOINT && at == u64(data + 16);
		was_metadata |= type == JFR_METADATA && at == u64(data + 24);
		assert_true(event_size >= inside - at);
		take_event(chunk, inside, type);
		at += event_size;
	}
	assert_int_equal(at, chunk->size);
	assert_true(was_checkpoint && was_metadata);
}

static void a_chunk_holds_it(void **state)
{
	struct export_fixture fixture;
	struct chunk chunk;
	size_t size;
	(void)state;
	fixture_open(&fixture);
	char *data = fixture_write(&fixture, &export_jfr, FIXTURE_CPU_CLOCK, &size);
	read_chunk((uint8_t *)data, size, &chunk);
	assert_int_equal(chunk.size, size);
	assert_int_equal(chunk.features, IS_COMPRESSED | IS_LAST);
	assert_int_equal(chunk.sample_count, fixture_count(&fixture, FIXTURE_CPU_CLOCK));
	assert_int_equal(chunk.remark_count, 3);
	assert_int_equal(chunk.start_ns, FIXTURE_WALL_NS);
	assert_int_equal(chunk.start_ticks, fixture.profile.first_ns);
	assert_int_equal(chunk.duration_ns, fixture.profile.last_ns - fixture.profile.first_ns);
	free(data);
	fixture_close(&fixture);
}

/* More than fits in a chunk: each begins where the one before ended. */
static void many_samples_are_several_chunks(void **state)
{
	enum { COUNT = 450000, STEP_NS = 1000 };
	struct export_fixture fixture;
	size_t size;
	(void)state;
	fixture_open(&fixture);
	export_samples_close(fixture.samples);
	assert_int_equal(export_samples_open(&fixture.samples), 0);
	const uint64_t first_ns = fixture.profile.first_ns;
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(export_samples_add(fixture.samples,
						    &(struct export_sample){
							.time_ns = first_ns + i * STEP_NS,
							.period = 1,
							.thread = i % 3,
							.stack = i % 5,
							.event = FIXTURE_CPU_CLOCK,
						    }),
				 0);
	assert_int_equal(export_samples_end(fixture.samples), 0);
	char *data = fixture_write(&fixture, &export_jfr, FIXTURE_CPU_CLOCK, &size);
	size_t count = 0;
	size_t chunks = 0;
	for (size_t at = 0; at < size; chunks++) {
		struct chunk chunk;
		read_chunk((uint8_t *)data + at, size - at, &chunk);
		assert_int_equal(chunk.first_ns, first_ns + count * STEP_NS);
		assert_int_equal(chunk.start_ticks, chunk.first_ns);
		assert_int_equal(chunk.start_ns, FIXTURE_WALL_NS + count * STEP_NS);
		assert_int_equal(chunk.duration_ns, chunk.last_ns - chunk.first_ns);
		count += chunk.sample_count;
		at += chunk.size;
		assert_int_equal(chunk.features,
				 at < size ? IS_COMPRESSED : IS_COMPRESSED | IS_LAST);
	}
	assert_int_equal(chunks, 3);
	assert_int_equal(count, COUNT);
	free(data);
	fixture_close(&fixture);
}

static const struct method {
	const char *runtime;
	const char *name;
	const char *raw_name;
	const char *class;
	const char *method;
	const char *descriptor;
} methods[] = {
	{ "jvm", "java.util.List.size()", "Ljava/util/List;size()I", "java/util/List", "size",
	  "()I" },
	{ "jvm", "Work.alpha(int, int)", "int Work.alpha(int, int)", "Work", "alpha", "(II)V" },
	{ "jvm", "a.b.C.<init>(java.lang.String[], long[][])", "", "a/b/C", "<init>",
	  "([Ljava/lang/String;[[J)V" },
	{ "jvm", "A$$Lambda$14/0x0001.run(boolean,byte,char,double,float,short)", "",
	  "A$$Lambda$14/0x0001", "run", "(ZBCDFS)V" },
	/* Not methods. */
	{ "jvm", "Interpreter", "Interpreter", "[jit]", "Interpreter", "()V" },
	{ "jvm", "I2C/C2I adapters(0xbaaba)", "", "[jit]", "I2C/C2I adapters(0xbaaba)", "()V" },
	{ "jvm", "int a.b(", "L;(", "[jit]", "int a.b(", "()V" },
	{ "jvm", ".x()", "Lx;y", "[jit]", ".x()", "()V" },
	{ "jvm", "x.()", "Lx;(I)I", "[jit]", "x.()", "()V" },
	{ "jvm", "", "L", "[jit]", "", "()V" },
	{ "jvm", "stub of a.b()", "", "[jit]", "stub of a.b()", "()V" },
	/* Of others, what looks like one is none. */
	{ "dotnet", "A.B(int)", "LA;B(I)I", "[jit]", "A.B(int)", "()V" },
	{ "v8", "a\n\xff.b()", "", "[jit]", "a\\n\\xff.b()", "()V" },
};

static void methods_are_taken_apart(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct intern *strings = &fixture.profile.strings;
	const struct export_view view = { .profile = &fixture.profile,
					  .options = &fixture.options,
					  .about = &fixture.about };
	struct places places;
	places_open(&places, &view);
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		const struct profile_function function = {
			.name = intern_text(strings, methods[i].name),
			.raw_name = intern_text(strings, methods[i].raw_name),
			.runtime = intern_text(strings, methods[i].runtime),
			.object = intern_text(strings, "[jit]"),
		};
		const struct jfr_method got = jfr_method_of(&places, &function);
		assert_string_equal(intern_get(&places.texts, got.class - 1), methods[i].class);
		assert_string_equal(intern_get(&places.texts, got.name - 1), methods[i].method);
		assert_string_equal(intern_get(&places.texts, got.descriptor - 1),
				    methods[i].descriptor);
	}
	places_close(&places);
	fixture_close(&fixture);
}

static void numbers_are_nine_bytes_at_most(void **state)
{
	static const uint64_t values[] = { 0, 127, 128, UINT32_MAX, 1ull << 56, UINT64_MAX };
	static const size_t sizes[] = { 1, 1, 2, 5, 9, 9 };
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct sink out = { 0 };
		size_t at = 0;
		jfr_put(&out, values[i]);
		assert_int_equal(out.size, sizes[i]);
		assert_int_equal(number(out.data, &at), values[i]);
		assert_int_equal(at, sizes[i]);
		sink_clear(&out);
	}
}

/* A size that counts itself may be a byte longer for that. */
static void sizes_count_themselves(void **state)
{
	static const uint8_t zeros[20000];
	(void)state;
	for (size_t size = 0; size < sizeof(zeros); size += size < 200 || size > 16300 ? 1 : 97) {
		struct sink out = { 0 };
		size_t at = 0;
		jfr_put_event(&out, JFR_REMARK, (struct bytes){ zeros, size });
		assert_int_equal(number(out.data, &at), out.size);
		assert_int_equal(number(out.data, &at), JFR_REMARK);
		assert_int_equal(out.size - at, size);
		sink_clear(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chunk_holds_it),
		cmocka_unit_test(many_samples_are_several_chunks),
		cmocka_unit_test(methods_are_taken_apart),
		cmocka_unit_test(numbers_are_nine_bytes_at_most),
		cmocka_unit_test(sizes_count_themselves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
