/* library.h - where the agent for JVMs lies: beside the program, or where it was installed. */
#ifndef ATTACH_LIBRARY_H
#define ATTACH_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

/* False where there is none: this build has no agent. */
bool attach_find_library(char path[PATH_MAX]);

/* The same for another library of ours, by its name. */
bool attach_find_library_named(const char *name, char path[PATH_MAX]);

/* True if a process of any user may read the file and enter all folders above it. */
bool attach_is_open_to_all(const char *path);

#endif
