/* list.h - a bundle of what lies elsewhere: what bundle_writer_open_list() fills. */
#ifndef BUNDLE_LIST_H
#define BUNDLE_LIST_H

#include "bundle/bundle.h"

struct bundle_part {
	int fd; /* is duplicated */
	uint64_t offset;
	uint64_t limit;
};

/* Each returns 0, STATUS_NO_MEMORY or _IO (errno). */
int bundle_list_new(struct bundle **bundle);
int bundle_list_add(struct bundle *bundle, const char *name, struct bytes content);
int bundle_list_add_file(struct bundle *bundle, const char *name, const struct bundle_part *part);

/* Before anything is read. */
void bundle_list_sort(struct bundle *bundle);

#endif
