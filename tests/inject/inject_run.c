#include "inject/inject_run.h"

#include "format/perfdata/reader.h"
#include "os/file.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

struct load *inject_load(const struct recording *r)
{
	struct load *load;
	struct load_error error;
	const struct load_options options = { .input = r->path, .keep_code = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	return load;
}

const char *inject_output_path(const struct recording *r)
{
	static char path[128];
	(void)snprintf(path, sizeof(path), "%s/out.data", r->dir);
	return path;
}

struct sink inject_read_file(const char *path)
{
	struct os_file file;
	struct sink copy = { 0 };
	assert_int_equal(os_file_open(&file, path, OS_FILE_PLAIN), 0);
	sink_put(&copy, file.bytes.data, file.bytes.size);
	os_file_close(&file);
	return copy;
}

size_t inject_count_records(const char *path, uint32_t type)
{
	struct os_file file;
	struct perfdata *perf;
	struct perfdata_record record;
	size_t count = 0;
	assert_int_equal(os_file_open(&file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(perfdata_open(&perf, file.bytes, NULL), 0);
	while (perfdata_next(perf, &record) > 0)
		count += record.type == type;
	perfdata_close(perf);
	os_file_close(&file);
	return count;
}

static struct agreement run_once(const struct recording *r, bool all)
{
	struct load *load = inject_load(r);
	const char *path = inject_output_path(r);
	const struct inject_options options = { .output = path, .all = all, .producer = "test" };
	struct inject_result result;
	struct agreement agreement;
	assert_int_equal(inject_run(load, &options, &result), 0);
	agree(load, path, &agreement);
	load_close(load);
	if (agreement.complaint[0])
		print_message("%s%s\n", all ? "all: " : "", agreement.complaint);
	assert_string_equal(agreement.complaint, "");
	assert_false(agreement.gave_up);
	assert_int_equal(agreement.disorder, 0);
	assert_int_equal(result.counts.samples, agreement.samples);
	assert_int_equal(agreement.samples, inject_count_records(r->path, PERFDATA_SAMPLE));
	return agreement;
}

struct agreement inject_and_agree(const struct recording *r)
{
	struct agreement first = { 0 };
	for (int all = 1; all >= 0; all--) {
		first = run_once(r, all);
		struct sink one = inject_read_file(inject_output_path(r));
		(void)run_once(r, all);
		struct sink two = inject_read_file(inject_output_path(r));
		assert_int_equal(one.size, two.size);
		assert_memory_equal(one.data, two.data, one.size);
		sink_clear(&one);
		sink_clear(&two);
	}
	return first;
}
