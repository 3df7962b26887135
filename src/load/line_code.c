#include "load/line_code.h"

#include "base/status.h"

#include <stdlib.h>

static int by_line(const void *left, const void *right)
{
	const struct line_code_entry *a = left;
	const struct line_code_entry *b = right;
	return a->end_off < b->end_off ? -1 : a->end_off > b->end_off;
}

int line_code_read(struct line_code *code, struct load *load, uint32_t source, struct bytes dump)
{
	struct jitdump_record record;
	const int got = load_keep_reader(load, source, dump);
	if (got < 0 || !load->sources.items[source].reader)
		return got;
	struct jitdump_reader reader = *load->sources.items[source].reader;
	while (jitdump_reader_next(&reader, &record) > 0) {
		if (record.id != JITDUMP_CODE_LOAD)
			continue;
		struct line_code_entry *line = vector_push(&code->lines);
		if (!line)
			return STATUS_NO_MEMORY;
		*line = (struct line_code_entry){ record.code_load.code_index, record.offset };
	}
	/* A burst of lines was read from its end. */
	if (code->lines.count)
		qsort(code->lines.items, code->lines.count, sizeof(*code->lines.items), by_line);
	return 0;
}

uint64_t line_code_find(const struct line_code *code, uint64_t line_end_off)
{
	const struct line_code_entry key = { .end_off = line_end_off };
	const struct line_code_entry *found =
	    code->lines.count
		? bsearch(&key, code->lines.items, code->lines.count, sizeof(key), by_line)
		: NULL;
	return found ? found->record_off : 0;
}
