/* Every allocation fails once: calls say so, nothing breaks, nothing leaks. */
#include "format/perfdata/exercise.h"
#include "format/perfdata/wire.h"
#include "format/perfdata/writer.h"

#include "test.h"

#include <linux/perf_event.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);

/* Allocations to come until one fails; negative: none does. */
static long countdown = -1;

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *at, size_t size)
{
	return fails() ? NULL : __real_realloc(at, size);
}

static void test_reader(void **state)
{
	(void)state;
	static const char *const FILES[] = { "group.data", "two-events.data",
					     "two-events.zstd.pipe.data", "many-fields.data" };
	for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
		const struct bytes in = wire_load(FILES[i]);
		const struct perfdata_exercise whole = perfdata_exercise(in);
		bool failed = true;
		long allocations = 0;
		for (; failed; allocations++) {
			countdown = allocations;
			const struct perfdata_exercise result = perfdata_exercise(in);
			failed = countdown < 0;
			countdown = -1;
			assert_true(result.status == 0 || result.status == STATUS_NO_MEMORY);
			assert_true(result.record_count <= whole.record_count);
		}
		/* The last round had memory enough. */
		assert_true(allocations > 5);
		wire_free(in);
	}
}

static bool write_something(struct sink *out)
{
	const struct perf_event_attr attr = { .size = sizeof(attr) };
	const uint64_t id = 1;
	const struct perfdata_new_event event = { &attr, sizeof(attr), &id, 1, "event" };
	struct perfdata_new_feature feature = { .feature = PERFDATA_FEATURE_HOSTNAME };
	struct perfdata_compressor *compressor = NULL;
	struct perfdata_layout layout = perfdata_begin(out, &event, 1);
	struct sink records = { 0 };
	perfdata_put_comm(&records, 1, 1, "comm", NULL);
	bool ok = perfdata_compressor_open(&compressor, 1) == 0 &&
		  perfdata_compress(compressor, sink_bytes(&records), out) == 0;
	perfdata_put_text(&feature.content, "host");
	perfdata_features(out, &layout, out->size, &feature, 1);
	ok = ok && !sink_failed(&records) && !sink_failed(out);
	perfdata_compressor_close(compressor);
	sink_clear(&feature.content);
	sink_clear(&records);
	return ok;
}

static void test_writer(void **state)
{
	(void)state;
	bool failed = true;
	long allocations = 0;
	for (; failed; allocations++) {
		struct sink out = { 0 };
		countdown = allocations;
		const bool ok = write_something(&out);
		failed = countdown < 0;
		countdown = -1;
		assert_int_equal(ok, !failed);
		sink_clear(&out);
	}
	assert_true(allocations > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_writer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
