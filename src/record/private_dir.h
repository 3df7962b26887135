/* private_dir.h - the directory of one recording, in which runtimes put their dumps.
 *
 *   struct private_dir dir;
 *   if (private_dir_make(&dir) == 0)
 *           start("DUMPS", dir.path);
 *   private_dir_remove(&dir);
 *
 * Lies under $XDG_RUNTIME_DIR, $TMPDIR, /tmp or /var/tmp: the first whose name needs no
 * quoting and where a file can be mapped executable, as the writers of jitdumps must. Only its
 * owner can enter; where the owner is root, whose children may become other users, `path` is a
 * directory that anyone can write but only those can find who were told.
 */
#ifndef RECORD_PRIVATE_DIR_H
#define RECORD_PRIVATE_DIR_H

#include <stdbool.h>

struct private_dir {
	char *path; /* where children may write; owned */
	char *root; /* what is removed at the end: `path` or its parent; owned */
};

/* Returns 0, STATUS_IO (errno) or _NO_MEMORY. */
int private_dir_make(struct private_dir *dir);

/* Removes the directory with all that lies in it, follows no link, and frees. */
void private_dir_remove(struct private_dir *dir);

/* Frees, and leaves the directory where it is. */
void private_dir_keep(struct private_dir *dir);

/* True if files in `directory` can be mapped executable, or that cannot be told. */
bool private_dir_is_mappable(const char *directory);

/* Some variables of runtimes split their value at blanks, commas or colons, and know no
 * quoting.
 */
bool private_dir_needs_no_quoting(const char *path);

#endif
