#include "format/perfmap/reader.h"

#include "base/hash.h"
#include "base/status.h"
#include "lint/lint_internal.h"

#include <stdlib.h>

enum {
	LINES_LOOKED_AT = 64, /* to know a map by */
	HUGE_COUNT = 64,      /* entries that one may cover before it is suspicious */
};

/* No function is so large; a region of code may be. */
static const uint64_t HUGE_BYTES = UINT64_C(1) << 30;

struct entry {
	uint64_t start_avma;
	uint64_t size;
	uint64_t offset;
	uint64_t line;
	uint64_t name_hash;
	uint64_t covered_count;
};

struct walk {
	struct lint *lint;
	struct perfmap_reader reader;
	VECTOR(struct entry) entries;
	uint64_t last_avma;
};

bool lint_is_perfmap(struct bytes file)
{
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	uint64_t count = 0;
	perfmap_reader_init(&reader, file);
	while (reader.line < LINES_LOOKED_AT && perfmap_reader_next(&reader, &entry) > 0)
		count += entry.name.size > 0;
	return count && count >= reader.problem_count;
}

static void tell_problem(void *context, const struct perfmap_problem *problem)
{
	struct walk *walk = context;
	const struct lint_place at = { .offset = problem->offset,
				       .line = problem->line,
				       .record = "" };
	lint_tell(walk->lint, LINT_NO_ENTRY, at, "%s", problem->what);
}

static bool is_hex(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static size_t hex_length(const uint8_t *p, const uint8_t *end)
{
	size_t length = 0;
	while (p + length < end && is_hex(p[length]))
		length++;
	return length;
}

/* "alpha 00007F1484580018 48 beta": an address as wide as pointers are, a size, a name. */
static bool holds_an_entry(struct bytes name)
{
	const uint8_t *end = name.data + name.size;
	for (const uint8_t *p = name.data; p < end;) {
		const size_t address = hex_length(p, end);
		const uint8_t *size_at = p + address + 1;
		if (address >= 8 && address <= 16 && size_at < end && p[address] == ' ') {
			const size_t size = hex_length(size_at, end);
			if (size && size <= 8 && size_at + size < end && size_at[size] == ' ')
				return true;
		}
		p += address + 1;
	}
	return false;
}

static bool is_text(struct bytes name, const char *text)
{
	return name.size == strlen(text) && !memcmp(name.data, text, name.size);
}

static void check_name(struct lint *lint, struct lint_place at, struct bytes name)
{
	lint_name(lint, at, name);
	if (is_text(name, "(null)"))
		lint_tell(lint, LINT_NAME_NULL, at, "the name is (null)");
	if (holds_an_entry(name))
		lint_tell(lint, LINT_TWO_IN_ONE, at, "another entry inside the name: %.*s",
			  LINT_NAME(name));
}

static void check_entry(struct walk *walk, const struct perfmap_entry *entry)
{
	struct lint *lint = walk->lint;
	const struct lint_place at = { .offset = entry->offset,
				       .line = walk->reader.line,
				       .record = "" };
	check_name(lint, at, entry->name);
	if (entry->is_last_torn)
		lint_tell(lint, LINT_CUT_LINE, at, "no newline: the name may go on: %.*s",
			  LINT_NAME(entry->name));
	else if (entry->end_offset - entry->offset >= 2 &&
		 walk->reader.file.data[entry->end_offset - 2] == '\r')
		lint_tell(lint, LINT_CRLF, at, "the line ends in CR LF");
	if (entry->start_avma < walk->last_avma)
		lint_tell(lint, LINT_UNSORTED, at, "0x%" PRIx64 " lies below the line before",
			  entry->start_avma);
	walk->last_avma = entry->start_avma;
	if (!entry->size)
		lint_tell(lint, LINT_SIZE_ZERO, at, "no size: %.*s", LINT_NAME(entry->name));
	if (entry->size >= HUGE_BYTES)
		lint_tell(lint, LINT_HUGE, at, "0x%" PRIx64 " bytes from 0x%" PRIx64 ": %.*s",
			  entry->size, entry->start_avma, LINT_NAME(entry->name));

	struct entry *kept = vector_push(&walk->entries);
	if (!kept) {
		lint->is_out_of_memory = true;
		return;
	}
	*kept = (struct entry){
		.start_avma = entry->start_avma,
		.size = entry->size,
		.offset = entry->offset,
		.line = walk->reader.line,
		.name_hash = hash_bytes(entry->name.data, entry->name.size, 0),
	};
}

static int by_address(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->start_avma != b->start_avma)
		return a->start_avma < b->start_avma ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static void tell_shared(struct lint *lint, const struct entry *a, const struct entry *b)
{
	const struct entry *later = a->line > b->line ? a : b;
	const struct entry *earlier = later == a ? b : a;
	const struct lint_place at = { .offset = later->offset, .line = later->line, .record = "" };
	const bool is_same_name = a->name_hash == b->name_hash;
	if (a->start_avma == b->start_avma && a->size == b->size && is_same_name)
		lint_tell(lint, LINT_DUPLICATE, at, "the same entry as line %" PRIu64,
			  earlier->line);
	else if (a->start_avma == b->start_avma && !is_same_name)
		lint_tell(lint, LINT_TWO_NAMES, at,
			  "0x%" PRIx64 " has another name in line %" PRIu64, a->start_avma,
			  earlier->line);
	else
		lint_tell(lint, LINT_MAP_OVERLAP, at,
			  "0x%" PRIx64 "+0x%" PRIx64 " overlaps line %" PRIu64 ", 0x%" PRIx64
			  "+0x%" PRIx64,
			  later->start_avma, later->size, earlier->line, earlier->start_avma,
			  earlier->size);
}

/* In order of address, each entry is held against the one that reaches furthest. */
static void check_shared(struct walk *walk)
{
	struct lint *lint = walk->lint;
	const size_t count = walk->entries.count;
	struct entry *entries = walk->entries.items;
	struct entry *reach = NULL;
	if (count)
		qsort(entries, count, sizeof(entries[0]), by_address);
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = &entries[i];
		const bool is_shared =
		    reach && (entry->start_avma < reach->start_avma + reach->size ||
			      entry->start_avma == reach->start_avma);
		if (is_shared) {
			tell_shared(lint, reach, entry);
			reach->covered_count++;
		}
		if (!reach || entry->start_avma + entry->size >= reach->start_avma + reach->size)
			reach = entry;
	}
	for (size_t i = 0; i < count; i++)
		if (entries[i].covered_count >= HUGE_COUNT && entries[i].size < HUGE_BYTES)
			lint_tell(lint, LINT_HUGE,
				  (struct lint_place){ .offset = entries[i].offset,
						       .line = entries[i].line,
						       .record = "" },
				  "0x%" PRIx64 " bytes from 0x%" PRIx64 " cover %" PRIu64
				  " other entries",
				  entries[i].size, entries[i].start_avma, entries[i].covered_count);
}

int lint_perfmap(struct lint *lint, struct bytes file)
{
	struct walk walk = { .lint = lint };
	struct perfmap_entry entry;
	perfmap_reader_init(&walk.reader, file);
	walk.reader.on_problem = tell_problem;
	walk.reader.context = &walk;
	while (perfmap_reader_next(&walk.reader, &entry) > 0)
		check_entry(&walk, &entry);
	sink_printf(&lint->contents, "%" PRIu64 " lines, %zu entries", walk.reader.line,
		    walk.entries.count);
	check_shared(&walk);
	vector_clear(&walk.entries);
	return STATUS_OK;
}
