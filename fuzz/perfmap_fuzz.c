/* Any bytes as a perf map: every line is an entry or a problem, and all lie inside. */
#include "format/perfmap/reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void note_problem(void *context, const struct perfmap_problem *problem)
{
	uint64_t *line = context;
	require(problem->what && problem->line > *line);
	*line = problem->line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	uint64_t last_line = 0;
	uint64_t count = 0;
	uint64_t end = 0;
	perfmap_reader_init(&reader, (struct bytes){ .data = data, .size = size });
	reader.on_problem = note_problem;
	reader.context = &last_line;
	while (perfmap_reader_next(&reader, &entry) > 0) {
		count++;
		require(entry.offset >= end && entry.end_offset > entry.offset);
		end = entry.end_offset;
		require(end <= size && (data[end - 1] == '\n') == !entry.is_last_torn);
		require(entry.start_avma + entry.size >= entry.start_avma);
		require(!memchr(entry.name.data, '\n', entry.name.size));
		const size_t name_off = (size_t)(entry.name.data - data);
		require(name_off > entry.offset && name_off + entry.name.size <= end);
		require(reader.line > last_line);
	}
	uint64_t lines = size && data[size - 1] != '\n';
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	/* A byte order mark alone is a file without lines. */
	require(reader.line == lines || (size == 3 && !reader.line));
	require(count + reader.problem_count == reader.line);
	return 0;
}
