#include "bundle/bundle.h"
#include "bundle/source.h"

#include "base/hash.h"
#include "base/sink.h"
#include "base/status.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRONT "PERFILE2 and what perf reads"

static struct bytes text(const char *content)
{
	return (struct bytes){ (const uint8_t *)content, strlen(content) };
}

static int temporary(char *path)
{
	static const char template[] = "/tmp/bundle_test-XXXXXX";
	memcpy(path, template, sizeof(template));
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, FRONT, strlen(FRONT)), strlen(FRONT));
	return fd;
}

/* An exact-size copy, so that ASan sees a read behind its end. */
static struct bytes whole_file(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	uint8_t *data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(pread(fd, data, (size_t)st.st_size, 0), st.st_size);
	return (struct bytes){ data, (size_t)st.st_size };
}

static void add_members(int fd, bool compress)
{
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, compress), 0);
	assert_int_equal(bundle_writer_add(writer, "about.json", text("{\"version\":1}")), 0);
	assert_int_equal(bundle_writer_add(writer, "process/42/perf.map",
					   text("1000 10 alpha\n1010 10 alpha\n1020 10 alpha\n")),
			 0);
	assert_int_equal(bundle_writer_add(writer, "empty", (struct bytes){ 0 }), 0);
	assert_int_equal(bundle_writer_add_fd(writer, "front", fd, 7), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
}

static struct bytes made(bool compress)
{
	char path[64];
	const int fd = temporary(path);
	add_members(fd, compress);
	const struct bytes recording = whole_file(fd);
	close(fd);
	unlink(path);
	return recording;
}

static void expect_member(struct bundle *bundle, const char *name, const char *content)
{
	struct bytes bytes;
	assert_int_equal(bundle_read(bundle, name, &bytes), 0);
	assert_int_equal(bytes.size, strlen(content));
	assert_memory_equal(bytes.data, content, bytes.size);
}

static void expect_all_members(struct bytes recording)
{
	struct bundle *bundle;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	assert_int_equal(bundle_count(bundle), 4);
	assert_string_equal(bundle_member(bundle, 0).name, "about.json");
	assert_string_equal(bundle_member(bundle, 3).name, "process/42/perf.map");
	assert_int_equal(bundle_member(bundle, 3).size, 42);
	expect_member(bundle, "about.json", "{\"version\":1}");
	expect_member(bundle, "process/42/perf.map",
		      "1000 10 alpha\n1010 10 alpha\n1020 10 alpha\n");
	expect_member(bundle, "front", "PERFILE");
	expect_member(bundle, "empty", "");
	struct bytes bytes;
	assert_int_equal(bundle_read(bundle, "process/43/perf.map", &bytes), STATUS_NOT_FOUND);
	assert_int_equal(bundle_read(bundle, "", &bytes), STATUS_NOT_FOUND);
	bundle_close(bundle);
}

static void test_members_come_back(void **state)
{
	(void)state;
	for (int compress = 0; compress < 2; compress++) {
		const struct bytes recording = made(compress != 0);
		assert_memory_equal(recording.data, FRONT, strlen(FRONT));
		expect_all_members(recording);
		free((void *)recording.data);
	}
}

static void test_stored_members_are_borrowed(void **state)
{
	(void)state;
	const struct bytes recording = made(false);
	struct bundle *bundle;
	struct bytes bytes;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	assert_int_equal(bundle_read(bundle, "about.json", &bytes), 0);
	assert_in_range((uintptr_t)bytes.data, (uintptr_t)recording.data,
			(uintptr_t)recording.data + recording.size);
	bundle_close(bundle);
	free((void *)recording.data);
}

static void test_a_zip_whose_offsets_count_from_itself(void **state)
{
	(void)state;
	const struct bytes recording = made(true);
	struct sink moved = { 0 };
	sink_text(&moved, "something in front");
	sink_put(&moved, recording.data, recording.size);
	expect_all_members(sink_bytes(&moved));
	sink_clear(&moved);
	free((void *)recording.data);
}

static void test_no_zip_is_said(void **state)
{
	(void)state;
	struct bundle *bundle;
	assert_int_equal(bundle_open(&bundle, text(FRONT)), STATUS_NOT_FORMAT);
	assert_int_equal(bundle_open(&bundle, (struct bytes){ 0 }), STATUS_NOT_FORMAT);
}

static void test_empty_zip(void **state)
{
	(void)state;
	char path[64];
	const int fd = temporary(path);
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, true), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
	const struct bytes recording = whole_file(fd);
	struct bundle *bundle;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	assert_int_equal(bundle_count(bundle), 0);
	bundle_close(bundle);
	free((void *)recording.data);
	close(fd);
	unlink(path);
}

static volatile uint64_t read_sum;

/* Reads all that can be read; whatever the bytes are, nothing else may happen. */
static void read_all(struct bytes recording)
{
	struct bundle *bundle;
	if (bundle_open(&bundle, recording) < 0)
		return;
	for (size_t i = 0; i < bundle_count(bundle); i++) {
		struct bytes bytes;
		if (bundle_read(bundle, bundle_member(bundle, i).name, &bytes) == 0)
			read_sum += hash_bytes(bytes.data, bytes.size, 0);
	}
	bundle_close(bundle);
}

static void test_every_truncation(void **state)
{
	(void)state;
	for (int compress = 0; compress < 2; compress++) {
		const struct bytes recording = made(compress != 0);
		for (size_t size = 0; size < recording.size; size++) {
			uint8_t *copy = malloc(size ? size : 1);
			memcpy(copy, recording.data, size);
			read_all((struct bytes){ copy, size });
			free(copy);
		}
		free((void *)recording.data);
	}
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	for (int compress = 0; compress < 2; compress++) {
		const struct bytes recording = made(compress != 0);
		uint8_t *copy = malloc(recording.size);
		memcpy(copy, recording.data, recording.size);
		for (size_t at = 0; at < recording.size; at++) {
			for (size_t i = 0; i < sizeof(changes); i++) {
				copy[at] ^= changes[i];
				read_all((struct bytes){ copy, recording.size });
				copy[at] ^= changes[i];
			}
		}
		free(copy);
		free((void *)recording.data);
	}
}

static void test_changed_content_is_told(void **state)
{
	(void)state;
	const struct bytes recording = made(false);
	uint8_t *at = memmem(recording.data, recording.size, "{\"version\"", 10);
	assert_non_null(at);
	*at = '[';
	struct bundle *bundle;
	struct bytes bytes;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	assert_int_equal(bundle_read(bundle, "about.json", &bytes), STATUS_CORRUPT);
	expect_member(bundle, "front", "PERFILE");
	bundle_close(bundle);
	free((void *)recording.data);
}

static void test_a_bomb_is_refused(void **state)
{
	(void)state;
	char path[64];
	const int fd = temporary(path);
	const size_t size = (size_t)80 << 20;
	uint8_t *zeros = calloc(1, size);
	assert_non_null(zeros);
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, true), 0);
	assert_int_equal(bundle_writer_add(writer, "bomb", (struct bytes){ zeros, size }), 0);
	assert_int_equal(bundle_writer_add(writer, "zeros", (struct bytes){ zeros, 1 << 20 }), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
	free(zeros);
	const struct bytes recording = whole_file(fd);
	struct bundle *bundle;
	struct bytes bytes;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	assert_int_equal(bundle_read(bundle, "bomb", &bytes), STATUS_TOO_BIG);
	assert_int_equal(bundle_read(bundle, "zeros", &bytes), 0);
	assert_int_equal(bytes.size, 1 << 20);
	bundle_close(bundle);
	free((void *)recording.data);
	close(fd);
	unlink(path);
}

/* A sparse file: the zip lies behind 5 GiB of perf.data that take no room. */
static void test_offsets_beyond_4_gib(void **state)
{
	(void)state;
	char path[64];
	const int fd = temporary(path);
	const uint64_t front = (uint64_t)5 << 30;
	if (ftruncate(fd, (off_t)front) != 0) {
		close(fd);
		unlink(path);
		skip_because("no sparse files of this size here");
	}
	add_members(fd, true);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(data != MAP_FAILED);
	expect_all_members((struct bytes){ data, (size_t)st.st_size });
	munmap(data, (size_t)st.st_size);
	close(fd);
	unlink(path);
}

static void test_the_rest_of_a_file(void **state)
{
	(void)state;
	char path[64];
	const int fd = temporary(path);
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, false), 0);
	assert_int_equal(bundle_writer_add_rest(writer, "some", fd, 4, 6), 0);
	assert_int_equal(bundle_writer_add_rest(writer, "behind the end", fd, 1 << 20, 6), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
	const struct bytes recording = whole_file(fd);
	struct bundle *bundle;
	assert_int_equal(bundle_open(&bundle, recording), 0);
	expect_member(bundle, "some", "ILE2 a");
	expect_member(bundle, "behind the end", "");
	bundle_close(bundle);
	free((void *)recording.data);
	close(fd);
	unlink(path);
}

static void test_a_full_disk_leaves_the_front(void **state)
{
	(void)state;
	char path[64];
	const int writable = temporary(path);
	/* Open for reading only: every write fails, as on a full disk. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, false), 0);
	(void)bundle_writer_add(writer, "about.json", text("{}"));
	assert_int_equal(bundle_writer_close(writer), STATUS_IO);
	struct stat st;
	assert_int_equal(fstat(writable, &st), 0);
	assert_int_equal(st.st_size, strlen(FRONT));
	close(fd);
	close(writable);
	unlink(path);
}

static void test_bad_names_are_refused(void **state)
{
	(void)state;
	char path[64];
	const int fd = temporary(path);
	struct bundle_writer *writer;
	assert_int_equal(bundle_writer_open(&writer, fd, false), 0);
	assert_int_equal(bundle_writer_add(writer, "", text("x")), STATUS_TOO_BIG);
	assert_int_equal(bundle_writer_close(writer), STATUS_TOO_BIG);
	close(fd);
	unlink(path);
}

static bool unzip_accepts(const char *path)
{
	struct sink command = { 0 };
	sink_printf(&command, "unzip -tqq %s >/dev/null 2>&1 && unzip -l %s | grep -q '4 files'",
		    path, path);
	sink_u8(&command, 0);
	const int got = system((const char *)command.data); // NOLINT
	sink_clear(&command);
	return got == 0;
}

static void test_unzip_accepts_it(void **state)
{
	(void)state;
	if (system("command -v unzip >/dev/null 2>&1") != 0) // NOLINT
		skip_because("no unzip");
	for (int compress = 0; compress < 2; compress++) {
		char path[64];
		const int fd = temporary(path);
		add_members(fd, compress != 0);
		close(fd);
		const bool accepted = unzip_accepts(path);
		unlink(path);
		assert_true(accepted);
	}
}

static void assert_source(const char *path, const char *expected)
{
	struct sink name = { 0 };
	const struct bytes text = { (const uint8_t *)path, strlen(path) };
	const bool has_name = source_member_name(text, &name);
	assert_int_equal(has_name, expected != NULL);
	if (expected) {
		assert_int_equal(name.size, strlen(expected));
		assert_memory_equal(name.data, expected, name.size);
	}
	sink_clear(&name);
}

static void test_names_of_sources(void **state)
{
	(void)state;
	assert_source("/home/me/a.js", "sources/root/home/me/a.js");
	assert_source("//home/./me/x/../a.js", "sources/root/home/me/a.js");
	assert_source("src/a.py", "sources/relative/src/a.py");
	assert_source("./a b\xc3\xa9%.py", "sources/relative/a%20b%c3%a9%25.py");
	assert_source("/a/..b/...", "sources/root/a/..b/...");
	assert_source("c:/a.php", "sources/relative/c%3a/a.php");
	static const char *const no_files[] = { "",
						"/",
						"../a.py",
						"/a/../../b.py",
						"node:internal/fs",
						"https://host/a.mjs",
						"<string>",
						"[eval]",
						"/a/",
						"." };
	for (size_t i = 0; i < sizeof(no_files) / sizeof(no_files[0]); i++)
		assert_source(no_files[i], NULL);
	static const uint8_t nul[] = "/a\0b";
	struct sink name = { 0 };
	assert_false(source_member_name((struct bytes){ nul, sizeof(nul) - 1 }, &name));
	char *long_path = calloc(1, 5001);
	memset(long_path, '/', 5000);
	long_path[4999] = 'a';
	assert_source(long_path, NULL);
	assert_source(long_path + 2000, "sources/root/a");
	/* What the zip could not hold. */
	memset(long_path + 1, 'a', 4000);
	assert_source(long_path, NULL);
	free(long_path);
	sink_clear(&name);
}

static void test_urls_of_sources(void **state)
{
	(void)state;
	static const struct {
		const char *url, *path;
	} urls[] = { { "/a%20b%2", "/a b%2" }, { "/%41%00%4", "/A%00%4" }, { "%zz%", "%zz%" } };
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		char text[32];
		(void)snprintf(text, sizeof(text), "%s", urls[i].url);
		assert_int_equal(source_decode(text), strcmp(urls[i].url, urls[i].path) != 0);
		assert_string_equal(text, urls[i].path);
	}
	const struct bytes url = { (const uint8_t *)"file:///a", 9 };
	assert_int_equal(source_path(url).size, 2);
	assert_memory_equal(source_path(url).data, "/a", 2);
	assert_int_equal(source_path((struct bytes){ url.data, 7 }).size, 7);
}

/* A bundle of what lies elsewhere reads like one in a recording. */
static void test_a_list_of_what_lies_elsewhere(void **state)
{
	(void)state;
	struct bundle_writer *writer;
	struct bundle *bundle;
	struct bytes bytes;
	char path[64];
	const int fd = temporary(path);
	assert_int_equal(bundle_writer_open_list(&writer), 0);
	assert_int_equal(bundle_writer_add(writer, "z", text("last")), 0);
	assert_int_equal(bundle_writer_add_fd(writer, "front", fd, 8), 0);
	assert_int_equal(bundle_writer_add_rest(writer, "rest", fd, 9, UINT64_MAX), 0);
	assert_int_equal(bundle_writer_add_rest(writer, "none", fd, 1 << 20, UINT64_MAX), 0);
	assert_int_equal(bundle_writer_add(writer, "empty", (struct bytes){ 0 }), 0);
	assert_int_equal(bundle_writer_close_list(writer, &bundle), 0);
	close(fd);
	unlink(path);
	assert_int_equal(bundle_count(bundle), 5);
	assert_string_equal(bundle_member(bundle, 0).name, "empty");
	assert_int_equal(bundle_read(bundle, "front", &bytes), 0);
	assert_int_equal(bytes.size, 8);
	assert_memory_equal(bytes.data, FRONT, 8);
	assert_int_equal(bundle_read(bundle, "rest", &bytes), 0);
	assert_int_equal(bytes.size, strlen(FRONT) - 9);
	assert_memory_equal(bytes.data, &FRONT[9], bytes.size);
	assert_int_equal(bundle_read(bundle, "none", &bytes), 0);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(bundle_read(bundle, "z", &bytes), 0);
	assert_memory_equal(bytes.data, "last", 4);
	assert_int_equal(bundle_read(bundle, "y", &bytes), STATUS_NOT_FOUND);
	bundle_close(bundle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_come_back),
		cmocka_unit_test(test_stored_members_are_borrowed),
		cmocka_unit_test(test_a_zip_whose_offsets_count_from_itself),
		cmocka_unit_test(test_no_zip_is_said),
		cmocka_unit_test(test_empty_zip),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_changed_content_is_told),
		cmocka_unit_test(test_a_bomb_is_refused),
		cmocka_unit_test(test_offsets_beyond_4_gib),
		cmocka_unit_test(test_the_rest_of_a_file),
		cmocka_unit_test(test_a_full_disk_leaves_the_front),
		cmocka_unit_test(test_bad_names_are_refused),
		cmocka_unit_test(test_unzip_accepts_it),
		cmocka_unit_test(test_a_list_of_what_lies_elsewhere),
		cmocka_unit_test(test_names_of_sources),
		cmocka_unit_test(test_urls_of_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
