/* data_file.h - the perf.data file while it grows.
 *
 *   struct data_file file;
 *   data_file_open(&file, "perf.data", compress);
 *   data_file_put(&file, header);
 *   data_file_records(&file, pieces, count);
 *   if (file.status < 0)
 *           the first failure; errno in file.error
 *   data_file_commit(&file) or data_file_abandon(&file)
 *
 * Failures stick: after the first, writes do nothing. A path that is no regular
 * file (a pipe, /dev/null, "-" for standard output) gets all bytes at commit.
 */
#ifndef RECORD_DATA_FILE_H
#define RECORD_DATA_FILE_H

#include "base/sink.h"
#include "format/perfdata/writer.h"
#include "os/file.h"

struct data_file {
	struct os_output output; /* output.fd is open for reading and writing */
	const char *special;     /* where the bytes go at last if that is no regular file */
	int status;
	int error;
	struct perfdata_compressor *compressor; /* NULL: records are written as they are */
	struct sink packed;
	uint64_t raw_bytes; /* given to the compressor */
	uint64_t packed_bytes;
	size_t largest_block;
};

/* `path` is borrowed. Returns 0, STATUS_IO (errno) or _NO_MEMORY. */
int data_file_open(struct data_file *file, const char *path, bool compress);

/* A file without a name, in memory; it cannot be committed. */
int data_file_open_memory(struct data_file *file);

static inline uint64_t data_file_size(const struct data_file *file)
{
	return file->output.size;
}

/* Bytes as they are, at the end or over earlier ones. */
void data_file_put(struct data_file *file, struct bytes bytes);
void data_file_put_at(struct data_file *file, uint64_t offset, struct bytes bytes);

/* Whole records in up to DATA_FILE_PIECES pieces, compressed where that was asked for. A
 * record may begin in one piece and end in the next.
 */
enum { DATA_FILE_PIECES = 64 };
void data_file_records(struct data_file *file, const struct bytes *pieces, size_t count);

/* Returns 0 or the first failure, then abandoned. Both free all. */
int data_file_commit(struct data_file *file);
void data_file_abandon(struct data_file *file);

#endif
