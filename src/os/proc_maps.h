/* proc_maps.h - the lines of /proc/PID/maps.
 *
 *   struct proc_maps maps;
 *   proc_maps_open(&maps, text);
 *   struct proc_mapping map;
 *   while (proc_maps_next(&maps, &map))
 *           use(&map);
 *
 * The text is the kernel's, but the names in it are anyone's: a line that cannot be
 * understood is counted and passed over. Does no I/O; read the file with proc_read().
 */
#ifndef OS_PROC_MAPS_H
#define OS_PROC_MAPS_H

#include "base/bytes.h"

#include <stdint.h>

enum { PROC_MAPS_PATH_SIZE = 4096 + 16 };

struct proc_maps {
	struct bytes text; /* what is left */
	size_t bad_lines;
	char path[PROC_MAPS_PATH_SIZE];
};

struct proc_mapping {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t file_off;
	uint64_t inode;
	uint32_t maj;
	uint32_t min;
	uint32_t prot;    /* PROT_* */
	uint32_t flags;   /* MAP_SHARED or MAP_PRIVATE */
	const char *path; /* "" for anonymous memory; lives until the next call */
};

void proc_maps_open(struct proc_maps *maps, struct bytes text);
bool proc_maps_next(struct proc_maps *maps, struct proc_mapping *map);

#endif
