#include "base/sink.h"
#include "base/status.h"
#include "symbol/elf_symbols.h"

#include <lzma.h>
#include <stdlib.h>

/* Real ones unpack to less than a tenth of this. */
enum { MAX_UNPACKED_BYTES = 64 << 20, MAX_DECODER_BYTES = 128 << 20, STEP_BYTES = 64 * 1024 };

static int unpack(struct bytes packed, struct sink *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, MAX_DECODER_BYTES, 0) != LZMA_OK)
		return STATUS_NO_MEMORY;
	stream.next_in = packed.data;
	stream.avail_in = packed.size;
	lzma_ret got = LZMA_OK;
	while (got == LZMA_OK) {
		uint8_t *room = sink_reserve(out, STEP_BYTES);
		if (!room)
			break;
		stream.next_out = room;
		stream.avail_out = STEP_BYTES;
		got = lzma_code(&stream, LZMA_FINISH);
		out->size -= stream.avail_out;
	}
	lzma_end(&stream);
	return got == LZMA_STREAM_END ? STATUS_OK : STATUS_CORRUPT;
}

int elf_add_mini_debug(struct symbol_table *table, const struct elf_image *image)
{
	struct elf_section section;
	if (!elf_section_named(image, ".gnu_debugdata", &section))
		return 0;
	struct sink out = { .limit = MAX_UNPACKED_BYTES };
	struct elf_image inner;
	int added = 0;
	/* Damage here costs these names only. */
	if (unpack(elf_section_bytes(image, &section), &out) == STATUS_OK &&
	    elf_image_open(&inner, sink_bytes(&out)) == STATUS_OK) {
		added = elf_add_symbols(table, &inner, SHT_SYMTAB);
		elf_image_close(&inner);
	}
	if (added > 0) {
		table->unpacked = out.data; /* the names are in it */
		return added;
	}
	sink_clear(&out);
	return added;
}
