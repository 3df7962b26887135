/* build_ids.h - the build ids of the files that ran.
 *
 *   struct bytes id = build_ids_find(&ids, &file);      a mapping was seen
 *   build_ids_put(&ids, &kernel, content);              at the end
 *   build_ids_clear(&ids);
 *
 * Those of ELF files, and for PE files what is made up in their place (clr/build_id.h). A file's
 * notes are read at first sight, through the root of the process that mapped it, which may be gone
 * (and its container with it) at the end. Files are told apart by device, inode and path.
 */
#ifndef RECORD_BUILD_IDS_H
#define RECORD_BUILD_IDS_H

#include "base/intern.h"
#include "base/sink.h"
#include "os/kernel.h"

#include <sys/types.h>

struct build_id {
	uint32_t path; /* in `paths` */
	uint8_t size;  /* 0: the file has none, or could not be read */
	uint8_t bytes[20];
	bool has_bundle; /* it is a single-file program of .NET */
	uint8_t bundle[20];
};

struct build_ids {
	struct intern keys; /* device, inode and path */
	struct intern paths;
	VECTOR(struct build_id) items; /* by the key's id - 1 */
	struct sink key;               /* scratch */
};

struct build_id_file {
	pid_t pid; /* that mapped it */
	const char *path;
	uint32_t maj;
	uint32_t min;
	uint64_t inode; /* 0: not known */
};

/* Empty if it has none. Lives until the next call. */
struct bytes build_ids_find(struct build_ids *ids, const struct build_id_file *file);

/* Entries for the kernel, its modules, and all files that have a build id. */
void build_ids_put(const struct build_ids *ids, const struct kernel_layout *kernel,
		   struct sink *content);

void build_ids_clear(struct build_ids *ids);

#endif
