/* open_files.h - files that stay open because others borrow their bytes. */
#ifndef LOAD_OPEN_FILES_H
#define LOAD_OPEN_FILES_H

#include "base/vector.h"
#include "os/file.h"

typedef VECTOR(struct os_file) open_files;

/* A plain file by its path from the root. False where it cannot be had. */
bool open_files_add(open_files *files, const char *path, struct bytes *bytes);

/* Closes the one that has these bytes. */
void open_files_drop(open_files *files, struct bytes bytes);

void open_files_clear(open_files *files);

#endif
