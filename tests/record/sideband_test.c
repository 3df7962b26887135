#include "record/sideband.h"

#include "format/perfdata/writer.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct perfdata_new_id id = {
	.sample_type = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
		       PERFDATA_SAMPLE_IDENTIFIER,
	.pid = 7,
	.tid = 7,
	.time_ns = 1234,
	.id = 1,
};

/* With `marked` as where another profiler asks the kernel for build ids. */
static void put_map(struct sink *out, const char *path, uint32_t prot, bool marked)
{
	const uint16_t data = prot & PROT_EXEC ? 0 : PERFDATA_MISC_MMAP_DATA;
	const size_t at = out->size;
	perfdata_put_mmap2(out,
			   &(struct perfdata_new_mmap2){
			       .pid = (uint32_t)getpid(),
			       .tid = (uint32_t)getpid(),
			       .start_avma = 0x1000,
			       .size = 0x1000,
			       .maj = 20,
			       .prot = prot,
			       .misc = (uint16_t)(PERFDATA_CPUMODE_USER | data),
			       .path = path,
			   },
			   &id);
	if (marked && !sink_failed(out))
		out->data[at + 5] |= PERFDATA_MISC_MMAP_BUILD_ID >> 8;
}

static void put_lost(struct sink *out, uint64_t count)
{
	sink_u32(out, PERFDATA_LOST);
	sink_u16(out, 0);
	sink_u16(out, 8 + 16 + SIDEBAND_TRAILER_BYTES);
	sink_u64(out, 1);
	sink_u64(out, count);
	perfdata_put_id(out, &id);
}

static void own_path(char *path, size_t size)
{
	const ssize_t got = readlink("/proc/self/exe", path, size - 1);
	assert_true(got > 0);
	path[got] = '\0';
}

static void put_all(struct sink *out)
{
	char path[4096];
	own_path(path, sizeof(path));
	put_map(out, path, PROT_READ | PROT_EXEC, false);
	put_map(out, "/etc/passwd", PROT_READ | PROT_EXEC, true);
	put_map(out, "//anon", PROT_READ | PROT_EXEC, false);
	perfdata_put_comm(out, 7, 7, "name", &id);
	perfdata_put_fork(out, 8, 7, 8, 7, &id);
	perfdata_put_fork(out, 8, 8, 9, 8, &id);
	perfdata_put_exit(out, 8, 7, 8, 7, &id);
	put_lost(out, 1000);
	put_lost(out, 2);
}

static size_t count_build_ids(const struct build_ids *ids)
{
	size_t count = 0;
	for (size_t i = 0; i < ids->items.count; i++)
		count += ids->items.items[i].size != 0;
	return count;
}

static void sees_files_births_and_losses(void **state)
{
	(void)state;
	struct sink records = { 0 };
	struct build_ids ids = { 0 };
	struct proc_ids born = { 0 };
	struct sideband sideband = { .build_ids = &ids, .born = &born };
	put_all(&records);
	assert_false(sink_failed(&records));
	sideband_scan(&sideband, records.data, records.size);
	assert_int_equal(sideband.record_count, 9);
	assert_int_equal(sideband.lost_count, 1002);
	assert_int_equal(born.count, 2);
	assert_int_equal(born.items[0], 8);
	assert_int_equal(born.items[1], 9);
	assert_int_equal(count_build_ids(&ids), 1);
	char path[4096];
	own_path(path, sizeof(path));
	const struct build_id *item = &ids.items.items[0];
	assert_string_equal(intern_get(&ids.paths, item->path), path);
	/* It is in the record now, with the mark; the record that had one falsely lost it. */
	assert_true(records.data[5] & PERFDATA_MISC_MMAP_BUILD_ID >> 8);
	assert_int_equal(records.data[40], item->size);
	assert_memory_equal(records.data + 44, item->bytes, item->size);
	uint16_t size;
	memcpy(&size, records.data + 6, sizeof(size));
	assert_false(records.data[size + 5] & PERFDATA_MISC_MMAP_BUILD_ID >> 8);
	assert_int_equal(records.data[size + 40], 20);
	vector_clear(&born);
	build_ids_clear(&ids);
	sink_clear(&records);
}

static void scan_copy(const struct sink *records, size_t size, size_t at, uint8_t value)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, records->data, size);
	if (at < size)
		copy[at] = value;
	struct build_ids ids = { 0 };
	struct proc_ids born = { 0 };
	struct sideband sideband = { .build_ids = &ids, .born = &born };
	sideband_scan(&sideband, copy, size);
	assert_true(sideband.record_count <= size / 8);
	vector_clear(&born);
	build_ids_clear(&ids);
	free(copy);
}

static void every_truncation_and_changed_byte(void **state)
{
	(void)state;
	struct sink records = { 0 };
	put_all(&records);
	for (size_t size = 0; size <= records.size; size++)
		scan_copy(&records, size, SIZE_MAX, 0);
	static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
	for (size_t at = 0; at < records.size; at++)
		for (size_t i = 0; i < sizeof(values); i++)
			scan_copy(&records, records.size, at, values[i]);
	sink_clear(&records);
}

/* Our own executable has a build id, which readelf and we must agree on. */
static void notes_of_a_file(void **state)
{
	(void)state;
	char path[4096];
	own_path(path, sizeof(path));
	struct build_ids ids = { 0 };
	const pid_t pid = getpid();
	const struct bytes id_bytes =
	    build_ids_find(&ids, &(struct build_id_file){ .pid = pid, .path = path });
	assert_true(id_bytes.size > 0);
	static const char *const without[] = {
		"/proc/self/maps", "/no/such",          "[heap]", "//anon",
		"/etc/passwd",     "/bin/sh (deleted)", ""
	};
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		const struct build_id_file file = { .pid = pid, .path = without[i] };
		assert_int_equal(build_ids_find(&ids, &file).size, 0);
	}
	/* Twice the same file is one. */
	build_ids_find(&ids, &(struct build_id_file){ .pid = pid, .path = path });
	assert_int_equal(count_build_ids(&ids), 1);
	char command[4200];
	char line[64] = "";
	(void)snprintf(command, sizeof(command),
		       "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	const bool has_line = fgets(line, sizeof(line), pipe) != NULL;
	pclose(pipe);
	if (has_line) {
		char hex[41] = "";
		for (size_t i = 0; i < ids.items.items[0].size; i++)
			(void)snprintf(hex + 2 * i, 3, "%02x", ids.items.items[0].bytes[i]);
		line[strcspn(line, "\n")] = '\0';
		assert_string_equal(hex, line);
	}
	/* Another inode under the same name is another file. */
	const struct build_id_file other = { .pid = pid, .path = path, .inode = 1 };
	assert_int_equal(build_ids_find(&ids, &other).size, 0);
	assert_int_equal(count_build_ids(&ids), 1);
	build_ids_clear(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_files_births_and_losses),
		cmocka_unit_test(every_truncation_and_changed_byte),
		cmocka_unit_test(notes_of_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
