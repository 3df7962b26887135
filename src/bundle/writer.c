#include "base/sink.h"
#include "base/status.h"
#include "bundle/list.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>

enum {
	NAME_LIMIT = 4096, /* the reader's limit, too */
	COPY_SIZE = 256 * 1024,
	GATHER_SIZE = 64 * 1024,
	MADE_BY_UNIX = 3 << 8 | 45, /* so that the mode below counts; 45: zip64 is known */
	NAMES_ARE_UTF8 = 1 << 11,
};

struct bundle_writer {
	zipFile zip;
	int fd;
	bool compress;
	int status; /* of the first failure; nothing more is written then */
	int saved_errno;
	uint64_t start_off; /* where the zip begins: all in front stays as it is */
	uint64_t position;  /* of the next byte, `gathered` included */
	struct sink gathered;
	zip_fileinfo now;
	struct bundle *list; /* instead of a zip */
};

static int fail(struct bundle_writer *writer, int status)
{
	if (writer->status == 0) {
		writer->status = status;
		writer->saved_errno = errno;
	}
	return status;
}

static bool write_all(int fd, struct bytes data, uint64_t offset)
{
	while (data.size) {
		const ssize_t put = pwrite(fd, data.data, data.size, (off_t)offset);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		data.data += put;
		data.size -= (size_t)put;
		offset += (uint64_t)put;
	}
	return true;
}

/* minizip writes headers two and four bytes at a time: gather what is in sequence. */
static bool flush(struct bundle_writer *writer)
{
	const struct bytes data = sink_bytes(&writer->gathered);
	const bool written = !sink_failed(&writer->gathered) &&
			     write_all(writer->fd, data, writer->position - writer->gathered.size);
	sink_reset(&writer->gathered);
	if (!written)
		fail(writer, STATUS_IO);
	return written;
}

static voidpf on_open(voidpf opaque, const void *path, int mode)
{
	(void)path;
	(void)mode;
	return opaque;
}

static uLong on_read(voidpf opaque, voidpf stream, void *to, uLong size)
{
	struct bundle_writer *writer = opaque;
	(void)stream;
	if (!flush(writer))
		return 0;
	const ssize_t got = pread(writer->fd, to, size, (off_t)writer->position);
	if (got <= 0)
		return 0;
	writer->position += (uint64_t)got;
	return (uLong)got;
}

static uLong on_write(voidpf opaque, voidpf stream, const void *from, uLong size)
{
	struct bundle_writer *writer = opaque;
	(void)stream;
	sink_put(&writer->gathered, from, size);
	writer->position += size;
	if (writer->gathered.size >= GATHER_SIZE && !flush(writer))
		return 0;
	return size;
}

static ZPOS64_T on_tell(voidpf opaque, voidpf stream)
{
	(void)stream;
	return ((struct bundle_writer *)opaque)->position;
}

static long on_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
	struct bundle_writer *writer = opaque;
	(void)stream;
	if (!flush(writer))
		return -1;
	if (origin == ZLIB_FILEFUNC_SEEK_CUR) {
		offset += writer->position;
	} else if (origin == ZLIB_FILEFUNC_SEEK_END) {
		struct stat st;
		if (fstat(writer->fd, &st) != 0) {
			fail(writer, STATUS_IO);
			return -1;
		}
		offset += (uint64_t)st.st_size;
	}
	writer->position = offset;
	return 0;
}

static int on_close(voidpf opaque, voidpf stream)
{
	(void)stream;
	return flush(opaque) ? 0 : -1;
}

static int on_error(voidpf opaque, voidpf stream)
{
	(void)stream;
	return ((struct bundle_writer *)opaque)->status;
}

static zip_fileinfo file_info_now(void)
{
	zip_fileinfo info = { .external_fa = (uLong)(S_IFREG | 0644) << 16 };
	const time_t now = time(NULL);
	struct tm local;
	if (!localtime_r(&now, &local))
		return info;
	info.tmz_date.tm_sec = (uInt)local.tm_sec;
	info.tmz_date.tm_min = (uInt)local.tm_min;
	info.tmz_date.tm_hour = (uInt)local.tm_hour;
	info.tmz_date.tm_mday = (uInt)local.tm_mday;
	info.tmz_date.tm_mon = (uInt)local.tm_mon;
	info.tmz_date.tm_year = (uInt)(local.tm_year + 1900);
	return info;
}

int bundle_writer_open(struct bundle_writer **opened, int fd, bool compress)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return STATUS_IO;
	struct bundle_writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return STATUS_NO_MEMORY;
	writer->fd = fd;
	writer->compress = compress;
	writer->start_off = (uint64_t)st.st_size;
	writer->now = file_info_now();
	zlib_filefunc64_def functions = {
		.zopen64_file = on_open,
		.zread_file = on_read,
		.zwrite_file = on_write,
		.ztell64_file = on_tell,
		.zseek64_file = on_seek,
		.zclose_file = on_close,
		.zerror_file = on_error,
		.opaque = writer,
	};
	writer->zip = zipOpen2_64("", APPEND_STATUS_CREATEAFTER, NULL, &functions);
	if (!writer->zip) {
		free(writer);
		return STATUS_NO_MEMORY;
	}
	*opened = writer;
	return 0;
}

int bundle_writer_open_list(struct bundle_writer **opened)
{
	struct bundle_writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return STATUS_NO_MEMORY;
	const int got = bundle_list_new(&writer->list);
	if (got < 0) {
		free(writer);
		return got;
	}
	*opened = writer;
	return 0;
}

int bundle_writer_close_list(struct bundle_writer *writer, struct bundle **bundle)
{
	const int status = writer->status;
	*bundle = writer->list;
	free(writer);
	if (status < 0) {
		bundle_close(*bundle);
		*bundle = NULL;
		return status;
	}
	bundle_list_sort(*bundle);
	return 0;
}

/* Remembers the first failure. */
static int listed(struct bundle_writer *writer, int got)
{
	return got < 0 ? fail(writer, got) : writer->status;
}

static int begin_member(struct bundle_writer *writer, const char *name, uint64_t size)
{
	if (writer->status < 0)
		return writer->status;
	const size_t length = strlen(name);
	if (length == 0 || length >= NAME_LIMIT)
		return fail(writer, STATUS_TOO_BIG);
	/* Deflating what does not deflate makes it a little longer. */
	const uint64_t largest = writer->compress ? size + size / 1024 + 4096 : size;
	const int method = writer->compress ? Z_DEFLATED : 0;
	const int got =
	    zipOpenNewFileInZip4_64(writer->zip, name, &writer->now, NULL, 0, NULL, 0, NULL, method,
				    Z_BEST_SPEED, 0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY,
				    NULL, 0, MADE_BY_UNIX, NAMES_ARE_UTF8, largest >= 0xffffffff);
	return got == ZIP_OK ? 0 : fail(writer, STATUS_IO);
}

static int put(struct bundle_writer *writer, const uint8_t *data, size_t size)
{
	while (size && writer->status == 0) {
		const unsigned step = size < 1u << 30 ? (unsigned)size : 1u << 30;
		if (zipWriteInFileInZip(writer->zip, data, step) != ZIP_OK)
			return fail(writer, STATUS_IO);
		data += step;
		size -= step;
	}
	return writer->status;
}

static int end_member(struct bundle_writer *writer)
{
	if (zipCloseFileInZip(writer->zip) != ZIP_OK)
		return fail(writer, STATUS_IO);
	return writer->status;
}

int bundle_writer_add(struct bundle_writer *writer, const char *name, struct bytes content)
{
	if (writer->list)
		return listed(writer, bundle_list_add(writer->list, name, content));
	int got = begin_member(writer, name, content.size);
	if (got == 0)
		got = put(writer, content.data, content.size);
	return got == 0 ? end_member(writer) : got;
}

struct part {
	int fd;
	uint64_t offset;
	uint64_t size;
};

static int copy(struct bundle_writer *writer, const struct part *part, uint8_t *buffer)
{
	for (uint64_t at = 0; at < part->size;) {
		const uint64_t left = part->size - at;
		const size_t want = left < COPY_SIZE ? (size_t)left : COPY_SIZE;
		const ssize_t got = pread(part->fd, buffer, want, (off_t)(part->offset + at));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(writer, STATUS_IO);
		if (got == 0)
			break;
		const int status = put(writer, buffer, (size_t)got);
		if (status < 0)
			return status;
		at += (uint64_t)got;
	}
	return 0;
}

int bundle_writer_add_rest(struct bundle_writer *writer, const char *name, int fd, uint64_t offset,
			   uint64_t limit)
{
	struct stat st;
	if (writer->list) {
		const struct bundle_part listed_part = { fd, offset, limit };
		return listed(writer, bundle_list_add_file(writer->list, name, &listed_part));
	}
	if (fstat(fd, &st) != 0)
		return fail(writer, STATUS_IO);
	struct part part = { .fd = fd, .offset = offset, .size = limit };
	if (S_ISREG(st.st_mode)) {
		const uint64_t size = (uint64_t)st.st_size;
		const uint64_t left = size > offset ? size - offset : 0;
		part.size = left < limit ? left : limit;
	}
	uint8_t *buffer = malloc(COPY_SIZE);
	if (!buffer)
		return fail(writer, STATUS_NO_MEMORY);
	int got = begin_member(writer, name, part.size);
	if (got == 0)
		got = copy(writer, &part, buffer);
	free(buffer);
	return got == 0 ? end_member(writer) : got;
}

int bundle_writer_add_fd(struct bundle_writer *writer, const char *name, int fd, uint64_t limit)
{
	return bundle_writer_add_rest(writer, name, fd, 0, limit);
}

int bundle_writer_close(struct bundle_writer *writer)
{
	/* After a failure this only frees: on_write() writes nothing good any more. */
	if (zipClose(writer->zip, NULL) != ZIP_OK)
		fail(writer, STATUS_IO);
	const int status = writer->status;
	const int saved_errno = writer->saved_errno;
	/* Half a zip helps nobody; the recording in front of it does. */
	if (status < 0)
		(void)!ftruncate(writer->fd, (off_t)writer->start_off);
	sink_clear(&writer->gathered);
	free(writer);
	if (status < 0)
		errno = saved_errno;
	return status;
}
