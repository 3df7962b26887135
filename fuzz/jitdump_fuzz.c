/* Any bytes as a jitdump: records and entries stay inside the bytes, the walk goes
 * forward, and _at() finds what _next() found.
 */
#include "format/jitdump/debug.h"
#include "format/jitdump/extensions.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool is_inside(struct bytes part, struct bytes whole)
{
	return !part.size || (part.data >= whole.data && part.size <= whole.size &&
			      (size_t)(part.data - whole.data) <= whole.size - part.size);
}

static void check_debug_info(const struct jitdump_record *record, struct bytes file,
			     struct jitdump_debug_style style)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	struct bytes symbol = record->body; /* stands in for a LOAD's name, of a usual length */
	uint64_t count = 0;
	if (symbol.size > 128)
		symbol.size = 128;
	jitdump_debug_walk_init(&walk, record, style);
	while (jitdump_debug_entry_next(&walk, &entry) > 0) {
		count++;
		require(is_inside(entry.file, file));
		const struct bytes repaired = jitdump_debug_repair_name(entry.file, symbol);
		require(is_inside(repaired, symbol));
	}
	require(count <= record->body.size / JITDUMP_DEBUG_ENTRY_SIZE);
}

static void check_own(const struct jitdump_record *record)
{
	const struct bytes body = record->body;
	struct jitdump_about about = record->about;
	struct jitdump_method method = record->method;
	struct jitdump_inline scope;
	struct jitdump_annotation note;
	struct jitdump_bytecode bytecode;
	struct jitdump_method_line line;
	size_t count = 0;
	while (record->id == JITDUMP_INLINES && jitdump_inline_next(&about, &scope) > 0) {
		count++;
		require(is_inside(scope.name, body) && is_inside(scope.call_file, body));
	}
	while (record->id == JITDUMP_ANNOTATIONS && jitdump_annotation_next(&about, &note) > 0) {
		count++;
		require(is_inside(note.text, body));
	}
	while (record->id == JITDUMP_BYTECODES && jitdump_bytecode_next(&about, &bytecode) > 0)
		count++;
	if (record->id == JITDUMP_METHOD) {
		require(is_inside(method.name, body) && is_inside(method.file, body));
		while (jitdump_method_line_next(&method, &line) > 0)
			count++;
	}
	require(count <= body.size / 8);
}

static void check_record(struct jitdump_reader *reader, const struct jitdump_record *record,
			 struct jitdump_debug_style style)
{
	const struct bytes file = reader->file;
	struct jitdump_record again;
	require(is_inside(record->body, file));
	require(jitdump_reader_at(reader, record->offset, &again) == 1);
	require(again.id == record->id && again.body.size == record->body.size &&
		again.is_torn == record->is_torn);
	if (record->id == JITDUMP_CODE_LOAD) {
		require(is_inside(record->code_load.name, record->body));
		require(is_inside(record->code_load.code, record->body));
		require(record->code_load.code.size <= record->code_load.code_size);
	} else if (record->id == JITDUMP_UNWINDING_INFO) {
		require(is_inside(record->unwinding_info.unwinding, record->body));
	} else if (record->id == JITDUMP_DEBUG_INFO) {
		check_debug_info(record, file, style);
	}
	check_own(record);
}

struct told {
	uint64_t count;
	uint64_t skipped_bytes;
	uint64_t end;
};

static void note_problem(void *context, const struct jitdump_problem *problem)
{
	struct told *told = context;
	require(problem->what && problem->offset >= told->end);
	told->count++;
	told->skipped_bytes += problem->skipped_bytes;
	told->end = problem->offset + problem->skipped_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes file = { .data = data, .size = size };
	struct jitdump_reader reader;
	struct jitdump_record record;
	struct told told = { 0 };
	const struct jitdump_debug_style style = jitdump_debug_style(file);
	if (jitdump_reader_init(&reader, file) < 0)
		return 0;
	reader.on_problem = note_problem;
	reader.context = &told;
	uint64_t body_bytes = 0;
	uint64_t last = 0;
	uint64_t record_count = 0;
	while (jitdump_reader_next(&reader, &record) > 0) {
		require(record.offset > last);
		last = record.offset;
		record_count++;
		body_bytes += record.body.size;
		check_record(&reader, &record, style);
	}
	/* Every byte behind the header is in a record, or was told as skipped. */
	require(reader.header_size + body_bytes + JITDUMP_PREFIX_SIZE * record_count +
		    told.skipped_bytes ==
		size);
	require(told.count == reader.problem_count && told.skipped_bytes == reader.skipped_bytes);
	return 0;
}
