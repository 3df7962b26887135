#include "clr/inflate.h"

#include "base/status.h"

#include <limits.h>
#include <zlib.h>

enum {
	RAW = -MAX_WBITS,  /* no header, no checksum */
	BEST_RATIO = 1032, /* zlib's technical notes: deflate packs no better */
};

bool clr_inflate_can_fill(struct bytes deflated, size_t size)
{
	return size / BEST_RATIO <= deflated.size;
}

int clr_inflate(struct bytes deflated, uint8_t *out, size_t size)
{
	if (deflated.size > UINT_MAX || size > UINT_MAX)
		return STATUS_CORRUPT;
	z_stream stream = { 0 };
	int got = inflateInit2(&stream, RAW);
	if (got != Z_OK)
		return STATUS_NO_MEMORY;
	uint8_t more; /* one byte too many would be written here */
	stream.next_in = (z_const Bytef *)deflated.data;
	stream.avail_in = (uInt)deflated.size;
	stream.next_out = size ? out : &more;
	stream.avail_out = (uInt)size;
	got = inflate(&stream, Z_FINISH);
	if (got == Z_BUF_ERROR && stream.avail_out == 0) {
		/* The end may be told in bytes of its own. */
		stream.next_out = &more;
		stream.avail_out = 1;
		got = inflate(&stream, Z_FINISH);
	}
	const bool is_whole = got == Z_STREAM_END && stream.total_out == size;
	inflateEnd(&stream);
	if (got == Z_MEM_ERROR)
		return STATUS_NO_MEMORY;
	return is_whole ? 0 : STATUS_CORRUPT;
}
