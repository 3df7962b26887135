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

static const uint8_t told[20] = { 0xde, 0xad };

static void put_map(struct sink *out, const char *path, uint32_t prot, bool with_id)
{
	const uint16_t data = prot & PROT_EXEC ? 0 : PERFDATA_MISC_MMAP_DATA;
	perfdata_put_mmap2(out,
			   &(struct perfdata_new_mmap2){
			       .pid = 7,
			       .tid = 7,
			       .start_avma = 0x1000,
			       .size = 0x1000,
			       .build_id = { told, with_id ? sizeof(told) : 0 },
			       .prot = prot,
			       .misc = (uint16_t)(PERFDATA_CPUMODE_USER | data),
			       .path = path,
			   },
			   &id);
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

static void put_all(struct sink *out)
{
	put_map(out, "/usr/bin/known", PROT_READ | PROT_EXEC, true);
	put_map(out, "/usr/share/data", PROT_READ, true);
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
	sideband_scan(&sideband, sink_bytes(&records));
	assert_int_equal(sideband.record_count, 9);
	assert_int_equal(sideband.lost_count, 1002);
	assert_int_equal(born.count, 2);
	assert_int_equal(born.items[0], 8);
	assert_int_equal(born.items[1], 9);
	assert_int_equal(count_build_ids(&ids), 1);
	assert_string_equal(intern_get(&ids.paths, ids.items.items[0].path), "/usr/bin/known");
	assert_memory_equal(ids.items.items[0].bytes, told, sizeof(told));
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
	sideband_scan(&sideband, (struct bytes){ copy, size });
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
	const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(size > 0);
	path[size] = '\0';
	struct build_ids ids = { 0 };
	build_ids_add(&ids, &(struct build_id_file){ .pid = getpid(), .path = path });
	build_ids_add(&ids, &(struct build_id_file){ .pid = getpid(), .path = path });
	build_ids_add(&ids, &(struct build_id_file){ .pid = getpid(), .path = "/proc/self/maps" });
	build_ids_add(&ids, &(struct build_id_file){ .pid = getpid(), .path = "/no/such" });
	build_ids_add(&ids, &(struct build_id_file){ .pid = getpid(), .path = "[heap]" });
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
	build_ids_clear(&ids);
	build_ids_add(&ids, &(struct build_id_file){ getpid(), path, 1, { 0 } });
	assert_int_equal(count_build_ids(&ids), 0);
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
