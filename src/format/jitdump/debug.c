#include "format/jitdump/debug.h"

#include "base/status.h"

enum {
	BIAS = 0x40, /* the size of an ELF header: perf once put the code behind one */
	PADDING_MAX = 7,
	STRIDE_MIN = JITDUMP_DEBUG_ENTRY_SIZE + 1,
	DAMAGE_BYTES = 16, /* that V8's reused memory has overwritten at a name's start */
	ENOUGH_RECORDS = 256,
};

/* No entry lies this far from its code: Erlang's begin 50 bytes before, V8's end a few behind. */
static const uint64_t NEAR = UINT64_C(1) << 30;

static bool is_near(uint64_t avma, uint64_t code_avma)
{
	return avma - code_avma + NEAR <= 2 * NEAR;
}

/* One entry as the format has it: the name ends at its NUL. */
static bool read_plain(struct cursor *c, struct jitdump_debug_entry *entry)
{
	entry->avma = cursor_u64(c);
	entry->line = cursor_u32(c);
	entry->column = cursor_u32(c);
	const char *name = cursor_cstr(c);
	if (cursor_failed(c))
		return false;
	entry->file.data = (const uint8_t *)name;
	entry->file.size = (size_t)(c->pos - entry->file.data) - 1;
	return true;
}

static bool is_all_zero(const struct cursor *c)
{
	for (const uint8_t *p = c->pos; p < c->end; p++)
		if (*p)
			return false;
	return true;
}

/* Do the entries, read as the format has them, end where the record ends? */
static bool is_plain(struct cursor c, uint64_t count, uint64_t code_avma)
{
	struct jitdump_debug_entry entry;
	for (; count; count--)
		if (!read_plain(&c, &entry) || !is_near(entry.avma, code_avma))
			return false;
	return cursor_left(&c) <= PADDING_MAX && is_all_zero(&c);
}

/* A name `size` bytes long, NUL included: it ends there and, where it is longer than
 * the damage, has no NUL in its sound part, which is the same as the first entry's.
 */
static bool is_damaged_name(const uint8_t *name, const uint8_t *first, size_t size)
{
	if (name[size - 1])
		return false;
	if (size <= DAMAGE_BYTES)
		return size == 1 || name[size - 2];
	const size_t sound_size = size - DAMAGE_BYTES;
	const uint8_t *sound = name + DAMAGE_BYTES;
	return memcmp(sound, first + DAMAGE_BYTES, sound_size) == 0 &&
	       !memchr(sound, 0, sound_size - 1);
}

/* Every entry `stride` bytes long, with a sound address and a name that may be damaged. */
static bool is_stride(struct cursor c, uint64_t count, size_t stride, uint64_t code_avma)
{
	const uint8_t *first = c.pos + JITDUMP_DEBUG_ENTRY_SIZE;
	for (; count; count--) {
		struct cursor entry = cursor_sub(&c, stride);
		const uint8_t *name = entry.pos + JITDUMP_DEBUG_ENTRY_SIZE;
		if (cursor_failed(&c) || !is_near(cursor_u64(&entry), code_avma))
			return false;
		if (!is_damaged_name(name, first, stride - JITDUMP_DEBUG_ENTRY_SIZE))
			return false;
	}
	return is_all_zero(&c);
}

/* V8 gives all entries of a record one name, so that they are equally long; up
 * to seven bytes of padding follow. Few lengths fit, and one is believed.
 */
static size_t find_stride(struct cursor c, uint64_t count, uint64_t code_avma)
{
	const size_t room = cursor_left(&c);
	if (!count || count > room / STRIDE_MIN)
		return 0;
	const size_t longest = room / (size_t)count;
	for (size_t stride = longest; stride >= STRIDE_MIN; stride--) {
		if (room - stride * (size_t)count > PADDING_MAX)
			break;
		if (is_stride(c, count, stride, code_avma))
			return stride;
	}
	return 0;
}

void jitdump_debug_walk_init(struct jitdump_debug_walk *walk, const struct jitdump_record *record,
			     struct jitdump_debug_style style)
{
	const struct jitdump_debug_info *info = &record->debug_info;
	*walk = (struct jitdump_debug_walk){
		.entries = info->entries,
		.left = info->entry_count,
		.style = style,
		.code_avma = info->code_avma,
	};
	if (!record->is_torn && !is_plain(info->entries, info->entry_count, info->code_avma))
		walk->stride = find_stride(info->entries, info->entry_count, info->code_avma);
}

static bool has_control_byte(struct bytes name)
{
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] < 0x20 || name.data[i] == 0x7f)
			return true;
	return false;
}

static bool is_same_file_mark(struct bytes name)
{
	return name.size == 1 && memcmp(name.data, "\xff", 1) == 0;
}

int jitdump_debug_entry_next(struct jitdump_debug_walk *walk, struct jitdump_debug_entry *entry)
{
	if (!walk->left)
		return 0;
	struct jitdump_debug_entry read = { 0 };
	if (walk->stride) {
		struct cursor one = cursor_sub(&walk->entries, walk->stride);
		read.avma = cursor_u64(&one);
		read.line = cursor_u32(&one);
		read.column = cursor_u32(&one);
		if (!cursor_left(&one)) {
			walk->left = 0;
			return STATUS_CORRUPT;
		}
		read.file = (struct bytes){ .data = one.pos, .size = cursor_left(&one) - 1 };
		read.is_name_damaged = true;
	} else if (!read_plain(&walk->entries, &read) || !is_near(read.avma, walk->code_avma)) {
		walk->left = 0;
		return STATUS_CORRUPT;
	}
	walk->left--;
	if (is_same_file_mark(read.file))
		read.file = walk->file;
	else
		walk->file = read.file;
	if (!walk->stride)
		read.is_name_damaged = has_control_byte(read.file);
	read.avma -= walk->style.bias;
	*entry = read;
	return 1;
}

/* What the file shows about its entries' addresses. */
struct evidence {
	uint64_t least_off; /* of any entry behind its code's start; UINT64_MAX before the first */
	uint64_t code_avma; /* of the last DEBUG_INFO */
	uint64_t most_off;  /* of its entries */
	bool is_before;     /* an entry lies before its code */
	bool is_past;       /* an entry lies behind its code's end */
	bool is_llvm;       /* a LOAD's vma is 0, its code address is not */
	uint64_t record_count;
};

static void look_at_entries(struct evidence *seen, const struct jitdump_record *record)
{
	const uint64_t code_avma = record->debug_info.code_avma;
	const struct jitdump_debug_style none = { 0 };
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	jitdump_debug_walk_init(&walk, record, none);
	seen->record_count++;
	seen->code_avma = code_avma;
	seen->most_off = 0;
	while (jitdump_debug_entry_next(&walk, &entry) > 0) {
		const uint64_t off = entry.avma - code_avma;
		if (entry.avma < code_avma)
			seen->is_before = true;
		else if (off < seen->least_off)
			seen->least_off = off;
		if (entry.avma >= code_avma && off > seen->most_off)
			seen->most_off = off;
	}
}

/* Two tells of the writers that add 0x40, each held against the data: with the
 * bias the least offset is 0x40, since code has a line where it starts.
 */
struct jitdump_debug_style jitdump_debug_style(struct bytes file)
{
	const struct jitdump_debug_style plain = { 0 };
	struct evidence seen = { .least_off = UINT64_MAX };
	struct jitdump_reader reader;
	struct jitdump_record record;
	if (jitdump_reader_init(&reader, file) < 0)
		return plain;
	while (jitdump_reader_next(&reader, &record) > 0) {
		if (record.id == JITDUMP_DEBUG_INFO) {
			look_at_entries(&seen, &record);
			if (seen.is_before || seen.least_off < BIAS)
				return plain;
		} else if (record.id == JITDUMP_CODE_LOAD) {
			const struct jitdump_code_load *load = &record.code_load;
			seen.is_llvm |= !load->vma && load->code_avma;
			seen.is_past |= load->code_avma == seen.code_avma && seen.record_count &&
					seen.most_off > load->code_size;
		}
		if (seen.record_count >= ENOUGH_RECORDS && (reader.is_v8_pad || seen.is_llvm))
			break;
	}
	const bool is_told = reader.is_v8_pad || seen.is_llvm || seen.is_past;
	const bool is_biased = seen.least_off != UINT64_MAX && is_told;
	return (struct jitdump_debug_style){ .bias = is_biased ? BIAS : 0 };
}

struct bytes jitdump_debug_repair_name(struct bytes damaged, struct bytes symbol)
{
	const struct bytes none = { .data = symbol.data };
	if (damaged.size <= DAMAGE_BYTES || damaged.size > symbol.size)
		return none;
	const uint8_t *sound = damaged.data + DAMAGE_BYTES;
	const size_t sound_size = damaged.size - DAMAGE_BYTES;
	/* The last place where it fits: V8 puts the path last, before line and column. */
	for (size_t at = symbol.size - damaged.size + 1; at-- > 0;) {
		const struct bytes part = { .data = symbol.data + at, .size = damaged.size };
		const bool starts_name = !at || symbol.data[at - 1] == ' ';
		if (starts_name && !memcmp(part.data + DAMAGE_BYTES, sound, sound_size))
			return part;
	}
	return none;
}
