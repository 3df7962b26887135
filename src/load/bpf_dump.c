/* The functions of BPF programs as a jitdump. */
#include "load/bpf_code_internal.h"

#include "base/search.h"
#include "base/status.h"
#include "format/btf/btf.h"
#include "format/jitdump/writer.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* Of records: what a hostile file may make of itself. Honest ones become a little smaller
	 * than they were.
	 */
	DUMP_BYTES = 256 << 20,
	FILE_NAME_BYTES = 4096,
	COLUMN_BITS = 10, /* of a line's last word */
	CODE_INDEX_NONE = 0,
};

/* A line of a program, by where it begins. */
struct line {
	uint64_t avma;
	uint32_t index; /* keeps those of one address in the kernel's order */
};

struct known_btf {
	uint32_t id;
	struct btf btf;
};

/* While the features are read. */
struct make {
	struct bpf_code *bpf;
	VECTOR(struct known_btf) btfs;
	struct idmap btf_of_id; /* index + 1 */
	/* Of the program at hand. */
	struct perfdata_bpf_program program;
	const struct btf *btf;
	VECTOR(struct line) lines;
	VECTOR(struct jitdump_new_line) entries;
	VECTOR(const char *) texts;
};

static int read_btfs(struct load *load, struct make *make)
{
	struct perfdata_bpf_walk walk = perfdata_bpf_btfs(load->perf);
	struct perfdata_bpf_btf found;
	while (perfdata_bpf_btf_next(&walk, &found) > 0) {
		struct known_btf known = { .id = found.id };
		if (btf_init(&known.btf, found.content) < 0)
			continue;
		struct known_btf *slot = vector_push(&make->btfs);
		uint32_t *index = idmap_put(&make->btf_of_id, found.id);
		if (!slot || !index)
			return STATUS_NO_MEMORY;
		*slot = known;
		*index = (uint32_t)make->btfs.count;
	}
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;
	if (a->avma != b->avma)
		return a->avma < b->avma ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Lines come function by function, and functions lie anywhere. */
static int sort_lines(struct make *make)
{
	const struct perfdata_bpf_array *arrays = make->program.arrays;
	uint32_t count = arrays[PERFDATA_BPF_LINE_INFO].count;
	if (count > arrays[PERFDATA_BPF_LINE_AVMAS].count)
		count = arrays[PERFDATA_BPF_LINE_AVMAS].count;
	make->lines.count = 0;
	if (!vector_reserve(&make->lines, count))
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		struct cursor c = perfdata_bpf_cursor(&make->program, PERFDATA_BPF_LINE_AVMAS, i);
		make->lines.items[make->lines.count++] = (struct line){ cursor_u64(&c), i };
	}
	if (count)
		qsort(make->lines.items, count, sizeof(struct line), by_address);
	return 0;
}

static size_t first_line_at(const struct make *make, uint64_t avma)
{
	size_t count;
	SEARCH(count, make->lines.count, i, make->lines.items[i].avma < avma);
	return count;
}

static int add_line(struct make *make, const struct line *line)
{
	struct cursor c = perfdata_bpf_cursor(&make->program, PERFDATA_BPF_LINE_INFO, line->index);
	cursor_u32(&c); /* the instruction */
	const char *file = btf_string(make->btf, cursor_u32(&c));
	const char *text = btf_string(make->btf, cursor_u32(&c));
	const uint32_t place = cursor_u32(&c);
	const size_t file_size = strlen(file);
	struct jitdump_new_line *entry = vector_push(&make->entries);
	const char **slot = vector_push(&make->texts);
	if (!entry || !slot)
		return STATUS_NO_MEMORY;
	*entry = (struct jitdump_new_line){
		.avma = line->avma,
		.line = place >> COLUMN_BITS,
		.column = place & ((1u << COLUMN_BITS) - 1),
		.file = { (const uint8_t *)file, file_size <= FILE_NAME_BYTES ? file_size : 0 },
	};
	*slot = *text ? text : NULL;
	return 0;
}

/* As many lines as may still be put: functions of a hostile file may all have the same ones. */
static int collect_lines(struct make *make, uint64_t start_avma, uint64_t size)
{
	const size_t room = (DUMP_BYTES - make->bpf->dump.size) / JITDUMP_DEBUG_ENTRY_SIZE;
	make->entries.count = 0;
	make->texts.count = 0;
	for (size_t i = first_line_at(make, start_avma);
	     make->btf && i < make->lines.count && make->lines.items[i].avma - start_avma < size;
	     i++) {
		if (make->entries.count >= room)
			return STATUS_TOO_BIG;
		if (add_line(make, &make->lines.items[i]) < 0)
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* bpf_prog_TAG: what the kernel's own name begins with. */
static struct bytes name_of(const uint8_t *tag, char *text, size_t size)
{
	int at = snprintf(text, size, "bpf_prog_");
	for (size_t i = 0; i < PERFDATA_BPF_TAG_SIZE; i++)
		at += snprintf(text + at, size - (size_t)at, "%02x", tag[i]);
	return (struct bytes){ (const uint8_t *)text, (size_t)at };
}

static int keep_texts(struct bpf_code *bpf, const struct make *make, struct bpf_function *function)
{
	function->first_text = (uint32_t)bpf->texts.count;
	function->text_count = (uint32_t)make->texts.count;
	for (size_t i = 0; i < make->texts.count; i++) {
		const char **slot = vector_push(&bpf->texts);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = make->texts.items[i];
	}
	return 0;
}

static int put_function(struct make *make, struct bpf_function *function, struct bytes code,
			uint64_t size)
{
	struct bpf_code *bpf = make->bpf;
	char name[64];
	const size_t start = bpf->dump.size;
	int result = collect_lines(make, function->start_avma, size);
	if (result < 0)
		return result;
	if (make->entries.count)
		jitdump_put_debug_info(&bpf->dump, 0, function->start_avma, make->entries.items,
				       make->entries.count);
	function->record_off = bpf->dump.size;
	function->debug_before = (uint32_t)(bpf->dump.size - start);
	const struct jitdump_code_load load = {
		.vma = function->start_avma,
		.code_avma = function->start_avma,
		.code_size = size,
		.code_index = CODE_INDEX_NONE,
		.name = name_of(function->tag, name, sizeof(name)),
		.code = code,
	};
	jitdump_put_load(&bpf->dump, 0, &load);
	if (sink_failed(&bpf->dump)) {
		/* Below the limit it was memory that failed. */
		bpf->dump.size = start;
		bpf->dump.failed = false;
		return STATUS_TOO_BIG;
	}
	struct bpf_function *slot = vector_push(&bpf->functions);
	if (!slot || keep_texts(bpf, make, function) < 0)
		return STATUS_NO_MEMORY;
	*slot = *function;
	return 0;
}

/* The code of all functions lies in one piece, in their order. */
static int take_program(struct make *make)
{
	const struct perfdata_bpf_program *program = &make->program;
	struct cursor code = cursor_over(program->arrays[PERFDATA_BPF_CODE].bytes);
	const uint32_t btf = idmap_get(&make->btf_of_id, program->btf_id);
	make->btf = btf && program->btf_id ? &make->btfs.items[btf - 1].btf : NULL;
	int result = sort_lines(make);
	for (uint32_t i = 0; result == 0 && i < program->arrays[PERFDATA_BPF_FUNCTION_AVMAS].count;
	     i++) {
		struct cursor avma = perfdata_bpf_cursor(program, PERFDATA_BPF_FUNCTION_AVMAS, i);
		struct cursor size = perfdata_bpf_cursor(program, PERFDATA_BPF_FUNCTION_SIZES, i);
		struct cursor tag = perfdata_bpf_cursor(program, PERFDATA_BPF_TAGS, i);
		struct bpf_function function = { .start_avma = cursor_u64(&avma),
						 .program_id = program->id };
		const uint32_t size_bytes = cursor_u32(&size);
		const struct bytes tag_bytes = cursor_take(&tag, PERFDATA_BPF_TAG_SIZE);
		const struct bytes own_code = cursor_take(&code, size_bytes);
		memcpy(function.tag, tag_bytes.data, tag_bytes.size);
		memcpy(function.program_tag, i ? function.tag : program->tag, sizeof(function.tag));
		/* A place of 0 was hidden from the recorder; what has no size has no lines. */
		if (function.start_avma && size_bytes)
			result = put_function(make, &function, own_code, size_bytes);
	}
	return result;
}

int bpf_dump_make(struct load *load, struct bpf_code *bpf)
{
	struct make make = { .bpf = bpf };
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(load->perf);
	int result = read_btfs(load, &make);
	bpf->dump.limit = DUMP_BYTES;
	jitdump_put_header(&bpf->dump, &(struct jitdump_new_header){
					   load->is_arm64 ? EM_AARCH64 : EM_X86_64, 0, 0 });
	while (result == 0 && perfdata_bpf_program_next(&walk, &make.program) > 0)
		result = take_program(&make);
	if (result == STATUS_TOO_BIG) {
		load_add_note(load, true,
			      "BPF programs: more code and lines than are taken; some have none");
		result = 0;
	}
	vector_clear(&make.btfs);
	idmap_clear(&make.btf_of_id);
	vector_clear(&make.lines);
	vector_clear(&make.entries);
	vector_clear(&make.texts);
	return sink_failed(&bpf->dump) ? STATUS_NO_MEMORY : result;
}
