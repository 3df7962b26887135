#include "format/perfdata/writer.h"

#include "base/status.h"

#include <stdlib.h>
#include <zstd.h>

/* What goes into one record is flushed with it. So much fits, packed or not, in
 * the 64 KiB of a record; larger pieces could leave a record that unpacks to
 * nothing yet, which perf takes for an error.
 */
enum { PIECE_BYTES = 60 << 10, RECORD_ROOM = PERFDATA_RECORD_LIMIT - PERFDATA_RECORD_HEADER_SIZE };
_Static_assert(ZSTD_COMPRESSBOUND(PIECE_BYTES) + 64 <= RECORD_ROOM,
	       "a piece fits its record with zstd's headers");

struct perfdata_compressor {
	ZSTD_CCtx *context;
};

int perfdata_compressor_open(struct perfdata_compressor **opened, int level)
{
	struct perfdata_compressor *made = calloc(1, sizeof(*made));
	if (!made)
		return STATUS_NO_MEMORY;
	made->context = ZSTD_createCCtx();
	if (!made->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(made->context, ZSTD_c_compressionLevel, level))) {
		perfdata_compressor_close(made);
		return STATUS_NO_MEMORY;
	}
	*opened = made;
	return 0;
}

void perfdata_compressor_close(struct perfdata_compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->context);
	free(compressor);
}

static int compress_piece(struct perfdata_compressor *compressor, struct bytes piece,
			  struct sink *out)
{
	const size_t at = out->size;
	uint8_t *record = sink_reserve(out, PERFDATA_RECORD_LIMIT);
	if (!record)
		return STATUS_NO_MEMORY;
	ZSTD_inBuffer in = { piece.data, piece.size, 0 };
	ZSTD_outBuffer packed = { record + PERFDATA_RECORD_HEADER_SIZE, RECORD_ROOM, 0 };
	const size_t left = ZSTD_compressStream2(compressor->context, &packed, &in, ZSTD_e_flush);
	if (ZSTD_isError(left) || left || in.pos < in.size) {
		out->failed = true;
		return STATUS_NO_MEMORY;
	}
	const uint32_t type = PERFDATA_COMPRESSED;
	const uint16_t size = (uint16_t)(PERFDATA_RECORD_HEADER_SIZE + packed.pos);
	memcpy(record, &type, sizeof(type));
	memset(record + 4, 0, 2);
	memcpy(record + 6, &size, sizeof(size));
	out->size = at + size;
	return 0;
}

int perfdata_compress(struct perfdata_compressor *compressor, struct bytes records,
		      struct sink *out)
{
	while (records.size) {
		const size_t size = records.size < PIECE_BYTES ? records.size : PIECE_BYTES;
		const int status =
		    compress_piece(compressor, (struct bytes){ records.data, size }, out);
		if (status < 0)
			return status;
		records.data += size;
		records.size -= size;
	}
	return 0;
}
