/* store.h - where the images of an injected recording lie.
 *
 *   struct image_store *store;
 *   image_store_open(&store, "OUT.data", NULL);
 *   image_store_begin(store, &fd);
 *   image_write(image, fd);
 *   image_store_commit(store, pid, "node", image_build_id(image), &path);   path for MMAP2 records
 *   ... the next image; then OUT.data itself is put in place ...
 *   image_store_remove_older(store);
 *   image_store_close(store);                   after a failure: image_store_discard() before it
 *
 * Beside the output: OUT.data.d/PID-<first 16 hex digits of the build id>/jitted-<program>.so.
 * Names come from contents, so a run that is interrupted never damages what an older OUT.data
 * refers to: images come before OUT.data, older ones go after it.
 *
 * Or in a build-id cache of perf's layout, where perf report, annotate and archive find an image
 * by its build id alone. As for every file in such a cache there are the path that records name
 * (perf buildid-cache lists only those that lead to something; jit is where perf lets JITs write)
 * and what perf adds for it. The two are one file.
 *
 *   CACHE/jit/PID-<16 hex>/jitted-<program>.so
 *   CACHE/<that path>/<build id>/elf
 *   CACHE/.build-id/<2 hex>/<the rest>  ->  ../../<that path>/<build id>
 *
 * An image appears complete and synced or not at all. Folders below OUT.data's or below CACHE are
 * made where they are missing, and none is entered that is a link, or belongs to anybody but us,
 * root, or the owner of what it lies in. Modes are perf's in a cache (0755, files 0644), and as
 * usual (0777, 0666) beside an output; umask counts for both. One thread.
 */
#ifndef INJECT_STORE_H
#define INJECT_STORE_H

#include "base/bytes.h"

#include <stdint.h>

struct image_store;

/* `cache_dir` NULL: beside the output; where that is "-" or another pipe, which have nothing beside
 * them, in the default cache. No folder is made yet. Returns 0, STATUS_IO (errno) or _NO_MEMORY.
 */
int image_store_open(struct image_store **store, const char *output_path, const char *cache_dir);

/* Perf's own choice: buildid.dir in $PERF_CONFIG, or in ~/.perfconfig and before it
 * /etc/perfconfig; else ~/.debug. To be freed. Returns 0 or STATUS_NO_MEMORY.
 */
int image_store_default_cache(char **cache_dir);

/* An empty file to write the next image to; the store's, and gone at the next begin or the close
 * if it is not committed. Returns 0, STATUS_IO (errno), _DENIED or _NO_MEMORY.
 */
int image_store_begin(struct image_store *store, int *fd);

/* Gives it its place and name; the fd is closed in any case. `program` is made safe for a file
 * name, "" stands for "code". `build_id`: 8 to 20 bytes. An equal file that is there already stays,
 * another one of that name is replaced. *path is absolute and lives as long as the store. Returns
 * as begin does, or STATUS_CORRUPT for a build id of another size or if nothing was begun.
 */
int image_store_commit(struct image_store *store, uint32_t pid, const char *program,
		       struct bytes build_id, const char **path);

/* Another path of the image that was committed last, for readers that tell files apart by
 * their paths: jitted-<program>.<number>.so beside it. Returns as begin does.
 */
int image_store_alias(struct image_store *store, uint32_t number, const char **path);

/* Removes from OUT.data.d what an earlier run put there and this one did not: regular files of ours
 * with such names in folders of ours with such names, and the folders that then are empty. From a
 * cache nothing is removed. Returns 0 or the first failure: STATUS_IO (errno), _NO_MEMORY.
 */
int image_store_remove_older(struct image_store *store);

/* Removes what this run added, for when no OUT.data will name it. */
void image_store_discard(struct image_store *store);

/* Drops what was begun and not committed. NULL is allowed. */
void image_store_close(struct image_store *store);

#endif
