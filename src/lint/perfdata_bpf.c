/* What a recording tells of BPF programs. */
#include "format/perfdata/bpf.h"

#include "base/idmap.h"
#include "base/status.h"
#include "base/vector.h"
#include "format/btf/btf.h"
#include "lint/lint_internal.h"

static const char *const array_names[PERFDATA_BPF_ARRAYS] = {
	[PERFDATA_BPF_CODE] = "code",
	[PERFDATA_BPF_BYTECODE] = "instructions",
	[PERFDATA_BPF_MAP_IDS] = "map ids",
	[PERFDATA_BPF_FUNCTION_AVMAS] = "function addresses",
	[PERFDATA_BPF_FUNCTION_SIZES] = "function sizes",
	[PERFDATA_BPF_FUNCTION_INFO] = "function info",
	[PERFDATA_BPF_LINE_INFO] = "lines",
	[PERFDATA_BPF_LINE_AVMAS] = "line addresses",
	[PERFDATA_BPF_TAGS] = "tags",
};

struct check {
	struct lint *lint;
	struct bytes file;
	VECTOR(struct btf) btfs;
	struct idmap btf_of_id; /* index + 1 */
};

/* Features of a pipe may lie where they were unpacked: then the file's start must do. */
static struct lint_place place_of(const struct check *check, const uint8_t *at, const char *record)
{
	const uintptr_t start = (uintptr_t)check->file.data;
	const uintptr_t place = (uintptr_t)at;
	const bool is_inside = place >= start && place - start <= check->file.size;
	return (struct lint_place){ .offset = is_inside ? place - start : 0, .record = record };
}

static int check_btfs(struct check *check, const struct perfdata *perf)
{
	static const char record[] = "BPF_BTF";
	struct perfdata_bpf_walk walk = perfdata_bpf_btfs(perf);
	for (;;) {
		struct perfdata_bpf_btf found;
		const struct lint_place place = place_of(check, walk.c.pos, record);
		const int got = perfdata_bpf_btf_next(&walk, &found);
		if (got == 0)
			return 0;
		if (got < 0) {
			lint_tell(check->lint, LINT_BPF, place, "the section ends inside it");
			return 0;
		}
		struct btf *btf = vector_push(&check->btfs);
		uint32_t *index = idmap_put(&check->btf_of_id, found.id);
		if (!btf || !index)
			return STATUS_NO_MEMORY;
		*index = (uint32_t)check->btfs.count;
		const int status = btf_init(btf, found.content);
		if (status < 0)
			lint_tell(check->lint, LINT_BPF, place, "BTF %" PRIu32 ": %s", found.id,
				  status_text(status));
	}
}

static const struct btf *btf_of(const struct check *check, uint32_t id)
{
	const uint32_t index = id ? idmap_get(&check->btf_of_id, id) : 0;
	return index ? &check->btfs.items[index - 1] : NULL;
}

static void check_arrays(struct check *check, struct lint_place place,
			 const struct perfdata_bpf_program *program)
{
	for (size_t i = 0; i < PERFDATA_BPF_ARRAYS; i++)
		if (program->bad_arrays >> i & 1)
			lint_tell(check->lint, LINT_BPF, place,
				  "program %" PRIu32 ": its %s lie outside", program->id,
				  array_names[i]);
	const uint32_t lines = program->arrays[PERFDATA_BPF_LINE_INFO].count;
	const uint32_t places = program->arrays[PERFDATA_BPF_LINE_AVMAS].count;
	/* Where the addresses are hidden there are none at all. */
	if (!program->bad_arrays && places && lines != places)
		lint_tell(check->lint, LINT_BPF, place,
			  "program %" PRIu32 ": %" PRIu32 " lines at %" PRIu32 " addresses",
			  program->id, lines, places);
	const struct perfdata_bpf_array *code = &program->arrays[PERFDATA_BPF_CODE];
	uint64_t size_bytes = 0;
	for (uint32_t i = 0; i < program->arrays[PERFDATA_BPF_FUNCTION_SIZES].count; i++) {
		struct cursor c = perfdata_bpf_cursor(program, PERFDATA_BPF_FUNCTION_SIZES, i);
		size_bytes += cursor_u32(&c);
	}
	if (code->count && size_bytes != code->count && !program->bad_arrays)
		lint_tell(check->lint, LINT_BPF, place,
			  "program %" PRIu32 ": functions of %" PRIu64 " bytes, code of %" PRIu32,
			  program->id, size_bytes, code->count);
}

static void check_lines(struct check *check, struct lint_place place,
			const struct perfdata_bpf_program *program)
{
	const uint32_t count = program->arrays[PERFDATA_BPF_LINE_INFO].count;
	const struct btf *btf = btf_of(check, program->btf_id);
	uint32_t nameless = 0;
	for (uint32_t i = 0; btf && i < count; i++) {
		struct cursor c = perfdata_bpf_cursor(program, PERFDATA_BPF_LINE_INFO, i);
		cursor_u32(&c); /* the instruction */
		nameless += !*btf_string(btf, cursor_u32(&c));
	}
	if (count && !btf)
		lint_tell(check->lint, LINT_BPF_LINES, place,
			  "program %" PRIu32 ": BTF %" PRIu32 " is not there", program->id,
			  program->btf_id);
	else if (nameless)
		lint_tell(check->lint, LINT_BPF_LINES, place,
			  "program %" PRIu32 ": %" PRIu32 " of %" PRIu32 " lines name no file",
			  program->id, nameless, count);
}

int lint_bpf(struct lint *lint, const struct perfdata *perf, struct bytes file)
{
	static const char record[] = "BPF_PROG_INFO";
	struct check check = { .lint = lint, .file = file };
	struct perfdata_bpf_program program;
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(perf);
	int got = check_btfs(&check, perf);
	while (got == 0) {
		const struct lint_place place = place_of(&check, walk.c.pos, record);
		const int found = perfdata_bpf_program_next(&walk, &program);
		if (found < 0)
			lint_tell(lint, LINT_BPF, place, "the section ends inside it");
		if (found <= 0)
			break;
		check_arrays(&check, place, &program);
		check_lines(&check, place, &program);
	}
	vector_clear(&check.btfs);
	idmap_clear(&check.btf_of_id);
	return got;
}
