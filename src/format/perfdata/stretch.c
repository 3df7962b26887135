#include "format/perfdata/stretch.h"

#include "format/perfdata/perfdata_internal.h"

_Static_assert(PERFDATA_KSYMBOL == 17 && PERFDATA_BPF_EVENT == 18 && PERFDATA_TEXT_POKE == 20,
	       "perfdata_can_be_stretched() knows them by number");

/* The record's own fields, in whole words, or 0 where they do not end in the body. */
static size_t fields_size(uint32_t type, struct bytes body, bool swap)
{
	enum { BEFORE_NAME = 16, BPF_FIELDS = 16, BEFORE_CODE = 12 };
	size_t size = BPF_FIELDS;
	if (type == PERFDATA_KSYMBOL) {
		if (body.size < BEFORE_NAME)
			return 0;
		const void *nul = memchr(body.data + BEFORE_NAME, 0, body.size - BEFORE_NAME);
		if (!nul)
			return 0;
		size = (size_t)((const uint8_t *)nul - body.data) + 1;
	} else if (type == PERFDATA_TEXT_POKE) {
		if (body.size < BEFORE_CODE)
			return 0;
		size = BEFORE_CODE + (size_t)perfdata_load16(body.data + 8, swap) +
		       perfdata_load16(body.data + 10, swap);
	}
	return (size + 7) / 8 * 8;
}

size_t perfdata_written_size(uint32_t type, struct bytes body, size_t trailer_size, bool swap)
{
	if (!perfdata_can_be_stretched(type))
		return body.size;
	const size_t fields = fields_size(type, body, swap);
	return fields && fields + trailer_size < body.size ? fields + trailer_size : body.size;
}

/* The size of a whole record at the start of `left` bytes, or 0. */
static size_t record_size(const uint8_t *record, size_t left)
{
	if (left < PERFDATA_RECORD_HEADER_SIZE)
		return 0;
	const uint16_t size = perfdata_load16(record + 6, false);
	return size >= PERFDATA_RECORD_HEADER_SIZE && size <= left ? size : 0;
}

size_t perfdata_unstretch(uint8_t *records, size_t size, size_t trailer_size)
{
	enum { HEADER = PERFDATA_RECORD_HEADER_SIZE };
	size_t kept = 0;
	size_t at = 0;
	for (size_t told; (told = record_size(records + at, size - at)); at += told) {
		const struct bytes body = { records + at + HEADER, told - HEADER };
		const uint16_t written =
		    (uint16_t)(HEADER + perfdata_written_size(perfdata_load32(records + at, false),
							      body, trailer_size, false));
		if (kept < at)
			memmove(records + kept, records + at, written);
		memcpy(records + kept + 6, &written, sizeof(written));
		kept += written;
	}
	memmove(records + kept, records + at, size - at);
	return kept + (size - at);
}
