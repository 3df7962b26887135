#include "format/jitdump/plausible_internal.h"

enum {
	/* Some writers round a record up to a multiple of eight. */
	PADDING_MAX = 7,
	NAME_NUL = 1,
};

/* A day in ns; some hours in ticks. Records that follow each other are far
 * closer, random bytes are not.
 */
static const uint64_t WINDOW = UINT64_C(86400000000000);

static uint32_t load_u32(const struct jitdump_reader *reader, size_t offset)
{
	uint32_t value;
	memcpy(&value, reader->file.data + offset, sizeof(value));
	return reader->swap ? __builtin_bswap32(value) : value;
}

static uint64_t load_u64(const struct jitdump_reader *reader, size_t offset)
{
	uint64_t value;
	memcpy(&value, reader->file.data + offset, sizeof(value));
	return reader->swap ? __builtin_bswap64(value) : value;
}

bool jitdump_prefix_at(const struct jitdump_reader *reader, size_t offset,
		       struct jitdump_prefix *prefix)
{
	if (reader->file.size - offset < JITDUMP_PREFIX_SIZE)
		return false;
	prefix->id = load_u32(reader, offset);
	prefix->total_size = load_u32(reader, offset + 4);
	prefix->time = load_u64(reader, offset + 8);
	return true;
}

bool jitdump_is_near(uint64_t time, uint64_t other)
{
	/* Soon after boot a whole day back would let every small number in. */
	const uint64_t back = other / 2 < WINDOW ? other / 2 : WINDOW;
	return time >= other - back && time - (other - back) <= back + WINDOW;
}

bool jitdump_is_near_anchor(const struct jitdump_reader *reader, uint64_t time)
{
	return !reader->anchor_time || jitdump_is_near(time, reader->anchor_time);
}

static uint32_t fixed_size(uint32_t id)
{
	static const uint8_t sizes[] = {
		[JITDUMP_CODE_LOAD] = JITDUMP_CODE_LOAD_SIZE + NAME_NUL,
		[JITDUMP_CODE_MOVE] = JITDUMP_CODE_MOVE_SIZE,
		[JITDUMP_DEBUG_INFO] = JITDUMP_DEBUG_INFO_SIZE,
		[JITDUMP_CLOSE] = JITDUMP_CLOSE_SIZE,
		[JITDUMP_UNWINDING_INFO] = JITDUMP_UNWINDING_INFO_SIZE,
	};
	if (id < sizeof(sizes))
		return sizes[id];
	switch (id) {
	case JITDUMP_UNLOAD:
		return JITDUMP_UNLOAD_SIZE;
	case JITDUMP_INLINES:
		return JITDUMP_INLINES_SIZE;
	case JITDUMP_BYTECODES:
		return JITDUMP_BYTECODES_SIZE;
	case JITDUMP_ANNOTATIONS:
		return JITDUMP_ANNOTATIONS_SIZE;
	case JITDUMP_METHOD:
		return JITDUMP_METHOD_SIZE;
	default:
		return JITDUMP_PREFIX_SIZE;
	}
}

bool jitdump_is_known(uint32_t id)
{
	return id <= JITDUMP_UNWINDING_INFO ||
	       (id >= JITDUMP_EXTENSION_FIRST && id <= JITDUMP_EXTENSION_KNOWN);
}

/* The length of the name of the LOAD at `offset`, or SIZE_MAX if it does not end in [.., end). */
static size_t name_length(const struct jitdump_reader *reader, size_t offset, size_t end)
{
	const uint8_t *name = reader->file.data + offset + JITDUMP_CODE_LOAD_SIZE;
	const size_t room = end - offset - JITDUMP_CODE_LOAD_SIZE;
	const uint8_t *nul = memchr(name, 0, room);
	return nul ? (size_t)(nul - name) : SIZE_MAX;
}

bool jitdump_fits(const struct jitdump_reader *reader, size_t offset,
		  const struct jitdump_prefix *prefix)
{
	const size_t left = reader->file.size - offset;
	if (prefix->total_size < fixed_size(prefix->id) || prefix->total_size > left)
		return false;
	if (prefix->id == JITDUMP_CODE_LOAD)
		return name_length(reader, offset, offset + prefix->total_size) != SIZE_MAX;
	return jitdump_is_known(prefix->id) || jitdump_is_near_anchor(reader, prefix->time);
}

static bool is_padded_to(uint64_t exact, uint64_t total)
{
	return total >= exact && total - exact <= PADDING_MAX;
}

bool jitdump_load_agrees(size_t name_size, uint64_t code_size, uint32_t total_size)
{
	const uint64_t without_code = JITDUMP_CODE_LOAD_SIZE + (uint64_t)name_size + NAME_NUL;
	return total_size == without_code ||
	       (code_size <= total_size && is_padded_to(without_code + code_size, total_size));
}

static bool load_agrees(const struct jitdump_reader *reader, size_t offset, uint32_t total)
{
	const uint64_t code_avma = load_u64(reader, offset + 32);
	const uint64_t code_size = load_u64(reader, offset + 40);
	if (!code_avma || code_avma + code_size < code_avma)
		return false;
	const size_t length = name_length(reader, offset, offset + total);
	return length != SIZE_MAX && jitdump_load_agrees(length, code_size, total);
}

static bool debug_info_agrees(const struct jitdump_reader *reader, size_t offset, uint32_t total)
{
	const uint64_t code_avma = load_u64(reader, offset + 16);
	const uint64_t count = load_u64(reader, offset + 24);
	const uint32_t room = total - JITDUMP_DEBUG_INFO_SIZE;
	if (!code_avma || !count)
		return false;
	if (count > room / (JITDUMP_DEBUG_ENTRY_SIZE + NAME_NUL))
		return false;
	/* The first entry lies at the code, give or take: Erlang begins 50 bytes before it. */
	const uint64_t near = UINT64_C(1) << 24;
	const uint64_t first = load_u64(reader, offset + JITDUMP_DEBUG_INFO_SIZE);
	return first - code_avma + near <= 2 * near && !reader->file.data[offset + total - 1];
}

static bool unwinding_info_agrees(const struct jitdump_reader *reader, size_t offset,
				  uint32_t total)
{
	const uint64_t size = load_u64(reader, offset + 16);
	const uint64_t header_size = load_u64(reader, offset + 24);
	return size <= total && header_size <= size &&
	       is_padded_to(JITDUMP_UNWINDING_INFO_SIZE + size, total);
}

/* Entries and strings fill the record behind its fixed part, and the strings end. */
static bool is_filled(const struct jitdump_reader *reader, size_t offset,
		      const struct jitdump_prefix *prefix, const uint32_t counts[3])
{
	const uint64_t entry_count = counts[0];
	const uint64_t strings_size = counts[1];
	const uint64_t entry_size = counts[2];
	const uint32_t room = prefix->total_size - fixed_size(prefix->id);
	return strings_size <= room && entry_count == (room - strings_size) / entry_size &&
	       entry_count * entry_size + strings_size == room &&
	       (!strings_size || !reader->file.data[offset + prefix->total_size - 1]);
}

static bool about_agrees(const struct jitdump_reader *reader, size_t offset,
			 const struct jitdump_prefix *prefix, uint32_t entry_size)
{
	const uint32_t counts[3] = { load_u32(reader, offset + 24), load_u32(reader, offset + 28),
				     entry_size };
	return load_u64(reader, offset + 16) && counts[0] &&
	       is_filled(reader, offset, prefix, counts);
}

static bool method_agrees(const struct jitdump_reader *reader, size_t offset,
			  const struct jitdump_prefix *prefix)
{
	const uint32_t counts[3] = { load_u32(reader, offset + 48), load_u32(reader, offset + 52),
				     JITDUMP_METHOD_LINE_SIZE };
	const uint32_t name_at = load_u32(reader, offset + 60);
	return counts[1] && name_at < counts[1] && is_filled(reader, offset, prefix, counts);
}

static bool is_extension(uint32_t id)
{
	return id >= JITDUMP_EXTENSION_FIRST && id <= JITDUMP_EXTENSION_LAST;
}

bool jitdump_agrees(const struct jitdump_reader *reader, size_t offset,
		    const struct jitdump_prefix *prefix)
{
	const uint32_t total = prefix->total_size;
	if (total < fixed_size(prefix->id) || total > reader->file.size - offset)
		return false;
	switch (prefix->id) {
	case JITDUMP_CODE_LOAD:
		return load_agrees(reader, offset, total);
	case JITDUMP_CODE_MOVE:
		return total == JITDUMP_CODE_MOVE_SIZE;
	case JITDUMP_DEBUG_INFO:
		return debug_info_agrees(reader, offset, total);
	case JITDUMP_CLOSE:
		return total == JITDUMP_CLOSE_SIZE && prefix->time;
	case JITDUMP_UNWINDING_INFO:
		return unwinding_info_agrees(reader, offset, total);
	case JITDUMP_UNLOAD:
		return total == JITDUMP_UNLOAD_SIZE && load_u64(reader, offset + 24);
	case JITDUMP_INLINES:
		return about_agrees(reader, offset, prefix, JITDUMP_INLINE_ENTRY_SIZE);
	case JITDUMP_BYTECODES:
		return about_agrees(reader, offset, prefix, JITDUMP_BYTECODE_ENTRY_SIZE);
	case JITDUMP_ANNOTATIONS:
		return about_agrees(reader, offset, prefix, JITDUMP_ANNOTATION_ENTRY_SIZE);
	case JITDUMP_METHOD:
		return method_agrees(reader, offset, prefix);
	default: /* PAD, and newer kinds */
		return is_extension(prefix->id) && prefix->time;
	}
}

bool jitdump_may_begin(const struct jitdump_reader *reader, size_t offset)
{
	struct jitdump_prefix prefix;
	if (!jitdump_prefix_at(reader, offset, &prefix))
		return true; /* a torn end, or the end itself */
	if (prefix.total_size < fixed_size(prefix.id))
		return false;
	/* Where the time does not speak for it, all of its sizes must. */
	if (!reader->anchor_time || !jitdump_is_near(prefix.time, reader->anchor_time))
		return jitdump_agrees(reader, offset, &prefix);
	return prefix.total_size <= reader->file.size - offset ||
	       jitdump_is_credible_cut(reader, offset, &prefix);
}

/* The file ends at `offset`, or a record begins there that is near in time. */
static bool is_followed(const struct jitdump_reader *reader, size_t offset, uint64_t time)
{
	struct jitdump_prefix next;
	if (!jitdump_may_begin(reader, offset))
		return false;
	return !jitdump_prefix_at(reader, offset, &next) || !time ||
	       jitdump_is_near(next.time, time);
}

/* The sizes of these are one number, or (a LOAD without code) few: chance may meet them. */
static bool is_weak(const struct jitdump_reader *reader, size_t offset,
		    const struct jitdump_prefix *prefix)
{
	if (prefix->id != JITDUMP_CODE_LOAD)
		return prefix->id != JITDUMP_DEBUG_INFO && prefix->id != JITDUMP_UNWINDING_INFO;
	const size_t length = name_length(reader, offset, offset + prefix->total_size);
	const uint64_t code_size = load_u64(reader, offset + 40);
	return !length ||
	       prefix->total_size != JITDUMP_CODE_LOAD_SIZE + length + NAME_NUL + code_size;
}

bool jitdump_is_strict(const struct jitdump_reader *reader, size_t offset,
		       const struct jitdump_prefix *prefix)
{
	if (!jitdump_agrees(reader, offset, prefix))
		return false;
	if (reader->anchor_time && jitdump_is_near(prefix->time, reader->anchor_time) &&
	    !is_weak(reader, offset, prefix))
		return true;
	return is_followed(reader, offset + prefix->total_size, prefix->time);
}

bool jitdump_is_credible_cut(const struct jitdump_reader *reader, size_t offset,
			     const struct jitdump_prefix *prefix)
{
	const uint32_t total = prefix->total_size;
	if (total < fixed_size(prefix->id) || !jitdump_is_near_anchor(reader, prefix->time))
		return false;
	if (prefix->id > JITDUMP_UNWINDING_INFO)
		return is_extension(prefix->id);
	if (reader->file.size - offset < fixed_size(prefix->id))
		return true;
	switch (prefix->id) {
	case JITDUMP_CODE_LOAD:
		/* Names end long before 64 KB, so that the rest must be code. */
		return load_u64(reader, offset + 32) &&
		       (load_u64(reader, offset + 40) < total || total < UINT16_MAX);
	case JITDUMP_DEBUG_INFO:
		return load_u64(reader, offset + 24) <=
		       (total - JITDUMP_DEBUG_INFO_SIZE) / (JITDUMP_DEBUG_ENTRY_SIZE + NAME_NUL);
	case JITDUMP_UNWINDING_INFO:
		return load_u64(reader, offset + 16) <= total - JITDUMP_UNWINDING_INFO_SIZE;
	default:
		return total == fixed_size(prefix->id);
	}
}

/* Behind `offset` the first place where a prefix with a size may begin, if zeros lie there. */
static size_t skip_zeros(const struct jitdump_reader *reader, size_t offset, size_t to)
{
	const size_t start = offset;
	while (to - offset >= 8 && !load_u64(reader, offset))
		offset += 8;
	/* The first byte that is not zero may be the last of a size field. */
	return offset > start ? offset - 7 : start + 1;
}

size_t jitdump_find(const struct jitdump_reader *reader, size_t from, size_t to)
{
	size_t at = from;
	while (at < to && reader->file.size - at >= JITDUMP_PREFIX_SIZE) {
		const uint64_t both = load_u64(reader, at);
		if (!both) {
			at = skip_zeros(reader, at, to);
			continue;
		}
		const uint32_t id = load_u32(reader, at);
		struct jitdump_prefix prefix;
		const bool is_candidate = id <= JITDUMP_UNWINDING_INFO || is_extension(id);
		if (is_candidate && jitdump_prefix_at(reader, at, &prefix) &&
		    jitdump_is_strict(reader, at, &prefix))
			return at;
		at++;
	}
	return to;
}
