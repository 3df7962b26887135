/* Writes what lives once more, into another dump. */
#include "emit/emit_internal.h"
#include "emit/live.h"

enum {
	AT_TIME = 8,
	AT_PID = 16,   /* of LOAD and METHOD */
	AT_ABOUT = 16, /* the code's address, in what speaks of a LOAD */
	AT_LINE_COUNT = 24,
	AT_LOAD_VMA = 24,
	AT_LOAD_ADDRESS = 32,
};

/* How a record differs from what it was. */
struct change {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t delta; /* how far the code has moved */
};

static void add_to_u64(uint8_t *at, uint64_t delta)
{
	ppjit_put_u64(at, ppjit_get_u64(at) + delta);
}

/* The entries of a DEBUG_INFO record have addresses of their own. */
static void shift_lines(uint8_t *record, uint32_t total_size, uint64_t delta)
{
	const uint8_t *end = record + total_size;
	uint64_t left = ppjit_get_u64(record + AT_LINE_COUNT);
	uint8_t *at = record + JITDUMP_DEBUG_INFO_SIZE;
	for (; left && end - at > JITDUMP_DEBUG_ENTRY_SIZE; left--) {
		add_to_u64(at, delta);
		const uint8_t *name = at + JITDUMP_DEBUG_ENTRY_SIZE;
		const uint8_t *nul = memchr(name, 0, (size_t)(end - name));
		if (!nul)
			return;
		at += nul + 1 - at;
	}
}

static void adapt(uint8_t *record, uint32_t id, uint32_t total_size, const struct change *change)
{
	ppjit_put_u64(record + AT_TIME, change->time_ns);
	switch (id) {
	case JITDUMP_CODE_LOAD:
		ppjit_put_u32(record + AT_PID, change->pid);
		add_to_u64(record + AT_LOAD_VMA, change->delta);
		add_to_u64(record + AT_LOAD_ADDRESS, change->delta);
		break;
	case JITDUMP_METHOD:
		ppjit_put_u32(record + AT_PID, change->pid);
		break;
	case JITDUMP_DEBUG_INFO:
		add_to_u64(record + AT_ABOUT, change->delta);
		if (change->delta)
			shift_lines(record, total_size, change->delta);
		break;
	case JITDUMP_INLINES:
	case JITDUMP_BYTECODES:
	case JITDUMP_ANNOTATIONS:
		add_to_u64(record + AT_ABOUT, change->delta);
		break;
	default:
		break;
	}
}

/* The LOAD is the group's last record; it says where the code was when it was told. */
static uint64_t loaded_at(const uint8_t *group, uint32_t size)
{
	uint32_t off = 0;
	while (ppjit_get_u32(group + off + 4) < size - off)
		off += ppjit_get_u32(group + off + 4);
	return ppjit_get_u64(group + off + AT_LOAD_ADDRESS);
}

/* The room at `to` is a PAD of the group's size; the last store makes the whole group of it. */
static void write_group(const struct ppjit_live_entry *entry, const uint8_t *from, uint8_t *to,
			const struct ppjit_live_target *target)
{
	struct change change = {
		.pid = target->pid,
		.time_ns = target->time_ns ? target->time_ns : entry->time_ns,
	};
	if (entry->kind == PPJIT_LIVE_CODE)
		change.delta = entry->address - loaded_at(from, entry->group_size);
	memcpy(to + JITDUMP_PREFIX_SIZE, from + JITDUMP_PREFIX_SIZE,
	       entry->group_size - JITDUMP_PREFIX_SIZE);
	for (uint32_t off = 0; off < entry->group_size; off += ppjit_get_u32(from + off + 4))
		adapt(to + off, ppjit_get_u32(from + off), ppjit_get_u32(from + off + 4), &change);
	ppjit_store_prefix(to, ppjit_get_u32(from), ppjit_get_u32(from + 4));
}

static void put_pad(uint8_t *at, uint64_t size, uint64_t time_ns)
{
	ppjit_put_u64(at + AT_TIME, time_ns);
	ppjit_store_prefix(at, JITDUMP_PAD, (uint32_t)size);
}

void ppjit_live_write(struct ppjit_live *live, const uint8_t *base,
		      const struct ppjit_live_target *to)
{
	uint8_t *at = to->at;
	uint64_t left = to->size;
	for (size_t i = 0; i < live->count; i++) {
		const struct ppjit_live_entry *entry = &live->slots[i];
		const uint64_t size = entry->group_size;
		/* What stays must be nothing, or large enough for a PAD. */
		if (size > left || (left != size && left - size < JITDUMP_PAD_SIZE)) {
			live->lost_count++;
			continue;
		}
		if (left != size) {
			put_pad(at + size, left - size, to->pad_time_ns);
			put_pad(at, size, to->pad_time_ns);
		}
		write_group(entry, base + entry->group_off, at, to);
		at += size;
		left -= size;
	}
}
