/* Source texts that are in the PDB itself. */
#include "base/status.h"
#include "clr/inflate.h"
#include "clr/pdb_internal.h"

enum {
	SOURCE_LIMIT = 16 << 20,
	DOCUMENT_TAG = 22, /* of CLR_HAS_CUSTOM_DEBUG_INFORMATION */
	TAG_BITS = 5,
	PLAIN = 0,
};

/* {0E8A571B-6926-466E-B4AD-8AB04611F5FE}, as GUIDs lie in files. */
static const uint8_t EMBEDDED_SOURCE[16] = { 0x1b, 0x57, 0x8a, 0x0e, 0x26, 0x69, 0x6e, 0x46,
					     0xb4, 0xad, 0x8a, 0xb0, 0x46, 0x11, 0xf5, 0xfe };

static struct bytes source_blob(const struct clr_metadata *md, uint32_t document)
{
	const uint32_t parent = document << TAG_BITS | DOCUMENT_TAG;
	const uint32_t count = clr_row_count(md, CLR_CUSTOM_DEBUG_INFORMATION);
	for (uint32_t row =
		 clr_first_row(md, CLR_CUSTOM_DEBUG_INFORMATION, CLR_CUSTOM_DEBUG_PARENT, parent);
	     row <= count; row++) {
		if (clr_get(md, CLR_CUSTOM_DEBUG_INFORMATION, row, CLR_CUSTOM_DEBUG_PARENT) !=
		    parent)
			break;
		const uint8_t *kind = clr_guid(
		    md, clr_get(md, CLR_CUSTOM_DEBUG_INFORMATION, row, CLR_CUSTOM_DEBUG_KIND));
		if (kind && memcmp(kind, EMBEDDED_SOURCE, sizeof(EMBEDDED_SOURCE)) == 0)
			return clr_blob(md, clr_get(md, CLR_CUSTOM_DEBUG_INFORMATION, row,
						    CLR_CUSTOM_DEBUG_VALUE));
	}
	return (struct bytes){ 0 };
}

static int put_text(struct bytes packed, uint32_t size, struct sink *text)
{
	if (size == PLAIN) {
		if (packed.size > SOURCE_LIMIT)
			return STATUS_TOO_BIG;
		sink_put(text, packed.data, packed.size);
		return sink_failed(text) ? STATUS_NO_MEMORY : 0;
	}
	if (size > SOURCE_LIMIT)
		return STATUS_TOO_BIG;
	if (!clr_inflate_can_fill(packed, size))
		return STATUS_CORRUPT;
	uint8_t *room = sink_reserve(text, size);
	return room ? clr_inflate(packed, room, size) : STATUS_NO_MEMORY;
}

int clr_pdb_source(const struct clr_pdb *pdb, uint32_t document, struct sink *text)
{
	if (document == 0 || document > clr_row_count(&pdb->md, CLR_DOCUMENT))
		return STATUS_NOT_FOUND;
	const struct bytes blob = source_blob(&pdb->md, document);
	if (!blob.size)
		return STATUS_NOT_FOUND;
	struct cursor c = cursor_over(blob);
	const uint32_t size = cursor_u32(&c);
	const size_t before = text->size;
	const int result = cursor_failed(&c)
			       ? STATUS_CORRUPT
			       : put_text(cursor_take(&c, cursor_left(&c)), size, text);
	if (result < 0)
		text->size = before;
	return result;
}
