#include "os/debuginfod.h"

#include "base/status.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* As elfutils/debuginfod.h declares them; that header comes with another package. */
struct debuginfod_client;
typedef struct debuginfod_client *begin_function(void);
typedef int find_function(struct debuginfod_client *client, const unsigned char *build_id,
			  int build_id_size, char **path);

static struct {
	bool was_tried;
	struct debuginfod_client *client; /* kept: it keeps its connections */
	find_function *find;
} library;

/* POSIX lets dlsym's pointers stand for functions; ISO C has no conversion for it. */
static void *function_at(void *handle, const char *name, void *function, size_t size)
{
	void *found = dlsym(handle, name);
	memcpy(function, &found, size);
	return found;
}

static bool load_library(void)
{
	begin_function *begin;
	if (library.was_tried)
		return library.client != NULL;
	library.was_tried = true;
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return false;
	if (function_at(handle, "debuginfod_begin", &begin, sizeof(begin)) &&
	    function_at(handle, "debuginfod_find_debuginfo", &library.find, sizeof(library.find)))
		library.client = begin();
	return library.client != NULL;
}

int os_debuginfod_open(struct os_file *file, struct bytes build_id)
{
	char *path = NULL;
	if (!build_id.size || build_id.size > 64 || !load_library())
		return STATUS_NOT_FOUND;
	const int fd = library.find(library.client, build_id.data, (int)build_id.size, &path);
	if (fd < 0)
		return STATUS_NOT_FOUND;
	close(fd);
	const int got = path ? os_file_open(file, path, OS_FILE_REGULAR) : STATUS_NOT_FOUND;
	free(path);
	return got;
}
