#include "export/gzip.h"

#include "base/status.h"

enum { WINDOW_BITS = 15, GZIP_HEADER = 16, MEMORY_LEVEL = 8, PIECE = 64 * 1024 };

int export_gzip_open(struct export_gzip *gzip, struct export_out *out)
{
	*gzip = (struct export_gzip){ .out = out };
	const int got = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
				     WINDOW_BITS + GZIP_HEADER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
	return got == Z_OK ? 0 : STATUS_NO_MEMORY;
}

static int pack(struct export_gzip *gzip, int flush)
{
	do {
		uint8_t *room = sink_reserve(&gzip->out->sink, PIECE);
		if (!room)
			return STATUS_NO_MEMORY;
		gzip->stream.next_out = room;
		gzip->stream.avail_out = PIECE;
		(void)deflate(&gzip->stream, flush);
		gzip->out->sink.size -= gzip->stream.avail_out;
		const int got = export_out_more(gzip->out);
		if (got < 0)
			return got;
	} while (gzip->stream.avail_out == 0);
	return 0;
}

int export_gzip_write(void *context, const void *data, size_t size)
{
	struct export_gzip *gzip = context;
	/* zlib reads through a pointer that is not to const, and counts in 32 bits. */
	const uint8_t *at = data;
	while (size) {
		const uInt now = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
		gzip->stream.next_in = (z_const Bytef *)at;
		gzip->stream.avail_in = now;
		const int got = pack(gzip, Z_NO_FLUSH);
		if (got < 0)
			return got;
		at += now;
		size -= now;
	}
	return 0;
}

int export_gzip_end(struct export_gzip *gzip)
{
	const int got = pack(gzip, Z_FINISH);
	(void)deflateEnd(&gzip->stream);
	return got;
}
