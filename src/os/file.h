/* file.h - whole files as bytes, opened with care.
 *
 *   struct os_file file;
 *   int got = os_file_open(&file, path, OS_FILE_UNTRUSTED);
 *   use(file.bytes);
 *   os_file_close(&file);
 *
 * Regular files are mapped; pipes and others are spooled to an unlinked file
 * first. A mapped file that is cut short by its writer reads as zeros from
 * there and os_file_shrank() says so: no SIGBUS reaches the program
 * (os_file_guard() once at start). One thread opens and closes.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include "base/bytes.h"

#include <stdint.h>
#include <sys/types.h>

enum os_file_flags {
	OS_FILE_PLAIN = 0,
	/* For /tmp and other places where anyone can write: no link is followed at
	 * the last component, only a regular file is taken, and it must belong to
	 * root, to us, or to `owner_uid`.
	 */
	OS_FILE_UNTRUSTED = 1,
	/* A path that a file names: only a regular file is taken, whoever owns it, so
	 * that a FIFO or a device cannot make us wait.
	 */
	OS_FILE_REGULAR = 2,
};

struct os_file {
	struct bytes bytes;
	uint64_t inode;
	uint64_t mtime_ns; /* CLOCK_REALTIME */
	uid_t owner;
	int slot; /* internal */
};

/* Installs the SIGBUS guard. Call once, before the first open. */
void os_file_guard(void);

/* Returns 0, or STATUS_IO (errno), _NOT_FOUND, _DENIED, _TOO_BIG, _NO_MEMORY. "-" is stdin. */
int os_file_open(struct os_file *file, const char *path, enum os_file_flags flags);
int os_file_open_owned(struct os_file *file, const char *path, uid_t owner_uid);
/* A regular file that is open already, as long as it is now; the fd stays the caller's. */
int os_file_open_fd(struct os_file *file, int fd);
bool os_file_shrank(const struct os_file *file);
void os_file_close(struct os_file *file);

/* An empty file for what is too much for memory, in $TMPDIR, /tmp or /var/tmp: it has no name
 * and goes with its fd. -1 with errno.
 */
int os_file_unnamed(void);

/* Writes all of it where the fd stands. Returns 0, or the status of errno. */
int os_file_write(int fd, const void *data, size_t size);

/* Reads exactly so much at an offset. Returns 0, or STATUS_IO: also where the file ends before. */
int os_file_read_at(int fd, void *data, size_t size, uint64_t offset);

/* An atomic writer: bytes go to a temporary file in the folder of `path`, which takes the
 * name only at os_output_commit(). Abandoned, the old file stays as it was. Until then the
 * temporary file has no name where the file system allows that: a process that is killed leaves
 * nothing behind.
 */
struct os_output {
	int fd;
	uint64_t size;
	char *path;
	char *temporary;
	bool is_unnamed;
};

int os_output_open(struct os_output *out, const char *path);
int os_output_write(struct os_output *out, const void *data, size_t size);
int os_output_write_at(struct os_output *out, uint64_t offset, const void *data, size_t size);
int os_output_commit(struct os_output *out);   /* fsync, rename; frees */
void os_output_abandon(struct os_output *out); /* unlinks; frees; harmless after commit */

#endif
