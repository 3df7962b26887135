#include "record/bpf_programs.h"

#include "base/status.h"
#include "format/perfdata/bpf.h"
#include "format/perfdata/writer.h"
#include "os/bpf.h"

/* Undoes what did not fit. */
static bool fits(struct bpf_programs *programs, struct sink *sink, size_t before)
{
	if (!sink_failed(sink) && programs->infos.size + programs->btfs.size <= BPF_PROGRAMS_BYTES)
		return true;
	sink->size = before;
	sink->failed = false;
	programs->over_count++;
	return false;
}

static bool is_new(struct idmap *known, uint32_t id)
{
	uint32_t *slot = idmap_put(known, id);
	if (!slot || *slot)
		return false;
	*slot = 1;
	return true;
}

static void take_btf(struct bpf_programs *programs, uint32_t id)
{
	struct sink content = { .limit = OS_BPF_BTF_BYTES };
	if (!id || !is_new(&programs->known_btfs, id))
		return;
	const size_t before = programs->btfs.size;
	if (os_bpf_btf(id, &content) == 0) {
		const struct perfdata_bpf_btf btf = { id, sink_bytes(&content) };
		perfdata_put_bpf_btf(&programs->btfs, &btf);
		programs->btf_count += fits(programs, &programs->btfs, before);
	}
	sink_clear(&content);
}

static struct perfdata_bpf_array array_at(uint64_t place, uint32_t count, uint32_t item_size)
{
	if (!place)
		return (struct perfdata_bpf_array){ .item_size = item_size };
	const uint8_t *data = (const uint8_t *)(uintptr_t)place;
	return (struct perfdata_bpf_array){
		.bytes = { data, (size_t)count * item_size },
		.count = count,
		.item_size = item_size,
	};
}

static void put_info(struct sink *out, const struct os_bpf_program *program)
{
	const struct bpf_prog_info *i = &program->info;
	const struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS] = {
		[PERFDATA_BPF_CODE] = array_at(i->jited_prog_insns, i->jited_prog_len, 1),
		[PERFDATA_BPF_FUNCTION_AVMAS] = array_at(i->jited_ksyms, i->nr_jited_ksyms, 8),
		[PERFDATA_BPF_FUNCTION_SIZES] =
		    array_at(i->jited_func_lens, i->nr_jited_func_lens, 4),
		[PERFDATA_BPF_FUNCTION_INFO] =
		    array_at(i->func_info, i->nr_func_info, i->func_info_rec_size),
		[PERFDATA_BPF_LINE_INFO] =
		    array_at(i->line_info, i->nr_line_info, i->line_info_rec_size),
		[PERFDATA_BPF_LINE_AVMAS] = array_at(i->jited_line_info, i->nr_jited_line_info,
						     i->jited_line_info_rec_size),
		[PERFDATA_BPF_TAGS] = array_at(i->prog_tags, i->nr_prog_tags, BPF_TAG_SIZE),
	};
	perfdata_put_bpf_program(out, (struct bytes){ (const uint8_t *)i, program->info_size },
				 arrays);
}

static void keep(struct bpf_programs *programs, const struct os_bpf_program *program)
{
	/* Interpreted, or its addresses are hidden: no sample leads to it. */
	if (!program->info.nr_jited_ksyms)
		return;
	const size_t before = programs->infos.size;
	put_info(&programs->infos, program);
	if (!fits(programs, &programs->infos, before))
		return;
	programs->info_count++;
	struct bpf_known_program *known = vector_push(&programs->list);
	if (known) {
		known->id = program->info.id;
		memcpy(known->tag, program->info.tag, sizeof(known->tag));
	}
	take_btf(programs, program->info.btf_id);
}

void bpf_programs_take(struct bpf_programs *programs, uint32_t id)
{
	struct os_bpf_program program;
	if (programs->is_denied || !is_new(&programs->known_programs, id))
		return;
	const int got = os_bpf_program(id, &program);
	if (got == 0)
		keep(programs, &program);
	else if (got == STATUS_NOT_FOUND)
		programs->gone_count++;
	else if (got == STATUS_TOO_BIG || got == STATUS_NO_MEMORY)
		programs->over_count++;
	os_bpf_program_clear(&program);
}

void bpf_programs_find(struct bpf_programs *programs)
{
	int got;
	for (uint32_t id = 0; (got = os_bpf_next(&id)) == 0;) {
		/* One that goes between the two calls was not told of by anyone. */
		const uint64_t gone_count = programs->gone_count;
		bpf_programs_take(programs, id);
		programs->gone_count = gone_count;
	}
	programs->is_denied = got == STATUS_DENIED;
}

void bpf_programs_put_events(const struct bpf_programs *programs, struct sink *out,
			     uint64_t sample_type)
{
	enum { LOADED = 1 };
	const struct perfdata_new_id id = { .sample_type = sample_type, .pid = (uint32_t)-1 };
	for (size_t i = 0; i < programs->list.count; i++)
		perfdata_put_bpf_event(out, LOADED, programs->list.items[i].id,
				       programs->list.items[i].tag, &id);
}

static void put_section(struct sink *out, uint32_t count, const struct sink *entries)
{
	sink_u32(out, count);
	sink_put(out, entries->data, entries->size);
}

void bpf_programs_put(const struct bpf_programs *programs, struct sink *infos, struct sink *btfs)
{
	put_section(infos, programs->info_count, &programs->infos);
	put_section(btfs, programs->btf_count, &programs->btfs);
}

void bpf_programs_clear(struct bpf_programs *programs)
{
	idmap_clear(&programs->known_programs);
	idmap_clear(&programs->known_btfs);
	vector_clear(&programs->list);
	sink_clear(&programs->infos);
	sink_clear(&programs->btfs);
}
