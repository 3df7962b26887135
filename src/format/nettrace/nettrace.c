#include "format/nettrace/nettrace.h"

#include "base/status.h"

int nettrace_open(struct nettrace_reader **reader, struct bytes file,
		  const struct nettrace_options *options)
{
	(void)file;
	(void)options;
	*reader = NULL;
	return STATUS_NOT_FORMAT;
}

void nettrace_free(struct nettrace_reader *reader)
{
	(void)reader;
}
