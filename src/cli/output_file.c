#include "cli/output_file.h"

#include "cli/message.h"
#include "os/stream.h"

#include <string.h>

const char *output_file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard output" : path;
}

int output_file_put(const char *path, const struct sink *made)
{
	struct os_stream out;
	int got = os_stream_open(&out, path);
	if (got == 0)
		got = os_stream_write(&out, made->data, made->size);
	if (got == 0)
		got = os_stream_commit(&out);
	os_stream_abandon(&out);
	if (got < 0)
		message_file(output_file_name(path), got);
	return got;
}
