/* gzip.h - what is written, packed on its way (zlib). */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include "export/export.h"

#include <zlib.h>

struct export_gzip {
	z_stream stream;
	struct export_out *out;
};

/* Packed bytes go to `out`, which must outlive it. 0 or STATUS_NO_MEMORY. */
int export_gzip_open(struct export_gzip *gzip, struct export_out *out);

/* For export_out.write; `context` is the gzip. */
int export_gzip_write(void *context, const void *data, size_t size);

/* Ends the stream and frees it. 0 or a negative status. */
int export_gzip_end(struct export_gzip *gzip);

#endif
