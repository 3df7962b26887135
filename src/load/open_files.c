#include "load/open_files.h"

bool open_files_add(open_files *files, const char *path, struct bytes *bytes)
{
	struct os_file *file = vector_push(files);
	if (!file)
		return false;
	if (path[0] != '/' || os_file_open(file, path, OS_FILE_REGULAR) < 0) {
		files->count--;
		return false;
	}
	*bytes = file->bytes;
	return true;
}

void open_files_drop(open_files *files, struct bytes bytes)
{
	for (size_t i = files->count; i-- > 0;) {
		if (files->items[i].bytes.data != bytes.data || !bytes.size)
			continue;
		os_file_close(&files->items[i]);
		files->items[i] = files->items[--files->count];
		return;
	}
}

void open_files_clear(open_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		os_file_close(&files->items[i]);
	vector_clear(files);
}
