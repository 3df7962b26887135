/* store_image.c - puts files into an image store, for tests with real readers of it.
 *
 *   store_image OUT.data|- CACHE|"" PID PROGRAM BUILD_ID FILE     prints the path for MMAP2 records
 */
#include "base/status.h"
#include "inject/store.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 20 };

static struct bytes read_hex(const char *hex, uint8_t id[BUILD_ID_MAX])
{
	size_t size = 0;
	unsigned value;
	while (size < BUILD_ID_MAX && sscanf(hex + 2 * size, "%2x", &value) == 1)
		id[size++] = (uint8_t)value;
	return (struct bytes){ id, size };
}

static int put(struct image_store *store, char **argv)
{
	uint8_t id[BUILD_ID_MAX];
	struct os_file file;
	const char *path;
	int fd;
	int got = os_file_open(&file, argv[6], OS_FILE_PLAIN);
	if (got < 0)
		return got;
	got = image_store_begin(store, &fd);
	if (got == 0 && write(fd, file.bytes.data, file.bytes.size) != (ssize_t)file.bytes.size)
		got = STATUS_IO;
	if (got == 0)
		got = image_store_commit(store, (uint32_t)strtoul(argv[3], NULL, 10), argv[4],
					 read_hex(argv[5], id), &path);
	if (got == 0)
		puts(path);
	os_file_close(&file);
	return got;
}

int main(int argc, char **argv)
{
	struct image_store *store = NULL;
	if (argc != 7) {
		fprintf(stderr, "usage: store_image OUT CACHE PID PROGRAM BUILD_ID FILE\n");
		return 2;
	}
	os_file_guard();
	int got = image_store_open(&store, argv[1], argv[2][0] ? argv[2] : NULL);
	if (got == 0)
		got = put(store, argv);
	if (got == 0)
		got = image_store_remove_older(store);
	if (got < 0)
		fprintf(stderr, "store_image: %s\n", status_text(got));
	image_store_close(store);
	return got < 0;
}
