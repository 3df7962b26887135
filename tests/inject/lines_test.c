/* Lines of a dump in an image, read back by libdw. */
#include "inject/lines.h"

#include "format/jitdump/reader.h"
#include "image/read_back.h"
#include "load/recording.h"
#include "test.h"

#include <string.h>

enum { PID = 7, AVMA = 0x10000, SIZE = 0x100 };

struct world {
	struct image *image;
	struct lines lines;
};

static void begin(struct world *w)
{
	*w = (struct world){ 0 };
	assert_int_equal(image_new(&w->image, &(struct image_options){ .elf_machine = EM_X86_64 }),
			 0);
	w->lines = (struct lines){ .image = w->image, .last_source = UINT32_MAX };
}

/* The next function, with the lines of the dump's DEBUG_INFO. */
static void put(struct world *w, const char *name, struct bytes dump, enum runtime runtime)
{
	static const uint8_t code_bytes[SIZE];
	struct jitdump_reader reader;
	struct jitdump_record record;
	struct jitdump_debug_walk walk;
	const struct load_code code = { .name = { (const uint8_t *)name, strlen(name) },
					.start_avma = AVMA,
					.size = SIZE,
					.runtime = runtime };
	const struct image_function function = {
		.name = code.name, .start_avma = AVMA, .size = SIZE, .code = { code_bytes, SIZE }
	};
	assert_int_equal(image_function(w->image, &function), 0);
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(jitdump_reader_next(&reader, &record), 1);
	assert_int_equal(record.id, JITDUMP_DEBUG_INFO);
	jitdump_debug_walk_init(&walk, &record, (struct jitdump_debug_style){ 0 });
	assert_int_equal(lines_put(&w->lines, &walk, &code), 0);
}

static struct read_back finish(struct world *w)
{
	struct read_back r;
	lines_clear(&w->lines);
	assert_int_equal(image_finish(w->image), 0);
	read_back_open(&r, w->image);
	return r;
}

static void assert_line(const struct read_back *r, uint32_t function, uint64_t offset,
			const char *expected)
{
	assert_string_equal(read_back_line(r, image_file_off(r->image, function) + offset),
			    expected);
}

/* Line 0 is DWARF's word for no line, whatever the file. */
static void assert_no_line(const struct read_back *r, uint32_t function, uint64_t offset)
{
	assert_non_null(
	    strstr(read_back_line(r, image_file_off(r->image, function) + offset), ":0:"));
}

static struct sink dump_of(const struct dump_line *lines, size_t count)
{
	struct sink dump = { 0 };
	dump_begin(&dump, PID);
	dump_lines(&dump, AVMA, lines, count);
	dump_load(&dump, PID, 0, AVMA, SIZE, "code");
	return dump;
}

/* perf takes what follows a colon for the line. */
static void paths_have_no_colon(void **state)
{
	(void)state;
	static const struct dump_line lines[] = {
		{ AVMA, 1, 1, "file:///home/u/a.mjs" },
		{ AVMA + 8, 2, 1, "node:internal/fs" },
		{ AVMA + 24, 4, 1, "/plain.js" },
	};
	struct world w;
	struct sink dump = dump_of(lines, 3);
	begin(&w);
	put(&w, "f", sink_bytes(&dump), RUNTIME_V8);
	struct read_back r = finish(&w);
	assert_line(&r, 0, 0, "/home/u/a.mjs:1:1");
	assert_line(&r, 0, 8, "./node/internal/fs:2:1");
	assert_line(&r, 0, 24, "/plain.js:4:1");
	read_back_close(&r);
	sink_clear(&dump);
}

/* Only V8's discriminators are columns. */
static void columns(void **state)
{
	(void)state;
	static const struct dump_line lines[] = { { AVMA, 1, 9, "/a" } };
	struct world w;
	struct sink dump = dump_of(lines, 1);
	begin(&w);
	put(&w, "f", sink_bytes(&dump), RUNTIME_V8);
	put(&w, "g", sink_bytes(&dump), RUNTIME_JVM);
	struct read_back r = finish(&w);
	assert_line(&r, 0, 0, "/a:1:9");
	assert_line(&r, 1, 0, "/a:1:0");
	read_back_close(&r);
	sink_clear(&dump);
}

/* Erlang tells lines of what lies before the code; others end with an entry behind it. */
static void entries_outside_of_the_code(void **state)
{
	(void)state;
	static const struct dump_line lines[] = {
		{ AVMA - 48, 187, 0, "a.erl" }, { AVMA + 69, 191, 0, "a.erl" },
		{ AVMA + SIZE, 0, 0, "" },      { AVMA + SIZE + 1, 5, 0, "b.erl" },
		{ UINT64_MAX, 6, 0, "b.erl" },
	};
	struct world w;
	struct sink dump = dump_of(lines, 5);
	begin(&w);
	put(&w, "f", sink_bytes(&dump), RUNTIME_UNKNOWN);
	struct read_back r = finish(&w);
	assert_line(&r, 0, 0, "./a.erl:187:0");
	assert_line(&r, 0, 68, "./a.erl:187:0");
	assert_line(&r, 0, 69, "./a.erl:191:0");
	assert_line(&r, 0, SIZE - 1, "./a.erl:191:0");
	read_back_close(&r);
	sink_clear(&dump);
}

/* No line is better than one of a file without a name. */
static void files_without_a_name(void **state)
{
	(void)state;
	static const struct dump_line lines[] = {
		{ AVMA, 1, 0, "" },
		{ AVMA + 8, 2, 0, "/a" },
		{ AVMA + 16, 3, 0, "" },
	};
	struct world w;
	struct sink dump = dump_of(lines, 3);
	begin(&w);
	put(&w, "f", sink_bytes(&dump), RUNTIME_UNKNOWN);
	struct read_back r = finish(&w);
	assert_line(&r, 0, 8, "/a:2:0");
	assert_no_line(&r, 0, 0);
	assert_no_line(&r, 0, 16);
	read_back_close(&r);
	sink_clear(&dump);
}

/* 16 bytes of V8's names are something else; the function's own name has them. */
static struct sink damaged_dump(void)
{
	static const uint8_t damage[16] = { 2, 0x62, 0x99, 0x14, 0, 0, 0, 0, 0xed, 0xaa, 0x2b };
	static const char path[] = "/home/u/work/work.js";
	static const struct dump_line lines[] = { { AVMA, 1, 3, path }, { AVMA + 8, 2, 3, path } };
	struct sink dump = dump_of(lines, 2);
	for (size_t i = 0; i < 2; i++)
		memcpy(dump.data + 40 + 32 + i * (16 + sizeof(path)) + 16, damage, sizeof(damage));
	return dump;
}

static void damaged_names(void **state)
{
	(void)state;
	struct world w;
	struct sink dump = damaged_dump();
	begin(&w);
	put(&w, "JS:*alpha /home/u/work/work.js:2:32", sink_bytes(&dump), RUNTIME_V8);
	put(&w, "JS:*beta /home/v/more/work.js:2:32", sink_bytes(&dump), RUNTIME_V8);
	put(&w, "nothing that helps", sink_bytes(&dump), RUNTIME_V8);
	put(&w, "JS:*alpha /home/u/work/work.js:2:32", sink_bytes(&dump), RUNTIME_V8);
	struct read_back r = finish(&w);
	assert_line(&r, 0, 0, "/home/u/work/work.js:1:3");
	assert_line(&r, 0, 8, "/home/u/work/work.js:2:3");
	assert_line(&r, 1, 8, "/home/v/more/work.js:2:3");
	assert_no_line(&r, 2, 8);
	assert_line(&r, 3, 8, "/home/u/work/work.js:2:3");
	read_back_close(&r);
	sink_clear(&dump);
}

/* Equal paths are one source, whatever they looked like. */
static void sources_are_shared(void **state)
{
	(void)state;
	static const uint8_t url[] = "file:///a.js";
	static const uint8_t path[] = "/a.js";
	struct world w;
	begin(&w);
	const uint32_t one = lines_source(&w.lines, (struct bytes){ url, sizeof(url) - 1 });
	const uint32_t two = lines_source(&w.lines, (struct bytes){ path, sizeof(path) - 1 });
	assert_int_equal(one, two);
	assert_int_not_equal(one, UINT32_MAX);
	lines_clear(&w.lines);
	image_free(w.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_have_no_colon),
		cmocka_unit_test(columns),
		cmocka_unit_test(entries_outside_of_the_code),
		cmocka_unit_test(files_without_a_name),
		cmocka_unit_test(damaged_names),
		cmocka_unit_test(sources_are_shared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
