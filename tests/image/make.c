/* Writes an image for programs that read ELF to look at, and prints what they should find.
 *
 *   image_make FILE COUNT lines|unwinding
 *
 * One line a function: its file offset, size, name, kind of bytes, then offsets into it each
 * with its source line, innermost first: "OFFSET=FILE:LINE,FILE:LINE".
 */
#include "build.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What build_everything() put in at this offset. */
static void print_wanted(uint32_t function, uint32_t offset)
{
	const uint32_t row = offset / 8;
	const char *const own = "/src/file%u.js:%u";
	char line[64] = "?";
	if (function % 5 != 3 && offset >= 32 && offset < 64)
		(void)snprintf(line, sizeof(line), "/src/lib.js:%u", 10 + function + row);
	else if (function % 5 != 3)
		(void)snprintf(line, sizeof(line), own, function / 30, 10 + function + row);
	printf("\t%u=%s", offset, line);
	if (function % 4 == 0 && offset >= 40 && offset < 56)
		printf(",./caller.js:1001");
	if (function % 4 == 0 && offset >= 32 && offset < 64)
		printf(",./caller.js:1000");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
	struct image *image = build_everything(count, strcmp(argv[3], "unwinding") == 0);
	const int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || image_finish(image) < 0 || image_write(image, fd) < 0)
		return 1;
	for (uint32_t i = 0; i < count; i++) {
		printf("%#llx\t%llu\tfunction%u\t%s", (unsigned long long)image_file_off(image, i),
		       (unsigned long long)image_function_size(image, i), i,
		       i % 9 == 4 ? "absent" : "present");
		for (uint32_t offset = 1; offset < BUILD_SIZE; offset += 13)
			print_wanted(i, offset);
		printf("\n");
	}
	close(fd);
	image_free(image);
	return 0;
}
