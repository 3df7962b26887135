/* Source files in the recording: those that dumps name, and no others. */
#include "record/collector.h"

#include "clr/metadata.h"
#include "clr/pdb.h"
#include "format/jitdump/layout.h"
#include "load/clr_stream.h"
#include "scene.h"

#include <pwd.h>
#include <sys/stat.h>

#define MEGABYTES(n) ((off_t)(n) << 20)

static void begin_dump(struct sink *dump, const struct scene *scene)
{
	sink_u32(dump, JITDUMP_MAGIC);
	sink_u32(dump, JITDUMP_VERSION);
	sink_u32(dump, JITDUMP_HEADER_SIZE);
	sink_u32(dump, 62);
	sink_u32(dump, 0);
	sink_u32(dump, (uint32_t)scene->child);
	sink_u64(dump, 1);
	sink_u64(dump, 0);
}

/* A DEBUG_INFO of one entry, and the LOAD of its code. */
static void put_code(struct sink *dump, const char *file)
{
	sink_u32(dump, JITDUMP_DEBUG_INFO);
	sink_u32(dump, (uint32_t)(32 + 16 + strlen(file) + 1));
	sink_u64(dump, 1000);
	sink_u64(dump, 0x10000);
	sink_u64(dump, 1);
	sink_u64(dump, 0x10000);
	sink_u32(dump, 7);
	sink_u32(dump, 0);
	sink_cstr(dump, file);
	sink_u32(dump, JITDUMP_CODE_LOAD);
	sink_u32(dump, 16 + 40 + 2 + 16);
	sink_u64(dump, 1000);
	sink_u64(dump, 0);
	sink_u64(dump, 0x10000);
	sink_u64(dump, 0x10000);
	sink_u64(dump, 16);
	sink_u64(dump, 1);
	sink_cstr(dump, "f");
	sink_zeros(dump, 16);
}

static void put_method(struct sink *dump, const char *file)
{
	const uint32_t strings = (uint32_t)strlen(file) + 3;
	sink_u32(dump, JITDUMP_METHOD);
	sink_u32(dump, JITDUMP_METHOD_SIZE + strings);
	sink_u64(dump, 1000);
	sink_zeros(dump, 32);
	sink_u32(dump, 0);
	sink_u32(dump, strings);
	sink_u32(dump, 0);
	sink_u32(dump, 0);
	sink_u32(dump, 2);
	sink_u32(dump, 0);
	sink_cstr(dump, "m");
	sink_cstr(dump, file);
}

static void put_scope(struct sink *dump, const char *file)
{
	const uint32_t strings = (uint32_t)strlen(file) + 1;
	sink_u32(dump, JITDUMP_INLINES);
	sink_u32(dump, JITDUMP_INLINES_SIZE + JITDUMP_INLINE_ENTRY_SIZE + strings);
	sink_u64(dump, 1000);
	sink_u64(dump, 0x10000);
	sink_u32(dump, 1);
	sink_u32(dump, strings);
	sink_zeros(dump, 20);
	sink_u32(dump, UINT32_MAX);
	sink_u32(dump, UINT32_MAX);
	sink_u32(dump, 0);
	sink_cstr(dump, file);
}

static void begin(struct scene *scene, struct sink *dump, bool sources)
{
	start(scene, (struct collector_options){ .sources = sources });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	begin_dump(dump, scene);
}

static void end(struct scene *scene, struct sink *dump)
{
	PATH(path, "%s/jit-1.dump", scene->place);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, dump->data, dump->size), dump->size);
	close(fd);
	sink_clear(dump);
	tell_mapping(scene, path);
	settle(scene);
	finish(scene);
}

/* Lies in the scene's folder, under the name of its member. */
static const char *source(struct scene *scene, const char *name, const char *text)
{
	PATH(path, "%s/%s", scene->place, name);
	put_file(path, text, 0);
	return path;
}

static void expect_source(struct scene *scene, const char *path, const char *text)
{
	expect_text(scene, made(scene, "sources/root%s", path), text);
}

static void expect_none(struct scene *scene, const char *path)
{
	struct bytes bytes;
	assert_false(has_member(scene, made(scene, "sources/root%s", path), &bytes));
}

static void test_every_kind_of_record(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	begin(scene, &dump, true);
	const char *line = source(scene, "line.js", "line\n");
	const char *module = source(scene, "module one.mjs", "module\n");
	const char *method = source(scene, "Method.java", "method\n");
	const char *scope = source(scene, "scope.js", "scope\n");
	const char *other = source(scene, "other.js", "other\n");
	put_code(&dump, line);
	put_code(&dump, line);
	put_code(&dump, made(scene, "file://%s/module%%20one.mjs", scene->place));
	put_method(&dump, method);
	put_scope(&dump, scope);
	put_code(&dump, "node:internal/fs");
	put_code(&dump, made(scene, "%s/gone.js", scene->place));
	end(scene, &dump);
	expect_source(scene, line, "line\n");
	expect_source(scene, method, "method\n");
	expect_source(scene, scope, "scope\n");
	expect_none(scene, module);
	expect_source(scene, made(scene, "%s/module%%2520one.mjs", scene->place), "module\n");
	expect_none(scene, other);
	assert_int_equal(collector_totals(scene->collector).source_count, 4);
	assert_true(member_holds(scene, "about.json",
				 "\"sources\": {\"files\": 4, \"bytes\": 25, \"left_out\": 0}"));
}

static void test_only_on_demand(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	begin(scene, &dump, false);
	const char *line = source(scene, "line.js", "line\n");
	put_code(&dump, line);
	end(scene, &dump);
	expect_none(scene, line);
	assert_false(member_holds(scene, "about.json", "\"sources\""));
}

static void test_what_is_relative(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	char before[4096];
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(scene->place), 0);
	begin(scene, &dump, true);
	assert_int_equal(chdir(before), 0);
	source(scene, "line.py", "line\n");
	put_code(&dump, "./line.py");
	put_code(&dump, "../line.py");
	end(scene, &dump);
	expect_text(scene, "sources/relative/line.py", "line\n");
	assert_int_equal(collector_totals(scene->collector).source_count, 1);
}

/* As compilers name files by package. */
static void test_what_is_relative_to_a_root_of_sources(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	char before[4096];
	static const char *const folders[] = { "src", "src/com", "src/com/acme", "other",
					       "other/acme" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(made(scene, "%s/%s", scene->place, folders[i]), 0755), 0);
	source(scene, "src/com/acme/Foo.java", "foo\n");
	source(scene, "other/acme/Foo.java", "other\n");
	source(scene, "src/Bar.java", "bar\n");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(scene->place), 0);
	begin(scene, &dump, true);
	assert_int_equal(chdir(before), 0);
	static const char *const names[] = { "com/acme/Foo.java", "Bar.java", "acme/Foo.java",
					     "java/lang/Bar.java", "./Bar.java" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_code(&dump, names[i]);
	end(scene, &dump);
	expect_text(scene, "sources/relative/com/acme/Foo.java", "foo\n");
	expect_text(scene, "sources/relative/Bar.java", "bar\n");
	assert_int_equal(collector_totals(scene->collector).source_count, 2);
}

static void test_what_is_no_source_is_left_out(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	begin(scene, &dump, true);
	const char *empty = source(scene, "empty.js", "");
	const char *binary = source(scene, "binary.js", "x");
	assert_int_equal(truncate(binary, 100), 0);
	const char *large = source(scene, "large.js", "x");
	assert_int_equal(truncate(large, MEGABYTES(4) + 1), 0);
	PATH(fifo, "%s/fifo.js", scene->place);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	const char *const all[] = { empty,      binary,       large,
				    fifo,       scene->place, "/proc/self/environ",
				    "/dev/zero" };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		put_code(&dump, all[i]);
	end(scene, &dump);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		expect_none(scene, all[i]);
	assert_int_equal(collector_totals(scene->collector).source_count, 0);
	assert_int_equal(collector_totals(scene->collector).source_left_out_count, 0);
}

/* 17 of nearly 4 MB: one more than there is room for. */
static void test_there_is_a_limit(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	enum { COUNT = 17 };
	char *text = malloc(MEGABYTES(4));
	assert_non_null(text);
	memset(text, 'a', MEGABYTES(4) - 1);
	text[MEGABYTES(4) - 1] = '\0';
	begin(scene, &dump, true);
	const char *paths[COUNT];
	for (int i = 0; i < COUNT; i++) {
		paths[i] = source(scene, made(scene, "%d.js", i), text);
		put_code(&dump, paths[i]);
	}
	free(text);
	const char *small = source(scene, "small.js", "b\n");
	put_code(&dump, small);
	end(scene, &dump);
	const struct collector_totals totals = collector_totals(scene->collector);
	assert_int_equal(totals.source_count, COUNT);
	assert_int_equal(totals.source_left_out_count, 1);
	expect_none(scene, paths[COUNT - 1]);
	expect_source(scene, small, "b\n");
	assert_true(has_note(scene, "1 source files are not in the recording"));
}

/* A user's program must not make root's recorder copy what that user may not read. */
static void test_root_reads_as_the_programs_user(void **state)
{
	struct scene *scene = *state;
	struct sink dump = { 0 };
	const struct passwd *nobody = getpwnam("nobody");
	if (geteuid() != 0 || !nobody)
		skip_because("only root can run programs of others");
	assert_int_equal(chmod(scene->place, 0755), 0);
	start(scene, (struct collector_options){ .sources = true });
	char byte = 0;
	int ends[2];
	int ready[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	scene->child = fork();
	if (scene->child == 0) {
		close(ends[1]);
		if (setgid(nobody->pw_gid) == 0 && setuid(nobody->pw_uid) == 0 &&
		    write(ready[1], &byte, 1) == 1)
			(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	close(ready[1]);
	scene->child_fd = ends[1];
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	begin_dump(&dump, scene);
	const char *secret = source(scene, "secret", "secret\n");
	assert_int_equal(chmod(secret, 0600), 0);
	const char *of_group = source(scene, "of_group", "of group\n");
	assert_int_equal(chmod(of_group, 0640), 0);
	const char *open_to_all = source(scene, "open.js", "open\n");
	const char *own = source(scene, "own.js", "own\n");
	assert_int_equal(chown(own, nobody->pw_uid, nobody->pw_gid), 0);
	assert_int_equal(chmod(own, 0600), 0);
	PATH(folder, "%s/closed", scene->place);
	assert_int_equal(mkdir(folder, 0700), 0);
	const char *closed = source(scene, "closed/a.js", "closed\n");
	const char *const all[] = { secret, of_group, open_to_all, own, closed, "/etc/shadow" };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		put_code(&dump, all[i]);
	end(scene, &dump);
	expect_source(scene, open_to_all, "open\n");
	expect_source(scene, own, "own\n");
	expect_none(scene, secret);
	expect_none(scene, of_group);
	expect_none(scene, closed);
	expect_none(scene, "/etc/shadow");
}

#define PDBS TEST_DATA "/../../fuzz/corpus/clr_pdb/"

enum { TWICE = 0x06000001, SEVERAL = 0x06000003, MODULE = 7, TYPE = 8 };

static void read_guid(const char *path, uint8_t guid[16])
{
	struct os_file file;
	struct clr_pdb *pdb;
	uint8_t id[20];
	assert_int_equal(os_file_open(&file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(clr_pdb_open(&pdb, file.bytes), 0);
	clr_pdb_id(pdb, id);
	memcpy(guid, id, 16);
	clr_pdb_free(pdb);
	os_file_close(&file);
}

/* The events of a process that ran the given method, and inlined another. */
static void put_events(struct scene *scene, struct clr_stream_module module, uint32_t token,
		       uint32_t inlined)
{
	struct sink stream = { 0 };
	clr_stream_begin(&stream, (uint32_t)scene->child);
	clr_stream_module(&stream, &module);
	clr_stream_method(&stream, &(struct clr_stream_method){ .method_id = 1,
								.module_id = MODULE,
								.start_avma = 0x10000,
								.size = 0x100,
								.token = token,
								.owner = "Demo",
								.name = "Method",
								.signature = "int32  (int32)" });
	if (inlined) {
		clr_stream_details(&stream, 2, TYPE, inlined);
		clr_stream_type(&stream, TYPE, MODULE);
	}
	clr_stream_end(&stream);
	PATH(path, "%s/clr-%d.nettrace", scene->dir.path, (int)scene->child);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, stream.data, stream.size), stream.size);
	close(fd);
	sink_clear(&stream);
}

static struct bytes read_data(struct scene *scene, const char *name, struct os_file *file)
{
	assert_int_equal(os_file_open(file, made(scene, TEST_DATA "/clr/%s", name), OS_FILE_PLAIN),
			 0);
	return file->bytes;
}

static void expect_data(struct scene *scene, const char *name)
{
	struct os_file file;
	struct bytes got;
	const struct bytes wanted = read_data(scene, name, &file);
	assert_true(has_member(scene, made(scene, "sources/root/src/%s", name), &got));
	assert_int_equal(got.size, wanted.size);
	assert_memory_equal(got.data, wanted.data, wanted.size);
	os_file_close(&file);
}

/* Of a .NET process: what its symbols hold of the methods that ran. */
static void run_clr(struct scene *scene, struct clr_stream_module module, uint32_t token,
		    uint32_t inlined)
{
	start(scene, (struct collector_options){ .sources = true });
	start_child(scene);
	collector_process(scene->collector, scene->child, os_clock_mono_ns());
	module.module_id = MODULE;
	put_events(scene, module, token, inlined);
	settle(scene);
	finish(scene);
}

static void test_sources_in_symbols(void **state)
{
	struct scene *scene = *state;
	uint8_t guid[16];
	read_guid(PDBS "sources.pdb", guid);
	const struct clr_stream_module module = { .path = "/nowhere/demo.dll",
						  .pdb_path = PDBS "sources.pdb",
						  .pdb_guid = guid };
	run_clr(scene, module, SEVERAL, 0);
	expect_data(scene, "Demo.cs");
	expect_data(scene, "other.cs");
	expect_data(scene, "third.cs");
	assert_int_equal(collector_totals(scene->collector).source_count, 3);
}

static void test_sources_of_methods_that_ran(void **state)
{
	struct scene *scene = *state;
	uint8_t guid[16];
	read_guid(PDBS "sources.pdb", guid);
	const struct clr_stream_module module = { .path = "/nowhere/demo.dll",
						  .pdb_path = PDBS "sources.pdb",
						  .pdb_guid = guid };
	run_clr(scene, module, TWICE, 0);
	expect_data(scene, "Demo.cs");
	expect_none(scene, "/src/other.cs");
	assert_int_equal(collector_totals(scene->collector).source_count, 1);
}

static void test_sources_of_inlined_methods(void **state)
{
	struct scene *scene = *state;
	uint8_t guid[16];
	read_guid(PDBS "sources.pdb", guid);
	const struct clr_stream_module module = { .path = "/nowhere/demo.dll",
						  .pdb_path = PDBS "sources.pdb",
						  .pdb_guid = guid };
	run_clr(scene, module, TWICE, SEVERAL);
	assert_int_equal(collector_totals(scene->collector).source_count, 3);
}

/* A PDB whose first document is "srcDemo.cs": without the separator it is "/src/Demo.cs". */
static void put_relative_pdb(const char *path, uint8_t guid[16])
{
	struct os_file file;
	struct clr_metadata md;
	assert_int_equal(os_file_open(&file, PDBS "portable.pdb", OS_FILE_PLAIN), 0);
	struct sink pdb = { 0 };
	sink_put(&pdb, file.bytes.data, file.bytes.size);
	os_file_close(&file);
	assert_int_equal(clr_metadata_open(&md, sink_bytes(&pdb)), 0);
	const uint32_t name = clr_get(&md, CLR_DOCUMENT, 1, CLR_DOCUMENT_NAME);
	pdb.data[clr_blob(&md, name).data - pdb.data] = 0;
	memcpy(guid, md.pdb.data, 16);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, pdb.data, pdb.size), pdb.size);
	close(fd);
	sink_clear(&pdb);
}

/* Symbols beside the assembly; and texts that are files. */
static void test_sources_that_symbols_name(void **state)
{
	struct scene *scene = *state;
	uint8_t guid[16];
	char before[4096];
	source(scene, "srcDemo.cs", "of the program\n");
	put_relative_pdb(made(scene, "%s/demo.pdb", scene->place), guid);
	const struct clr_stream_module module = { .path = made(scene, "%s/demo.dll", scene->place),
						  .pdb_path = "C:\\build\\demo.pdb",
						  .pdb_guid = guid };
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(scene->place), 0);
	run_clr(scene, module, TWICE, 0);
	assert_int_equal(chdir(before), 0);
	expect_text(scene, "sources/relative/srcDemo.cs", "of the program\n");
	assert_int_equal(collector_totals(scene->collector).source_count, 1);
}

static void test_symbols_of_another_build(void **state)
{
	struct scene *scene = *state;
	static const uint8_t other[16] = { 1 };
	const struct clr_stream_module module = { .path = "/nowhere/demo.dll",
						  .pdb_path = PDBS "sources.pdb",
						  .pdb_guid = other };
	run_clr(scene, module, SEVERAL, 0);
	assert_int_equal(collector_totals(scene->collector).source_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_kind_of_record),
		TEST(test_only_on_demand),
		TEST(test_what_is_relative),
		TEST(test_what_is_relative_to_a_root_of_sources),
		TEST(test_what_is_no_source_is_left_out),
		TEST(test_there_is_a_limit),
		TEST(test_root_reads_as_the_programs_user),
		TEST(test_sources_in_symbols),
		TEST(test_sources_of_methods_that_ran),
		TEST(test_sources_of_inlined_methods),
		TEST(test_sources_that_symbols_name),
		TEST(test_symbols_of_another_build),
	};
	os_file_guard();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
