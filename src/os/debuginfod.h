/* debuginfod.h - debug files by build id, from the servers that $DEBUGINFOD_URLS names.
 *
 *   struct os_file file;
 *   if (os_debuginfod_open(&file, build_id) == 0)
 *           ...                                      os_file_close(&file)
 *
 * Through libdebuginfod, which is loaded at the first call, since it brings a web client
 * along: callers look first whether a server is named. It reads its environment itself
 * ($DEBUGINFOD_URLS, _CACHE_PATH, _TIMEOUT). Files it got lie in its
 * cache, and it remembers there what servers do not have. One thread.
 */
#ifndef OS_DEBUGINFOD_H
#define OS_DEBUGINFOD_H

#include "os/file.h"

/* Returns 0; STATUS_NOT_FOUND where no server has it, none is named, or the library is not here;
 * or another negative status.
 */
int os_debuginfod_open(struct os_file *file, struct bytes build_id);

#endif
