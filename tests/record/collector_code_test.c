/* The code of maps in the recording. */
#include "record/collector.h"

#include "format/jitdump/reader.h"
#include "scene.h"

#include <sys/mman.h>

/* Memory of ours that a child has at the same place. */
static uint8_t *make_code(size_t size)
{
	uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	for (size_t i = 0; i < size; i++)
		code[i] = (uint8_t)(i * 7 + i / 256);
	return code;
}

static const char *code_line(struct scene *scene, const uint8_t *code, size_t size,
			     const char *name)
{
	return made(scene, "%llx %zx %s\n", (unsigned long long)(uintptr_t)code, size, name);
}

static void test_code_of_a_map(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	settle(scene);
	put_file(path, code_line(scene, code + 48, 100, "beta"), O_APPEND);
	put_file(path, "1000 10 nowhere\n", O_APPEND);
	settle(scene);
	finish(scene);
	struct bytes dump;
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_true(has_member(scene, member, &dump));
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.code_load.code_size, 48);
	assert_memory_equal(record.code_load.code.data, code, 48);
	const uint64_t first_end = strlen(code_line(scene, code, 48, "alpha"));
	assert_int_equal(record.code_load.code_index, first_end);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.code_load.code_size, 100);
	assert_memory_equal(record.code_load.code.data, code + 48, 100);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_CLOSE);
	assert_true(member_holds(scene, "about.json",
				 "\"code\": {\"lines\": 2, \"bytes\": 148, \"unreadable\": 1,"));
	assert_int_equal(collector_totals(scene->collector).code_lines, 2);
	munmap(code, 4096);
}

static void test_code_is_left_out_on_demand(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ .no_code = true });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(member, "process/%d/perf.map", scene->child);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, member, &bytes));
	assert_false(has_member(scene, code_member, &bytes));
	assert_false(member_holds(scene, "about.json", "\"code\""));
	munmap(code, 4096);
}

/* The dump has the code, and comes later than the first lines. */
static void test_no_code_beside_a_dump(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(dump_path, "%s/jit-1.dump", scene->place);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	settle(scene);
	put_dump(dump_path, (uint32_t)scene->child);
	tell_mapping(scene, dump_path);
	settle(scene);
	put_file(path, code_line(scene, code + 48, 48, "beta"), O_APPEND);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, code_member, &bytes));
	assert_int_equal(collector_totals(scene->collector).dump_count, 1);
	assert_true(member_holds(scene, "about.json", "\"code\": {\"lines\": 0, \"bytes\": 0,"));
	munmap(code, 4096);
}

/* One that nothing led to before the end. */
static void test_no_code_beside_a_dump_in_the_private_directory(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(dump_path, "%s/jit-1.dump", scene->dir.path);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	put_dump(dump_path, (uint32_t)scene->child);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, code_member, &bytes));
	munmap(code, 4096);
}

/* The map may be seen before the kernel tells of its process. */
static void test_code_of_a_process_that_is_told_of_late(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	settle(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_true(has_member(scene, code_member, &bytes));
	munmap(code, 4096);
}

/* What is in the map of a process that runs already has its code in memory, too. */
static void test_code_of_an_attached_process(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start_child(scene);
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "before"), O_EXCL);
	start(scene, (struct collector_options){ .attached = true });
	collector_process(scene->collector, scene->child, 0);
	settle(scene);
	put_file(path, code_line(scene, code + 48, 48, "after"), O_APPEND);
	settle(scene);
	finish(scene);
	assert_true(member_holds(scene, code_member, "before"));
	assert_true(member_holds(scene, code_member, "after"));
	assert_int_equal(unlink(path), 0);
	munmap(code, 4096);
}

static void test_limits_of_code_are_told(void **state)
{
	struct scene *scene = *state;
	enum { LARGE = 1 << 20, COUNT = 65 };
	/* Never touched: all zeros, and no memory. */
	uint8_t *code =
	    mmap(NULL, (size_t)COUNT * LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, LARGE + 1, "too long"), O_EXCL);
	settle(scene);
	for (size_t i = 0; i < COUNT; i++)
		put_file(path, code_line(scene, code + i * LARGE, LARGE, "large"), O_APPEND);
	settle(scene);
	finish(scene);
	struct bytes dump;
	assert_true(has_member(scene, code_member, &dump));
	assert_in_range(dump.size, (COUNT - 2) * LARGE, 64 * LARGE);
	assert_true(has_note(scene, "a line of its map may speak of 1 MB"));
	assert_true(has_note(scene, "the limit is 64 MB a map"));
	assert_true(member_holds(scene, "about.json", "\"limited\": 1}"));
	munmap(code, (size_t)COUNT * LARGE);
}

/* Lines that were overwritten are others than those that were read. */
static void test_no_code_of_a_map_written_over(void **state)
{
	struct scene *scene = *state;
	uint8_t *code = make_code(4096);
	start(scene, (struct collector_options){ 0 });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	PATH(path, "/tmp/perf-%d.map", scene->child);
	PATH(code_member, "process/%d/perf.map.code", scene->child);
	put_file(path, code_line(scene, code, 48, "alpha"), O_EXCL);
	settle(scene);
	put_file(path, code_line(scene, code + 48, 48, "omega"), 0);
	settle(scene);
	finish(scene);
	struct bytes bytes;
	assert_false(has_member(scene, code_member, &bytes));
	munmap(code, 4096);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	os_file_guard();
	const struct CMUnitTest tests[] = {
		TEST(test_code_of_a_map),
		TEST(test_code_is_left_out_on_demand),
		TEST(test_no_code_beside_a_dump),
		TEST(test_no_code_beside_a_dump_in_the_private_directory),
		TEST(test_code_of_a_process_that_is_told_of_late),
		TEST(test_code_of_an_attached_process),
		TEST(test_limits_of_code_are_told),
		TEST(test_no_code_of_a_map_written_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
