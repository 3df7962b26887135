/* store_files.h - folders and files that an image store makes: no link is followed, and no file
 * can be seen before it is complete.
 */
#ifndef INJECT_STORE_FILES_H
#define INJECT_STORE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens the folder `name` in `parent_fd`. STATUS_IO (errno), or _DENIED for a link, for what is no
 * folder, and for a folder of somebody who is neither us nor root nor the owner of the parent.
 */
int store_folder_open(int parent_fd, const char *name, int *fd);
/* Makes what is missing of the path `name`, whose parts "/" separates. */
int store_folder_make(int parent_fd, const char *name, mode_t mode, int *fd);

/* A file without a name, or where a file system has no such files, with one of no meaning. */
struct store_file {
	int folder_fd; /* borrowed: the folder whose file system it is on */
	int fd;        /* -1: none */
	char name[32]; /* "": none */
};

/* Returns 0 or STATUS_IO (errno). `has_name`: do not try to make one without. */
int store_file_open(struct store_file *file, int folder_fd, mode_t mode, bool has_name);
void store_file_drop(struct store_file *file);
/* Syncs it and makes it `name` in another folder of the file system, in place of what has that
 * name, unless that is an equal file. *is_new tells which. The file is closed in any case.
 */
int store_file_publish(struct store_file *file, int folder_fd, const char *name, bool *is_new);

/* Gives the file `name` the second name `other`, in place of what has that. *is_new: it had not. */
int store_second_name(int folder_fd, const char *name, int other_fd, const char *other,
		      bool *is_new);

/* Makes `name` a link to `target`, also if it is one to something else. */
int store_link(int folder_fd, const char *name, const char *target);

/* True for the names that files have before they get their own. */
bool store_is_unfinished(const char *name);

#endif
