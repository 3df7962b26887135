#include "format/perfdata/wire.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEADER_SIZE = 104, ATTR_SIZE = 136, DATA_SIZE_AT = 48, FEATURE_BITS_AT = 72 };

void wire_u8(struct wire *w, uint8_t value)
{
	sink_u8(&w->out, value);
}

void wire_u16(struct wire *w, uint16_t value)
{
	sink_u16(&w->out, w->swap ? __builtin_bswap16(value) : value);
}

void wire_u32(struct wire *w, uint32_t value)
{
	sink_u32(&w->out, w->swap ? __builtin_bswap32(value) : value);
}

void wire_u64(struct wire *w, uint64_t value)
{
	sink_u64(&w->out, w->swap ? __builtin_bswap64(value) : value);
}

void wire_put(struct wire *w, const void *data, size_t size)
{
	sink_put(&w->out, data, size);
}

void wire_text(struct wire *w, const char *text)
{
	const size_t size = strlen(text) + 1;
	sink_put(&w->out, text, size);
	sink_zeros(&w->out, (8 - size % 8) % 8);
}

static void patch_u64(struct wire *w, size_t at, uint64_t value)
{
	sink_patch_u64(&w->out, at, w->swap ? __builtin_bswap64(value) : value);
}

/* Bit-fields: the first flag is the lowest bit of byte 0, or the highest one on big-endian. */
static void put_flags(struct wire *w, uint64_t flags)
{
	const bool big_endian = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != w->swap;
	uint8_t bytes[8] = { 0 };
	for (unsigned bit = 0; bit < 64; bit++)
		if (flags >> bit & 1)
			bytes[bit / 8] |= (uint8_t)(1u << (big_endian ? 7 - bit % 8 : bit % 8));
	wire_put(w, bytes, sizeof(bytes));
}

void wire_attr(struct wire *w, const struct wire_event *event)
{
	const size_t size = event->attr_size ? event->attr_size : ATTR_SIZE;
	const size_t begin = w->out.size;
	wire_u32(w, event->type);
	wire_u32(w, (uint32_t)size);
	wire_u64(w, event->config);
	wire_u64(w, event->sample_period);
	wire_u64(w, event->sample_type);
	wire_u64(w, event->read_format);
	put_flags(w, event->flags);
	wire_u64(w, 0); /* wakeup, breakpoint type */
	wire_u64(w, 0x1111);
	wire_u64(w, 0x2222);
	wire_u64(w, event->branch_sample_type);
	wire_u64(w, event->regs_user);
	wire_u32(w, 8192);
	wire_u32(w, 1);
	wire_u64(w, event->regs_intr);
	const size_t written = w->out.size - begin;
	if (written > size)
		w->out.size = begin + size;
	/* Fields that this build does not know must not matter. */
	for (size_t i = written; i < size; i++)
		wire_u8(w, 0xa5);
}

void wire_begin(struct wire *w, const struct wire_event *events, size_t count)
{
	const size_t attr_size = events[0].attr_size ? events[0].attr_size : ATTR_SIZE;
	const size_t entry_size = attr_size + 16;
	size_t ids_at = HEADER_SIZE;
	size_t id_bytes = 0;
	for (size_t i = 0; i < count; i++)
		id_bytes += 8 * events[i].id_count;
	w->data_at = HEADER_SIZE + id_bytes + count * entry_size;
	wire_u64(w, 0x32454c4946524550u);
	wire_u64(w, HEADER_SIZE);
	wire_u64(w, entry_size);
	wire_u64(w, HEADER_SIZE + id_bytes);
	wire_u64(w, count * entry_size);
	wire_u64(w, w->data_at);
	sink_zeros(&w->out, HEADER_SIZE - w->out.size);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < events[i].id_count; k++)
			wire_u64(w, events[i].ids[k]);
	for (size_t i = 0; i < count; i++) {
		wire_attr(w, &events[i]);
		wire_u64(w, ids_at);
		wire_u64(w, 8 * events[i].id_count);
		ids_at += 8 * events[i].id_count;
	}
}

void wire_begin_pipe(struct wire *w)
{
	wire_u64(w, 0x32454c4946524550u);
	wire_u64(w, 16);
}

size_t wire_record(struct wire *w, uint32_t type, uint16_t misc)
{
	const size_t at = w->out.size;
	wire_u32(w, type);
	wire_u16(w, misc);
	wire_u16(w, 0);
	return at;
}

void wire_end_record(struct wire *w, size_t at)
{
	const uint16_t size = (uint16_t)(w->out.size - at);
	const uint16_t written = w->swap ? __builtin_bswap16(size) : size;
	memcpy(w->out.data + at + 6, &written, sizeof(written));
}

void wire_trailer(struct wire *w, uint64_t sample_type, const struct perfdata_sample_id *id)
{
	if (sample_type & PERFDATA_SAMPLE_TID) {
		wire_u32(w, id->pid);
		wire_u32(w, id->tid);
	}
	if (sample_type & PERFDATA_SAMPLE_TIME)
		wire_u64(w, id->time_ns);
	if (sample_type & PERFDATA_SAMPLE_ID)
		wire_u64(w, id->id);
	if (sample_type & PERFDATA_SAMPLE_STREAM_ID)
		wire_u64(w, 0x5757);
	if (sample_type & PERFDATA_SAMPLE_CPU) {
		wire_u32(w, id->cpu);
		wire_u32(w, 0x5858);
	}
	if (sample_type & PERFDATA_SAMPLE_IDENTIFIER)
		wire_u64(w, id->id);
}

void wire_end_data(struct wire *w, const unsigned *features, size_t count)
{
	patch_u64(w, DATA_SIZE_AT, w->out.size - w->data_at);
	for (size_t i = 0; i < count; i++)
		w->feature_bits[features[i] / 64] |= 1ull << (features[i] % 64);
	for (size_t i = 0; i < 4; i++)
		patch_u64(w, FEATURE_BITS_AT + 8 * i, w->feature_bits[i]);
	w->table_at = w->out.size;
	sink_zeros(&w->out, 16 * count);
}

void wire_feature(struct wire *w)
{
	patch_u64(w, w->table_at + 16 * w->feature_count, w->out.size);
}

void wire_end_feature(struct wire *w)
{
	const size_t entry = w->table_at + 16 * w->feature_count++;
	uint64_t begin;
	memcpy(&begin, w->out.data + entry, sizeof(begin));
	if (w->swap)
		begin = __builtin_bswap64(begin);
	patch_u64(w, entry + 8, w->out.size - begin);
}

void wire_string(struct wire *w, const char *text, size_t padded_size)
{
	wire_u32(w, (uint32_t)padded_size);
	wire_put(w, text, strlen(text));
	sink_zeros(&w->out, padded_size - strlen(text));
}

struct bytes wire_copy(struct bytes in, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	if (size)
		memcpy(copy, in.data, size);
	return (struct bytes){ copy, size };
}

void wire_free(struct bytes bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

struct bytes wire_finish(const struct wire *w)
{
	assert_false(sink_failed(&w->out));
	return wire_copy(sink_bytes(&w->out), w->out.size);
}

void wire_clear(struct wire *w)
{
	sink_clear(&w->out);
}

struct bytes wire_load(const char *name)
{
	char path[512];
	(void)snprintf(path, sizeof(path), TEST_DATA "/perfdata/%s", name);
	FILE *in = fopen(path, "rbe");
	assert_non_null(in);
	assert_int_equal(fseek(in, 0, SEEK_END), 0);
	const size_t size = (size_t)ftell(in);
	rewind(in);
	uint8_t *data = malloc(size ? size : 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, size, in), size);
	assert_int_equal(fclose(in), 0);
	return (struct bytes){ data, size };
}
