#include "format/perfdata/bpf.h"

#include "format/perfdata/perfdata_internal.h"

/* Offsets in struct bpf_prog_info, which the kernel only ever extends. */
enum {
	KIND_AT = 0,
	ID_AT = 4,
	TAG_AT = 8,
	NAME_AT = 64,
	BTF_ID_AT = 128,
	/* Up to run_cnt: what the first perf that writes these features knew. Every perf reads as
	 * much as it finds, and gives up on one that is longer than its own.
	 */
	WRITTEN_SIZE = 208,
};

/* Where the info says how many items of which size lie where. */
static const struct {
	uint16_t place_at;
	uint16_t count_at;
	uint16_t size_at; /* 0: item_size is fixed */
	uint16_t item_size;
} array_fields[PERFDATA_BPF_ARRAYS] = {
	[PERFDATA_BPF_CODE] = { 24, 16, 0, 1 },
	[PERFDATA_BPF_BYTECODE] = { 32, 20, 0, 1 },
	[PERFDATA_BPF_MAP_IDS] = { 56, 52, 0, 4 },
	[PERFDATA_BPF_FUNCTION_AVMAS] = { 112, 104, 0, 8 },
	[PERFDATA_BPF_FUNCTION_SIZES] = { 120, 108, 0, 4 },
	[PERFDATA_BPF_FUNCTION_INFO] = { 136, 144, 132, 8 },
	[PERFDATA_BPF_LINE_INFO] = { 152, 148, 172, 16 },
	[PERFDATA_BPF_LINE_AVMAS] = { 160, 168, 176, 8 },
	[PERFDATA_BPF_TAGS] = { 184, 180, 0, 8 },
};

/* A number in the info; 0 where an older kernel's ends before it. */
static struct cursor field_at(struct cursor info, uint16_t at)
{
	cursor_take(&info, at);
	return info;
}

static uint32_t field32(struct cursor info, uint16_t at)
{
	info = field_at(info, at);
	return cursor_u32(&info);
}

static uint64_t field64(struct cursor info, uint16_t at)
{
	info = field_at(info, at);
	return cursor_u64(&info);
}

static bool read_array(struct cursor info, struct bytes data, size_t kind,
		       struct perfdata_bpf_array *array)
{
	const uint32_t count = field32(info, array_fields[kind].count_at);
	const uint64_t place = field64(info, array_fields[kind].place_at);
	const uint32_t item_size = array_fields[kind].size_at
				       ? field32(info, array_fields[kind].size_at)
				       : array_fields[kind].item_size;
	if (!count)
		return true;
	/* Items may grow, never shrink. */
	if (!item_size || item_size < array_fields[kind].item_size || place > data.size ||
	    count > (data.size - place) / item_size)
		return false;
	*array = (struct perfdata_bpf_array){
		.bytes = { data.data + place, (size_t)count * item_size },
		.count = count,
		.item_size = item_size,
	};
	return true;
}

static struct perfdata_bpf_walk walk_over(const struct perfdata *file, unsigned feature)
{
	struct perfdata_bpf_walk walk = { perfdata_cursor(file, perfdata_feature(file, feature)),
					  0 };
	if (cursor_left(&walk.c))
		walk.left = cursor_u32(&walk.c);
	/* A count that is cut is a section that ends early. */
	if (cursor_failed(&walk.c))
		walk.left = 1;
	return walk;
}

struct perfdata_bpf_walk perfdata_bpf_programs(const struct perfdata *file)
{
	return walk_over(file, PERFDATA_FEATURE_BPF_PROG_INFO);
}

int perfdata_bpf_program_next(struct perfdata_bpf_walk *walk, struct perfdata_bpf_program *program)
{
	if (!walk->left)
		return 0;
	walk->left--;
	const uint32_t info_size = cursor_u32(&walk->c);
	const uint32_t data_size = cursor_u32(&walk->c);
	const uint64_t mask = cursor_u64(&walk->c);
	struct cursor info = cursor_sub(&walk->c, info_size);
	const struct bytes data = cursor_take(&walk->c, data_size);
	if (cursor_failed(&walk->c)) {
		walk->left = 0;
		return STATUS_TRUNCATED;
	}
	*program = (struct perfdata_bpf_program){
		.kind = field32(info, KIND_AT),
		.id = field32(info, ID_AT),
		.btf_id = field32(info, BTF_ID_AT),
		.swap = info.swap,
	};
	struct cursor text = field_at(info, TAG_AT);
	const struct bytes tag = cursor_take(&text, PERFDATA_BPF_TAG_SIZE);
	memcpy(program->tag, tag.data, tag.size);
	text = field_at(info, NAME_AT);
	const struct bytes name = cursor_take(&text, PERFDATA_BPF_NAME_SIZE);
	memcpy(program->name, name.data, name.size);
	for (uint32_t i = 0; i < PERFDATA_BPF_ARRAYS; i++)
		if (mask >> i & 1 && !read_array(info, data, i, &program->arrays[i]))
			program->bad_arrays |= 1u << i;
	return 1;
}

struct cursor perfdata_bpf_cursor(const struct perfdata_bpf_program *program,
				  enum perfdata_bpf_array_kind kind, uint32_t index)
{
	const struct perfdata_bpf_array *array = &program->arrays[kind];
	struct bytes item = { 0 };
	if (index < array->count)
		item = (struct bytes){ array->bytes.data + (size_t)index * array->item_size,
				       array->item_size };
	struct cursor c = cursor_over(item);
	c.swap = program->swap;
	return c;
}

struct perfdata_bpf_walk perfdata_bpf_btfs(const struct perfdata *file)
{
	return walk_over(file, PERFDATA_FEATURE_BPF_BTF);
}

int perfdata_bpf_btf_next(struct perfdata_bpf_walk *walk, struct perfdata_bpf_btf *btf)
{
	if (!walk->left)
		return 0;
	walk->left--;
	const uint32_t id = cursor_u32(&walk->c);
	const uint32_t size = cursor_u32(&walk->c);
	const struct bytes content = cursor_take(&walk->c, size);
	if (cursor_failed(&walk->c)) {
		walk->left = 0;
		return STATUS_TRUNCATED;
	}
	*btf = (struct perfdata_bpf_btf){ id, content };
	return 1;
}

static size_t padded(size_t size)
{
	return (size + 7) / 8 * 8;
}

/* Says in the info where an array lies, how many items it has and how large they are. */
static void set_array(uint8_t *info, size_t kind, const struct perfdata_bpf_array *array,
		      uint64_t place)
{
	memcpy(info + array_fields[kind].place_at, &place, sizeof(place));
	memcpy(info + array_fields[kind].count_at, &array->count, sizeof(array->count));
	if (array_fields[kind].size_at)
		memcpy(info + array_fields[kind].size_at, &array->item_size,
		       sizeof(array->item_size));
}

void perfdata_put_bpf_program(struct sink *content, struct bytes info,
			      const struct perfdata_bpf_array arrays[PERFDATA_BPF_ARRAYS])
{
	uint8_t written[WRITTEN_SIZE] = { 0 };
	uint64_t mask = 0;
	uint64_t data_size = 0;
	memcpy(written, info.data, info.size < sizeof(written) ? info.size : sizeof(written));
	for (size_t i = 0; i < PERFDATA_BPF_ARRAYS; i++) {
		const bool is_kept = arrays[i].bytes.size != 0;
		set_array(written, i, &arrays[i], is_kept ? data_size : 0);
		mask |= (uint64_t)is_kept << i;
		data_size += padded(arrays[i].bytes.size);
	}
	if (data_size > UINT32_MAX)
		content->failed = true;
	sink_u32(content, sizeof(written));
	sink_u32(content, (uint32_t)data_size);
	sink_u64(content, mask);
	sink_put(content, written, sizeof(written));
	for (size_t i = 0; i < PERFDATA_BPF_ARRAYS; i++) {
		const struct bytes bytes = arrays[i].bytes;
		sink_put(content, bytes.data, bytes.size);
		sink_zeros(content, padded(bytes.size) - bytes.size);
	}
}

void perfdata_put_bpf_btf(struct sink *content, const struct perfdata_bpf_btf *btf)
{
	if (btf->content.size > UINT32_MAX)
		content->failed = true;
	sink_u32(content, btf->id);
	sink_u32(content, (uint32_t)btf->content.size);
	sink_put(content, btf->content.data, btf->content.size);
}
