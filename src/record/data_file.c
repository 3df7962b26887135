#include "record/data_file.h"

#include "base/status.h"
#include "os/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static void fail(struct data_file *file, int status)
{
	if (file->status == 0 && status < 0) {
		file->status = status;
		file->error = errno;
	}
}

/* What cannot be written later is refused now, before anything was recorded. */
static int look_at_target(const char *path)
{
	const int direct = os_stream_is_direct(path);
	if (direct <= 0 || strcmp(path, "-") == 0)
		return direct;
	return access(path, W_OK) == 0 ? 1 : STATUS_IO;
}

static int open_spool(struct os_output *output)
{
	const char *const folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	*output = (struct os_output){ .fd = -1 };
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && output->fd < 0; i++)
		if (folders[i] && folders[i][0])
			output->fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return output->fd < 0 ? STATUS_IO : 0;
}

int data_file_open(struct data_file *file, const char *path, bool compress)
{
	const int special = look_at_target(path);
	*file = (struct data_file){ .special = special > 0 ? path : NULL, .output = { .fd = -1 } };
	if (special < 0)
		return special;
	const int result =
	    file->special ? open_spool(&file->output) : os_output_open(&file->output, path);
	if (result)
		return result;
	if (compress && perfdata_compressor_open(&file->compressor, 1) < 0) {
		data_file_abandon(file);
		return STATUS_NO_MEMORY;
	}
	return 0;
}

int data_file_open_memory(struct data_file *file)
{
	*file = (struct data_file){ .special = "", .output = { .fd = -1 } };
	file->output.fd = memfd_create("polyperf", MFD_CLOEXEC);
	return file->output.fd < 0 ? STATUS_IO : 0;
}

void data_file_put_at(struct data_file *file, uint64_t offset, struct bytes bytes)
{
	if (file->status == 0)
		fail(file, os_output_write_at(&file->output, offset, bytes.data, bytes.size));
}

void data_file_put(struct data_file *file, struct bytes bytes)
{
	data_file_put_at(file, file->output.size, bytes);
}

/* One call for all pieces; what a short write left over is written piece by piece. */
static void put_pieces(struct data_file *file, const struct bytes *pieces, size_t count)
{
	struct iovec vector[DATA_FILE_PIECES];
	for (size_t i = 0; i < count; i++)
		vector[i] = (struct iovec){ (void *)pieces[i].data, pieces[i].size };
	ssize_t wrote;
	do
		wrote = pwritev(file->output.fd, vector, (int)count, (off_t)file->output.size);
	while (wrote < 0 && errno == EINTR);
	if (wrote < 0) {
		fail(file, STATUS_IO);
		return;
	}
	file->output.size += (uint64_t)wrote;
	size_t done = (size_t)wrote;
	for (size_t i = 0; i < count; i++) {
		const size_t skip = done < pieces[i].size ? done : pieces[i].size;
		done -= skip;
		if (skip < pieces[i].size)
			data_file_put(
			    file, (struct bytes){ pieces[i].data + skip, pieces[i].size - skip });
	}
}

static void compress_pieces(struct data_file *file, const struct bytes *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sink_reset(&file->packed);
		fail(file, perfdata_compress(file->compressor, pieces[i], &file->packed));
		file->raw_bytes += pieces[i].size;
		file->packed_bytes += file->packed.size;
		if (pieces[i].size > file->largest_block)
			file->largest_block = pieces[i].size;
		data_file_put(file, sink_bytes(&file->packed));
	}
}

void data_file_records(struct data_file *file, const struct bytes *pieces, size_t count)
{
	if (file->status < 0 || count == 0)
		return;
	if (file->compressor)
		compress_pieces(file, pieces, count);
	else
		put_pieces(file, pieces, count);
}

static int copy_to(int from_fd, int to_fd)
{
	enum { CHUNK = 1 << 16 };
	uint8_t chunk[CHUNK];
	off_t at = 0;
	for (;;) {
		const ssize_t got = pread(from_fd, chunk, sizeof(chunk), at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return STATUS_IO;
		if (got == 0)
			return 0;
		at += got;
		for (ssize_t done = 0; done < got;) {
			const ssize_t wrote = write(to_fd, chunk + done, (size_t)(got - done));
			if (wrote < 0 && errno == EINTR)
				continue;
			if (wrote < 0)
				return STATUS_IO;
			done += wrote;
		}
	}
}

static int commit_special(struct data_file *file)
{
	const bool is_stdout = strcmp(file->special, "-") == 0;
	const int fd = is_stdout ? STDOUT_FILENO : open(file->special, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return STATUS_IO;
	const int result = copy_to(file->output.fd, fd);
	if (!is_stdout)
		close(fd);
	return result;
}

static void release(struct data_file *file)
{
	perfdata_compressor_close(file->compressor);
	file->compressor = NULL;
	sink_clear(&file->packed);
	if (file->special && file->output.fd >= 0)
		close(file->output.fd);
	else
		os_output_abandon(&file->output);
	file->output.fd = -1;
}

int data_file_commit(struct data_file *file)
{
	if (file->status == 0 && file->special)
		fail(file, commit_special(file));
	else if (file->status == 0)
		fail(file, os_output_commit(&file->output));
	release(file);
	return file->status;
}

void data_file_abandon(struct data_file *file)
{
	release(file);
}
