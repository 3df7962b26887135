#include "attach/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "libpolyperf-jvmti.so";

bool attach_find_library(char path[PATH_MAX])
{
	return attach_find_library_named(NAME, path);
}

bool attach_find_library_named(const char *name, char path[PATH_MAX])
{
	/* Of the build tree; of an installation, wherever it was moved to. */
	static const char *const FOLDERS[] = { "", "../" POLYPERF_LIBDIR "/polyperf/",
					       "../lib/polyperf/" };
	char program[PATH_MAX];
	const ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (size <= 0)
		return false;
	program[size] = 0;
	const char *slash = strrchr(program, '/');
	const int folder = slash ? (int)(slash - program) : 0;
	for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++) {
		char joined[PATH_MAX];
		const int length = snprintf(joined, sizeof(joined), "%.*s/%s%s", folder, program,
					    FOLDERS[i], name);
		if (length > 0 && (size_t)length < sizeof(joined) && realpath(joined, path))
			return true;
	}
	return false;
}

bool attach_is_open_to_all(const char *path)
{
	char part[PATH_MAX];
	const size_t size = strlen(path);
	struct stat st;
	if (path[0] != '/' || size >= sizeof(part))
		return false;
	for (size_t i = 1; i < size; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (stat(part, &st) != 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return stat(path, &st) == 0 && st.st_mode & S_IROTH;
}
