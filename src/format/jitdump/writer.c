#include "format/jitdump/writer.h"

static size_t name_size(struct bytes name)
{
	const uint8_t *nul = name.size ? memchr(name.data, 0, name.size) : NULL;
	return nul ? (size_t)(nul - name.data) : name.size;
}

static void put_prefix(struct sink *out, enum jitdump_id id, uint64_t size, uint64_t time_ns)
{
	sink_u32(out, (uint32_t)id);
	sink_u32(out, (uint32_t)size);
	sink_u64(out, time_ns);
}

void jitdump_put_header(struct sink *out, const struct jitdump_new_header *header)
{
	sink_u32(out, JITDUMP_MAGIC);
	sink_u32(out, JITDUMP_VERSION);
	sink_u32(out, JITDUMP_HEADER_SIZE);
	sink_u32(out, header->elf_machine);
	sink_u32(out, 0);
	sink_u32(out, header->pid);
	sink_u64(out, header->time_ns);
	sink_u64(out, 0);
}

uint64_t jitdump_load_bytes(const struct jitdump_code_load *load)
{
	return (uint64_t)JITDUMP_CODE_LOAD_SIZE + name_size(load->name) + 1 + load->code.size;
}

void jitdump_put_load(struct sink *out, uint64_t time_ns, const struct jitdump_code_load *load)
{
	const uint64_t size = jitdump_load_bytes(load);
	if (size > UINT32_MAX) {
		out->failed = true;
		return;
	}
	put_prefix(out, JITDUMP_CODE_LOAD, size, time_ns);
	sink_u32(out, load->pid);
	sink_u32(out, load->tid);
	sink_u64(out, load->vma);
	sink_u64(out, load->code_avma);
	sink_u64(out, load->code_size);
	sink_u64(out, load->code_index);
	sink_put(out, load->name.data, name_size(load->name));
	sink_u8(out, 0);
	sink_put(out, load->code.data, load->code.size);
}

/* Beside an address, for the file of the entry before: the format's own way to say so. */
static const uint8_t same_file[] = { 0xff, 0 };

static bool is_same_file(struct bytes a, struct bytes b)
{
	return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

void jitdump_put_debug_info(struct sink *out, uint64_t time_ns, uint64_t code_avma,
			    const struct jitdump_new_line *lines, size_t count)
{
	enum { TOTAL_SIZE_AT = 4 };
	const size_t start = out->size;
	put_prefix(out, JITDUMP_DEBUG_INFO, 0, time_ns);
	sink_u64(out, code_avma);
	sink_u64(out, count);
	for (size_t i = 0; i < count; i++) {
		sink_u64(out, lines[i].avma);
		sink_u32(out, lines[i].line);
		sink_u32(out, lines[i].column);
		if (i && lines[i].file.size && is_same_file(lines[i].file, lines[i - 1].file)) {
			sink_put(out, same_file, sizeof(same_file));
			continue;
		}
		sink_put(out, lines[i].file.data, name_size(lines[i].file));
		sink_u8(out, 0);
	}
	if (out->size - start > UINT32_MAX)
		out->failed = true;
	sink_patch_u32(out, start + TOTAL_SIZE_AT, (uint32_t)(out->size - start));
}

void jitdump_put_close(struct sink *out, uint64_t time_ns)
{
	put_prefix(out, JITDUMP_CLOSE, JITDUMP_CLOSE_SIZE, time_ns);
}
